"""Which NCCL would be called, whether there are others, and whether it fits GPUs and driver.

For: libnccl. Not for: its variables (variables.py), what a release can do (`ringtree nccl support`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ringtree.doctor import nvidia
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.records import Fact, fail, ok, told, warn
from ringtree.errors import RingtreeError
from ringtree.gpu.libraries import NCCL
from ringtree.nccl.releases import FIRST_FOR_GPU, version
from ringtree.nccl.variables import newest_read

_SYSTEM = ("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/local/cuda/lib64")
_PACKAGES = ("nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11")


def called(host: Host) -> Iterator[Fact]:
    """The version that ringtree calls, against the GPUs."""
    source = "ncclGetVersion"
    try:
        found = host.software.nccl()
    except RingtreeError as error:
        yield told("NCCL", "none", f"{NCCL}: {error}")
        return
    for name in _names(host):
        for gpu, first, because in FIRST_FOR_GPU:
            if gpu.search(name) and (version(found) or first) < first:
                why = f"it has no code for {name} ({because}): use {'.'.join(map(str, first))} or newer"
                yield fail("NCCL", found, source, why)
                return
    yield ok("NCCL", found, source)


def copies(host: Host) -> Iterator[Fact]:
    """Copies of libnccl that other programs would take."""
    package = next((f"{name} {at}" for name in _PACKAGES if (at := host.software.version_of(name))), None)
    if package:
        yield from _package(host, package)
    own = {Path(path).resolve() for path in host.software.nccl_of_packages()}
    given = [
        Path(folder) / NCCL
        for folder in host.environment.get("LD_LIBRARY_PATH", "").split(":")
        if folder and (Path(folder) / NCCL).exists()
    ]
    for path in given:
        if own and path.resolve() not in own:
            why = (
                "programs that don't come with PyTorch (nccl-tests, MPI) load this one and PyTorch its own, so figures "
                "of the two may be of different versions: take its folder out of LD_LIBRARY_PATH, or choose one for "
                "ringtree with RINGTREE_LIBNCCL"
            )
            yield warn("NCCL on LD_LIBRARY_PATH", _with_version(path), "LD_LIBRARY_PATH", why)
        else:
            yield ok("NCCL on LD_LIBRARY_PATH", _with_version(path), "LD_LIBRARY_PATH")
    system = [path for folder in _SYSTEM if (path := host.root / folder / NCCL).exists()]
    for path in system:
        yield told("NCCL of the system", _with_version(path), str(path.relative_to(host.root)))


def release(host: Host) -> tuple[str, bool]:
    """Returns the version whose variables count, and whether it is here; else it is the newest that was read."""
    try:
        return host.software.nccl(), True
    except RingtreeError:
        return newest_read(), False


def _package(host: Host, package: str) -> Iterator[Fact]:
    """The package beside PyTorch: for which CUDA it was built."""
    try:
        newest = nvidia.versions(host)["cuda"] if nvidia.has_gpus(host) else None
    except NotKnown:
        newest = None
    built = re.search(r"-cu(\d+) ", package)
    if newest and built and int(built[1]) > int(newest.partition(".")[0]):
        why = f"the driver has CUDA up to {newest}: update it, or install nvidia-nccl-cu{newest.partition('.')[0]}"
        yield fail("NCCL's package", package, "metadata of the package, nvidia-smi", why)
    else:
        yield ok("NCCL's package", package, "metadata of the package")


def _names(host: Host) -> list[str]:
    try:
        return nvidia.names(host)
    except NotKnown:
        return []


def _with_version(path: Path) -> str:
    """The file, with the version that its real name has."""
    found = re.search(r"\.so\.(\d+\.\d+\.\d+)$", path.resolve().name)
    return f"{path}{f' ({found[1]})' if found else ''}"
