"""Cores, time on them, memory, limits: each fact of a healthy machine, and what is said when it is not.

For: probes that every machine needs. Not for: network and GPUs (test_doctor_devices.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_support import (
    CPU,
    bare,
    fact_of,
    host,
    limits_text,
    meminfo,
    process_stat,
    programs,
    software,
    stat_text,
    write,
)

from ringtree.doctor import Verdict, examine
from ringtree.doctor.probes import cgroup, cores, limits, load, memory
from ringtree.doctor.ranges import format_ranges, parse_ranges

THP = "sys/kernel/mm/transparent_hugepage/enabled"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
CGROUP = {"proc/self/cgroup": "0::/job\n"}
SHM = "tmpfs /dev/shm tmpfs rw,size={} 0 0\n"
WARN, FAIL, OK = Verdict.WARN, Verdict.FAIL, Verdict.OK


def test_nothing_is_to_mind_on_a_healthy_machine_and_all_is_known(tmp_path: Path) -> None:
    report = examine(host(bare(tmp_path)))
    assert report.problems == []
    assert [fact for part in report.sections for fact in part.facts if not fact.known] == []
    assert report.verdict is OK


# What is laid over the healthy machine, the fact, its verdict, words of its value, words of its reason.
CASES: list[tuple[dict[str, str], str, Verdict, str, str]] = [
    ({"proc/cpuinfo": "flags\t: fpu hypervisor\n"}, "virtual machine", WARN, "yes", "shares these cores with others"),
    ({f"{CPU}/online": "0-63\n"}, "usable cores", WARN, "8 of 64 (0-7)", "--ranks 8"),
    ({f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave\n"}, "frequency governor", WARN, "powersave", "cpupower"),
    ({CLOCK: "hpet\n"}, "clock source", WARN, "hpet", "tsc"),
    ({THP: "always madvise [never]\n"}, "transparent huge pages", WARN, "never", "4 KB"),
    (
        {"proc/loadavg": "7.00 1 1 1/1 1\n"},
        "load average",
        WARN,
        "7 in the last minute, 8 usable cores",
        "use the cores",
    ),
    ({"proc/meminfo": meminfo(free_kb=1 << 20)}, "memory", WARN, "64 GB, 1 GB free", "end what is not needed"),
    ({"proc/meminfo": meminfo(swapped_kb=4 << 20)}, "swap", WARN, "4 GB in use", "swapoff"),
    (
        {"proc/meminfo": meminfo(more="HugePages_Free: 16384\nHugepagesize: 2048 kB\n")},
        "huge pages",
        WARN,
        "32 GB reserved, 50% of memory",
        "vm.nr_hugepages",
    ),
    ({"proc/self/mounts": SHM.format("65536k")}, "/dev/shm", WARN, "64 MB", "--shm-size"),
    ({"proc/self/mounts": SHM.format("1048576k")}, "/dev/shm", OK, "1 GB", ""),
    ({"proc/sys/kernel/yama/ptrace_scope": "1\n"}, "ptrace scope", WARN, "1: parents", "process_vm_readv"),
    ({"proc/self/limits": limits_text(files="256")}, "open files (ulimit -n)", WARN, "256", "384; ulimit -n 65536"),
    ({"proc/self/limits": limits_text(files="384")}, "open files (ulimit -n)", OK, "384", ""),
    ({"proc/self/limits": limits_text(processes="400")}, "processes (ulimit -u)", WARN, "400", "512; ulimit -u"),
    ({"proc/self/limits": limits_text(locked="65536")}, "locked memory (ulimit -l)", OK, "no RDMA device", ""),
    (
        {**CGROUP, "sys/fs/cgroup/job/cpu.max": "150000 100000\n"},
        "CPU quota",
        FAIL,
        "1.5 of 8 cores",
        "no two ranks",
    ),
    ({**CGROUP, "sys/fs/cgroup/job/cpu.max": "400000 100000\n"}, "CPU quota", WARN, "4 of 8 cores", "--ranks 4"),
    ({**CGROUP, "sys/fs/cgroup/job/cpu.max": "800000 100000\n"}, "CPU quota", OK, "8 for 8 cores", ""),
    (
        {**CGROUP, "sys/fs/cgroup/job/cpu.stat": "nr_periods 9\nnr_throttled 3\n"},
        "stopped by the quota",
        WARN,
        "3 times",
        "gap",
    ),
    ({**CGROUP, "sys/fs/cgroup/job/memory.max": f"{4 << 30}\n"}, "memory limit", WARN, "4 GB of 64 GB", "killed"),
    ({**CGROUP, "sys/fs/cgroup/job/memory.max": f"{32 << 30}\n"}, "memory limit", OK, "32 GB", ""),
    (
        {"sys/devices/system/node/node1/cpulist": "4-7\n", "proc/sys/kernel/numa_balancing": "1\n"},
        "NUMA balancing",
        WARN,
        "on",
        "kernel.numa_balancing=0",
    ),
]


@pytest.mark.parametrize(
    ("files", "name", "verdict", "value", "why"), CASES, ids=[f"{one[1]}-{one[3]}" for one in CASES]
)
def test_a_machine_that_is_not_so(
    tmp_path: Path, files: dict[str, str], name: str, verdict: Verdict, value: str, why: str
) -> None:
    report = examine(host(write(bare(tmp_path), files)))
    fact = fact_of(report, name)
    assert fact.verdict is verdict
    assert value in fact.value
    assert why in fact.why
    assert fact.source
    assert [one.name for one in report.problems] == ([name] if verdict is not OK else [])


def test_one_core_hinders_whatever_the_machine_has(tmp_path: Path) -> None:
    report = examine(host(bare(tmp_path), affinity=(3,)))
    assert (report.verdict, [fact.name for fact in report.problems]) == (FAIL, ["usable cores"])
    assert fact_of(report, "usable cores").value == "1 of 8 (3)"


def test_threads_of_one_core_are_counted_once_among_the_usable_ones(tmp_path: Path) -> None:
    pairs = {f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{core % 4},{core % 4 + 4}\n" for core in range(8)}
    root = write(bare(tmp_path), pairs)
    shared = fact_of(list(cores.threads(host(root))), "hardware threads (SMT)")
    assert (shared.verdict, shared.value) == (WARN, "8 usable ones on 4 cores")
    assert "--ranks 4" in shared.why
    alone = fact_of(list(cores.threads(host(root, affinity=(0, 1, 2, 3)))), "hardware threads (SMT)")
    assert alone.verdict is OK


def test_busy_processes_are_those_that_use_time_while_we_wait(tmp_path: Path) -> None:
    names = {"10": "train (x) y", "11": "idle", "12": "slow", "13": "gone"}
    root = write(bare(tmp_path), {f"proc/{pid}/stat": process_stat(name, 500) for pid, name in names.items()})

    def pause(seconds: float) -> None:
        # 30 ticks a core: 15 of them are half a core, 3 a tenth, which is not above a tenth
        write(root, {"proc/stat": stat_text(8, 1030), "proc/10/stat": process_stat("train (x) y", 507, 8)})
        write(root, {"proc/12/stat": process_stat("slow", 503), "proc/14/stat": process_stat("new", 900)})
        (root / "proc/13/stat").unlink()

    facts = list(load.busy(host(root, pause=pause)))
    found = fact_of(facts, "busy processes")
    assert (found.verdict, found.value) == (WARN, "train (x) y (10) 50% of a core")
    assert fact_of(facts, "stolen time").value == "0%"


def test_time_that_the_hypervisor_takes(tmp_path: Path) -> None:
    root = bare(tmp_path)
    # 3 of 30 ticks of each core
    facts = list(load.busy(host(root, pause=lambda _: write(root, {"proc/stat": stat_text(8, 1030, 3)}) and None)))
    assert (fact_of(facts, "stolen time").value, fact_of(facts, "stolen time").verdict) == ("10%", WARN)


def test_locked_memory_matters_where_there_is_rdma_and_no_right_to_exceed_it(tmp_path: Path) -> None:
    root = write(bare(tmp_path), {"proc/self/limits": limits_text(locked="65536")})
    write(root, {"sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"})
    (fact,) = limits.locked_memory(host(root))
    assert (fact.verdict, fact.value) == (FAIL, "64 KB")
    write(root, {"proc/self/status": "CapEff:\t0000000000004000\n"})  # CAP_IPC_LOCK is bit 14
    (fact,) = limits.locked_memory(host(root))
    assert fact.verdict is OK
    write(root, {"proc/self/status": "CapEff:\t0000000000003fff\n", "proc/self/limits": limits_text()})
    (fact,) = limits.locked_memory(host(root))
    assert (fact.verdict, fact.value) == (OK, "unlimited")


def test_an_empty_machine_gives_facts_that_are_not_known_and_no_error(tmp_path: Path) -> None:
    report = examine(host(tmp_path, affinity=(0, 1), environment={}))
    facts = [fact for part in report.sections for fact in part.facts]
    expected = {
        *("processor", "NUMA nodes", "frequency governor", "clock source", "load average", "busy processes", "memory"),
        *("CPU quota", "memory limit", "ptrace scope", "/dev/shm", "interfaces", "transparent huge pages", "kernel"),
        "open files (ulimit -n)",
    }
    assert expected <= {fact.name for fact in facts if not fact.known}
    assert not [fact for fact in facts if "probe that failed" in fact.source]
    assert report.verdict is OK


def test_files_of_nonsense_give_no_error(tmp_path: Path) -> None:
    root = bare(tmp_path)
    for path in [path for path in root.rglob("*") if path.is_file()]:
        path.write_bytes(b"\xff\x00 ::: -1 99999999999999999999 \n" * 3)
    report = examine(host(root, affinity=(0, 1), run=programs({"nvidia-smi -L": "\x00GPU"}), software=software()))
    assert not [fact for part in report.sections for fact in part.facts if "probe that failed" in fact.source]


def test_version_1_of_cgroups(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "3:cpu,cpuacct:/x\n2:memory:/y\n"}
    files |= {
        "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "300000",
        "sys/fs/cgroup/cpu/x/cpu.stat": "nr_throttled 1",
    }
    files |= {"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000"}
    facts = list(cgroup.cpu_quota(host(write(bare(tmp_path), files))))
    assert [(fact.verdict, fact.value) for fact in facts] == [(WARN, "3 of 8 cores"), (WARN, "1 time")]


def test_shared_memory_that_is_not_mounted(tmp_path: Path) -> None:
    (fact,) = memory.shared_memory(host(write(bare(tmp_path), {"proc/self/mounts": "proc /proc proc rw 0 0\n"})))
    assert (fact.value, fact.verdict) == ("not mounted", None)


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("0-2,8", {0, 1, 2, 8}),
        ("5", {5}),
        ("", set()),
        ("0-99999999999", set()),
        ("0-,x,-3", set()),
        ("0-1, 3", {0, 1, 3}),
    ],
)
def test_lists_of_cores(text: str, cores: set[int]) -> None:
    assert parse_ranges(text) == cores
    assert parse_ranges(format_ranges(cores)) == cores


def test_lists_of_cores_are_as_short_as_the_kernel_writes_them() -> None:
    assert format_ranges([8, 0, 1, 2, 4]) == "0-2,4,8"
