"""`ringtree <command>` as processes that are forked, as are the ranks that they start: an import costs each 0.5 s else.

For: tests of commands that are processes, often several of one job, and look at no time. Not for: how a user's shell or
launcher starts them (launchers_support.py, hosts_support.py), which test_compare_launchers.py and test_compare_jobs.py
see, and in part test_compare_agents.py and test_compare_hosts.py.

A command whose variables only a new interpreter reads (PYTHONPATH, TORCH_CPP_LOG_LEVEL, …) is refused. Ranks with such
get one, as forked_ranks.py has it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from forked import enter_namespace, have_a_server_of_its_own, preload, start, wants_its_own
from forked_ranks import Arrived, Descriptor, forking
from hosts_support import PATIENCE_S, Hosts, rank_variables
from launchers_support import variables_by_hand

from ringtree.cli import app
from ringtree.measure import rank_start, request

preload("ringtree.cli.compare", "ringtree.cli.train", "ringtree.cli.tune")


class ForkedRingtree:
    """As subprocess.Popen, of a command that a fork runs. namespace: path of the network that it is in, "": this one.
    source: of a program that it runs instead. gate: of a pipe that it reads to its end before it begins."""

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        *,
        namespace: str = "",
        source: str | None = None,
        gate: int | None = None,
    ) -> None:
        of_ranks = {"OMP_NUM_THREADS": "1", **variables}  # a command itself computes nothing
        if wants_its_own(of_ranks) or variables.get("PYTHONPATH") != os.environ.get("PYTHONPATH"):
            raise ValueError("a fork would not have all of these variables: start a new interpreter")
        self.args = ["ringtree", *command]
        out, its_out = os.pipe()
        err, its_err = os.pipe()
        try:
            ends = Descriptor(its_out), Descriptor(its_err)
            begin = None if gate is None else Descriptor(gate)
            self._process = start(_be_ringtree, list(command), dict(variables), *ends, namespace, source, begin)
        finally:
            os.close(its_out)
            os.close(its_err)
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.stdout: IO[str] = os.fdopen(out)
        self.stderr: IO[str] = os.fdopen(err)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Reads both to their ends, each on a thread: neither waits while the other is full."""
        said = {self.stdout: "", self.stderr: ""}

        def read(pipe: IO[str]) -> None:
            with pipe:
                said[pipe] = pipe.read()

        readers = [threading.Thread(target=read, args=(pipe,), daemon=True) for pipe in said]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        self.wait(timeout)
        return said[self.stdout], said[self.stderr]


def fork_by_hand(
    num_processes: int, *command: str, of_last: Mapping[str, str] | None = None, **environment: str
) -> list[ForkedRingtree]:
    """As launchers_support.start_by_hand(), but all begin together, once the last has started: on a busy machine one
    that waits for its fork would miss what another says. Comparisons give each cell the least time that there is."""
    variables = variables_by_hand(num_processes, of_last, environment)
    gate, held = os.pipe()
    try:
        return [ForkedRingtree(command, of_one, gate=gate) for of_one in variables]
    finally:
        os.close(held)
        os.close(gate)


def fork_on(hosts: Hosts, *command: str, **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """As hosts_support.run_on(); its comparisons give each cell the least time that there is."""
    return _ended_on(hosts, command, environment)


def fork_python_on(hosts: Hosts, source: str, **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """Runs a program as every rank of the hosts."""
    return _ended_on(hosts, (), environment, source)


def _ended_on(
    hosts: Hosts, command: Sequence[str], environment: Mapping[str, str], source: str | None = None
) -> list[subprocess.CompletedProcess[str]]:
    store = hosts.store()
    started = [
        ForkedRingtree(
            command,
            {**os.environ, **rank_variables(hosts, rank, store), **environment},
            namespace=hosts.namespace(hosts.host_of(rank)),
            source=source,
        )
        for rank in range(hosts.num_ranks)
    ]
    ended = []
    try:
        for process in started:
            out, err = process.communicate(timeout=PATIENCE_S)
            ended.append(subprocess.CompletedProcess(process.args, process.wait(), out, err))
    finally:
        for process in started:
            process.kill()
            process.wait()
    return ended


def _be_ringtree(
    command: list[str],
    variables: dict[str, str],
    output: Arrived,
    errors: Arrived,
    namespace: str,
    source: str | None,
    gate: Arrived | None,
) -> None:
    """What `python -m ringtree <command>` does, or `python -c <source>`, in a process that was forked."""
    os.environ.clear()
    os.environ.update(variables)
    for standard, one in ((1, output), (2, errors)):
        os.dup2(one.descriptor, standard)
        os.close(one.descriptor)
    if namespace:
        enter_namespace(namespace)
    if gate is not None:
        os.read(gate.descriptor, 1)
        os.close(gate.descriptor)
    if source is not None:
        exec(compile(source, "<source>", "exec"), {"__name__": "__main__"})
        return
    have_a_server_of_its_own()
    rank_start.start_process = forking()
    request.DEFAULT_SECONDS = 0.0  # as quick_ringtree.py
    sys.argv = ["ringtree", *command]
    app(command, prog_name="ringtree")
