"""Machines that are not here: /proc, /sys and what nvidia-smi prints, written into a folder.

For: tests of ringtree.doctor. Not for: real ones (tests/python/cli/test_cli_doctor.py), outputs of other tools.

A machine is `bare` (healthy, 8 cores, nothing attached) and what is laid over it; files are named from the root.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ringtree.arms.mpi_libraries import Found
from ringtree.doctor import DoctorReport, Fact, Host, Software
from ringtree.doctor.host import NotKnown
from ringtree.errors import RingtreeError

TICK = os.sysconf("SC_CLK_TCK")
H100 = "NVIDIA H100 80GB HBM3"
CPU = "sys/devices/system/cpu"
REDIRECTS, ISOLATES = 0b0101, 0b0001  # ACS: source validation with and without request redirect


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def link(root: Path, name: str, target: str) -> None:
    """Makes `name` point to `target`, both below `root`."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.relpath(root / target, path.parent))


def stat_text(cores: int, ticks: int, stolen: int = 0) -> str:
    """/proc/stat of cores that were idle for so many ticks, but for what was stolen."""
    return "".join(f"cpu{core} 0 0 0 {ticks - stolen} 0 0 0 {stolen} 0 0\n" for core in range(cores))


def process_stat(name: str, user: int, system: int = 0) -> str:
    """/proc/PID/stat: utime and stime are the 12th and 13th field behind the name."""
    return f"9 ({name}) S {' '.join(['0'] * 10)} {user} {system} 0 0"


def meminfo(total_kb: int = 64 << 20, free_kb: int = 48 << 20, swapped_kb: int = 0, more: str = "") -> str:
    return (
        f"MemTotal: {total_kb} kB\nMemAvailable: {free_kb} kB\nSwapTotal: {8 << 20} kB\n"
        f"SwapFree: {(8 << 20) - swapped_kb} kB\n{more}"
    )


def limits_text(locked: str = "unlimited", files: str = "65536", processes: str = "unlimited") -> str:
    rows = (("Max processes", processes), ("Max open files", files), ("Max locked memory", locked))
    return "".join(f"{name:26}{limit:21}unlimited            units\n" for name, limit in rows)


def bare(root: Path, cores: int = 8) -> Path:
    """A healthy machine of its own: no virtual one, no container, one NUMA node, a core a thread."""
    every = f"0-{cores - 1}"
    write(
        root,
        {
            "proc/cpuinfo": "processor\t: 0\nmodel name\t: Example 9000\nflags\t\t: fpu sse\n",
            "proc/meminfo": meminfo(),
            "proc/loadavg": "0.10 0.10 0.10 1/100 1\n",
            "proc/stat": stat_text(cores, 1000),
            "proc/self/limits": limits_text(),
            "proc/self/status": "CapEff:\t0000000000000000\n",
            "proc/self/cgroup": "0::/\n",
            "proc/self/mounts": "tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n",
            "proc/modules": "ext4 1 1 - Live 0x0\n",
            "proc/sys/kernel/osrelease": "6.8.0-45-generic\n",
            "proc/sys/kernel/yama/ptrace_scope": "0\n",
            "proc/sys/kernel/numa_balancing": "0\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
            "sys/devices/system/node/node0/cpulist": f"{every}\n",
            f"{CPU}/online": f"{every}\n",
            "sys/class/net/lo/operstate": "unknown\n",
        },
    )
    for core in range(cores):
        write(
            root,
            {
                f"{CPU}/cpu{core}/cpufreq/scaling_governor": "performance\n",
                f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{core}\n",
            },
        )
    return root


def config_space(acs: int | None, size: int = 4096) -> bytes:
    """A bridge's configuration space: AER at 0x100, then ACS with this control register, if any."""
    space = bytearray(4096)
    struct.pack_into("<I", space, 0x100, 0x0001 | 2 << 16 | (0x148 if acs is not None else 0) << 20)
    if acs is not None:
        struct.pack_into("<I", space, 0x148, 0x000D | 1 << 16)
        struct.pack_into("<H", space, 0x148 + 6, acs)
    return bytes(space[:size])


def add_pci(root: Path, bridges: Sequence[str], address: str, numa: int = 0, acs: int = ISOLATES, **files: str) -> str:
    """Puts a device behind bridges; returns its folder. `files`: of the device."""
    folder = f"sys/devices/pci{address[:7]}"
    for bridge in bridges:
        folder += f"/{bridge}"
        write(root, {f"{folder}/config": config_space(acs), f"{folder}/class": "0x060400\n"})
        if not (root / f"sys/bus/pci/devices/{bridge}").is_symlink():
            link(root, f"sys/bus/pci/devices/{bridge}", folder)
    folder += f"/{address}"
    width = {"current_link_width": "16", "max_link_width": "16", "current_link_speed": "32.0 GT/s PCIe"}
    texts = {"numa_node": str(numa), "vendor": "0x15b3", "class": "0x020000", **width, **files}
    write(root, {f"{folder}/{name}": f"{text}\n" for name, text in texts.items()})
    link(root, f"sys/bus/pci/devices/{address}", folder)
    return folder


def add_ib(root: Path, name: str, folder: str, state: str = "4: ACTIVE", rate: str = "400 Gb/sec (4X NDR)") -> None:
    """Makes a device of PCI an RDMA device with one port."""
    port = f"sys/class/infiniband/{name}/ports/1"
    texts = {"state": state, "phys_state": "5: LinkUp", "rate": rate, "link_layer": "InfiniBand"}
    write(root, {f"{port}/{file}": f"{text}\n" for file, text in texts.items()})
    link(root, f"sys/class/infiniband/{name}/device", folder)


def add_interface(root: Path, name: str, folder: str, speed: str = "1000", mtu: str = "1500", up: str = "up") -> None:
    texts = {"operstate": up, "mtu": mtu, "speed": speed}
    write(root, {f"sys/class/net/{name}/{file}": f"{text}\n" for file, text in texts.items()})
    link(root, f"sys/class/net/{name}/device", folder)


def way(gpu: int, nic: int) -> str:
    """DGX H100: a NIC below each GPU's switch, four of them at each processor."""
    return "PIX" if gpu == nic else "NODE" if gpu // 4 == nic // 4 else "SYS"


def topo(
    gpus: int = 8, nics: int = 8, link: Callable[[int, int], str] | None = None, nic: Callable[[int, int], str] = way
) -> str:
    """What `nvidia-smi topo -m` prints; cores 0-3 are near the first half of the GPUs, 4-7 near the other."""
    between = link or (lambda a, b: "NV18")
    names = [*(f"GPU{i}" for i in range(gpus)), *(f"NIC{i}" for i in range(nics))]
    lines = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity"])]
    for a in range(gpus):
        cells = ["X" if a == b else between(min(a, b), max(a, b)) for b in range(gpus)]
        cells += [nic(a, n) for n in range(nics)]
        half = int(a >= max(1, gpus // 2))
        lines.append("\t".join([f"GPU{a}", *cells, ("0-3", "4-7")[half], str(half)]))
    for n in range(nics):
        cells = [*(nic(a, n) for a in range(gpus)), *("X" if n == m else "SYS" for m in range(nics))]
        lines.append("\t".join([f"NIC{n}", *cells]))
    legend = ["", "Legend:", "", "  X    = Self", "", "NIC Legend:", ""] if nics else []
    return "\n".join([*lines, *legend, *(f"  NIC{n}: mlx5_{n}" for n in range(nics))]) + "\n"


def smi(cuda: str = "12.8", names: Sequence[str] = (H100,) * 8) -> str:
    """What `nvidia-smi` prints, one GPU a row."""
    rows = "".join(f"|   {i}  {name:28}  On  |   00000000:1{i}:00.0 Off |    0 |\n" for i, name in enumerate(names))
    title = f"| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: {cuda}     |\n"
    return f"+{'-' * 60}+\n{title}+{'-' * 60}+\n{rows}+{'-' * 60}+\n"


def listed(names: Sequence[str] = (H100,) * 8) -> str:
    return "".join(f"GPU {i}: {name} (UUID: GPU-{i})\n" for i, name in enumerate(names))


def programs(outputs: Mapping[str, str]) -> Callable[[Sequence[str]], str]:
    """Returns what stands in for starting programs: their output by the command, NotKnown for others."""

    def run(command: Sequence[str]) -> str:
        words = " ".join(command)
        found = next((text for name, text in outputs.items() if words == name or words.startswith(f"{name}=")), None)
        if found is None:
            raise NotKnown(f"{command[0]} is not on PATH")
        return found

    return run


def smi_outputs(**changes: str) -> dict[str, str]:
    """The four calls of nvidia-smi on a DGX H100."""
    outputs = {"smi": smi(), "listed": listed(), "topo": topo(), "running": ""} | changes
    calls = {"smi": "nvidia-smi", "listed": "nvidia-smi -L", "topo": "nvidia-smi topo -m"}
    return {calls.get(name, "nvidia-smi --query-compute-apps"): text for name, text in outputs.items()}


def no_nccl() -> str:
    raise RingtreeError("NCCL is not here: install it")


def software(**changes: object) -> Software:
    """Nothing but compilers."""
    nothing: dict[str, object] = {
        "version_of": {"ringtree": "0.1.0", "numpy": "2.0.0"}.get,
        "folder_of": lambda name: None,
        "which": lambda name: f"/usr/bin/{name}",
        "nccl": no_nccl,
        "nccl_of_packages": list,
        "mpi": lambda library: None,
        "kinds": (),
    }
    return Software(**{**nothing, **changes})  # type: ignore[arg-type]


def found_mpi(version: str = "4.1.4") -> Found:
    from ringtree.arms.worker_building import Toolchain

    return Found("/usr/bin/mpirun", version, Toolchain(("mpicc",), version))


def host(root: Path, **changes: object) -> Host:
    """The machine in `root`; time passes while a probe waits: 30 ticks on each core."""
    cores = len([name for name in (root / CPU).iterdir() if name.name[3:].isdigit()]) if (root / CPU).exists() else 1
    given: dict[str, object] = {
        "root": root,
        "environment": {"HOME": "/home/someone"},
        "affinity": tuple(range(cores)),
        "name": "node-1",
        "home": root / "home",
        "run": programs({}),
        "pause": lambda seconds: write(root, {"proc/stat": stat_text(cores, 1030)}) and None,
        "software": software(),
        "above": tuple,
    }
    return Host(**{**given, **changes})  # type: ignore[arg-type]


def fact_of(facts: Sequence[Fact] | DoctorReport, name: str) -> Fact:
    """The one fact of that name."""
    listed = [one for part in facts.sections for one in part.facts] if isinstance(facts, DoctorReport) else list(facts)
    (found,) = [fact for fact in listed if fact.name == name]
    return found


def dgx(root: Path, acs: int = ISOLATES, nics: int = 8) -> Path:
    """8 H100 and as many NICs at 400 Gb/s, each pair below a PCIe switch, four pairs at each of two processors."""
    bare(root)
    write(
        root,
        {
            "sys/devices/system/node/node0/cpulist": "0-3\n",
            "sys/devices/system/node/node1/cpulist": "4-7\n",
            "proc/modules": "nvidia_peermem 16384 0 - Live 0x0\nnvidia 1 1 - Live 0x0\n",
            "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Tue\nGCC\n",
        },
    )
    for i in range(8):
        node = i // 4
        port = f"0000:{16 + i:02x}"
        up = [f"{port}:01.0", f"{port}:02.0"]
        gpu = {"vendor": "0x10de", "class": "0x030200"}
        add_pci(root, [*up, f"{port}:03.0"], f"{port}:04.0", node, acs, **gpu)
        if i < nics:
            add_ib(root, f"mlx5_{i}", add_pci(root, [*up, f"{port}:05.0"], f"{port}:06.0", node, acs))
            write(root, {f"dev/infiniband/uverbs{i}": "", f"sys/class/infiniband/mlx5_{i}/fw_ver": "28.39.1002\n"})
            write(root, {f"sys/class/infiniband/mlx5_{i}/board_id": "MT_0000000838\n"})
    for i in range(4):
        add_pci(root, ["0000:40:01.0"], f"0000:41:0{i}.0", vendor="0x10de", **{"class": "0x068000"})
    return write(root, {"proc/99/comm": "nv-fabricmanage\n"})


def dgx_host(root: Path, outputs: Mapping[str, str] | None = None, **changes: object) -> Host:
    """The DGX with PyTorch's NCCL 2.26.2; `outputs`: of nvidia-smi, changed."""
    found = software(nccl=lambda: "2.26.2")
    return host(root, **{"run": programs(smi_outputs(**(outputs or {}))), "software": found, **changes})
