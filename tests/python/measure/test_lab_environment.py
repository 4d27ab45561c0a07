"""Provenance: what is recorded of a machine, that no secret is, and which of two must not share a run.

For: ringtree.measure.environment. Not for: reading /proc and /sys (test_lab_host_files.py), or where provenance is
stored (test_results.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nccl_standin import Play, standin

from ringtree.measure.environment import (
    allowed,
    available_memory,
    capture,
    commit_of,
    difference,
    memory_for,
    usable_cores,
)
from ringtree.results import Launcher, Provenance

__all__ = ["standin"]


def test_only_allow_listed_variables_are_kept() -> None:
    environment = {
        "OMP_NUM_THREADS": "2",
        "GLOO_SOCKET_IFNAME": "lo",
        "UCX_TLS": "tcp",
        "FI_PROVIDER": "efa",
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_USER": "someone",
        "SLURM_JOB_ACCOUNT": "group",
        "SLURM_SUBMIT_DIR": "/home/someone",
        "LD_LIBRARY_PATH": "/home/someone/lib",
        "HOME": "/home/someone",
        "OMPI_COMM_WORLD_RANK": "0",
    }
    kept = ["CUDA_VISIBLE_DEVICES", "FI_PROVIDER", "GLOO_SOCKET_IFNAME", "OMPI_MCA_coll_tuned_use_dynamic_rules"]
    kept += ["OMP_NUM_THREADS", "SLURM_JOB_ID", "UCX_TLS"]
    assert list(allowed(environment)) == kept
    assert allowed(environment)["UCX_TLS"] == "tcp"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("NCCL_TOKEN", "x"),
        ("RINGTREE_API_KEY", "x"),
        ("RINGTREE_api_key", "x"),
        ("RINGTREE_PASSPHRASE", "x"),
        ("UCX_AUTH", "x"),
        ("FI_CREDENTIALS", "x"),
        ("RINGTREE_DB_PWD", "x"),
        ("RINGTREE_PROXY", "http://me:hidden@proxy:3128"),
        ("NCCL_NET_PLUGIN", "x;https://token@host/path"),
        ("OMPI_MCA_orte_precondition_transports", "0123-4567"),
        ("OMPI_MCA_orte_local_daemon_uri", "1.0;tcp://10.0.0.1:1"),
        ("OMPI_MCA_initial_wdir", "/home/someone"),
    ],
)
def test_what_may_be_a_secret_or_a_person_is_dropped(name: str, value: str) -> None:
    assert allowed({name: value}) == {}


def test_a_url_without_credentials_is_kept() -> None:
    environment = {"GLOO_STORE": "tcp://10.0.0.1:29500/a@b", "GLOO_DEVICE": "mlx5_0@1"}
    assert allowed(environment) == {"GLOO_DEVICE": "mlx5_0@1", "GLOO_STORE": "tcp://10.0.0.1:29500/a@b"}


def test_defaults_of_ranks_are_recorded_unless_the_user_has_set_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    provenance = capture(emulated=False, rank_defaults={"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"})
    assert provenance.environment["OMP_NUM_THREADS"] == "3"
    assert provenance.environment["GLOO_SOCKET_IFNAME"] == "lo"


def test_provenance_is_of_this_machine() -> None:
    provenance = capture(emulated=True, rank_defaults={})
    assert provenance.emulated
    assert set(provenance.affinity) == os.sched_getaffinity(0)
    assert provenance.command == sys.argv
    assert provenance.versions["python"] == ".".join(str(part) for part in sys.version_info[:3])
    assert all(provenance.versions[name] for name in ("numpy", "scipy", "duckdb", "ringtree"))
    assert provenance.cpu_model
    assert 0 < available_memory() <= provenance.memory_bytes
    assert usable_cores() == len(provenance.affinity)


def test_only_changes_of_code_make_the_commit_another(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        return subprocess.run(("git", *identity, *arguments), cwd=tmp_path, check=True, text=True, stdout=-1).stdout

    files = [tmp_path / name for name in ("ringtree/measure/a.py", "core/base/b.h", "docs/c.md", "tests/d.py")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("before")
    package, core, page, test = files
    git("init", "--quiet")
    assert commit_of(package) is None, "nobody has added it"
    git("add", ".")
    git("commit", "--quiet", "--message", "all")
    commit = git("rev-parse", "HEAD").strip()
    assert commit_of(package) == commit
    for file in (page, test):
        file.write_text("after")
    assert commit_of(package) == commit
    for file in (package, core):
        file.write_text("after")
        assert commit_of(package) == f"{commit}+dirty"
        file.write_text("before")


def test_a_checkout_that_git_cannot_look_through_is_not_called_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "git"
    script.write_text('#!/bin/sh\ncase "$1" in status) exit 1 ;; *) echo abc ;; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert commit_of() == "abc+unchecked"


def test_a_host_that_tells_nothing_still_gives_provenance(tmp_path: Path) -> None:
    provenance = capture(emulated=False, rank_defaults={}, root=tmp_path)
    assert provenance.cpu_model
    assert (provenance.memory_bytes, provenance.load_average) == (0, [])
    assert (provenance.governor, provenance.cgroup_cpus, provenance.virtual) == (None, None, None)
    assert available_memory(tmp_path) == 0


def test_bytes_that_are_no_text_can_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = os.fsdecode(b"/lib/\xff.so")
    monkeypatch.setattr(sys, "argv", ["ringtree", odd])
    provenance = capture(emulated=False, rank_defaults={"OMP_PLACES": odd})
    assert provenance.environment["OMP_PLACES"] == "/lib/�.so"
    assert Provenance.model_validate_json(provenance.model_dump_json()) == provenance


BEFORE = Provenance(
    host_name="node1",
    cpu_model="Some CPU",
    num_cpus=4,
    affinity=[0, 1],
    kernel="6.1",
    memory_bytes=1 << 30,
    load_average=[0.5, 0.5, 0.5],
    governor="performance",
    cgroup_cpus=None,
    virtual=False,
    versions={"python": "3.11.7", "ringtree": "0.1.0", "numpy": "2.0", "torch": "2.6", "scipy": "1.11", "duckdb": "1"},
    git_commit="abc",
    command=["ringtree", "compare"],
    environment={"OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "17"},
    emulated=False,
)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"host_name": "node2"}, "the host was node1 and is node2"),
        ({"cpu_model": "Other"}, "the processor was Some CPU and is Other"),
        ({"num_cpus": 8}, "the number of CPUs was 4 and is 8"),
        ({"affinity": [0, 2]}, "the set of usable cores was [0, 1] and is [0, 2]"),
        ({"kernel": "6.8"}, "the kernel was 6.1 and is 6.8"),
        ({"governor": "powersave"}, "the governor was performance and is powersave"),
        ({"cgroup_cpus": 1.5}, "the cgroup's limit of cores was not set or not known and is 1.5"),
        ({"emulated": True}, "emulation was False and is True"),
        ({"versions": {**BEFORE.versions, "torch": None}}, "the version of torch was 2.6 and is not set or not known"),
        ({"versions": {**BEFORE.versions, "python": "3.12.0"}}, "the version of python was 3.11.7 and is 3.12.0"),
        ({"git_commit": "abc+dirty"}, "the commit was abc and is abc+dirty"),
        ({"environment": {"OMP_NUM_THREADS": "2"}}, "OMP_NUM_THREADS was 1 and is 2"),
        ({"environment": {}}, "OMP_NUM_THREADS was 1 and is not set or not known"),
    ],
)
def test_what_forbids_launches_in_one_run_is_named(changes: dict[str, object], line: str) -> None:
    assert difference(BEFORE, BEFORE.model_copy(update=changes)) == [line]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"load_average": [3.0, 3.0, 3.0]},
        {"command": ["ringtree", "compare", "--resume"]},
        {"memory_bytes": 1},
        {"virtual": None},
        {"environment": {"OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "18", "SLURM_JOB_NODELIST": "node1"}},
        {"environment": {"OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "17", "RINGTREE_JOB": "nightly-20261125T062706Z"}},
        {"versions": {**BEFORE.versions, "scipy": "1.12", "duckdb": None}},
        {"launcher": Launcher(name="Slurm", job="17.0", num_processes=1, hosts=["node1"])},
    ],
)
def test_what_does_not_change_the_measurement_is_no_difference(changes: dict[str, object]) -> None:
    assert difference(BEFORE, BEFORE.model_copy(update=changes)) == []


def test_launchers_of_several_processes_are_told_apart() -> None:
    two = {"launcher": Launcher(name="Slurm", job="17.0", num_processes=2, hosts=["node1"])}
    assert len(difference(BEFORE, BEFORE.model_copy(update=two))) == 3


def test_every_difference_is_named() -> None:
    assert len(difference(BEFORE, BEFORE.model_copy(update={"kernel": "6.8", "num_cpus": 8}))) == 2


def test_a_run_on_gpus_names_them_and_what_works_on_them(standin: Play) -> None:
    standin(gpus=2, version=23007)
    found = capture(emulated=False, rank_defaults={}, on_gpu=True)
    assert found.gpus == ["Stand-in GPU"] * 2
    assert (found.versions["nccl"], found.versions["cuda"]) == ("2.30.7", "12.8")
    assert capture(emulated=False, rank_defaults={}).gpus == []
    assert "nccl" not in capture(emulated=False, rank_defaults={}).versions
    standin(gpus=1, version=22703)
    changed = capture(emulated=False, rank_defaults={}, on_gpu=True)
    said = difference(found, changed)
    assert "the version of nccl was 2.30.7 and is 2.27.3" in said
    assert any(line.startswith("the set of GPUs was") for line in said)


def test_ranks_that_share_a_gpu_share_its_memory(standin: Play) -> None:
    standin(gpus=2)
    one = memory_for("cuda", 1)
    assert [memory_for("cuda", ranks) for ranks in (2, 3, 8)] == [2 * one] * 3
