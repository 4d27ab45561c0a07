"""Native workers that run: their ranks, connected and idle, and the line protocol to them (workers/worker.h).

For: starting them, timing calls, noticing that one died, hangs or refuses. Not for: which calls (worker_set.py).

Each rank connects to a Unix socket, sends one JSON line {"rank", "size", "pid", "version", "cores"} and then blocks in
read() until a command comes, so that workers that are not visited take no time of the cores. Commands:

    data ITEM_BYTES PERIOD STEP PATH
             ->  ok                      (the patterns of the calls that follow)
    run COLLECTIVE DTYPE OP BYTES CALLS BATCHES WARMUP OFFSET FIRST SHARED IN_PLACE ROOT
             ->  ok WRONG t1 … tBATCHES  (seconds of a batch)
                 error unsupported       (other work can be done)
                 error TEXT              (the library has failed)
    algorithm WORDS
             ->  ok, or an error         (of the engine: what the next calls run)
    control NAME
             ->  ok TEXT, or an error    (what the library has set, or what was executed)
    quit     ->  the rank leaves

WRONG counts the elements that were not exactly what is due, over all batches.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ringtree.arms import Program
from ringtree.compiling import BuildError
from ringtree.errors import RingtreeError
from ringtree.measure.collective_data import write_patterns
from ringtree.measure.exact_data import PERIOD, PHASE_STEP
from ringtree.measure.process_set import SetFailed
from ringtree.measure.worker_processes import WorkerProcesses, descendants
from ringtree.storage import storage_of

UNSUPPORTED = "error unsupported"
GOODBYE = 5.0  # seconds that ranks get to leave after `quit`
_LOOK = 0.05  # seconds between two looks at whether a process that does not answer still lives


class Refused(RingtreeError):
    """All ranks answered that they can't do this; they can go on with other work."""


@dataclass(frozen=True)
class Work:
    """The operands of `run`. `size_bytes`: of a rank's larger buffer; `first`: number of the first call; `offset`:
    bytes off the alignment of 64; `root`: None: the ranks in turn."""

    collective: str
    dtype: str
    op: str
    size_bytes: int
    calls: int
    batches: int
    warm_up: int
    first: int
    offset: int = 0
    shared: bool = False
    in_place: bool = False
    root: int | None = None

    def line(self) -> bytes:
        """The command as it is sent."""
        numbers = (self.size_bytes, self.calls, self.batches, self.warm_up, self.offset, self.first)
        words = [
            self.collective,
            self.dtype,
            self.op,
            *map(str, numbers),
            str(int(self.shared)),
            str(int(self.in_place)),
        ]
        return f"run {' '.join(words)} {'turn' if self.root is None else self.root}\n".encode()


@dataclass(frozen=True)
class Answer:
    """`wrong[rank]`: elements that were wrong; `times[rank][batch]`: seconds; `seconds`: of it all, with warm-up."""

    wrong: tuple[int, ...]
    times: tuple[tuple[float, ...], ...]
    seconds: float

    def slowest(self) -> list[float]:
        """Returns the slowest rank's time of each batch, seconds."""
        return [max(of_batch) for of_batch in zip(*self.times, strict=True)]


@dataclass
class Rank:
    """One connected rank. `pid` as the kernel says, not as the rank says."""

    connection: socket.socket
    pid: int
    rank: int = -1
    version: str = ""
    received: bytes = b""
    lines: list[str] = field(default_factory=list)


class WorkerRanks:
    """The workers of one library. Made: started; ready(): all ranks idle; close(): gone."""

    def __init__(
        self,
        program: Program,
        num_ranks: int,
        pin: Sequence[int],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Starts them, their socket and files in a folder of their own; `variables`: of the environment, besides the
        program's. Raises SetFailed."""
        self.num_ranks, self.version = num_ranks, ""
        self._ranks: list[Rank] = []
        self._folder = tempfile.TemporaryDirectory(prefix="ringtree-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / "s"  # the name of a socket has 108 bytes at most
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(str(path))
            self._listener.listen(num_ranks)
            command = program.command(num_ranks, path, pin)  # which may compile its worker first
            environment = {**os.environ, **program.environment(), **(variables or {}), "TMPDIR": self._folder.name}
            self._processes = WorkerProcesses(command, environment)
        except (OSError, BuildError) as error:
            self._listener.close()
            self._folder.cleanup()
            raise SetFailed(f"could not be started: {error}") from error

    @property
    def pids(self) -> list[int]:
        """The ranks' pids, by rank."""
        return [rank.pid for rank in self._ranks]

    def ready(self, timeout: float) -> None:
        """Waits until every rank has connected and said who it is. Raises SetFailed."""
        deadline = time.monotonic() + timeout
        while len(self._ranks) < self.num_ranks:
            self._listener.settimeout(_LOOK)
            with contextlib.suppress(TimeoutError):
                connection = self._listener.accept()[0]
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                self._ranks.append(Rank(connection, int.from_bytes(credentials[:4], "little")))
                continue
            if self._processes.poll() is not None:
                raise SetFailed(f"{self._cause()} before all ranks had connected")
            if time.monotonic() > deadline:
                raise SetFailed(f"{len(self._ranks)} of {self.num_ranks} ranks connected within {timeout:.0f} s")
        for rank, line in zip(self._ranks, self._listen(deadline), strict=True):
            self._introduce(rank, line)
        self._ranks.sort(key=lambda rank: rank.rank)
        if [rank.rank for rank in self._ranks] != list(range(self.num_ranks)):
            raise SetFailed(f"its ranks are {[rank.rank for rank in self._ranks]}")
        self.version = self._ranks[0].version

    def run(self, work: Work, timeout: float) -> Answer:
        """Does `work` on all ranks. Raises Refused, or SetFailed if one fails or does not answer within `timeout` s."""
        started = time.monotonic()
        self._send(work.line())
        lines = self._listen(started + timeout)
        seconds = time.monotonic() - started
        refusals = [f"rank {i}: {line[6:]}" for i, line in enumerate(lines) if line.startswith("error ")]
        if refusals and all(line == UNSUPPORTED for line in lines):
            raise Refused(refusals[0])
        if refusals:
            # A library that has failed once may fail for ever: what comes after would be blamed on other sizes.
            raise SetFailed(refusals[0])
        wrong, times = zip(*(_answer(line, work.batches) for line in lines), strict=True)
        return Answer(wrong, times, seconds)

    def give_data(self, collective: str, dtype: str, op: str, seed: int, timeout: float) -> None:
        """Hands the patterns of the calls that follow to all ranks. Raises Refused or SetFailed."""
        file = Path(self._folder.name) / "data"
        write_patterns(file, collective, dtype, self.num_ranks, seed, op)
        self.tell(f"data {storage_of(dtype).itemsize} {PERIOD} {PHASE_STEP} {file}", timeout)

    def tell(self, line: str, timeout: float) -> list[str]:
        """Sends a line that is answered by `ok`, and returns what stands behind it, by rank. Raises Refused if a rank
        can't, or SetFailed."""
        self._send(f"{line}\n".encode())
        answers = self._listen(time.monotonic() + timeout)
        refusals = [answer for answer in answers if answer.partition(" ")[0] != "ok"]
        if refusals:
            raise Refused(refusals[0].removeprefix("error "))
        return [answer[3:] for answer in answers]

    def close(self, patience: float = GOODBYE) -> None:
        """Asks the ranks to leave and ends what is left after `patience` seconds; never raises, may be called once."""
        # Looked up before the launcher leaves: what it leaves behind can't be found by its parent any more.
        family = [*self.pids, *descendants(self._processes.pid)]
        with contextlib.suppress(SetFailed):
            self._send(b"quit\n")
        try:
            self._processes.end(patience, family)
        finally:
            for rank in self._ranks:
                rank.connection.close()
            self._listener.close()
            self._folder.cleanup()

    def _send(self, line: bytes) -> None:
        for rank in self._ranks:
            try:
                rank.connection.sendall(line)
            except OSError as error:
                raise SetFailed(f"rank {rank.rank} is gone: {self._cause()}") from error

    def _listen(self, deadline: float) -> list[str]:
        """One line of every rank, in their order. Raises SetFailed if one leaves or the deadline passes."""
        with selectors.DefaultSelector() as selector:
            for rank in self._ranks:
                rank.connection.setblocking(True)
                selector.register(rank.connection, selectors.EVENT_READ, rank)
            while selector.get_map():
                left = deadline - time.monotonic()
                events = selector.select(left) if left > 0 else []
                if not events:
                    silent = [key.data.rank for key in selector.get_map().values()]
                    said = [line for rank in self._ranks for line in rank.lines if line.startswith("error ")]
                    raise SetFailed(
                        f"{self._ranks_text(silent)} did not answer in time{': ' + said[0] if said else ''}"
                    )
                for key, _ in events:
                    if self._hear(key.data):
                        selector.unregister(key.fileobj)
        return [rank.lines.pop(0) for rank in self._ranks]

    def _hear(self, rank: Rank) -> bool:
        """Takes what has arrived; True once there is a whole line."""
        try:
            received = rank.connection.recv(1 << 16)
        except OSError:
            received = b""
        if not received:
            raise SetFailed(f"rank {rank.rank} left: {self._cause()}")
        *whole, rank.received = (rank.received + received).split(b"\n")
        rank.lines += [line.decode(errors="replace") for line in whole]
        return bool(rank.lines)

    def _introduce(self, rank: Rank, line: str) -> None:
        try:
            hello = json.loads(line)
            rank.rank, size, rank.version = int(hello["rank"]), int(hello["size"]), str(hello["version"])
        except (ValueError, KeyError, TypeError) as error:
            raise SetFailed(f"a rank introduced itself by {line[:100]!r}") from error
        if size != self.num_ranks:
            raise SetFailed(f"rank {rank.rank} sees {size} ranks instead of {self.num_ranks}")

    def _ranks_text(self, ranks: Sequence[int]) -> str:
        if len(ranks) == self.num_ranks:
            return f"all {self.num_ranks} ranks"
        return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, sorted(ranks)))}"

    def _cause(self) -> str:
        code = self._processes.wait(0.5)
        words = self._processes.last_words()
        told = "its launcher still runs" if code is None else f"its launcher ended with {code}"
        return f"{told} ({words[:200]})" if words else told


class HasWorkers:
    """What starts workers and ends them: it may do so again."""

    def __init__(self) -> None:
        self._ranks: WorkerRanks | None = None

    def close(self) -> None:
        """Lets the processes leave."""
        self._end(GOODBYE)

    def kill(self) -> None:
        """Ends them at once; may be called again."""
        self._end(0.0)

    def _end(self, patience: float) -> None:
        if self._ranks is not None:
            self._ranks.close(patience)
            self._ranks = None


def _answer(line: str, batches: int) -> tuple[int, tuple[float, ...]]:
    """Wrong elements and times of one rank's `ok`."""
    word, _, rest = line.partition(" ")
    try:
        wrong, *times = int(rest.split()[0]), *map(float, rest.split()[1:])
    except (ValueError, IndexError):
        wrong, times = -1, []
    if word != "ok" or wrong < 0 or len(times) != batches or not all(0 < one < math.inf for one in times):
        raise SetFailed(f"answered {line[:100]!r} to a run of {batches} batches")
    return wrong, tuple(times)
