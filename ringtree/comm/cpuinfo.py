"""What /proc/cpuinfo says: the processor's name, and its fields for whoever needs another one.

For: profiles, which hold for one processor, and provenance (ringtree.measure). Not for: other files of /proc and /sys
(ringtree/measure/host_files.py). The file may be missing or odd, as in containers: then nothing is known, and nothing
raises. `root` is the directory that holds proc/; tests pass a tree of their own.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")


def cpu_model(root: Path = ROOT) -> str | None:
    """Returns the processor's name; None if nothing tells."""
    return next((value for name, value in cpu_fields(root) if name in ("model name", "Model", "cpu model")), None)


def cpu_fields(root: Path = ROOT) -> list[tuple[str, str]]:
    """Returns (name, value) of every line, processor after processor."""
    try:
        lines = (root / "proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return []
    pairs = (line.partition(":") for line in lines)
    return [(name.strip(), value.strip()) for name, _, value in pairs]
