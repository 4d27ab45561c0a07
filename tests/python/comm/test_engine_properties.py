"""Random calls of the engine against NumPy: collective, algorithm, protocol, ranks, channels, dtype, op, count, uneven
blocks, alignment, in place or not, slices, streaming, shared buffers, in the background or not, deterministic or not.
Every result must be what NumPy gives, and nothing beside it written.

Ranks are threads of this process. The calls are drawn alike in every run: there is no seed to note. A failure prints
its case, which repeats it: check(Case(...), worlds.ranks(case)). Not for bfloat16 and float8, which NumPy lacks: they
are folded in tests/core/reduce and in test_tensor_ops.py. Not for transfers: test_transfer_properties.py.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np
import pytest
from engine_case import COLLECTIVES, COMPLEX, DTYPES, FLOATS, INTEGERS, LOGICAL, OPS, Case, kinds_of, ops_of
from engine_draws import MOST_BYTES, RANKS, WAYS, Cases
from engine_oracle import Array, contribution, expected, factor_of
from engine_ranks import Ranks
from engine_support import Outcome, call, mistakes

import ringtree
from ringtree import _core

NUM_CASES = 2500
SEED = 20
TIMEOUT_S = 60.0  # of a call that should take milliseconds: a hang is an error with a name, not a stuck test


def make_ranks(world: tuple[int, int, bool]) -> Ranks:
    ranks, channels, deterministic = world
    # No profile: what somebody tuned on this machine must not decide what is tested.
    return Ranks(ranks, channels=channels, deterministic=deterministic, timeout=TIMEOUT_S, profile="")


def outcomes_of(case: Case, ranks: Ranks) -> list[Outcome]:
    return ranks.run(lambda comm: call(case, comm))


def check(case: Case, ranks: Ranks) -> None:
    """Runs the case and raises an AssertionError that repeats it if anything is wrong."""
    try:
        wrong = mistakes(case, outcomes_of(case, ranks))
    except ringtree.RingtreeError as error:
        wrong = [f"{type(error).__name__}: {error}"]
    assert not wrong, "\n".join([*wrong, repr(case)])


@pytest.mark.slow
def test_every_call_gives_what_numpy_gives() -> None:
    cases = Cases(SEED)
    drawn = [cases.next() for _ in range(NUM_CASES)]
    ways = Counter((case.collective, case.algorithm, case.protocol) for case in drawn)
    assert set(ways) == set(WAYS), "every algorithm with every protocol must have been drawn"
    kinds = {(case.collective, case.dtype, case.op) for case in drawn}
    defined = {(collective, *kind) for collective in COLLECTIVES for kind in kinds_of(collective)}
    assert kinds == defined, "every op of every dtype must have been drawn for every collective"

    print(f"{NUM_CASES} cases, seed {SEED}, up to {max(RANKS)} ranks and {MOST_BYTES} bytes, timeout {TIMEOUT_S} s")
    # Communicators are made once, for all cases that they can run.
    for world, of_world in itertools.groupby(sorted(drawn, key=lambda case: case.world), lambda case: case.world):
        with closing(make_ranks(world)) as ranks:
            for case in of_world:
                check(case, ranks)


PLAIN = Case(
    ranks=3,
    channels=1,
    deterministic=False,
    collective="all_reduce",
    algorithm="ring",
    protocol="simple",
    dtype="float32",
    op="sum",
    count=100,
    counts=(),
    root=0,
    in_place=False,
    offset=4,
    slice_bytes=0,
    streaming=None,
    shared_input=False,
    shared_output=False,
    started=False,
    seed=1,
)


@pytest.fixture(scope="module")
def three() -> Iterator[Ranks]:
    with closing(make_ranks(PLAIN.world)) as ranks:
        yield ranks


def test_the_check_sees_a_corrupted_result(three: Ranks) -> None:
    assert mistakes(PLAIN, outcomes_of(PLAIN, three)) == []
    for rank in range(PLAIN.ranks):
        corrupted = outcomes_of(PLAIN, three)
        output = corrupted[rank].output
        assert output is not None
        output[57] += 1
        wrong = mistakes(PLAIN, corrupted)
        assert wrong[0].startswith(f"rank {rank}: element 57 is ")
        assert wrong[0].endswith("1 differ")
        assert wrong[1] == "ranks have different bits"


def test_the_check_sees_blocks_that_changed_places(three: Ranks) -> None:
    for collective in ("gather", "scatter", "all_gather", "all_to_all", "reduce_scatter"):
        case = dataclasses.replace(PLAIN, collective=collective, algorithm="auto", root=1)
        outcomes = outcomes_of(case, three)
        assert mistakes(case, outcomes) == []
        if collective in ("scatter", "reduce_scatter"):
            moved = [outcomes[1], outcomes[0], outcomes[2]]
        else:
            moved = [
                outcome if outcome.output is None else dataclasses.replace(outcome, output=np.roll(outcome.output, 100))
                for outcome in outcomes
            ]
        assert any("differ" in line for line in mistakes(case, moved)), collective


def test_the_check_sees_what_was_not_asked_for(three: Ranks) -> None:
    outcomes = outcomes_of(PLAIN, three)
    assert "rank 0 ran algorithm ring, not tree" in mistakes(dataclasses.replace(PLAIN, algorithm="tree"), outcomes)
    assert "rank 2 ran protocol simple, not ll" in mistakes(dataclasses.replace(PLAIN, protocol="ll"), outcomes)
    with pytest.raises(AssertionError, match=r"UsageError: .*star(.|\n)*Case\(ranks=3, .*seed=1\)"):
        check(dataclasses.replace(PLAIN, algorithm="star"), three)


def test_the_table_of_ops_and_dtypes_is_the_engines() -> None:
    assert set(_core.reduce_ops()) == set(OPS)
    sizes = {name: size for name, size in _core.dtypes() if name in np.sctypeDict}
    assert sizes == {name: np.dtype(name).itemsize for name in DTYPES}
    assert {collective for collective, _, _ in WAYS} == set(COLLECTIVES)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if ops_of(dtype) != OPS])
def test_what_is_not_defined_is_refused_and_harms_nobody(dtype: str, three: Ranks) -> None:
    for op in set(OPS) - set(ops_of(dtype)):
        for collective in ("all_reduce", "reduce"):
            case = dataclasses.replace(PLAIN, collective=collective, algorithm="auto", dtype=dtype, op=op)

            def refused(comm: ringtree.Communicator, case: Case = case) -> str:
                array = np.ones(3, case.dtype)
                with pytest.raises(ringtree.UsageError) as caught:
                    getattr(comm, case.collective)(array, op=case.op)
                assert (array == 1).all()
                return str(caught.value)

            for text in three.run(refused):
                assert text.startswith(f"{op} is not defined for {dtype}")
    check(PLAIN, three)


def by_hand(case: Case) -> Array:
    """What the first rank of an all_reduce must get, in numbers without end and from the last rank to the first."""
    wide = "longdouble" if case.dtype in FLOATS else "clongdouble" if case.dtype in COMPLEX else "object"
    parts = [contribution(case, rank).astype(wide) for rank in reversed(range(case.ranks))]
    if case.op == "premul_sum":
        factors = [factor_of(case, rank) for rank in reversed(range(case.ranks))]
        parts = [
            part * (int(factor) if wide == "object" else factor) for part, factor in zip(parts, factors, strict=True)
        ]
    truth: dict[str, Callable[[bool, bool], bool]] = {"land": operator.and_, "lor": operator.or_, "lxor": operator.ne}
    if case.op in LOGICAL:
        return np.array(
            [int(functools.reduce(truth[case.op], map(bool, column))) for column in zip(*parts, strict=True)]
        )
    fold: dict[str, Callable[[Array, Array], Array]] = {"prod": np.multiply, "min": np.minimum, "max": np.maximum}
    fold |= {"band": operator.and_, "bor": operator.or_, "bxor": operator.xor}
    total = functools.reduce(fold.get(case.op, np.add), parts)
    if case.dtype not in INTEGERS:
        return np.asarray(total / case.ranks) if case.op == "avg" else total
    bits = np.iinfo(case.dtype).bits
    lowest = np.iinfo(case.dtype).min
    wrapped = [(value - lowest) % (1 << bits) + lowest for value in total]
    if case.op == "avg":
        wrapped = [abs(value) // case.ranks * (-1 if value < 0 else 1) for value in wrapped]
    return np.array(wrapped, "object")


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_oracle_itself_is_exact(dtype: str) -> None:
    for op in ops_of(dtype):
        case = dataclasses.replace(PLAIN, dtype=dtype, op=op, ranks=max(RANKS), count=500)
        wanted = expected(case, 0)
        assert wanted is not None
        assert wanted.dtype == dtype
        np.testing.assert_array_equal(wanted, by_hand(case).astype(dtype), strict=True)
        assert len(np.unique(wanted)) > 1, f"{op}: a result that is the same everywhere shows little"
