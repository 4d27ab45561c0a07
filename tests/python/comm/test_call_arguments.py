"""What a call is given beside its ranks: names and numbers that are remembered by the objects that they came in, and
NumPy's arrays, which are looked at by the fields that NumPy shows in C."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator, ThreadStore

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture
def comm() -> Iterator[Communicator]:
    with ringtree.init(0, 1, ThreadStore()) as made:
        yield made


def renamed(name: str) -> str:
    """Returns another object of the same letters, which nobody has interned."""
    other = "".join(list(name))
    assert other is not name or len(name) < 2
    return other


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"op": 3}, "op must be a string, not 3"),
        ({"op": None}, "op must be a string, not None"),
        ({"algorithm": None}, "algorithm must be a name or a Schedule"),
        ({"algorithm": 7}, "algorithm must be a name or a Schedule"),
        ({"protocol": b"ll"}, "protocol must be a string, not b'll'"),
        ({"slice_bytes": -1}, "slice_bytes must be a non-negative integer, not -1"),
        ({"slice_bytes": "4096"}, "slice_bytes must be a non-negative integer, not '4096'"),
        ({"streaming": 2}, "streaming must be True, False or None, not 2"),
        ({"timeout": "soon"}, "timeout must be a number of seconds, not 'soon'"),
        ({"factor": None}, "factor must be a number, not None"),
    ],
)
def test_the_wrong_type_is_a_type_error_of_one_line(comm: Communicator, given: Any, said: str) -> None:
    array = np.ones(3)
    for _ in range(2):  # what was refused is not remembered
        with pytest.raises(TypeError) as raised:
            comm.all_reduce(array, **given)
        assert str(raised.value) == said
    assert comm.all_reduce(array).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"op": "mean"}, "unknown op mean; there are sum, "),
        ({"algorithm": "rong"}, "unknown algorithm 'rong'"),
        ({"protocol": "lll"}, "unknown protocol 'lll'; choose from: simple, ll, ll128"),
        ({"factor": 2.0}, "a factor is for premul_sum only; sum ignores it"),
        ({"timeout": -1}, "timeout must be 0"),
        ({"timeout": float("nan")}, "timeout must be 0"),
    ],
)
def test_an_unknown_name_is_a_usage_error_each_time(comm: Communicator, given: Any, said: str) -> None:
    array = np.ones(3)
    for _ in range(3):
        with pytest.raises(ringtree.UsageError, match=said):
            comm.all_reduce(array, **given)
        assert comm.all_reduce(array).tolist() == [1, 1, 1]


def test_names_count_by_their_letters_not_by_their_object(comm: Communicator) -> None:
    array = np.array([2.0, 3.0])
    for _ in range(3):
        comm.all_reduce(array, renamed("sum"), algorithm=renamed("ring"), protocol=renamed("simple"))
        assert comm.last_call()["algorithm"] == "ring"
        comm.all_reduce(array, renamed("premul_sum"), algorithm=renamed("tree"), factor=0.5 + 0.5)
        assert comm.last_call()["algorithm"] == "tree"
    assert array.tolist() == [2.0, 3.0]


def test_numbers_of_numpy_are_numbers(comm: Communicator) -> None:
    array = np.ones(2)
    comm.broadcast(array, root=np.int64(0), slice_bytes=np.int32(4096), timeout=np.float32(5))
    assert "slices of 4096 bytes" in comm.last_call()["description"]


def test_what_may_change_is_not_kept(comm: Communicator) -> None:
    """A subclass of str may say something else next time, and another object may get its address."""
    word = type("Word", (str,), {})("sum")
    gone = weakref.ref(word)
    comm.all_reduce(np.array([3.0]), word)
    del word
    gc.collect()
    assert gone() is None


class Choosing:
    """A schedule that is another one each time it is asked."""

    def __init__(self) -> None:
        self.names = ["tree", "ring"]

    def verified(self) -> object:
        return ringtree.schedule("all_reduce", self.names.pop(), 1).verified()


def test_an_own_schedule_is_asked_each_time(comm: Communicator) -> None:
    choosing = Choosing()
    for name in ("ring", "tree"):
        comm.all_reduce(np.array([3.0]), algorithm=choosing)  # type: ignore[arg-type]
        assert comm.last_call()["algorithm"] == name


def test_a_name_that_is_not_text_is_a_mistake_of_type(comm: Communicator) -> None:
    with pytest.raises(TypeError, match="algorithm must be a string"):
        comm.all_reduce(np.array([3.0]), algorithm="\ud800")


def test_more_kinds_of_calls_than_are_remembered() -> None:
    """Each with objects of its own, by turns, on ranks that are threads: what one rank asked for is no other's."""
    timeouts = [100.0 + i for i in range(150)]
    ops = {"sum": 3, "max": 2, "min": 1, "prod": 2}

    def work(comm: Communicator) -> None:
        for round_ in range(3):
            for i, timeout in enumerate(timeouts):
                op = list(ops)[(i + round_) % 4]
                array = np.array([comm.rank + 1], np.int64)
                comm.all_reduce(array, renamed(op) if i % 2 else op, timeout=timeout, slice_bytes=4096 * (i % 3))
                assert array.tolist() == [ops[op]], (i, op)
                assert i % 3 == 0 or f"slices of {4096 * (i % 3)} bytes" in comm.last_call()["description"]

    ringtree.run(work, 2)


def test_a_schedule_of_ones_own_is_remembered_by_nobody(comm: Communicator) -> None:
    array = np.array([5.0])
    for _ in range(3):
        for name in ("ring", "tree"):
            comm.all_reduce(array, algorithm=ringtree.schedule("all_reduce", name, 1))
            assert comm.last_call()["algorithm"] == name
    assert array.tolist() == [5.0]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + ["bool", "complex64", "complex128"])
def test_every_dtype_of_numpy_is_moved_where_it_lies(dtype: str) -> None:
    def work(comm: Communicator) -> Any:
        array = np.full((2, 3), comm.rank).astype(dtype)
        assert comm.broadcast(array, root=1) is array
        return array, comm.last_call()["description"]

    for array, description in ringtree.run(work, 2):
        assert (array == np.ones((2, 3), dtype)).all()
        assert dtype in description


@pytest.mark.parametrize("letter", np.typecodes["AllInteger"])
def test_the_integers_of_c_are_those_of_their_length(comm: Communicator, letter: str) -> None:
    """NumPy has a dtype for each of C's integers: on one machine two of them are alike."""
    array = np.array([1, 2, 3], letter)
    assert comm.all_reduce(array).tolist() == [1, 2, 3]
    assert f"count=3, {np.dtype(letter).name}," in comm.last_call()["description"]


def test_shapes_that_lie_side_by_side(comm: Communicator) -> None:
    one_row = np.arange(6.0).reshape(2, 3)[:1]
    column_of_one = np.arange(4.0).reshape(4, 1)[:, :1]
    for array in (np.array(7.0), one_row, column_of_one, np.zeros((0, 3))[:, ::2], np.arange(8.0)[2:5]):
        before = array.tolist()
        comm.all_reduce(array)
        assert array.tolist() == before


class Kept(np.ndarray[Any, Any]):
    """A subclass, which goes by the buffer protocol or DLPack."""


def test_subclasses_and_other_buffers(comm: Communicator) -> None:
    for array in (np.ones(3).view(Kept), bytearray(4), memoryview(bytearray(4))):
        assert comm.all_reduce(array) is array


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: np.ones((4, 4))[:, 0], "the output is not contiguous"),
        (lambda: np.ones((4, 4)).T[:2], "the output is not contiguous"),
        (lambda: np.asfortranarray(np.ones((2, 2))), "the output is not contiguous"),
        (lambda: np.frombuffer(b"12345678"), "the output is read-only"),
        (lambda: np.ones(2, ">f4"), "the output must be a NumPy array or a CPU tensor, not ndarray"),
        (lambda: np.ones(2, np.longdouble), "the output must be a NumPy array or a CPU tensor, not ndarray"),
        (lambda: np.zeros(2, "datetime64[s]"), "the output must be a NumPy array or a CPU tensor, not ndarray"),
        (lambda: np.zeros(2, [("a", "f4")]), "the output must be a NumPy array or a CPU tensor, not ndarray"),
        (lambda: np.array(["a"], object), "the output must be a NumPy array or a CPU tensor, not ndarray"),
        (lambda: [1.0, 2.0], "the output must be a NumPy array or a CPU tensor, not list"),
    ],
)
def test_what_is_no_plain_array_is_refused_in_one_line(comm: Communicator, make: Any, said: str) -> None:
    with pytest.raises(ringtree.UsageError, match=said) as raised:
        comm.all_reduce(make())
    assert "\n" not in str(raised.value)


def test_what_is_only_read_may_be_read_only(comm: Communicator) -> None:
    given, out = np.frombuffer(np.arange(3.0).tobytes()), np.zeros(3)
    assert comm.all_reduce(given, out=out).tolist() == [0, 1, 2]
