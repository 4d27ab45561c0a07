"""Job files: that words arrive as they were said, through a shell, YAML, Kubernetes and Ansible, and what is refused.

For: what is rendered, read again by who will read it (bash, a YAML reader, Kubernetes' published schemas). Not for: the
command (test_cli_launch.py), or running jobs (test_compare_jobs.py).
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtree.errors import UsageError
from ringtree.launchers.jobs import KINDS, Job, JobFile
from ringtree.launchers.jobs.templates import filled

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install ringtree[test]")

# What a shell, YAML, Kubernetes or Ansible would each take for something of its own.
NASTY = (
    "two words",
    "it's",
    'say "so"',
    "$HOME",
    "$(WORLD_SIZE)",
    "$$",
    "`id`",
    "a\\b",
    "*",
    "~",
    "#x",
    "{{ lookup('env', 'HOME') }}",
    "{% raw %}",
    "@{name}",
    "%j",
    ": - x",
    "no",
    "",
    "grün 🌳",
    "!unsafe x",
    "a;b|c&d>e",
)
HOSTS = ("me@gpu01", "gpu02")


def job(**changed: Any) -> Job:
    settings: dict[str, Any] = {
        "words": ("compare", *NASTY),
        "num_hosts": 2,
        "environment": {"NASTY": 'a "b" $(WORLD_SIZE) $$ {{ c }}', "NO": "no"},
        "image": "registry.example/ringtree:1",
    }
    return Job(**settings | changed)


def only(files: list[JobFile]) -> str:
    (file,) = files
    return file.text


def test_a_batch_script_hands_words_on(tmp_path: Path) -> None:
    """By bash, with an srun that writes down what it gets."""
    srun = tmp_path / "srun"
    srun.write_text(
        f"#!{sys.executable}\nimport os, pathlib, stat, sys\nfile = pathlib.Path(os.environ['RINGTREE_SECRET_FILE'])\n"
        "said = [*sys.argv[1:], os.environ['NASTY'], oct(stat.S_IMODE(file.stat().st_mode)), file.read_text()]\n"
        "pathlib.Path('said').write_text('\\0'.join(said))\nsys.exit(7)\n"
    )
    srun.chmod(0o700)
    script = tmp_path / "job.sbatch"
    script.write_text(only(KINDS["slurm"].render(job(python="/opt/my python"))))
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "71"}

    def said_to_srun(*arguments: str) -> list[str]:
        command = ["bash", str(script), *arguments]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (7, ""), "what srun says of itself"
        return (tmp_path / "said").read_text().split("\0")

    *first, nasty, mode, secret = said_to_srun()
    own = ["--ntasks-per-node=1", "--cpu-bind=none", "/opt/my python", "-m", "ringtree", "compare"]
    assert first == [*own, *NASTY]
    assert nasty == 'a "b" $(WORLD_SIZE) $$ {{ c }}'
    assert (mode, bool(re.fullmatch("[0-9a-f]{64}", secret))) == ("0o600", True)
    assert not list(tmp_path.glob("*.secret")), "the secret goes with the job"
    *again, _, _, other = said_to_srun("--resume", "last")
    assert again == [*own, "--resume", "last"]
    assert other != secret


@pytest.mark.parametrize(
    ("seconds", "time"), [(1, "00:01:00"), (1800, "00:30:00"), (3601, "01:01:00"), (100 * 3600, "100:00:00")]
)
def test_slurm_gets_whole_minutes(seconds: int, time: str) -> None:
    assert f"#SBATCH --time={time}\n" in only(KINDS["slurm"].render(job(seconds=seconds)))


def test_only_a_comparison_can_be_resumed() -> None:
    assert "--resume last" in only(KINDS["slurm"].render(job()))
    assert "--resume" not in only(KINDS["slurm"].render(job(words=("bench", "-b", "8"))))


def test_slurm_gets_names_and_a_secret_that_hosts_have() -> None:
    text = only(KINDS["slurm"].render(job(host_names=HOSTS, environment={"RINGTREE_SECRET_FILE": "/home/me/x"})))
    assert "#SBATCH --nodelist=me@gpu01,gpu02\n" in text
    assert "export RINGTREE_SECRET_FILE=/home/me/x\n" in text
    assert "urandom" not in text


def manifest(**changed: Any) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(only(KINDS["k8s"].render(job(**changed)))))


def as_kubernetes_expands(text: str, variables: dict[str, str]) -> str:
    """$(NAME) becomes the value of a variable that is known, $$ a dollar; all else stays (the API's reference)."""

    def expand(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else variables.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", expand, text)


def test_a_manifest_hands_words_on() -> None:
    container = manifest()[2]["spec"]["template"]["spec"]["containers"][0]
    variables: dict[str, str] = {}
    for entry in container["env"]:
        variables[entry["name"]] = as_kubernetes_expands(entry["value"], variables)
    words = [as_kubernetes_expands(word, variables) for word in container["command"]]
    assert words[3:] == ["ringtree", "python3", "-m", "ringtree", "compare", *NASTY]
    assert variables["NASTY"] == 'a "b" $(WORLD_SIZE) $$ {{ c }}'
    assert (variables["WORLD_SIZE"], variables["NO"]) == ("2", "no")


def test_the_first_pod_is_where_the_others_look(tmp_path: Path) -> None:
    secret, service, indexed = manifest(num_hosts=3, name="no", ranks_per_host=8, claim="results")
    pod = indexed["spec"]["template"]["spec"]
    variables = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
    assert {one["metadata"]["name"] for one in (secret, service, indexed)} == {"no"}, "a word, not a truth value"
    assert indexed["spec"]["completions"] == indexed["spec"]["parallelism"] == int(variables["WORLD_SIZE"]) == 3
    # An indexed Job's first pod has the host name <job>-0, found in its subdomain, the headless service.
    assert variables["MASTER_ADDR"] == f"{indexed['metadata']['name']}-0.{pod['subdomain']}"
    assert (pod["subdomain"], service["spec"]["clusterIP"]) == (service["metadata"]["name"], "None")
    assert pod["containers"][0]["resources"] == {"requests": {"cpu": 8}}
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "results"}
    assert pod["volumes"][1]["secret"]["secretName"] == secret["metadata"]["name"]


def test_a_pod_copies_the_secret_and_becomes_ringtree(tmp_path: Path) -> None:
    """By sh, with the paths of a pod moved into a folder."""
    container = manifest(python=sys.executable)[2]["spec"]["template"]["spec"]["containers"][0]
    shell, option, script, name = container["command"][:4]
    (tmp_path / "mounted").write_text("s" * 32)
    script = script.replace("/tmp/ringtree.secret", f"{tmp_path}/copied")
    script = script.replace("/run/ringtree/secret", f"{tmp_path}/mounted")
    words = [sys.executable, "-c", "import sys; print(sys.argv[1:])", *NASTY]
    done = subprocess.run(
        [shell, option, script, name, *words],
        env={"MASTER_ADDR": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == f"{list(NASTY)!r}\n"
    copied = tmp_path / "copied"
    assert (copied.read_text(), stat.S_IMODE(copied.stat().st_mode)) == ("s" * 32, 0o600)


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_a_manifest_is_what_the_schemas_say(which: str) -> None:
    """No more than that: nothing here is Kubernetes."""
    schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    version = schemas.utils.all_versions()[0 if which == "oldest" else -1]
    documents = manifest() + manifest(claim="results")
    for document in documents:
        schemas.validate(document, version, strict=True)
    documents[2]["spec"]["completions"] = "two"
    with pytest.raises(schemas.ValidationError):
        schemas.validate(documents[2], version, strict=True)
    documents[1]["spec"]["publishNotReady"] = True
    with pytest.raises(schemas.ValidationError):
        schemas.validate(documents[1], version, strict=True)


class OfAnsible(yaml.SafeLoader):  # type: ignore[misc]
    """A reader that keeps apart what Ansible would take for a template."""


OfAnsible.add_constructor("!unsafe", lambda loader, node: ("unsafe", loader.construct_scalar(node)))


def test_ansible_gets_words_that_it_does_not_look_into(tmp_path: Path) -> None:
    wheel = tmp_path / "ringtree-0.1.0-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"x")
    playbook, inventory, variables, secret = KINDS["ansible"].render(job(host_names=HOSTS, wheel=wheel))
    said = yaml.load(variables.text, OfAnsible)
    assert said["job_words"] == [("unsafe", word) for word in ("compare", *NASTY)]
    assert said["job_variables"] == {"NASTY": ("unsafe", 'a "b" $(WORLD_SIZE) $$ {{ c }}'), "NO": ("unsafe", "no")}
    assert said["job_address"] == ("unsafe", "gpu01"), "without the user's name"
    assert said["job_wheel_id"] == ("unsafe", "2d711642b726"), "of sha256sum"
    assert yaml.safe_load(inventory.text)["ringtree"]["hosts"] == {
        "me@gpu01": {"ringtree_rank": 0},
        "gpu02": {"ringtree_rank": 1},
    }
    assert [file.is_secret for file in (playbook, inventory, variables, secret)] == [False, False, False, True]
    used = set(re.findall(r"\bjob_(?!name|[a-z]+_job)[a-z_]+", playbook.text)) - {"job_id"}
    assert used <= set(said), "all that the playbook asks for"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: job(words=("compare", "a\nb")), "has a newline or another control character"),
        (lambda: job(environment={"A": "x\x1b[0m"}), "has a newline or another control character"),
        (lambda: job(words=("compare", "\udc80")), "can't stand in a job file"),
        (lambda: job(environment={"A B": "x"}), "invalid variable 'A B'"),
        (lambda: job(environment={"RINGTREE_SECRET": "x"}), "must not hold your secret"),
        (lambda: job(name="My_Job"), "invalid name 'My_Job'"),
        (lambda: job(name="a" * 41), "invalid name"),
        (lambda: job(host_names=("a",)), "2 hosts, but 1 names"),
        (lambda: job(num_hosts=0), "at least one host"),
        (lambda: KINDS["k8s"].render(job(image=None)), "name one with --image"),
        (lambda: KINDS["k8s"].render(job(host_names=HOSTS)), "Kubernetes chooses the hosts"),
        (lambda: KINDS["k8s"].render(job(words=("compare", "--runs=x"))), "leave --runs out"),
        (lambda: KINDS["ansible"].render(job()), "Ansible needs the hosts by name"),
        (lambda: KINDS["ansible"].render(job(host_names=HOSTS, words=("compare", "--runs", "x"))), "leave --runs out"),
        (lambda: KINDS["ansible"].render(job(host_names=HOSTS, wheel=Path("/no/x.whl"))), "can't read the wheel"),
    ],
)
def test_what_a_job_can_not_hold_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_a_secret_is_new_each_time_and_not_shown() -> None:
    first, second = job(), job()
    assert first.secret != second.secret
    assert first.secret not in repr(first)


def test_a_template_without_its_values_is_our_bug() -> None:
    with pytest.raises(KeyError):
        filled("slurm.sbatch", name="x")
