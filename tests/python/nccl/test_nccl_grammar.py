"""NCCL_ALGO and NCCL_PROTO against the rules of NCCL's own parser, release by release.

For: ringtree.nccl.grammar, and that the audit and the readers go by it. Not for: what then happens
(test_nccl_support.py).
"""

from __future__ import annotations

import pytest
from audit_support import findings, make_table

from ringtree.audit.findings import Severity
from ringtree.logs.nccltests.deduce import forced
from ringtree.nccl import Variable, read
from ringtree.nccl.names import ALGORITHMS

ALL = ",".join(ALGORITHMS)
ALL_BUT_TREE = "Ring,CollNetDirect,CollNetChain,NVLS,NVLSTree,PAT"


@pytest.mark.parametrize(
    ("setting", "collective", "version", "left"),
    [
        # One list of words, in any case, is the same in all releases; what is left stands in NCCL's order.
        ("Ring", "all_gather", "2.5.6", "Ring"),
        ("rInG,TREE", "all_reduce", "2.12.12", "Tree,Ring"),
        ("ring,tree", "all_reduce", "2.30.7", "Tree,Ring"),
        (",ring,,tree,", "all_reduce", "2.30.7", "Tree,Ring"),
        ("^tree", "all_reduce", "2.5.6", "Ring"),
        ("^tree", "all_reduce", "2.13.4", "Ring,CollNet"),
        ("^tree", "all_reduce", "2.27.3", ALL_BUT_TREE),
        ("^", "all_reduce", "2.27.3", ALL),
        # Which words there are.
        ("CollNet", "all_reduce", "2.5.6", ""),
        ("CollNet", "all_reduce", "2.6.4", "CollNet"),
        ("CollNet", "all_reduce", "2.14.3", ""),
        ("CollNetChain", "all_reduce", "2.14.3", "CollNetChain"),
        ("NVLS,Ring", "all_reduce", "2.16.5", "Ring"),
        ("NVLS,Ring", "all_reduce", "2.17.1", "Ring,NVLS"),
        ("NVLSTree", "all_reduce", "2.17.1", ""),
        ("PAT", "all_gather", "2.22.3", ""),
        ("PAT", "all_gather", "2.23.4", "PAT"),
        # Up to 2.23 what is not known is passed over, lists by collective with it. "^" counts in front of a list only.
        ("ring, tree", "all_reduce", "2.23.4", "Ring"),
        ("tree;ring", "all_reduce", "2.23.4", ""),
        ("allreduce:tree", "all_reduce", "2.23.4", ""),
        ("allreduce:tree,ring", "all_reduce", "2.23.4", "Ring"),
        ("ring,^tree", "all_reduce", "2.23.4", "Ring"),
        ("", "all_reduce", "2.23.4", ""),
        # From 2.24 on the first list may be for all, and later ones replace it for their collective.
        ("", "all_reduce", "2.24.3", ALL),
        ("ring,collnetdirect;allreduce:tree", "all_reduce", "2.24.3", "Tree"),
        ("ring,collnetdirect;allreduce:tree", "broadcast", "2.24.3", "Ring,CollNetDirect"),
        ("AllReduce:tree", "all_reduce", "2.24.3", "Tree"),
        ("allreduce:tree", "all_gather", "2.24.3", ALL),
        ("allreduce:tree;allreduce:^tree", "all_reduce", "2.24.3", ALL_BUT_TREE),
        ("allreduce:ring:tree", "all_reduce", "2.24.3", "Ring"),
        ("ring;;allgather:pat;", "all_gather", "2.30.7", "PAT"),
        # NCCL chooses nothing for what goes point to point.
        ("Ring", "all_to_all", "2.12.12", ""),
        ("Ring", "all_to_all", "2.27.3", ""),
        # A collective that is not known: only what holds for all.
        ("Ring", None, "2.27.3", "Ring"),
        ("ring;allreduce:tree", None, "2.27.3", ALL),
        # A release that is not known, or newer than any that was read: as from 2.24 on.
        ("ring;allreduce:tree", "all_reduce", None, "Tree"),
        ("ring;allreduce:tree", "all_reduce", "develop", "Tree"),
        ("ring;allreduce:tree", "all_reduce", "2.99.1", "Tree"),
    ],
)
def test_algorithms(setting: str, collective: str | None, version: str | None, left: str) -> None:
    reading = read("NCCL_ALGO", setting, collective, version)
    assert ",".join(reading.left) == left
    assert reading.refusal is None


@pytest.mark.parametrize(
    ("setting", "version", "left"),
    [
        ("LL", "2.5.6", "LL"),
        ("simple,ll128", "2.20.3", "LL128,Simple"),
        ("^LL128", "2.20.3", "LL,Simple"),
        ("^LL128;allreduce:LL128", "2.24.3", "LL128"),
        ("LL,Simple;allreduce:^LL", "2.24.3", "LL128,Simple"),
        ("LL64", "2.20.3", ""),
    ],
)
def test_protocols(setting: str, version: str, left: str) -> None:
    assert ",".join(read("NCCL_PROTO", setting, "all_reduce", version).left) == left


@pytest.mark.parametrize(
    ("variable", "setting", "said"),
    [
        ("NCCL_ALGO", "tree;ring", "'ring' names no collective"),
        ("NCCL_ALGO", "allreduce:tree;ring", "'ring' names no collective"),
        ("NCCL_ALGO", ";ring", "'ring' names no collective"),
        ("NCCL_ALGO", "alltoall:ring", "'alltoall' is not one of broadcast, reduce"),
        ("NCCL_ALGO", "all_reduce:ring", "'all_reduce' is not one of broadcast, reduce"),
        ("NCCL_ALGO", "ring, tree", "' tree' is not one of Tree"),
        ("NCCL_ALGO", "nvls_tree", "'nvls_tree' is not one of Tree"),
        ("NCCL_ALGO", "CollNet", "'CollNet' is not one of Tree"),
        ("NCCL_ALGO", "ring,^tree", "'^tree' is not one of Tree"),
        ("NCCL_ALGO", "allgather:fancy", "'fancy' is not one of Tree"),
        ("NCCL_ALGO", "allreduce:", "'allreduce' is not one of Tree"),
        ("NCCL_PROTO", "LL64", "'LL64' is not one of LL, LL128, Simple"),
    ],
)
@pytest.mark.parametrize("version", ["2.24.3", "2.30.7", None])
def test_what_is_refused_from_2_24_on(variable: Variable, setting: str, said: str, version: str | None) -> None:
    for collective in ("all_reduce", "broadcast", "send_recv", None):
        reading = read(variable, setting, collective, version)
        assert (reading.left, reading.passed_over) == ((), ())
        assert (reading.refusal or "").startswith(said)


def test_what_was_passed_over_is_named() -> None:
    assert read("NCCL_ALGO", "Ring,NVLS,fancy", "all_reduce", "2.12.12").passed_over == ("NVLS", "fancy")
    assert read("NCCL_ALGO", "Ring,Tree", "all_reduce", "2.12.12").passed_over == ()


@pytest.mark.parametrize("setting", ["tree;ring", "allreduce:tree;ring"])
@pytest.mark.parametrize(
    ("version", "severity", "said"),
    [
        ("2.27.3", Severity.ERROR, "'ring' names no collective"),
        ("2.20.3", Severity.WARNING, "passes over"),
        (None, Severity.WARNING, "'ring' names no collective"),
    ],
)
def test_the_audit_and_the_readers_read_the_same(
    setting: str, version: str | None, severity: Severity, said: str
) -> None:
    """No release takes a second list for all: it runs neither Tree nor Ring because of it."""
    table = make_table("all_reduce", environment={"NCCL_ALGO": setting}, library_version=version)
    assert forced(table, "NCCL_ALGO") is None
    (finding,) = [each for each in findings(table) if each.code == "algorithm-unsupported"]
    assert finding.severity == severity
    assert said in finding.arithmetic


def test_words_of_somebody_else_say_nothing() -> None:
    table = make_table("all_reduce", environment={"NCCL_ALGO": "MSCCL,Ring,Tree"})
    assert not [each for each in findings(table) if each.code == "algorithm-unsupported"]
