"""What auto would run where nothing was measured: the same that a communicator takes, for every collective.

For: ringtree.tune.which by the model. Not for: profiles (test_tune_launch.py), or the command (test_cli_tune.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import ringtree
from ringtree.comm.profile import Loaded
from ringtree.errors import UsageError
from ringtree.measure.collective_data import shape_of
from ringtree.traits import COLLECTIVES
from ringtree.tune.which import explain

NUM_RANKS = 3


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_model_is_asked_for_the_bytes_that_the_engine_asks_it_for(collective: str) -> None:
    counts = [1, 1000, 1 << 20]
    chosen = ringtree.run(lambda comm: [comm.choice(collective, count) for count in counts], NUM_RANKS, profile="")[0]
    for count, choice in zip(counts, chosen, strict=True):
        size_bytes = 4 * count * (NUM_RANKS if shape_of(collective).has_blocks else 1)
        found = explain(Loaded(), collective, NUM_RANKS, size_bytes)
        assert (found.algorithm, found.reason) == (choice.algorithm, choice.reason)
        assert found.size_bytes == size_bytes


def test_constants_are_built_in_where_nothing_may_be_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks for it, or a profile, beside which the engine probes nothing."""
    switched_off = explain(Loaded(), "all_reduce", NUM_RANKS, 1000)
    assert switched_off.notes[-1].startswith("constants built in: ")
    assert switched_off.notes[-1].endswith(" (RINGTREE_PROBE=1 probes this machine)")
    monkeypatch.setenv("RINGTREE_PROBE", "0")
    assert explain(Loaded(), "all_reduce", NUM_RANKS, 1000) == switched_off
    monkeypatch.setenv("RINGTREE_PROBE", "1")
    beside_rules = explain(Loaded(rules="all_reduce 2 own private rest ring simple 0 ordinary 1\n"), "reduce", 2, 1000)
    assert beside_rules.notes[-1] == "constants built in"
    assert all(one.reason.endswith("; constants built in)") for one in (switched_off, beside_rules))


def test_what_is_probed_counts_on_all_ranks_and_in_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that is too busy to probe is said to be, and keeps no file."""
    monkeypatch.setenv("RINGTREE_PROBE", "1")
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path))
    num_ranks = 3
    counts = [1, 1000, 1 << 20]
    chosen = ringtree.run(lambda comm: [comm.choice("all_reduce", count) for count in counts], num_ranks, profile="")
    assert all(of_rank == chosen[0] for of_rank in chosen)
    for count, choice in zip(counts, chosen[0], strict=True):
        found = explain(Loaded(), "all_reduce", num_ranks, 4 * count)
        assert (found.algorithm, found.reason) == (choice.algorithm, choice.reason)
        source = found.reason.rpartition("; constants ")[2].removesuffix(")")
        assert found.notes[-1].startswith(f"constants {source}: ")
        kept = list(tmp_path.glob("machine/*.txt"))
        assert len(kept) == 1 or (not kept and " gave no steady result: built-in values are used" in found.notes[-1])
        told_of_one_rank = explain(Loaded(), "all_reduce", 1, 4 * count).notes[-1]
        assert told_of_one_rank == "constants built in", "the engine does not probe for one rank"


def test_a_variable_that_is_neither_0_nor_1_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGTREE_PROBE", "maybe")
    for ask in (lambda: explain(Loaded(), "all_reduce", 2, 8), lambda: ringtree.run(lambda comm: comm.rank, 2)):
        with pytest.raises(UsageError, match="invalid RINGTREE_PROBE 'maybe': 0 probes nothing"):
            ask()
