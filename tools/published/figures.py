"""The figures of the page: what its formulas and the published numbers look like.

For: docs/drawings/published-*.svg. Not for: the numbers (docs/published), the limits (hardware.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from published import hardware
from published.sheet import Line, Sheet
from ringtree.audit.claims import counting
from ringtree.show.plot.figure import FAINT, INK, look, plain_numbers, size_axis, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHA_S, LINK = 5e-6, 50e9  # an example: a message's latency, bytes/s of a link each way
RANKS = (8, 64)
ALGORITHMS = ("ring", "double_tree")
TCPX, A100 = "h100-tcpx-default-vs-nvlstree.csv", "a100x8-ring-vs-tree.csv"


@dataclass(frozen=True)
class Drawing:
    """A figure: `name` of its file, `words` for those who can't see it, `draw` on as many axes as `panels`."""

    name: str
    words: str
    title: str
    panels: int
    draw: Callable[[Path, list[Axes]], None]

    @property
    def markdown(self) -> str:
        """The image as it stands on the page."""
        return f"![{self.words}](drawings/{self.name}.svg)"


def _cost(algorithm: str, num_ranks: int) -> tuple[int, float]:
    """Steps, and of how many vectors the busiest rank sends the bytes, counted in the schedule."""
    steps = counting.hops("all_reduce", algorithm, num_ranks)
    share = counting.share("all_reduce", algorithm, num_ranks)
    if steps is None or share is None:
        raise ValueError(f"there is no {algorithm} of {num_ranks} ranks")
    return steps, share


def model_time(algorithm: str, num_ranks: int, size: float) -> float:
    """Seconds by formulas 3 and 4."""
    steps, share = _cost(algorithm, num_ranks)
    return steps * ALPHA_S + share * size / LINK


def crossover(num_ranks: int) -> float:
    """The size in bytes at which ring and double tree take the same time by the formulas."""
    (ring_steps, ring_share), (tree_steps, tree_share) = (_cost(name, num_ranks) for name in ALGORITHMS)
    return (ring_steps - tree_steps) * ALPHA_S * LINK / (tree_share - ring_share)


def _formulas(_folder: Path, axes: list[Axes]) -> None:
    sizes = [2.0**power for power in range(10, 31)]
    for panel, num_ranks in zip(axes, RANKS, strict=True):
        for number, name in enumerate(ALGORITHMS):
            times = [model_time(name, num_ranks, size) * 1e6 for size in sizes]
            panel.plot(sizes, times, label=name.replace("_", " "), color=look(number)["color"])
        at = crossover(num_ranks)
        panel.axvline(at, color=FAINT, linestyle=":", linewidth=1)
        panel.annotate(
            f"{at / 2**20:.3g} MB",
            (at, 0.04),
            xycoords=("data", "axes fraction"),
            xytext=(-4, 0),
            textcoords="offset points",
            horizontalalignment="right",
            color=INK,
        )
        size_axis(panel)
        plain_numbers(panel)
        panel.set_ylabel("µs")
        panel.set_title(f"{num_ranks} ranks", fontsize=9)
        panel.legend(frameon=False)


def _factor(folder: Path, axes: list[Axes]) -> None:
    for number, (name, nodes) in enumerate((name, nodes) for name in ("default", "nvlstree") for nodes in ("2", "8")):
        rows = [line for line in Sheet(folder, TCPX) if line["nodes"] == nodes]
        printed = [(_size(line), line.value(f"{name}_GBps")) for line in rows]
        derived = [(_size(line), line.busbw(f"{name}_ms")) for line in rows]
        for panel, points in zip(axes, (printed, derived), strict=True):
            known = [(size, rate / 1e9) for size, rate in points if rate is not None]
            label = f"{'NVLSTree' if name == 'nvlstree' else name}, {nodes} nodes"
            panel.plot(*zip(*known, strict=True), label=label, markersize=4, linewidth=1, **look(number))
    titled = zip(axes, ("as printed: (n−1) · size/time", "busbw, from the same times"), strict=True)
    low = min(panel.get_ylim()[0] for panel in axes)
    high = max(panel.get_ylim()[1] for panel in axes)
    for panel, title in titled:
        size_axis(panel)
        panel.set_yscale("log")
        panel.set_ylim(max(low, 0.1), 3 * high)
        plain_numbers(panel)
        panel.set_ylabel("GB/s")
        panel.set_title(title, fontsize=9)
    axes[0].legend(frameon=False, loc="lower right")


def _impossible(folder: Path, axes: list[Axes]) -> None:
    (panel,) = axes
    limit = (hardware.any_algorithm(hardware.a100_host()).busbw or 0.0) / 1e9
    for number, name in enumerate(("Ring", "Tree", "AUTO")):
        points = [(_size(line, binary=False), line.value(f"{name.lower()}_GBps")) for line in Sheet(folder, A100)]
        known = [(size, rate / 1e9) for size, rate in points if rate is not None]
        line = "none" if name == "AUTO" else "-"
        panel.plot(*zip(*known, strict=True), label=name, linewidth=1, linestyle=line, **look(number))
    top = 1000.0
    panel.axhspan(limit, top, color=look(1)["color"], alpha=0.1, linewidth=0)
    panel.axhline(limit, color=INK, linewidth=1)
    panel.annotate(
        f"above {limit:.0f} GB/s: impossible",
        (0.02, limit),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        color=INK,
    )
    size_axis(panel)
    panel.set_ylim(0, top)
    panel.set_ylabel("GB/s as published")
    panel.legend(frameon=False, loc="upper left")


def _size(line: Line, binary: bool = True) -> float:
    if not line.sizes:
        raise ValueError("a row of a published table has no size")
    return line.sizes[0 if binary else -1]


FORMULAS = Drawing(
    "published-formulas",
    "Time over size of ring and double tree by the two formulas, 8 and 64 ranks: the tree is ahead below the crossover,"
    " the ring above it, and with more ranks the crossover lies higher",
    f"formulas 3 and 4 with α = {ALPHA_S * 1e6:.0f} µs and B = {LINK / 1e9:.0f} GB/s",
    2,
    _formulas,
)
FACTOR = Drawing(
    "published-factor",
    "The same times as two bandwidths: as printed, 8 nodes seem faster than 2 and pass 1000 GB/s; as busbw, 8 nodes are"
    " slower than 2 and no line passes 100 GB/s",
    "default and NVLSTree, 2 and 8 nodes of 8 H100: one set of times, two columns",
    2,
    _factor,
)
IMPOSSIBLE = Drawing(
    "published-impossible",
    "Published bandwidths of Ring, Tree and AUTO on 8 A100 over size, with the limit of 300 GB/s: Tree and AUTO pass"
    " it, and no line rises as a bandwidth does",
    "8 A100, forced algorithms: what was published, and what the links permit",
    1,
    _impossible,
)
DRAWINGS = (FORMULAS, FACTOR, IMPOSSIBLE)


def draw(drawing: Drawing, folder: Path, into: Path) -> Path:
    """Writes the figure from the tables in `folder`; returns its file. Raises UsageError without matplotlib."""
    file = into / f"{drawing.name}.svg"
    write(file, drawing.panels, drawing.title, lambda _, axes: drawing.draw(folder, axes), drawing.name)
    return file
