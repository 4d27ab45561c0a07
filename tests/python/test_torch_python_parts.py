"""What the backend in Python is made of, without PyTorch's class for such backends, so on every version: the C API by
ctypes against its header, each collective between ranks that are threads, and which backend is taken."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d
from torch_cases import equal, numbers

import ringtree
import ringtree.torch
from ringtree import _core
from ringtree.errors import UsageError
from ringtree.torch import building, python_backend
from ringtree.torch.building import BuildError
from ringtree.torch.python_backend import library
from ringtree.torch.python_backend.backend import Calls
from ringtree.torch.python_backend.group import UNSET
from ringtree.torch.python_backend.tensors import apart

pytestmark = pytest.mark.torch

HEADER = (Path(_core.__file__).parent / "include" / "ringtree.h").read_text()
C_TYPES = {
    "rtUniqueId": library.UniqueId,
    "rtUniqueId*": ctypes.POINTER(library.UniqueId),
    "rtConfig_t*": ctypes.POINTER(library.Config),
    "rtComm_t": ctypes.c_void_p,
    "rtComm_t*": ctypes.POINTER(ctypes.c_void_p),
    "rtResult_t": ctypes.c_int,
    "rtResult_t*": ctypes.POINTER(ctypes.c_int),
    "rtDataType_t": ctypes.c_int,
    "rtRedOp_t": ctypes.c_int,
    "rtRedOp_t*": ctypes.POINTER(ctypes.c_int),
    "rtMessageDone_t": library.MessageDone,
    "size_t": ctypes.c_size_t,
    "size_t*": ctypes.POINTER(ctypes.c_size_t),
    "double": ctypes.c_double,
    "int": ctypes.c_int,
    "void*": ctypes.c_void_p,
    "char*": ctypes.c_char_p,
}


def c_types(arguments: str) -> tuple[Any, ...]:
    """Of a declaration's arguments: `const void* input, int root`."""
    words = (re.sub(r"\bconst\b", "", argument).split() for argument in arguments.split(","))
    return tuple(C_TYPES["".join(argument[:-1])] for argument in words)


@pytest.mark.parametrize("name", library.FUNCTIONS)
def test_functions_are_declared_as_in_the_header(name: str) -> None:
    declared = re.search(rf"RT_API ([\w* ]+?) ?{name}\(([^)]*)\);", HEADER)
    assert declared is not None
    returned, arguments = declared.groups()
    assert returned == ("const char*" if name in library._TEXTS else "rtResult_t")
    assert c_types(" ".join(arguments.split())) == library.FUNCTIONS[name]


def test_structures_and_numbers_are_those_of_the_header() -> None:
    fields = re.search(r"typedef struct \{([^}]*)\} rtConfig_t;", HEADER)
    assert fields is not None
    lines = re.sub(r"/\*.*?\*/", "", fields.group(1), flags=re.DOTALL).replace("(*interrupted)(void)", "*interrupted")
    found = [line.split() for line in lines.split(";") if line.strip()]
    assert [words[-1].lstrip("*") for words in found] == [name for name, _ in library.Config._fields_]
    assert [C_TYPES[words[-2]] for words in found[:-1]] == [kind for _, kind in library.Config._fields_[:-1]]
    assert f"#define RT_UNIQUE_ID_BYTES {ctypes.sizeof(library.UniqueId)}\n" in HEADER
    told = re.search(r"typedef void \(\*rtMessageDone_t\)\(([^)]*)\);", HEADER)
    assert told is not None
    assert c_types(told.group(1)) == library.MessageDone._argtypes_
    for name in ("SUCCESS", "INVALID_ARGUMENT", "INVALID_USAGE", "REMOTE_ERROR", "TIMEOUT"):
        named = "rt" + "".join(word.title() for word in name.split("_"))
        assert re.search(rf"\b{named} = {getattr(library, name)}\b", HEADER), named


class Threads:
    """Ranks that are threads, each with its end of one group."""

    def __init__(self, size: int, timeout_s: float = 30.0) -> None:
        self.size = size
        self._store = dist.HashStore()
        self._pool = ThreadPoolExecutor(size)
        timeout = timedelta(seconds=timeout_s)
        self.groups = self.run(lambda rank: Calls(self._store, rank, size, timeout, ""))

    def run(self, body: Callable[..., Any]) -> list[Any]:
        """Calls `body(rank)` on all, or `body(rank, group)` once there are groups; what they return."""
        arguments = [(rank, group) for rank, group in enumerate(getattr(self, "groups", []))]
        waits = [self._pool.submit(body, *each) for each in arguments or [(rank,) for rank in range(self.size)]]
        return [wait.result(60) for wait in waits]

    def close(self) -> None:
        for group in getattr(self, "groups", []):
            group.abort()
            group.shutdown()
        self._pool.shutdown()


@pytest.fixture(params=[1, 2, 3])
def ranks(request: pytest.FixtureRequest) -> Iterator[Threads]:
    made = Threads(request.param)
    yield made
    made.close()


@pytest.fixture
def two() -> Iterator[Threads]:
    made = Threads(2)
    yield made
    made.close()


def options(**values: object) -> SimpleNamespace:
    """As PyTorch's options, of whatever call."""
    found = SimpleNamespace(timeout=UNSET, rootRank=0, reduceOp=dist.ReduceOp(dist.ReduceOp.SUM))
    found.__dict__.update(values)
    return found


def total(size: int, count: int) -> torch.Tensor:
    return sum(numbers(rank, count) for rank in range(size))  # type: ignore[return-value]


def test_reductions(ranks: Threads) -> None:
    size = ranks.size

    def body(rank: int, group: Calls) -> None:
        data = numbers(rank, 6).view(2, 3).t()  # does not lie side by side
        group.allreduce([data], options()).wait()
        equal(data, total(size, 6).view(2, 3).t())
        data = numbers(rank, 6) * 2
        group.allreduce([data], options(reduceOp=dist._make_nccl_premul_sum(0.5))).wait()
        equal(data, total(size, 6))
        for count in (10, 100_000):  # packed, and one after the other
            many = [numbers(rank, count), numbers(rank, 0), numbers(rank, 2 * count).view(2, count).t()]
            group.allreduce_coalesced(many, options()).wait()
            equal(many[0], total(size, count))
            equal(many[2], total(size, 2 * count).view(2, count).t())
        data = numbers(rank, 6).view(2, 3).t()
        group.reduce([data], options(rootRank=size - 1)).wait()
        equal(data, (total(size, 6) if rank == size - 1 else numbers(rank, 6)).view(2, 3).t())
        for counts in ([4] * size, list(range(size))):
            blocks, output = numbers(rank, sum(counts)).split(counts), torch.zeros(counts[rank])
            group.reduce_scatter([output], [list(blocks)], options()).wait()
            equal(output, total(size, sum(counts)).split(counts)[rank])
        whole = numbers(rank, 4 * size)
        group.reduce_scatter_single(whole[:4], whole, options()).wait()  # shares memory
        equal(whole[:4], total(size, 4 * size)[4 * rank : 4 * rank + 4])

    ranks.run(body)


def test_gathers(ranks: Threads) -> None:
    size = ranks.size

    def body(rank: int, group: Calls) -> None:
        for counts in ([3] * size, list(range(size))):
            outputs = [torch.zeros(count) for count in counts]
            group.allgather([outputs], [numbers(rank, counts[rank])], options()).wait()
            for r, output in enumerate(outputs):
                equal(output, numbers(r, counts[r]))
        whole = torch.zeros(4 * size)
        own = whole[4 * rank : 4 * rank + 4].copy_(numbers(rank, 4))
        group.all_gather_single(whole, own, options()).wait()  # shares memory
        equal(whole, torch.cat([numbers(r, 4) for r in range(size)]))
        lists = [[torch.zeros(3), torch.zeros(2, dtype=torch.int64)] for _ in range(size)]
        group.allgather_coalesced(lists, [numbers(rank, 3), numbers(rank, 2, torch.int64)], options()).wait()
        for r, (first, second) in enumerate(lists):
            equal(first, numbers(r, 3))
            equal(second, numbers(r, 2, torch.int64))
        outputs = [torch.zeros(2, 3).t() for _ in range(size)]
        own = numbers(rank, 6).view(3, 2)
        group.gather([outputs] if rank == size - 1 else [], [own], options(rootRank=size - 1)).wait()
        for r, output in enumerate(outputs):
            equal(output, numbers(r, 6).view(3, 2) if rank == size - 1 else torch.zeros(3, 2))

    ranks.run(body)


def test_movements(ranks: Threads) -> None:
    size = ranks.size

    def body(rank: int, group: Calls) -> None:
        data = numbers(rank, 6).view(2, 3).t()
        group.broadcast([data], options(rootRank=size - 1)).wait()
        equal(data, numbers(size - 1, 6).view(2, 3).t())
        blocks, own = [numbers(r, 6).view(2, 3).t() for r in range(size)], torch.zeros(3, 2)
        group.scatter([own], [blocks] if rank == 0 else [], options()).wait()
        equal(own, numbers(rank, 6).view(2, 3).t())
        even = numbers(rank, 2 * size)
        group.all_to_all_single(even, even, [], [], options()).wait()  # shares memory
        equal(even, torch.cat([numbers(r, 2 * size)[2 * rank : 2 * rank + 2] for r in range(size)]))
        sent = [rank + to for to in range(size)]  # and as many come back
        rows, got = torch.full((sum(sent), 2), float(rank)), torch.zeros(sum(sent), 2)
        group.all_to_all_single(got, rows, sent, sent, options()).wait()
        equal(got, torch.cat([torch.full((rank + r, 2), float(r)) for r in range(size)]))
        outputs = [torch.zeros(rank + r + 1) for r in range(size)]
        group.alltoall(outputs, [numbers(rank, rank + to + 1) for to in range(size)], options()).wait()
        for r, output in enumerate(outputs):
            equal(output, numbers(r, rank + r + 1))
        group.barrier(options()).wait()

    ranks.run(body)


def test_messages(ranks: Threads) -> None:
    right = [(rank + 1) % ranks.size for rank in range(ranks.size)]

    def body(rank: int, group: Calls) -> None:
        left = right.index(rank)
        got = [torch.zeros(2, 3).t(), torch.zeros(5)]
        receives = [group.recv([tensor], left, tag) for tag, tensor in enumerate(got)]
        then = receives[1].get_future().then(lambda future: future.value()[0] + 1)
        sends = [group.send([numbers(rank, 5)], right[rank], 1), group.send([numbers(rank, 6)], right[rank], 0)]
        for work in (*receives, *sends):
            work.wait()
        equal(got[0], numbers(left, 6).view(3, 2))
        equal(then.wait(), numbers(left, 5) + 1)
        with pytest.raises(RuntimeError, match="name the source"):
            group.recv_anysource([torch.zeros(1)], 0)

    ranks.run(body)


def test_sparse(ranks: Threads) -> None:
    def part(rank: int) -> torch.Tensor:
        indices = torch.tensor([[rank, rank + 1, rank], [0, 2, 0]])  # one place twice
        return torch.sparse_coo_tensor(indices, torch.ones(3, 2) * (rank + 1), (ranks.size + 1, 3, 2))

    def body(rank: int, group: Calls) -> None:
        mine = part(rank)
        group.allreduce([mine], options()).wait()
        equal(mine.to_dense(), sum(part(r).to_dense() for r in range(ranks.size)))  # type: ignore[arg-type]
        other = torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.int64), torch.zeros(0), (4 + (rank == 1),))
        work = group.allreduce([other], options())
        if ranks.size == 1:
            work.wait()
            return
        with pytest.raises(ValueError, match="has other sizes"):
            work.wait()

    ranks.run(body)


def test_a_mismatch_names_both(two: Threads) -> None:
    def body(rank: int, group: Calls) -> None:
        work = group.allreduce([torch.zeros(4 + rank)], options())
        future = work.get_future()
        with pytest.raises(dist.DistBackendError, match=r"(?s)rank 0.*rank 1") as told:
            work.wait()
        with pytest.raises(RuntimeError, match="rank 1"):
            future.wait()
        assert "all_reduce" in str(told.value)
        with pytest.raises(dist.DistBackendError):
            group.barrier(options()).wait()
        if hasattr(c10d, "ErrorType"):  # from 2.7 on
            assert group.get_error() == c10d.ErrorType.COMM_ERROR

    two.run(body)


def test_a_deadline_and_an_abort(two: Threads) -> None:
    def body(rank: int, group: Calls) -> None:
        if rank == 1:
            return
        with pytest.raises(dist.DistBackendError, match=r"Timed out waiting.*rank 1"):
            group.barrier(options(timeout=timedelta(milliseconds=200))).wait()
        if hasattr(c10d, "ErrorType"):
            assert group.get_error() == c10d.ErrorType.TIMEOUT

    two.run(body)
    receive = two.groups[1].recv([torch.zeros(3)], 0, 0)
    with pytest.raises(dist.DistBackendError, match="Timed out waiting 50 ms"):
        receive.wait(timedelta(milliseconds=50))
    two.groups[1].abort()
    with pytest.raises(dist.DistBackendError, match="rank 1 aborted its process group"):
        receive.wait()


def test_monitored_barrier(two: Threads) -> None:
    two.run(lambda _, group: group.monitored_barrier(options(timeout=timedelta(seconds=20))))
    with pytest.raises(RuntimeError, match=r"\[Rank 0\]: Rank 1 failed to pass monitoredBarrier in 100 ms"):
        two.groups[0].monitored_barrier(timedelta(milliseconds=100))


def test_what_a_callback_calls_runs_after_what_is_queued(two: Threads) -> None:
    """And at once: it waits for it there."""
    begin = threading.Event()

    def body(rank: int, group: Calls) -> None:
        order: list[str] = []

        def then(_: object) -> None:
            assert group._queue.is_own_thread
            group.barrier(options()).wait()
            order.append("nested")

        if rank == 1:
            begin.wait(20)
        works = [group.barrier(options()) for _ in range(2)]
        works[1].get_future().add_done_callback(lambda _: order.append("second"))
        future = works[0].get_future().then(then) if rank == 0 else None
        begin.set()
        if future is None:
            group.barrier(options()).wait()
            return
        future.wait()
        assert order == ["second", "nested"]

    two.run(body)


def test_a_group_goes_with_its_last_reference(two: Threads) -> None:
    """Also after an error, whose traceback has the group in its variables."""

    def body(rank: int, group: Calls) -> None:
        with pytest.raises(dist.DistBackendError):
            group.allreduce([torch.zeros(3 + rank)], options()).wait()

    gc.disable()
    try:
        two.run(body)
        kept = [weakref.ref(group) for group in two.groups]
        two.groups.clear()
        two.close()  # threads of the pool may still hold them
        assert [group() for group in kept] == [None, None]
    finally:
        gc.enable()


def test_memory_that_is_shared_is_copied() -> None:
    data = torch.arange(10.0)
    assert apart(data[:4], data[4:]).data_ptr() == data.data_ptr()
    copy = apart(data[:4], data[3:])
    assert copy.data_ptr() != data.data_ptr()
    equal(copy, data[:4])


def test_element_types() -> None:
    assert library.datatype_of(torch.zeros(1, dtype=torch.bfloat16)) == 10
    with pytest.raises(TypeError, match=r"moves no tensors of torch\.bits8"):
        library.datatype_of(torch.empty(1, dtype=torch.bits8))


def test_which_backend_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="neither compiled nor python"):
        ringtree.torch._maker("gloo")
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path))  # where nothing was compiled before
    monkeypatch.setenv("CXX", "no-such-compiler")
    building.load.cache_clear()
    for is_possible in (False, True):
        monkeypatch.setattr(python_backend, "is_possible", lambda answer=is_possible: answer)
        with pytest.raises(BuildError, match=r"no C\+\+ compiler"):
            ringtree.torch._maker("compiled")
        if is_possible:
            assert ringtree.torch._maker("python") is python_backend
            with pytest.warns(RuntimeWarning, match=r"no C\+\+ compiler"):
                assert ringtree.torch._maker("") is python_backend
        else:
            with pytest.raises(UsageError, match=r"needs PyTorch 2\.14"):
                ringtree.torch._maker("python")
            with pytest.raises(BuildError, match=r"no C\+\+ compiler"):
                ringtree.torch._maker("")
    assert not list(tmp_path.iterdir())
    assert "RINGTREE_TORCH_BACKEND" not in os.environ
