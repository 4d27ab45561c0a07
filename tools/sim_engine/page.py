"""The page about the simulator against the engine.

For: docs/benchmarks/simulator-against-engine.md. Not for: measuring, or what is concluded in docs/simulate.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generated import Bar, bars_table, machine_and_versions

from ringtree.units import format_size, format_time
from sim_engine.held import CLEAR, Held, median_error, wrong_orders
from sim_engine.measuring import Part

HERE_BAR, EMULATED_BAR = 0.25, 0.05
_HOW = (
    "On this machine the constants are probed (`ringtree cluster from --probe`): the hand-off between cores and the",
    "copying of a core directly, the rest fitted to ring and tree (with two ranks also one_shot) at 16 KB to 8 MB, in",
    "runs before and after the one that is predicted. On emulated clusters the constants are those that were asked",
    "for, and nothing is fitted.",
    "",
    "A cell: measured, median over launches with their range; simulated; simulated / measured − 1.",
)


def bars_of(parts: Sequence[Part]) -> list[Bar]:
    """Returns the two bars of each part."""
    bars = []
    for part in parts:
        error, (wrong, clear) = median_error(part.cells), wrong_orders(part.cells)
        wanted = EMULATED_BAR if part.emulated else HERE_BAR
        bars.append(Bar(f"{part.name}: median error", f"≤ {wanted:.0%}", f"{error:.1%}", error <= wanted))
        told = f"{clear - len(wrong)} of {clear}"
        bars.append(Bar(f"{part.name}: order where the measured ratio is > {CLEAR}", "all", told, not wrong))
    return bars


def page_text(parts: Sequence[Part], command: str) -> str:
    """Returns the page. `command`: what was typed."""
    first = parts[0].stored.run
    lines = [
        "# The simulator against the engine",
        "",
        f"- date: {first.created_utc}",
        f"- command: `{command}`",
        *machine_and_versions(first.provenance),
        "",
        *bars_table(bars_of(parts)),
        "",
        *_HOW,
        "",
    ]
    for part in parts:
        lines += [*_part(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def _part(part: Part) -> Iterator[str]:
    run = part.stored.run
    load = ", ".join(f"{one:.1f}" for one in run.provenance.load_average)
    yield f"## {part.name}"
    yield ""
    yield f"{run.plan.num_ranks} ranks, {len(part.stored.launches)} launches, load average at the start {load}."
    emulation = run.plan.emulation
    if emulation is not None:
        yield f"Between hosts {format_time(emulation.alpha)} and {emulation.beta / 1e6:g} MB/s."
    yield ""
    yield from (f"- {line}" for line in part.probed)
    wrong, _ = wrong_orders(part.cells)
    for fast, slow in wrong:
        yield (
            f"- order wrong at {format_size(fast.size_bytes)}: {fast.algorithm} before {slow.algorithm} as measured "
            f"({slow.measured / fast.measured:.2f}×{', ranges overlap' if slow.least <= fast.most else ''}), "
            f"simulated {slow.simulated / fast.simulated:.2f}×"
        )
    if part.probed or wrong:
        yield ""
    yield from _table(part.cells)


def _table(cells: Sequence[Held]) -> Iterator[str]:
    algorithms = list(dict.fromkeys(one.algorithm for one in cells))
    of = {(one.algorithm, one.size_bytes): one for one in cells}
    yield "| size | " + " | ".join(algorithms) + " |"
    yield "|---:|" + "---:|" * len(algorithms)
    for size in sorted({one.size_bytes for one in cells}):
        row = [_cell(of.get((name, size))) for name in algorithms]
        yield f"| {format_size(size)} | " + " | ".join(row) + " |"


def _cell(one: Held | None) -> str:
    if one is None:
        return "–"
    measured, ends = format_time(one.measured), f"{format_time(one.least)} to {format_time(one.most)}"
    return f"{measured} ({ends}), simulated {format_time(one.simulated)} **{one.error:+.0%}**"
