"""A forked command is the command: what it says, its exit code, its end by a signal, its ranks, its variables.

For: forked_ringtree.py. Not for: what commands do.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked_ringtree import ForkedRingtree
from hosts_support import PATIENCE_S, Hosts, why_no_hosts
from lab_support import children_of, is_running, read_until, wait_until

LONG = ["compare", "--arms", "ring", "--sizes", "8", "--ranks", "2", "--launches", "500", "--no-preflight"]


def test_what_it_says_and_its_exit_code_arrive() -> None:
    done = ForkedRingtree(["--version"], os.environ)
    assert done.communicate(timeout=PATIENCE_S)[0].startswith("ringtree ")
    assert done.returncode == 0
    refused = ForkedRingtree(["compare", "--arms", "nonsense"], os.environ)
    assert refused.communicate(timeout=PATIENCE_S)[1].startswith("ringtree: ")
    assert refused.returncode == 2


def test_it_begins_when_its_gate_opens() -> None:
    gate, held = os.pipe()
    process = ForkedRingtree(["--version"], os.environ, gate=gate)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)
    os.close(held)
    os.close(gate)
    assert process.communicate(timeout=PATIENCE_S)[0].startswith("ringtree ")


@pytest.fixture
def long(tmp_path: Path) -> Iterator[ForkedRingtree]:
    process = ForkedRingtree([*LONG, "--runs", str(tmp_path)], os.environ)
    yield process
    process.kill()
    process.wait(PATIENCE_S)


def test_its_ranks_are_its_own_and_end_when_it_is_killed(long: ForkedRingtree) -> None:
    read_until(long, "launch 2 of 500")
    own = children_of(long.pid)
    ranks = [rank for server in own for rank in children_of(server)]
    assert ranks
    long.kill()
    assert long.wait(PATIENCE_S) == -signal.SIGKILL
    assert wait_until(lambda: not any(map(is_running, [*own, *ranks])), PATIENCE_S) is not None


def test_it_is_interrupted_as_by_a_terminal(long: ForkedRingtree) -> None:
    read_until(long, "launch 2 of 500")
    long.send_signal(signal.SIGINT)
    assert "interrupted" in long.communicate(timeout=PATIENCE_S)[1]
    assert long.returncode == 130


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHASHSEED", "TORCH_CPP_LOG_LEVEL", "OMP_NUM_THREADS"])
def test_variables_that_only_a_new_interpreter_reads_are_refused(variable: str) -> None:
    with pytest.raises(ValueError, match="start a new interpreter"):
        ForkedRingtree(["--version"], {**os.environ, variable: "7"})


@pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")
def test_a_program_is_in_the_network_that_it_was_given() -> None:
    source = "import socket; print([name for _, name in socket.if_nameindex()])"
    with Hosts(1) as hosts:
        process = ForkedRingtree([], os.environ, namespace=hosts.namespace(0), source=source)
        said = process.communicate(timeout=PATIENCE_S)[0]
    assert "eth0" in said
    assert process.returncode == 0
