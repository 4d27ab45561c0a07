"""The matrix that `nvidia-smi topo -m` prints, and those of `rocm-smi --showtopo`.

For: who reaches whom how, among the GPUs and NICs of a host. Not for: rates of these links (ringtree.hardware).

Columns stand between tabs, or, where a page or a terminal replaced them, between blanks. Some cells may be empty, which
only tabs show.
"""

from __future__ import annotations

import re

from pydantic import Field

from ringtree.logs.lines import Line
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document, Format, Shape

FORMAT = Format("topology-matrix")

_MAX_DEVICES = 256
_MAX_PROBLEMS = 20
_DEVICE = re.compile(r"[A-Za-z][\w.:/-]{0,40}")
_GPU = re.compile(r"GPU\d{1,4}(?:/\w+)?")
_LINK = re.compile(r"X|NV\d{1,3}|NVB|C2C|PIX|PXB|PXN|PHB|NODE|SYS|SOC|XGMI|PCIE")
_CELL = re.compile(rf"{_LINK.pattern}|[A-Z][A-Z0-9]{{1,5}}|N/A|-|\d{{1,9}}|True|False")
_LEGEND = re.compile(r"(?:X|[A-Z][A-Z0-9]{1,5}#?|NV#)\s+= \S.*")
_NIC_NAME = re.compile(r"(NIC\d{1,4}):\s*(\S{1,60})")
_ROCM = re.compile(r"=+ (Weight|Hops|Link Type) between two GPUs =+")
_MEASURES = {"Weight": "weight", "Hops": "hops", "Link Type": "link"}
_NOT_ONE = "begins like a matrix of devices that it is not"


class TopologyMatrix(Shape):
    """`nvidia-smi topo -m`, or a matrix of `rocm-smi --showtopo`. links[a][b]: how device a reaches device b.

    None in `links`: the source has no such cell.
    """

    tool: str
    measure: str = Field(description='"link", and of rocm-smi "weight" or "hops"')
    devices: list[str]
    links: dict[str, dict[str, str | None]]
    gpus: list[str]
    nics: list[str]
    nic_names: dict[str, str] = Field(description='of the legend: "NIC0" -> "mlx5_0"')
    cpu_affinity: dict[str, str]
    numa_affinity: dict[str, str]
    symmetric: bool
    problems: list[str]


class TopologyMatrixReader:
    """A LineReader; the document comes when the matrix and its legend end."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._open: _Matrix | None = None
        self._rocm: str | None = None

    def feed(self, line: Line) -> bool:
        """Takes a heading of devices, the rows below it, and the legends."""
        text = line.text
        if self._open is not None:
            if self._open.row(line) or self._open.legend(line):
                return True
            self.finish()
        if "GPU" not in text:
            return False
        found = _ROCM.fullmatch(text.strip())
        if found is not None:
            self._rocm = _MEASURES[found.group(1)]
            return True
        devices, tabs = _heading(text)
        if not devices:
            return False
        self._open = _Matrix(line, devices, tabs, self._rocm)
        self._rocm = None
        return True

    def finish(self) -> None:
        """Emits what is open."""
        matrix, self._open = self._open, None
        if matrix is None:
            return
        if matrix.links:
            self._sink.emit(matrix.document())
        else:
            self._sink.skip(_NOT_ONE, matrix.first.number, matrix.first.text)


def _heading(text: str) -> tuple[list[str], bool]:
    """Returns the devices of a heading (none: the line is not a heading) and whether tabs stand between its columns."""
    tabs = "\t" in text.strip()
    before, affinity, _ = text.partition("CPU Affinity")
    names = before.split()
    if not names or len(names) > _MAX_DEVICES or not _GPU.fullmatch(names[0]):
        return [], tabs
    if not all(_DEVICE.fullmatch(name) for name in names) or any(_LINK.fullmatch(name) for name in names):
        return [], tabs
    if len(set(names)) < len(names) or (not affinity and len([name for name in names if _GPU.fullmatch(name)]) < 2):
        return [], tabs
    return names, tabs


class _Matrix:
    def __init__(self, first: Line, devices: list[str], tabs: bool, rocm: str | None) -> None:
        self.first = first
        self.last = first.number
        self.links: dict[str, dict[str, str | None]] = {}
        self._devices = devices
        self._tabs = tabs
        self._rocm = rocm
        self._in_legend = False
        self._names: dict[str, str] = {}
        self._affinity: tuple[dict[str, str], dict[str, str]] = ({}, {})

    def row(self, line: Line) -> bool:
        """Takes the row of a device."""
        words = line.text.split()
        if self._in_legend or not words or words[0] not in self._devices or words[0] in self.links:
            return False
        num = len(self._devices)
        tabs = self._tabs and "\t" in line.text.strip()
        cells = [cell.strip() for cell in line.text.split("\t")][1:] if tabs else words[1:]
        links = [cell if _CELL.fullmatch(cell) else None for cell in cells[:num]]
        if not any(links):
            return False
        links += [None] * (num - len(links))
        self.links[words[0]] = dict(zip(self._devices, links, strict=True))
        for where, cell in zip(self._affinity, cells[num : num + 2], strict=False):
            if cell:
                where[words[0]] = cell[:200]
        self.last = line.number
        return True

    def legend(self, line: Line) -> bool:
        """Takes the lines that explain the words, and the names of NICs."""
        text = line.text.strip()
        found = _NIC_NAME.fullmatch(text)
        if found is not None and found.group(1) in self._devices:
            self._names[found.group(1)] = found.group(2)
        elif text not in ("Legend:", "NIC Legend:") and not _LEGEND.fullmatch(text):
            return False
        self._in_legend = True
        self.last = line.number
        return True

    def document(self) -> Document:
        """Returns what was read."""
        gpus = [name for name in self._devices if _GPU.fullmatch(name)]
        problems = [f"the row of {name} is missing" for name in self._devices if name not in self.links]
        for row, cells in self.links.items():
            problems += [f"{row} to {name} is empty" for name, cell in cells.items() if cell is None]
        unequal = self._unequal()
        problems += unequal
        shape = TopologyMatrix(
            tool="nvidia-smi" if self._rocm is None else "rocm-smi",
            measure=self._rocm or "link",
            devices=self._devices,
            links=self.links,
            gpus=gpus,
            nics=[name for name in self._devices if name not in gpus],
            nic_names=self._names,
            cpu_affinity=self._affinity[0],
            numa_affinity=self._affinity[1],
            symmetric=not unequal,
            problems=problems[:_MAX_PROBLEMS],
        )
        title = f"links between {len(gpus)} GPUs"
        return Document(FORMAT, "topology_matrix", self.first.number, shape.plain(), title, self.first.job, self.last)

    def _unequal(self) -> list[str]:
        found = []
        for row, cells in self.links.items():
            for name, cell in cells.items():
                back = self.links.get(name, {}).get(row)
                if row < name and cell is not None and back is not None and cell != back:
                    found.append(f"{row} to {name} is {cell}, {name} to {row} is {back}")
        return found
