"""Job files that are really run: Slurm's on two nodes, Ansible's playbook on this machine and over ssh.

For: what `ringtree launch` writes, from the file to the stored run. Not for: what stands in the files
(test_launchers_jobs.py), Kubernetes (there is none here), or sruns of one's own (test_compare_launchers.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import invoke
from hosts_support import Hosts, on_host, why_no_hosts
from launchers_support import PATIENCE_S, free_ports, plain_environment, slurm, why_no_slurm
from ssh_support import ssh_servers, why_no_ssh

from ringtree.results import StoredRun, find_run, read_run

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
WHY_NO_ANSIBLE = "" if ANSIBLE.exists() else "ansible-core is not installed: pip install ringtree[test]"
NASTY = """ring@FOO={{ x }} '$HOME" %j"""
COMPARE = ["--", "compare", "--sizes", "8", "--launches", "1", "--no-preflight", "--arms", f"auto,{NASTY}"]


def launch(folder: Path, *options: str) -> None:
    """Writes a job's files into the folder."""
    done = invoke("launch", *options, "-o", folder, "--python", sys.executable, *COMPARE)
    assert done.exit_code == 0, done.stderr


def check_stored(runs: Path, launcher: str, job: str, num_hosts: int) -> StoredRun:
    stored = read_run(find_run(runs, "last"))
    said = stored.run.provenance.launcher
    assert said is not None
    assert (said.name, said.num_processes, len(said.hosts)) == (launcher, 2, num_hosts)
    assert re.fullmatch(job, said.job or ""), said.job
    assert [arm.label for arm in stored.run.plan.arms] == ["auto", NASTY], "words arrive as they were said"
    assert len(stored.launches) == 2, "one of each environment"
    return stored


def test_slurm_runs_the_script(tmp_path: Path) -> None:
    reason = why_no_slurm() or why_no_hosts()
    if reason:
        pytest.skip(reason)
    launch(tmp_path, "--slurm", "--name", "two", "--ranks-per-host", "2")
    with Hosts(2) as hosts, slurm(hosts) as started:
        done = started.run("sbatch", "--wait", f"--chdir={tmp_path}", str(tmp_path / "two.sbatch"))
        said = (tmp_path / "two-1.err").read_text()
        assert done.returncode == 0, said
    assert "all results verified" in (tmp_path / "two-1.out").read_text()
    stored = check_stored(tmp_path / "runs", "Slurm", r"1\.0", 2)
    assert stored.run.plan.hosts == [0, 0, 1, 1]
    assert not list(tmp_path.glob("*.secret"))


def play(folder: Path, prefix: list[str], *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the playbook of a folder."""
    environment = plain_environment() | {"ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8"} | variables
    return subprocess.run(
        [*prefix, str(ANSIBLE), "-i", str(folder / "inventory.yml"), str(folder / "playbook.yml"), *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.skipif(bool(WHY_NO_ANSIBLE), reason=WHY_NO_ANSIBLE)
def test_ansible_runs_fetches_and_cleans_up(tmp_path: Path) -> None:
    """Two names of this machine."""
    (port,) = free_ports(1)
    launch(tmp_path, "--ansible", "--name", "two", "--hosts", "localhost,127.0.0.1", "--port", str(port))
    here = {"RINGTREE_CACHE_DIR": str(tmp_path / "cache")}
    done = play(tmp_path, [], **here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all results verified" in done.stdout
    check_stored(tmp_path / "runs", "Ansible", r"two-\d{8}T\d{6}Z", 1)
    assert not list((tmp_path / "cache/jobs/two").iterdir()), "neither the secret nor anything else is left"
    again = play(tmp_path, [], "--check", **here)
    assert again.returncode == 0, again.stdout + again.stderr
    assert re.findall(r"changed=(\d+)", again.stdout) == ["0", "0"], "what is set up stays so"


@pytest.mark.skipif(bool(WHY_NO_ANSIBLE), reason=WHY_NO_ANSIBLE)
def test_ansible_reaches_hosts_by_ssh(tmp_path: Path) -> None:
    reason = why_no_ssh() or why_no_hosts()
    if reason:
        pytest.skip(reason)
    with Hosts(2) as hosts, ssh_servers(hosts, tmp_path) as key:
        launch(tmp_path, "--ansible", "--name", "two", "--hosts", ",".join(map(hosts.address, range(2))))
        reached = {"ANSIBLE_HOST_KEY_CHECKING": "False", "ANSIBLE_PRIVATE_KEY_FILE": str(key)}
        done = play(tmp_path, on_host(hosts, 0), **reached)
        assert done.returncode == 0, done.stdout + done.stderr
    stored = check_stored(tmp_path / "runs", "Ansible", r"two-\d{8}T\d{6}Z", 2)
    assert stored.run.plan.hosts == [0, 1]
    for host in range(2):
        assert not list((tmp_path / f"home{host}/.cache/ringtree/jobs/two").iterdir())
