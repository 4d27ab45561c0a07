"""`ringtree ray compare` on a Ray cluster of two nodes: raylets of one machine, started through Ray's own utilities.

For: placing, verdict and provenance, and the end by Ctrl-C and by a node that is removed. Not for: the parts that need
no Ray (launchers/test_launchers_ray.py), or what a comparison says.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_support import read_until
from launchers_support import PATIENCE_S, RINGTREE, plain_environment
from needed import needs

from ringtree.results import find_run, read_run

needs("ray", "Ray is not installed (pip install 'ringtree[ray]')")
pytestmark = pytest.mark.slow

COMPARE = ["compare", "--arms", "auto,ring", "--sizes", "8", "--no-preflight", "--launches"]


class Cluster:
    """Two nodes with a CPU each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as RayCluster

        self.ray: Any = RayCluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        self.second: Any = self.ray.add_node(num_cpus=1)

    def start(self, folder: Path, *arguments: str) -> subprocess.Popen[str]:
        """Starts `ringtree ray <arguments>` in that folder."""
        return subprocess.Popen(
            [*RINGTREE, "ray", *arguments],
            env=plain_environment() | {"RAY_ADDRESS": self.ray.address},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output and what was said besides."""
        process = self.start(folder, *arguments)
        out, said = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, said


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = Cluster()
        try:
            yield made
        finally:
            made.ray.shutdown()


def test_a_comparison_on_two_nodes_ends_with_a_verdict(cluster: Cluster, tmp_path: Path) -> None:
    code, out, said = cluster.run(tmp_path, *COMPARE, "6")
    assert code == 0, said
    assert "all_reduce sum float32, 2 ranks, in place, 6 launches, all results verified" in out
    assert "ring " in out
    stored = read_run(find_run(tmp_path / "runs", "last"))
    launcher = stored.run.provenance.launcher
    assert launcher is not None
    assert (launcher.name, launcher.num_processes) == ("Ray", 2)
    assert launcher.job
    assert launcher.hosts == [stored.run.provenance.host_name], "two nodes of Ray's, one host"
    assert len(stored.launches) == 6


def test_more_than_there_is_to_place_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    code, out, said = cluster.run(tmp_path, "--agents", "3", "--wait", "0.1", *COMPARE, "6")
    assert (code, out) == (2, "")
    words = " ".join(said.split())
    assert "could not place 3 agents of 1 CPU each by STRICT_SPREAD" in words
    assert "the cluster has 2 nodes of 1 CPU" in words


def test_what_was_interrupted_goes_on_until_a_node_is_removed(cluster: Cluster, tmp_path: Path) -> None:
    process = cluster.start(tmp_path, *COMPARE, "500")
    read_until(process, "launch 2 of 500")
    process.send_signal(signal.SIGINT)
    said = " ".join(process.communicate(timeout=PATIENCE_S)[1].split())
    assert process.returncode == 130, said
    assert "interrupted; all rank processes have ended; " in said
    assert "continue with: ringtree compare --resume runs/" in said
    run = find_run(tmp_path / "runs", "last")
    stored = len(read_run(run).launches)
    assert stored >= 1

    process = cluster.start(tmp_path, "compare", "--resume", "last")
    read_until(process, f"launch {stored + 2} of 500")
    cluster.ray.remove_node(cluster.second, allow_graceful=False)
    said = " ".join(process.communicate(timeout=PATIENCE_S)[1].split())
    assert process.returncode == 1, said
    assert "ringtree: Ray lost the agent of rank " in said
    assert len(read_run(run).launches) > stored, "on either node"
    assert json.loads((run / "run.json").read_text())["run_id"] == run.name
