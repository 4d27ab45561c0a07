"""Ranks of torch.distributed for tests: processes that stay and run one function of torch_cases after another.

For: what only processes can show, without paying for `import torch` in every test. Not for: ranks that die on purpose
(start some of their own).
"""

from __future__ import annotations

import importlib
import os
import traceback
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from forked import OF_TORCH, PROCESSES, preload, start

LIMIT_S = 120.0  # of one function; what hangs is killed

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}  # of a rank

preload(*OF_TORCH, "ringtree")


class Ranks:
    """`size` processes in one default group of `backend`, made through a file."""

    def __init__(self, size: int, folder: Path, backend: str = "ringtree") -> None:
        self.size = size
        self._pipes: list[Connection] = []
        self._processes = []
        for rank in range(size):
            ours, theirs = PROCESSES.Pipe()
            process = start(_serve, rank, size, str(folder / "store"), backend, theirs)
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._answers("init_process_group")

    def run(self, case: str, *arguments: object, module: str = "torch_cases") -> list[Any]:
        """Runs `case(rank, size, *arguments)` on all ranks; what they return. AssertionError: one has raised."""
        for pipe in self._pipes:
            pipe.send((module, case, arguments))
        return self._answers(case)

    @property
    def pids(self) -> list[int]:
        return [process.pid or 0 for process in self._processes]

    @property
    def alive(self) -> bool:
        """False once a case has failed: where a group stands after that nobody knows."""
        return all(process.is_alive() for process in self._processes)

    def close(self) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            pipe.close()  # a rank that waits for the next function ends
            process.join(20)
            if process.is_alive():
                process.kill()
                process.join()

    def _answers(self, case: str) -> list[Any]:
        answers = []
        failures = []
        for rank, pipe in enumerate(self._pipes):
            if not pipe.poll(LIMIT_S):
                failures.append(f"rank {rank} is still in {case}")
                continue
            try:
                error, value = pipe.recv()
            except EOFError:
                failures.append(f"rank {rank} ended in {case}")
                continue
            answers.append(value)
            if error:
                failures.append(f"rank {rank} in {case}:\n{error[-3000:]}")
        if failures:
            for process in self._processes:
                process.kill()
                process.join()
            raise AssertionError("\n".join(failures))
        return answers


def _serve(rank: int, size: int, store: str, backend: str, pipe: Connection) -> None:
    os.environ.update(ENVIRONMENT)
    dist.set_debug_level_from_env()  # as the import did in the server, from what that has
    torch.set_num_threads(1)
    with _answering(pipe):
        dist.init_process_group(
            backend, init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=60)
        )
    while True:
        try:
            module, case, arguments = pipe.recv()
        except EOFError:
            break
        with _answering(pipe) as answer:
            answer.value = getattr(importlib.import_module(module), case)(rank, size, *arguments)
    dist.destroy_process_group()


class Crews:
    """Ranks by what they are made with, for a whole module: a case that fails costs the next one new processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._crews: dict[tuple[int, str], Ranks] = {}
        self._num_made = 0

    def get(self, size: int, backend: str = "ringtree") -> Ranks:
        crew = self._crews.get((size, backend))
        if crew is None or not crew.alive:
            folder = self._folder / str(self._num_made)
            folder.mkdir()
            self._num_made += 1
            crew = self._crews[size, backend] = Ranks(size, folder, backend)
        return crew

    def close(self) -> None:
        for crew in self._crews.values():
            crew.close()


class _answering:  # noqa: N801 # reads as a statement
    """Sends how its body ended: (traceback or "", value)."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.value: object = None

    def __enter__(self) -> _answering:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        text = "".join(traceback.format_exception(error)) if error else ""
        self._pipe.send((text, self.value))
        return True
