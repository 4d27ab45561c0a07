"""What NCCL does when it is forced: by release, from its sources.

For: ringtree.nccl.support and its table. Not for: limits.
"""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.nccl import library_support
from ringtree.nccl.names import ALGORITHMS, KERNELS, PROTOCOLS


@pytest.mark.parametrize(
    ("version", "outcome", "executed"),
    [
        ("2.4.8", "unknown", None),
        ("2.5.7", "error", None),
        ("2.6.4", "error", None),
        ("2.7.8", "ignored", "Ring"),
        ("2.12.12", "ignored", "Ring"),
        ("2.16.5", "ignored", "Ring"),
        ("2.17.1", "falls_back", "Ring"),
        ("2.18.3", "falls_back", "Ring"),
        ("2.19.3", "falls_back", "Ring"),
        ("2.21.5+cuda12.4", "falls_back", "Ring"),
        ("22105", "falls_back", "Ring"),
        ("2.23.4", "falls_back", "Ring"),
        ("2.24.3", "error", None),
        ("v2.27.7-1", "error", None),
        ("22703", "error", None),
        ("2708", "ignored", "Ring"),
        ("2.30.7", "error", None),
        ("2.31.2", "error", None),
        ("2.40.1", "unknown", None),
        (None, "unknown", None),
    ],
)
@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter", "broadcast", "reduce"])
def test_tree_for_collectives_that_have_none(
    collective: str, version: str | None, outcome: str, executed: str | None
) -> None:
    found = library_support(collective, "Tree", nccl_version=version)
    assert (found.outcome, found.executed) == (outcome, executed)
    assert found.explanation
    assert found.sources or outcome == "unknown"


def test_without_a_version_both_possibilities_are_named() -> None:
    words = library_support("all_gather", "Tree").explanation
    assert "2.19 to 2.23: falls back" in words
    assert "2.24 to 2.30: error" in words


@pytest.mark.parametrize(
    ("collective", "algorithm", "protocol", "version", "outcome"),
    [
        ("all_reduce", "Tree", None, "2.27.3", "runs"),
        ("all_reduce", "TREE", "LL128", None, "runs"),
        ("all_reduce", "NVLS", "Simple", "2.17.1", "runs"),
        ("all_reduce", "NVLS", None, "2.12.12", "ignored"),
        ("all_reduce", "PAT", None, "2.22.3", "ignored"),  # unknown there: Ring and Tree are enabled again
        ("all_reduce", "NVLS", "LL", "2.22.3", "falls_back"),
        ("all_reduce", "nvls_tree", "LL128", "2.26.2", "error"),
        ("all_gather", "NVLS", None, "2.17.1", "runs"),
        ("all_gather", "NVLS", None, "2.18.3", "falls_back"),  # 2.18 has no NVLS kernels for it
        ("all_gather", "NVLS", None, "2.19.3", "runs"),
        ("all_gather", "NVLS", "LL", "2.17.1", "falls_back"),
        ("reduce_scatter", "COLLNET_DIRECT", None, "2.19.3", "falls_back"),
        ("reduce_scatter", "COLLNET_DIRECT", None, "2.20.5", "runs"),
        ("all_gather", "PAT", None, "2.22.3", "falls_back"),
        ("all_gather", "PAT", None, "2.23.4", "runs"),
        ("all_reduce", "PAT", None, "2.24.3", "error"),
        ("all_to_all", "Ring", None, "2.20.3", "ignored"),
        ("send_recv", "Tree", "LL", None, "ignored"),
    ],
)
def test_kernels(collective: str, algorithm: str, protocol: str | None, version: str | None, outcome: str) -> None:
    assert library_support(collective, algorithm, protocol, version).outcome == outcome


def test_the_table_and_the_names_agree() -> None:
    """What limits.why_not calls impossible has no kernel in the newest release that was read, and vice versa."""
    for algorithm in ALGORITHMS:
        for collective in KERNELS["Ring"]:
            has = collective in KERNELS[algorithm]
            assert (library_support(collective, algorithm, nccl_version="2.30.7").outcome == "runs") == has
            for protocol in PROTOCOLS if has else ():
                outcome = library_support(collective, algorithm, protocol, "2.30.7").outcome
                assert (outcome == "runs") == (protocol == "Simple" or algorithm in ("Ring", "Tree"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("all_reduce", "Fancy"), "NCCL has no algorithm 'Fancy'"),
        (("all_reduce", "P2P"), "NCCL has no algorithm 'P2P'"),
        (("all_reduce", "Ring", "LL64"), "NCCL has no protocol 'LL64'"),
        (("all_reduce", "Ring", None, "newest"), "invalid version of NCCL 'newest'"),
        (("scan", "Ring"), "no bus factor for 'scan'"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        library_support(*arguments)
