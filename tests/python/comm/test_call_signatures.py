"""In which order collectives take what is given without a name: programs rely on it, and no star in the signature holds
it (comm/collectives.py says why). A parameter is added at the end."""

from __future__ import annotations

import inspect

import pytest

from ringtree.comm.collectives import Collectives
from ringtree.traits import COLLECTIVES

LAST = ("protocol", "slice_bytes", "streaming")
ORDER = {
    "all_reduce": ("array", "op", "out", "algorithm", "timeout", "factor", *LAST),
    "reduce_scatter": ("array", "out", "op", "algorithm", "timeout", "counts", "factor", *LAST),
    "all_gather": ("array", "out", "algorithm", "timeout", "counts", *LAST),
    "broadcast": ("array", "root", "algorithm", "timeout", "out", *LAST),
    "reduce": ("array", "root", "op", "out", "algorithm", "timeout", "factor", *LAST),
    "gather": ("array", "out", "root", "algorithm", "timeout", "counts", *LAST),
    "scatter": ("array", "out", "root", "algorithm", "timeout", "counts", *LAST),
    "all_to_all": ("array", "out", "algorithm", "timeout", "send_counts", "recv_counts", *LAST),
    "barrier": ("timeout",),
}


def order_of(method: object) -> tuple[str, ...]:
    """Returns the names of what `method` takes by position, after self."""
    assert callable(method)
    _, *parameters = inspect.signature(method).parameters.values()
    return tuple(one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize("name", ORDER)
def test_positions_stay_as_they_are(name: str) -> None:
    assert order_of(getattr(Collectives, name)) == ORDER[name]


def test_every_collective_has_its_order() -> None:
    assert set(ORDER) == {*COLLECTIVES, "barrier"}


def test_a_changed_order_is_noticed() -> None:
    def all_reduce(self, array, out=None, op="sum"):  # type: ignore[no-untyped-def]
        """As all_reduce, with two parameters exchanged."""

    assert order_of(all_reduce) == ("array", "out", "op") != ORDER["all_reduce"][:3]
