"""Random calls of the engine against NumPy: collective, algorithm, protocol, ranks, channels, dtype, op, count,
alignment, in place or not, slices, streaming. Every result must be what NumPy gives, and nothing beside it written.

Ranks are threads of this process. The calls are drawn alike in every run: there is no seed to note. A failure prints
its case, which repeats it: check(Case(...), worlds). Not for bfloat16 and float8, which NumPy lacks: they are folded in
tests/core/reduce and moved in test_tensors.py.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from engine_ranks import Ranks
from engine_support import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    REDUCING,
    Array,
    Case,
    Outcome,
    call,
    contribution,
    expected,
    mistakes,
    ops_of,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ringtree

NUM_CASES = 2000
MOST_BYTES = 200_000  # of the larger array of a rank
TIMEOUT_S = 30.0  # of a call that should take milliseconds: a hang is an error with a name, not a stuck test

SUPPORTED = [
    (collective, algorithm, protocol) for collective, algorithm, protocol, reason in ringtree.support() if not reason
]
AUTO = [(collective, "auto", "auto") for collective in sorted({collective for collective, _, _ in SUPPORTED})]


# Hypothesis draws most often what it holds for simple, 0 and the first of a list: what matters least must not be there.
RANKS = (4, 3, 8, 2, 5, 6, 7, 1)


@st.composite
def counts(draw: st.DrawFn, item_bytes: int, most: int) -> int:
    """Elements: many; about a line of ll128 (56 bytes), of a cache (64), a slice, a page; an odd number; or few."""
    kind = draw(st.sampled_from(["many", "ll128", "lines", "odd", "few"]))
    if kind == "many":
        count = most - draw(st.integers(0, most))
    elif kind == "ll128":
        count = 56 * draw(st.integers(1, 40)) // item_bytes + draw(st.integers(-1, 1))
    elif kind == "lines":
        count = 64 * draw(st.sampled_from([65, 1, 2, 4, 64, 128, 1024])) // item_bytes + draw(st.integers(-1, 1))
    elif kind == "odd":
        count = 2 * draw(st.integers(0, 500)) + 1
    else:
        count = draw(st.sampled_from([14, 0, 1, 2, 3, 5, 7, 13, 15]))
    return min(count, most)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    collective, algorithm, protocol = draw(st.sampled_from(SUPPORTED + AUTO))
    ranks = draw(st.sampled_from(RANKS))
    dtype = draw(st.sampled_from(DTYPES))
    item_bytes = np.dtype(dtype).itemsize
    blocks = ranks if collective in ("reduce_scatter", "all_gather") else 1
    return Case(
        ranks=ranks,
        channels=draw(st.sampled_from([1, 2, 3])),
        collective=collective,
        algorithm=algorithm,
        protocol=protocol,
        dtype=dtype,
        op=draw(st.sampled_from(ops_of(dtype))) if collective in REDUCING else "sum",
        count=draw(counts(item_bytes, MOST_BYTES // item_bytes // blocks)),
        root=draw(st.integers(0, ranks - 1)) if collective in ("broadcast", "reduce") else 0,
        in_place=collective == "broadcast" or draw(st.booleans()),
        offset=draw(st.sampled_from([8, 0, 1, 4, 20, 63])),
        slice_bytes=draw(st.sampled_from([0, 0, 64, 1000, 4096, 1 << 16])),
        streaming=draw(st.sampled_from([None, False, True])),
        seed=draw(st.integers(0, 2**31)),
    )


class Worlds:
    """The ranks of each world size and number of channels, made when first needed; made anew after an error."""

    def __init__(self) -> None:
        self._ranks: dict[tuple[int, int], Ranks] = {}

    def outcomes(self, case: Case) -> list[Outcome]:
        world = case.ranks, case.channels
        if world not in self._ranks:
            # No profile: what somebody tuned on this machine must not decide what is tested.
            self._ranks[world] = Ranks(case.ranks, channels=case.channels, timeout=TIMEOUT_S, profile="")
        try:
            return self._ranks[world].run(lambda comm: call(case, comm))
        except BaseException:
            self._ranks.pop(world).close()
            raise

    def close(self) -> None:
        for ranks in self._ranks.values():
            ranks.close()


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    made = Worlds()
    yield made
    made.close()


def check(case: Case, worlds: Worlds) -> None:
    """Runs the case and raises an AssertionError that repeats it if anything is wrong."""
    try:
        wrong = mistakes(case, worlds.outcomes(case))
    except ringtree.RingtreeError as error:
        wrong = [f"{type(error).__name__}: {error}"]
    assert not wrong, "\n".join([*wrong, repr(case)])


@pytest.mark.slow
def test_every_call_gives_what_numpy_gives(worlds: Worlds) -> None:
    drawn: Counter[tuple[str, str, str]] = Counter()

    # No shrinking: after a hang every further attempt would wait for the deadline again.
    @settings(
        max_examples=NUM_CASES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def run(case: Case) -> None:
        drawn[case.collective, case.algorithm, case.protocol] += 1
        check(case, worlds)

    print(f"{NUM_CASES} cases, derandomized, up to {max(RANKS)} ranks and {MOST_BYTES} bytes, timeout {TIMEOUT_S} s")
    run()
    assert set(drawn) == set(SUPPORTED + AUTO), "every algorithm with every protocol must have been drawn"
    assert drawn.total() >= NUM_CASES


PLAIN = Case(
    ranks=3,
    channels=1,
    collective="all_reduce",
    algorithm="ring",
    protocol="simple",
    dtype="float32",
    op="sum",
    count=100,
    root=0,
    in_place=False,
    offset=4,
    slice_bytes=0,
    streaming=None,
    seed=1,
)


def test_the_check_sees_a_corrupted_result(worlds: Worlds) -> None:
    assert mistakes(PLAIN, worlds.outcomes(PLAIN)) == []
    for rank in range(PLAIN.ranks):
        corrupted = worlds.outcomes(PLAIN)
        output = corrupted[rank].output
        assert output is not None
        output[57] += 1
        wrong = mistakes(PLAIN, corrupted)
        assert wrong[0].startswith(f"rank {rank}: element 57 is ")
        assert wrong[0].endswith("1 differ")
        assert wrong[1] == "ranks have different bits"


def test_the_check_sees_what_was_not_asked_for(worlds: Worlds) -> None:
    outcomes = worlds.outcomes(PLAIN)
    assert "rank 0 ran algorithm ring, not tree" in mistakes(dataclasses.replace(PLAIN, algorithm="tree"), outcomes)
    assert "rank 2 ran protocol simple, not ll" in mistakes(dataclasses.replace(PLAIN, protocol="ll"), outcomes)
    with pytest.raises(AssertionError, match=r"UsageError: .*star(.|\n)*Case\(ranks=3, .*seed=1\)"):
        check(dataclasses.replace(PLAIN, algorithm="star"), worlds)


def by_hand(case: Case) -> Array:
    """What the first rank of an all_reduce must get, in numbers without end and from the last rank to the first."""
    wide = "longdouble" if case.dtype in FLOATS else "clongdouble" if case.dtype in COMPLEX else "object"
    parts = [contribution(case, rank).astype(wide) for rank in reversed(range(case.ranks))]
    fold: dict[str, Callable[[Array, Array], Array]] = {"prod": np.multiply, "min": np.minimum, "max": np.maximum}
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
