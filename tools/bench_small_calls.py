"""What a call costs that moves next to nothing: ns of Python, of the binding and of the engine together, on one rank.

    python tools/bench_small_calls.py            # or with --torch, the torch.distributed backend as well

For: whoever changes comm/collectives.py, core/bindings or the torch backend. Each line is the best and the median of
REPETITIONS times CALLS calls, by the clock and by the thread's CPU time: on a machine that others use, too, compare the
CPU's best before and after, by turns. Not for: waits for peers (make bench), the engine alone (tests/bench), tests.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ringtree
from ringtree import ThreadStore

REPETITIONS, CALLS = 60, 2000


def ns_a_call(call: Callable[[], Any]) -> tuple[list[float], list[float]]:
    """Returns ns of a call, by repetition: by the clock, and of the thread's CPU time."""
    wall, cpu = [], []
    for _ in range(REPETITIONS):
        begin, cpu_begin = time.perf_counter_ns(), time.thread_time_ns()
        for _ in range(CALLS):
            call()
        wall.append((time.perf_counter_ns() - begin) / CALLS)
        cpu.append((time.thread_time_ns() - cpu_begin) / CALLS)
    return wall, cpu


def report(name: str, call: Callable[[], Any]) -> None:
    """Prints a line."""
    wall, cpu = ns_a_call(call)
    print(
        f"{name:34} clock {min(wall):6.0f} (median {statistics.median(wall):6.0f})  "
        f"CPU {min(cpu):6.0f} (median {statistics.median(cpu):6.0f}) ns a call",
        flush=True,
    )


def measure_arrays(comm: ringtree.Communicator) -> None:
    """NumPy's arrays, and what is not an array of anybody's."""
    array, out = np.zeros(2, np.float32), np.zeros(2, np.float32)
    comm.all_reduce(array)
    report("nothing (an empty function)", lambda: None)
    report("NumPy, in place", lambda: comm.all_reduce(array))
    report("NumPy, out of place", lambda: comm.all_reduce(array, out=out))
    report("NumPy, broadcast", lambda: comm.broadcast(array))
    report("NumPy, all_gather", lambda: comm.all_gather(array, out))
    report("barrier", comm.barrier)


def measure_tensors(comm: ringtree.Communicator) -> None:
    """PyTorch's tensors, if it is there."""
    try:
        import torch
    except ImportError:
        return

    class Subclass(torch.Tensor):
        """Looked at by DLPack."""

    tensor, out = torch.zeros(2), torch.zeros(2)
    parameter = torch.nn.Parameter(torch.zeros(2), requires_grad=False)
    subclass = torch.zeros(2).as_subclass(Subclass)
    report("tensor, in place", lambda: comm.all_reduce(tensor))
    report("tensor, out of place", lambda: comm.all_reduce(tensor, out=out))
    report("Parameter, in place", lambda: comm.all_reduce(parameter))
    report("a subclass of Tensor, in place", lambda: comm.all_reduce(subclass))


def measure_backend() -> None:
    """all_reduce of the torch.distributed backend, and of Gloo."""
    import torch
    import torch.distributed as dist
    from torch._C._distributed_c10d import HashStore

    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    data = torch.zeros(2)
    for name in ("gloo", "ringtree"):
        group = dist.new_group([0], backend=name)
        report(f"dist.all_reduce, {name}", partial(dist.all_reduce, data, group=group))

        def waited(group: dist.ProcessGroup = group) -> None:
            work = dist.all_reduce(data, group=group, async_op=True)
            assert work is not None
            work.wait()

        report(f"dist.all_reduce, {name}, async", waited)
    dist.destroy_process_group()


def main() -> None:
    """Prints a line a kind of call."""
    with ringtree.init(0, 1, ThreadStore()) as comm:
        measure_arrays(comm)
        measure_tensors(comm)
    if "--torch" in sys.argv[1:]:
        measure_backend()


if __name__ == "__main__":
    main()
