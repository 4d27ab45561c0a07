"""/proc and /sys of hosts that we don't have: bare metal, virtual machines, containers, files that are odd or absent.

For: ringtree.measure.host_files and ringtree.cpuinfo. Expected values are worked out by hand from the trees below.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringtree.comm.cpuinfo import cpu_model
from ringtree.measure import host_files
from ringtree.measure.host_files import CpuTimes

TICK = os.sysconf("SC_CLK_TCK")


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_processor_is_named_on_x86_and_on_arm(tmp_path: Path) -> None:
    x86 = tree(tmp_path / "x86", {"proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC: 9\nflags\t\t: fpu sse\n"})
    arm = tree(tmp_path / "arm", {"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 50\n\nModel\t\t: Raspberry Pi 5\n"})
    assert cpu_model(x86) == "AMD EPYC: 9"
    assert cpu_model(arm) == "Raspberry Pi 5"
    assert cpu_model(tmp_path) is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/cpuinfo": "flags\t: fpu hypervisor sse\n"}, True),
        ({"proc/cpuinfo": "flags\t: fpu sse\n"}, False),
        ({"proc/cpuinfo": "flags\t: fpu nohypervisor\n"}, False),
        ({"proc/cpuinfo": "Features\t: fp asimd\n"}, None),
        ({"proc/cpuinfo": "Features\t: fp\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}, True),
        ({"proc/cpuinfo": "Features\t: fp\n", "sys/class/dmi/id/product_name": "Google Compute Engine\n"}, True),
        ({"proc/cpuinfo": "Features\t: fp\n", "sys/class/dmi/id/product_name": "ProLiant\n"}, None),
        ({"sys/hypervisor/type": "xen\n"}, True),
        ({}, None),
    ],
)
def test_virtual_machines_are_told(tmp_path: Path, files: dict[str, str], expected: bool | None) -> None:
    assert host_files.virtual(tree(tmp_path, files)) is expected


def test_memory_is_in_bytes_and_odd_lines_are_passed_over(tmp_path: Path) -> None:
    text = "MemTotal:  1000 kB\nMemAvailable:\t 500 kB\nHugePages_Total: 7\nOdd\nEmpty:\nWord: many kB\n"
    found = host_files.memory(tree(tmp_path, {"proc/meminfo": text}))
    assert found == {"MemTotal": 1_024_000, "MemAvailable": 512_000, "HugePages_Total": 7}


def test_governors_of_the_given_cores(tmp_path: Path) -> None:
    place = "sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    tree(tmp_path, {place.format(0): "performance\n", place.format(1): "powersave\n", place.format(2): "powersave\n"})
    assert host_files.governor([1, 2], tmp_path) == "powersave"
    assert host_files.governor([0, 1, 2, 9], tmp_path) == "performance,powersave"
    assert host_files.governor([9], tmp_path) is None


V2 = "0::/a/b\n"
V1 = "12:memory:/x\n3:cpu,cpuacct:/docker/1f\n2:cpuset:/y\n0::/\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, None),
        (  # the tightest of the levels, wherever it is
            {
                "proc/self/cgroup": V2,
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
                "sys/fs/cgroup/a/cpu.max": "50000 100000\n",
                "sys/fs/cgroup/cpu.max": "max 100000\n",
            },
            0.5,
        ),
        ({"proc/self/cgroup": "0::/../../elsewhere\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2.0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/unified/cpu.max": "200000 50000\n"}, 4.0),
        (
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us": "100000\n",
            },
            2.5,
        ),
        (  # in a container: our path is the host's, the limit is at the top
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            1.0,
        ),
        (
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        (  # another controller's group is not ours
            {
                "proc/self/cgroup": "2:cpuset:/y\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        (  # what lies beside the mounted groups is none
            {"proc/self/cgroup": "0::/../b\n", "sys/fs/b/cpu.max": "100000 100000\n", "sys/fs/cgroup/cgroup.procs": ""},
            None,
        ),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "0 0\n"}, None),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "garbage"}, None),
        ({"proc/self/cgroup": "nonsense\n:::\n\n"}, None),
        ({}, None),
    ],
)
def test_the_limit_of_the_cgroup(tmp_path: Path, files: dict[str, str], expected: float | None) -> None:
    assert host_files.cgroup_cpus(tree(tmp_path, files)) == expected


def test_a_file_that_is_a_directory_or_no_text_is_as_if_absent(tmp_path: Path) -> None:
    (tmp_path / "proc/cpuinfo").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_bytes(b"\xff\xfe\x00MemTotal")
    (tmp_path / "proc/stat").write_bytes(b"cpu0 1 2 3 4 5 6 7 x\ncpu0 1\ncpu0\n\xff\n")
    assert cpu_model(tmp_path) is None
    assert host_files.memory(tmp_path) == {}
    assert CpuTimes.now([0], tmp_path) is None


def stat(*lines: str) -> str:
    return "\n".join(("cpu  9 9 9 9 9 9 9 9 9 9", *lines, "intr 12345", "ctxt 1")) + "\n"


def test_times_are_those_of_the_given_cores(tmp_path: Path) -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice
    text = stat("cpu0 100 20 30 400 5 6 7 8 50 10", "cpu1 1000 0 0 0 0 0 0 2 0 0", "cpu11 7 7 7 7 7 7 7 7 0 0")
    root = tree(tmp_path, {"proc/stat": text})
    one = CpuTimes.now([0], root)
    assert one is not None
    assert one.total == pytest.approx(576 / TICK)  # guest times are contained in user and nice
    assert one.stolen == pytest.approx(8 / TICK)
    both = CpuTimes.now([0, 1], root)
    assert both is not None
    assert (both.total, both.stolen) == (pytest.approx(1578 / TICK), pytest.approx(10 / TICK))
    assert CpuTimes.now([5], root) is None
    assert CpuTimes.now([0], tmp_path / "nowhere") is None


def test_shares_between_two_looks() -> None:
    before = CpuTimes(total=100, stolen=2)
    assert CpuTimes(total=120, stolen=3).stolen_since(before) == pytest.approx(1 / 20)
    # clocks of virtual machines may jump
    assert CpuTimes(total=120, stolen=1).stolen_since(before) == 0
    assert CpuTimes(total=101, stolen=9).stolen_since(before) == 1
    assert before.stolen_since(before) is None
    assert before.stolen_since(CpuTimes(total=120, stolen=3)) is None


def test_times_of_this_machine_do_not_go_back() -> None:
    before, after = CpuTimes.now(), CpuTimes.now()
    assert before is not None
    assert after is not None
    assert 0 < before.total <= after.total


def test_load_averages_are_three_and_odd_text_is_none(tmp_path: Path) -> None:
    assert host_files.load_average(tree(tmp_path, {"proc/loadavg": "1.50 0.73 0.55 2/93 1234\n"})) == [1.5, 0.73, 0.55]
    assert host_files.load_average(tree(tmp_path, {"proc/loadavg": "much\n"})) == []
    assert host_files.load_average(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/memory.max": "4096\n"}, 4096),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/memory.max": "8192\n"}, 8192),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/memory.max": "max\n"}, None),
        ({"proc/self/cgroup": V1, "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1048576\n"}, 1 << 20),
        ({"proc/self/cgroup": V1, "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{(1 << 63) - 4096}\n"}, None),
        ({}, None),
    ],
)
def test_the_least_memory_of_the_cgroups_above_counts(
    tmp_path: Path, files: dict[str, str], expected: int | None
) -> None:
    assert host_files.cgroup_memory(tree(tmp_path, files)) == expected
