"""Whole machines: a virtual one in a cgroup with a quota, a container, a laptop; narrowing; probes that fail.

For: ringtree.doctor.examine and the table of probes. Not for: each probe (the other files of this folder).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from doctor_support import (
    CPU,
    add_interface,
    add_pci,
    bare,
    dgx,
    fact_of,
    host,
    limits_text,
    programs,
    software,
    write,
)

from ringtree.arms.registry import KINDS, kind_named
from ringtree.doctor import DoctorReport, Fact, Host, Verdict, examine
from ringtree.doctor.host import Hung, NotKnown, Programs, run_program
from ringtree.doctor.records import ok
from ringtree.doctor.table import ALL, GPU, HOSTS, MPI, PROBES, TORCH, Probe, needs_of
from ringtree.errors import UsageError


def cloud_vm(root: Path) -> Path:
    """16 threads of 8 cores for which 1.5 cores' time is paid, a virtual NIC."""
    bare(root, cores=16)
    siblings = "cpu{}/topology/thread_siblings_list"
    pairs = {f"{CPU}/{siblings.format(core)}": f"{core // 2 * 2}-{core // 2 * 2 + 1}" for core in range(16)}
    write(root, {"proc/cpuinfo": "flags\t: fpu hypervisor\n", "proc/self/cgroup": "0::/system.slice/job\n", **pairs})
    write(root, {"sys/fs/cgroup/system.slice/cpu.max": "150000 100000\n"})
    add_interface(root, "ens5", add_pci(root, [], "0000:00:05.0"), "-1", "9001")
    return root


def container(root: Path) -> Path:
    """Docker with its 64 MB of /dev/shm and 64 KB of locked memory on a DGX, without its devices."""
    write(
        dgx(root),
        {
            ".dockerenv": "",
            "proc/self/mounts": "shm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n",
            "proc/self/limits": limits_text(locked="65536"),
        },
    )
    for file in (root / "dev/infiniband").iterdir():
        file.unlink()
    return root


def laptop(root: Path) -> Path:
    """Cores that save energy, wireless, somebody else's swap."""
    bare(root, cores=4)
    governors = {f"{CPU}/cpu{core}/cpufreq/scaling_governor": "powersave\n" for core in range(4)}
    write(root, {**governors, "proc/sys/kernel/yama/ptrace_scope": "1\n"})
    add_interface(root, "wlp2s0", add_pci(root, ["0000:00:1c.0"], "0000:02:00.0"), "", "1500")
    return root


def problems(report: DoctorReport) -> list[tuple[str, str]]:
    return [(fact.verdict.value, fact.name) for fact in report.problems if fact.verdict is not None]


def test_machines(tmp_path: Path) -> None:
    assert problems(examine(host(cloud_vm(tmp_path / "cloud")))) == [
        ("fail", "CPU quota"),
        ("warn", "virtual machine"),
        ("warn", "hardware threads (SMT)"),
    ]
    assert problems(examine(host(container(tmp_path / "container")))) == [
        ("fail", "locked memory (ulimit -l)"),
        ("fail", "/dev/infiniband"),
        ("warn", "/dev/shm"),
        ("warn", "GPUs"),
    ]
    assert problems(examine(host(laptop(tmp_path / "laptop")))) == [
        ("warn", "frequency governor"),
        ("warn", "ptrace scope"),
    ]


def test_a_container_says_what_it_is(tmp_path: Path) -> None:
    fact = fact_of(examine(host(container(tmp_path))), "container")
    assert (fact.value, fact.verdict) == ("docker", None)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("auto", {ALL, HOSTS, TORCH}),
        ("gloo", {ALL, HOSTS, TORCH}),
        ("openmpi", {ALL, MPI}),
        ("nccl", {ALL, GPU, HOSTS}),
        ("nccl-tests", {ALL, GPU}),
        ("torch:nccl", {ALL, GPU, HOSTS, TORCH}),
    ],
)
def test_needs_follow_from_what_a_kind_says_of_itself(name: str, needs: set[str]) -> None:
    assert needs_of(kind_named(name)) == needs


def test_every_probe_is_somebodys_need_and_every_kind_has_some() -> None:
    all_needs = {need for kind in KINDS for need in needs_of(kind)}
    assert all(probe.needs <= all_needs for probe in PROBES)


def test_arms_narrow_what_is_looked_at(tmp_path: Path) -> None:
    machine = host(container(tmp_path), software=software(kinds=KINDS))
    openmpi = examine(machine, ["openmpi:ring"])
    names = {part.name for part in openmpi.sections}
    assert "GPUs" not in names
    assert fact_of(openmpi, "/dev/shm").verdict is Verdict.WARN
    assert "/dev/infiniband" not in [fact.name for fact in openmpi.problems]
    engine = examine(machine, ["auto"])
    assert "/dev/shm" not in [fact.name for part in engine.sections for fact in part.facts]
    assert examine(machine, ["nccl@NCCL_DEBUG=INFO"]).arms == ["nccl@NCCL_DEBUG=INFO"]


@pytest.mark.parametrize("name", ["fast", "openmpi:Ring!", "nccl:Circle", "@X=1"])
def test_arms_that_do_not_exist_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        examine(host(bare(tmp_path)), [name])


def test_a_probe_that_fails_becomes_a_fact_and_the_others_go_on(tmp_path: Path) -> None:
    def odd_thing(host: Host) -> Iterator[Fact]:
        yield ok("before", "yes", "here")
        raise ZeroDivisionError("of this machine")

    def hidden_thing(host: Host) -> Iterator[Fact]:
        raise NotKnown("the tool is not here")
        yield

    def after(host: Host) -> Iterator[Fact]:
        yield ok("after", "yes", "here")

    probes = [Probe("part", odd_thing), Probe("part", hidden_thing), Probe("other", after)]
    report = examine(host(bare(tmp_path)), probes=probes)
    assert [(fact.name, fact.value, fact.known) for part in report.sections for fact in part.facts] == [
        ("before", "yes", True),
        ("odd thing", "not known: ZeroDivisionError: of this machine", False),
        ("hidden thing", "not known: the tool is not here", False),
        ("after", "yes", True),
    ]
    assert report.verdict is Verdict.OK


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program-of-ours"], "no-such-program-of-ours is not on PATH"),
        (["/bin/sh", "-c", "echo no devices >&2; exit 6"], "/bin/sh failed (6): no devices"),
        (["/"], "/ can't be started"),
    ],
)
def test_programs_that_fail(command: list[str], said: str) -> None:
    with pytest.raises(NotKnown, match=re.escape(said)):
        run_program(command)


def test_each_command_is_started_once_and_a_program_that_hangs_never_again() -> None:
    started: list[str] = []

    def start(command: Sequence[str]) -> str:
        started.append(" ".join(command))
        if command[0] == "slow":
            raise Hung("slow did not answer")
        if command[0] == "absent":
            raise NotKnown("absent is not on PATH")
        return command[-1]

    run = Programs(start)
    assert [run(["tool", "-L"]), run(["tool", "-L"]), run(["tool", "-q"])] == ["-L", "-L", "-q"]
    for command in (["absent"], ["absent"], ["slow", "-L"], ["slow", "-q"]):
        with pytest.raises(NotKnown, match=command[0]):
            run(command)
    assert started == ["tool -L", "tool -q", "absent", "slow -L"]


def test_a_program_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.doctor.host._SECONDS", 0.05)
    with pytest.raises(Hung, match=r"tail did not answer within 0\.05 s"):
        run_program(["tail", "-f", "/dev/null"])


def test_what_a_program_prints_need_not_be_text() -> None:
    assert run_program(["/bin/sh", "-c", r"printf 'a\377b'"]) == "a\ufffdb"


def test_a_tool_that_prints_nonsense_is_not_known(tmp_path: Path) -> None:
    calls = ("nvidia-smi", "nvidia-smi -L", "nvidia-smi topo -m", "nvidia-smi --query-compute-apps")
    report = examine(host(dgx(tmp_path), run=programs(dict.fromkeys(calls, "Segmentation fault\n"))))
    assert not [fact for part in report.sections for fact in part.facts if "probe that failed" in fact.source]
    assert fact_of(report, "GPUs").verdict is Verdict.WARN
