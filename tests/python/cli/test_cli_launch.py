"""`ringtree launch`: what it prints, writes, hands over and refuses.

For: options, files and the client's command. Not for: what stands in the files (test_launchers_jobs.py).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke

from ringtree.cli.launch import with_ranks

SLURM = ("launch", "--slurm")
ANSIBLE = ("launch", "--ansible", "--hosts", "gpu[01-02]", "--name", "two")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("compare --sizes 8", "compare --ranks 8 --sizes 8"),
        ("compare --ranks 6", "compare --ranks 6"),
        ("compare --resume last", "compare --resume last"),
        ("train --arms gloo", "train --ranks 8 --arms gloo"),
        ("train --ranks 2,4", "train --ranks 2,4"),
        ("tune", "tune --ranks 8"),
        ("bench -b 8", "bench -g 4 -b 8"),  # of each process, as with nccl-tests under mpirun
        ("bench -g 2", "bench -g 2"),
    ],
)
def test_the_number_of_ranks_is_said_where_the_command_does_not(command: str, expected: str) -> None:
    assert with_ranks(command.split(), num_hosts=2, ranks_per_host=4) == tuple(expected.split())


def test_a_job_file_is_printed() -> None:
    done = invoke(*SLURM, "--hosts", "3", "--env", "A=b=c", "--time", "45m", "--", "compare", "--arms", "auto,ring")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("#!/bin/bash\n")
    for line in ("#SBATCH --nodes=3", "#SBATCH --time=00:45:00", "export A=b=c", "  set -- --ranks 3 --arms auto,ring"):
        assert f"{line}\n" in done.stdout


def test_a_job_file_of_a_training_says_how_to_go_on() -> None:
    done = invoke(*SLURM, "--hosts", "2", "--ranks-per-host", "4", "--", "train", "--strategy", "fsdp2")
    assert done.exit_code == 0, done.stderr
    assert "  set -- --ranks 8 --strategy fsdp2\n" in done.stdout
    assert "`sbatch FILE --resume last` goes on" in done.stdout


def test_files_are_written_and_nothing_is_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "two"
    done = invoke(*ANSIBLE, "-o", folder, "--", "compare")
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"submit it with: ansible-playbook -i {folder}/inventory.yml {folder}/playbook.yml\n" in done.stderr
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert set(modes) == {"playbook.yml", "inventory.yml", "job.yml", "job.secret"}
    assert modes["job.secret"] == 0o600
    before = (folder / "job.secret").read_text()
    assert_refused(invoke(*ANSIBLE, "-o", folder, "--", "compare"), "exists already")
    assert (folder / "job.secret").read_text() == before


@pytest.mark.parametrize(
    ("options", "client"),
    [
        (SLURM, "sbatch {job}/ringtree.sbatch"),
        (("launch", "--k8s", "--image", "registry.example/ringtree:1"), "kubectl apply -f {job}/ringtree.yaml"),
        (ANSIBLE, "ansible-playbook -i {job}/inventory.yml {job}/playbook.yml"),
    ],
)
def test_the_clusters_client_gets_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], client: str
) -> None:
    started: list[list[str]] = []
    words = client.format(job=tmp_path / "job").split()
    (tmp_path / words[0]).write_text("")
    (tmp_path / words[0]).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "execvp", lambda program, command: started.append(command))
    done = invoke(*options, "--submit", "-o", tmp_path / "job", "--", "compare")
    assert done.exit_code == 0, done.stderr
    assert started == [words]
    assert Path(words[-1]).exists()


def fake_ray(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A `ray` that does what the script says; returns the list of what was started in this process's place."""
    started: list[list[str]] = []
    (folder / "ray").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "ray").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "execvp", lambda program, command: started.append(command))
    return started


def test_a_ray_cluster_that_is_not_up_is_one_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traceback = "printf 'Traceback (most recent call last):\\n  File\\nConnectionError: Failed to connect\\n\\n' >&2"
    asked = ("launch", "--ray", "--submit", "-o", tmp_path / "job", "--", "compare")
    started = fake_ray(tmp_path, f"{traceback}; exit 1", monkeypatch)
    assert_refused(
        invoke(*asked),
        "`ray job list` reaches no cluster (ConnectionError: Failed to connect): start the cluster (ray start --head) "
        "or name it: RAY_API_SERVER_ADDRESS=http://<head>:8265",
    )
    assert not (tmp_path / "job").exists()
    fake_ray(tmp_path, "exit 1", monkeypatch)
    assert_refused(invoke(*asked), "`ray job list` reaches no cluster (no reason): start the cluster")
    assert not started


def test_a_ray_cluster_that_is_up_gets_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = fake_ray(tmp_path, '[ "$*" = "job list" ]', monkeypatch)
    done = invoke("launch", "--ray", "--submit", "-o", tmp_path / "job", "--", "compare")
    assert done.exit_code == 0, done.stderr
    assert started == [["ray", "job", "submit", "--working-dir", str(tmp_path / "job"), "--", "sh", "ringtree.ray.sh"]]


def test_a_client_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ray(tmp_path, "exec sleep 600", monkeypatch)
    monkeypatch.setattr("ringtree.cli.launch.REACH_SECONDS", 0.1)
    refused = invoke("launch", "--ray", "--submit", "-o", tmp_path / "job", "--", "compare")
    assert_refused(refused, "`ray job list` has not answered in 0.1 s: start the cluster")


def test_a_client_that_is_missing_is_named_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for options, client in ((SLURM, "sbatch"), (ANSIBLE, "ansible-playbook")):
        assert_refused(
            invoke(*options, "--submit", "-o", tmp_path / "x", "--", "compare"), f"{client} is not installed"
        )
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("launch", "--", "compare"), "choose one of --slurm, --k8s, --ray, --ansible"),
        (("launch", "--slurm", "--k8s", "--", "compare"), "choose one of"),
        (
            (*SLURM, "--", "audit", "x.log"),
            "'audit' does not run on several hosts: after -- comes compare, train, tune, bench",
        ),
        ((*SLURM, "--", "train", "--", "python", "x.py"), "a script of your own is started on one host"),
        ((*SLURM, "--", "bench", "--nonsense"), "bench does not know '--nonsense'"),
        (
            (*SLURM, "--image", "x", "--port", "1", "--", "compare"),
            "--slurm has no use for --port, --image: leave it out",
        ),
        ((*ANSIBLE, "--claim", "x", "--", "compare"), "--ansible has no use for --claim"),
        ((*SLURM, "--hosts", "0", "--", "compare"), "at least one host"),
        ((*SLURM, "--hosts", "n[1-", "--", "compare"), "host list"),
        ((*SLURM, "--time", "soon", "--", "compare"), "soon"),
        ((*SLURM, "--time", "1ms", "--", "compare"), "at least a second"),
        ((*SLURM, "--env", "A", "--", "compare"), "invalid variable 'A': write NAME=VALUE"),
        ((*SLURM, "--", "compare", "--sizes", "8\n16"), "newline"),
        ((*ANSIBLE, "--", "compare"), "several files: say where to write them, with -o DIR"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], said: str) -> None:
    assert_refused(invoke(*arguments), said)


def test_an_option_that_the_command_does_not_have_is_found_before_it_queues() -> None:
    done = invoke(*SLURM, "--", "compare", "--armz", "ring")
    assert done.exit_code == 2
    assert "--armz" in done.stderr
    assert done.stdout == ""


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert_refused(invoke(*SLURM, "-o", tmp_path / "file" / "x", "--", "compare"), "can't write")
