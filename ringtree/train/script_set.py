r"""A user's script as a process set: all ranks of it, for one arm; its tokens/s are read from what it prints.

    ringtree train --arms gloo,ringtree:ring --metric 'tokens/s: (\S+)' -- python my_train.py

For: starting the script as torchrun does (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), putting the arm into
its environment, when its output is read. Not for: reading a line (metric.py); built-in models (program.py).

The arm reaches the script as RINGTREE_TRAIN_BACKEND, which it passes to init_process_group; an algorithm forced on the
engine as RINGTREE_PROFILE, NCCL's as NCCL_ALGO. A sample is a line of rank 0 that the metric finds, as the time that
one rank-token took; the first fifth of them is warm-up. Which backend the script really used is read from the groups
that its ranks made (proof.py); an arm that it ignores is disqualified.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringtree.comm.profile import VARIABLE
from ringtree.errors import RingtreeError
from ringtree.measure.lifeline import Guard
from ringtree.measure.process_set import CellKey, SetFailed, Visited
from ringtree.measure.rank_group import RANK_ENVIRONMENT
from ringtree.results import NOT_KNOWN, Boundary, WarmUp
from ringtree.train.arms import parse_arm
from ringtree.train.forced import forced_profile
from ringtree.train.hook import DEFAULT_METRIC
from ringtree.train.metric import parse_metric, read_rates
from ringtree.train.proof import wrong_backend
from ringtree_autoload.made_groups import FOLDER

BACKEND = "RINGTREE_TRAIN_BACKEND"
_POLL = 0.05  # seconds between two looks at the ranks
_WARM_UP = 5  # of so many lines one is not counted
# A thread of Gloo's that holds tensors when Python ends is ended inside a destructor (pytorch/pytorch issue 190489).
_NO_EXCEPTION = "terminate called without an active exception"
_LEAVE = (
    " (PyTorch's Gloo outlived Python: at the script's end, call torch.distributed.destroy_process_group(), flush its "
    "output, and leave by os._exit(0))"
)


class ScriptSet:
    """One run of the script in a launch. It is over when the warm-up is; a visit hands out what it printed."""

    restarts = 0

    def __init__(
        self,
        arm: str,
        name: str,
        command: Sequence[str],
        metric: str | None,
        num_ranks: int,
        boundary: Boundary,
        environment: Mapping[str, str],
        patience: float,
    ) -> None:
        """`arm`: its label, `name`: without variables, which are in `environment`. `patience`: seconds of the run."""
        self.arms, self.boundary, self.pids = [arm], boundary, list[int]()
        self._read, self._command = parse_arm(name), list(command)
        self._metric, self._num_ranks = parse_metric(metric or DEFAULT_METRIC), num_ranks
        self._environment, self._patience = dict(environment), patience
        self._ranks: list[subprocess.Popen[bytes]] = []
        self._folder = tempfile.TemporaryDirectory(prefix="ringtree-train-", ignore_cleanup_errors=True)
        self._guard: Guard | None = None
        self._seconds: list[float] = []
        self._ran = NOT_KNOWN

    def start(self) -> None:
        self._guard = Guard()
        folder, group = Path(self._folder.name), self._guard.group
        more = {BACKEND: self._read.backend}
        if self._read.algorithm is not None:
            more[VARIABLE] = str(folder / "forced.json")
            forced = forced_profile(self._read.algorithm, [(ranks, 1) for ranks in range(1, self._num_ranks + 1)])
            Path(more[VARIABLE]).write_text(forced.model_dump_json())
        port = _free_port()
        for rank in range(self._num_ranks):
            job = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self._num_ranks, "LOCAL_WORLD_SIZE": self._num_ranks}
            meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            variables = {**RANK_ENVIRONMENT, **os.environ, **{name: str(it) for name, it in job.items()}, **meeting}
            with open(folder / f"rank-{rank}.txt", "wb") as output:
                try:
                    started = subprocess.Popen(
                        self._command,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        env={**variables, **self._environment, **more, FOLDER: str(folder)},
                        preexec_fn=lambda: os.setpgid(0, group),  # so that nothing of it outlives the lab
                    )
                except OSError as error:
                    raise SetFailed(f"can't start {self._command[0]}: {error.strerror}") from None
            self._ranks.append(started)
        self.pids = [rank.pid for rank in self._ranks]

    def ready(self) -> dict[str, str]:
        return {}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        """Waits for the end of the script. Raises SetFailed if a rank fails, or never prints what the metric finds."""
        started = time.monotonic()
        while any(rank.poll() is None for rank in self._ranks):
            failed = next((rank for rank in self._ranks if rank.poll() not in (None, 0)), None)
            if failed is not None:
                break
            if time.monotonic() - started > self._patience:
                raise SetFailed(f"{self._said()} had not ended after {self._patience:.0f} s")
            time.sleep(_POLL)
        for number, rank in enumerate(self._ranks):
            code = rank.poll()
            if code not in (None, 0):
                last = self._last_words(number)
                advice = _LEAVE if code == -signal.SIGABRT and last.startswith(_NO_EXCEPTION) else ""
                raise SetFailed(f"rank {number} of {self._said()} {_ended(code or 0)}: {last}{advice}")
        rates = self._rates()
        skipped = len(rates) // _WARM_UP
        self._seconds = [self._num_ranks * (1 + self._read.slowed) / rate for rate in rates[skipped:]]
        warm_up = WarmUp(num_iterations=skipped, ended="limit")
        self._ran, wrong = wrong_backend(Path(self._folder.name), self._read, self._num_ranks)
        return Visited([[] for _ in self._ranks], {"backend": self._ran}, warm_up=warm_up, seconds=1.0, error=wrong)

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        """The script's median, as the one sample of its launch; `executed` keeps each line's."""
        middle = sorted(self._seconds)[len(self._seconds) // 2]
        return Visited([[middle] for _ in self._ranks], {"backend": self._ran, "seconds_per_token": self._seconds})

    def close(self) -> None:
        self.kill()

    def kill(self) -> None:
        if self._guard is not None:
            # All at once: no script sees another end, and none outlives a second Ctrl-C.
            self._guard.send(signal.SIGKILL)
            for rank in self._ranks:
                rank.kill()
                rank.wait()
            self._guard.close()
            self._guard = None
        self._folder.cleanup()

    def _rates(self) -> list[float]:
        try:
            rates = read_rates(self._metric, self._output(0))
        except RingtreeError as error:
            raise SetFailed(f"{self._said()}: {error}") from None
        if not rates:
            raise SetFailed(
                f"{self._said()} ended without a line that --metric {self._metric.pattern!r} finds with a number above "
                f"0; its last line: {self._last_words(0)}"
            )
        return rates

    def _said(self) -> str:
        return f"{' '.join(self._command)} ({self.arms[0]})"

    def _output(self, rank: int) -> str:
        return (Path(self._folder.name) / f"rank-{rank}.txt").read_text(errors="replace")

    def _last_words(self, rank: int) -> str:
        lines = [line.strip() for line in self._output(rank).splitlines() if line.strip()]
        return lines[-1] if lines else "it printed nothing"


def _ended(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
