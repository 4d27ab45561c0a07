"""`ringtree compare` on several hosts, with torchrun's variables: one process a rank, of which rank 0's speaks.

For: the command on hosts that are network namespaces. Not for: what a comparison says (test_compare.py), its ranks, or
new interpreters that start some there (Slurm's, test_compare_jobs.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forked_ringtree import fork_on
from hosts_support import Hosts, run_on, why_no_hosts

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")


def test_compares_ranks_of_several_hosts(tmp_path: Path) -> None:
    with Hosts(2, 2) as hosts:
        ranks = fork_on(
            hosts,
            "compare",
            "--arms",
            "ring,hierarchical_ring,auto",
            "--sizes",
            "8,64K",
            "--launches",
            "2",
            "--json",
            "--runs",
            str(tmp_path),
        )
    assert [rank.returncode for rank in ranks] == [0] * 4, ranks[0].stderr
    said = json.loads(ranks[0].stdout)
    assert said["num_ranks"] == 4
    assert all(cell["verified"] for cell in said["cells"])
    assert {cell["arm"] for cell in said["cells"]} == {"ring", "hierarchical_ring", "auto"}
    assert any("2 hosts (2 + 2)" in caveat for caveat in said["caveats"])
    assert [rank.stdout for rank in ranks[1:]] == [""] * 3, "one rank speaks"


def test_what_cannot_run_between_hosts_is_left_out_or_refused(tmp_path: Path) -> None:
    with Hosts(2) as hosts:
        fitting = fork_on(
            hosts,
            "compare",
            "--arms",
            "ring,ring/ll,textbook-shm:ring",
            "--sizes",
            "8",
            "--launches",
            "1",
            "--json",
            "--runs",
            str(tmp_path),
        )
        assert fitting[0].returncode == 0, fitting[0].stderr
        assert set(json.loads(fitting[0].stdout)["left_out"]) == {"ring/ll", "textbook-shm:ring"}
        for options, said in [
            (["--ranks", "3"], "--ranks must be a multiple of 2, not 3"),
            (["--emulate", "2x1"], "emulated on one host"),
            (["--arms", "nonsense"], "unknown arm"),
        ]:
            ranks = fork_on(hosts, "compare", *options, "--runs", str(tmp_path))
            assert ranks[0].returncode == 2
            assert said in ranks[0].stderr.replace("\n", " ")
            assert ranks[1].returncode == 0, "the others are sent home"


def test_a_secret_in_the_environment_cannot_be_handed_on(tmp_path: Path) -> None:
    with Hosts(2) as hosts:
        ranks = run_on(hosts, "compare", "--runs", str(tmp_path), RINGTREE_SECRET="x" * 32)
    assert [rank.returncode for rank in ranks] == [2, 2]
    assert "RINGTREE_SECRET_FILE, not RINGTREE_SECRET" in ranks[0].stderr.replace("\n", " ")
