"""One call of a trace as a picture: rows are the lanes of each rank, bars what they did, lines the messages.

    python tools/trace_picture.py trace.json docs/drawings/trace.svg [--call 8] [--title TEXT]

For: documents. Not for: looking around in a trace, which ui.perfetto.dev and chrome://tracing do better. Reads the file
that `ringtree trace-run` writes; needs matplotlib (`pip install ringtree[report]`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ChromeEvents = list[dict[str, Any]]
Row = tuple[int, int]  # process, track

# What a bar is of, by category and the first word of its name: legend and colour. Steps that fold are darker than
# steps that only pass on; waits are pale.
_STEP_COLOURS = {"reduces": "#b2561d", "passes on": "#1f6f9f"}
_WAIT_COLOURS = {
    "message": ("waits for a message", "#f3d9a4"),
    "under": ("message under way", "#d9d2e9"),
    "slot": ("waits for a slot", "#f4b6b0"),
    "step": ("waits for another lane", "#c9e3c3"),
    "network": ("waits for the network card", "#a9c7e8"),
    "readers": ("waits for readers", "#e0e0e0"),
}


@dataclass(frozen=True)
class Bar:
    """A thing that lasts, in microseconds from the beginning of the call."""

    row: Row
    begin: float
    length: float
    label: str
    colour: str


@dataclass(frozen=True)
class Call:
    """What is drawn of one call."""

    rows: dict[Row, str]  # in their order, with what they are called
    bars: list[Bar]
    messages: list[tuple[Row, float, Row, float]]
    end: float


def read_call(events: ChromeEvents, number: int | None) -> Call:
    """The call of that number, by default the last one. Raises SystemExit if there is none."""
    numbers = sorted({_call_number(one) for one in events if one.get("cat") == "call"})
    if not numbers or (number is not None and number not in numbers):
        raise SystemExit(f"there is no call {number}; choose from: {', '.join(map(str, numbers))}")
    wanted = numbers[-1] if number is None else number
    spans = [one for one in events if one.get("cat") == "call" and _call_number(one) == wanted]
    origin, end = min(one["ts"] for one in spans), max(one["ts"] + one["dur"] for one in spans)
    own = [one for one in events if one.get("args", {}).get("call") == wanted and one["tid"] > 1]
    return Call(
        rows=dict(_rows(events, {(one["pid"], one["tid"]) for one in own})),
        bars=[_bar(one, origin) for one in own if one["cat"] in ("step", "wait")],
        messages=list(_messages(events, spans, origin)),
        end=end - origin,
    )


def _call_number(event: dict[str, Any]) -> int:
    return int(event["name"].rpartition("#")[2])


def _rows(events: ChromeEvents, used: set[Row]) -> Iterator[tuple[Row, str]]:
    processes = {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    several = len(used) > len({pid for pid, _ in used})
    for row in sorted(used):
        yield row, f"{processes[row[0]]}, {tracks[row]}" if several else processes[row[0]]


def _bar(event: dict[str, Any], origin: float) -> Bar:
    if event["cat"] == "wait":
        label, colour = _WAIT_COLOURS[event["name"].split()[0]]
    else:
        label = "reduces" if "reduce" in event["args"]["verb"] else "passes on"
        colour = _STEP_COLOURS[label]
        label = f"slice step that {label}"
    return Bar((event["pid"], event["tid"]), event["ts"] - origin, event["dur"], label, colour)


def _messages(events: ChromeEvents, spans: ChromeEvents, origin: float) -> Iterator[tuple[Row, float, Row, float]]:
    # What a rank sent during its own span of the call: a faster one is in its next call before the last has ended.
    during = {one["pid"]: (one["ts"], one["ts"] + one["dur"]) for one in spans}
    starts = {
        one["id"]: one
        for one in events
        if one["ph"] == "s" and one["pid"] in during and during[one["pid"]][0] <= one["ts"] <= during[one["pid"]][1]
    }
    for one in events:
        if one["ph"] == "f" and one["id"] in starts:
            start = starts[one["id"]]
            yield (start["pid"], start["tid"]), start["ts"] - origin, (one["pid"], one["tid"]), one["ts"] - origin


def draw(axes: Axes, call: Call) -> None:
    """Draws one call; the first rank is at the top."""
    from matplotlib.patches import Patch

    scale, unit = (1e-3, "ms") if call.end >= 5000 else (1.0, "µs")
    places = {row: -index for index, row in enumerate(call.rows)}
    for bar in call.bars:
        axes.barh(
            places[bar.row], bar.length * scale, 0.7, bar.begin * scale, color=bar.colour, edgecolor="white", lw=0.2
        )
    for sender, left, receiver, taken in call.messages:
        axes.plot(
            [left * scale, taken * scale], [places[sender], places[receiver]], color="#555555", lw=0.35, alpha=0.6
        )
    axes.set_yticks(list(places.values()), list(call.rows.values()))
    axes.set_xlim(0, call.end * scale)
    axes.set_xlabel(f"{unit} since the first rank began")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    legend = {bar.label: bar.colour for bar in call.bars}
    handles = [Patch(color=colour, label=label) for label, colour in sorted(legend.items())]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=8)


def main() -> None:
    """Reads a trace and writes a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--call", type=int)
    parser.add_argument("--title", default="")
    asked = parser.parse_args()
    import matplotlib
    from matplotlib.figure import Figure

    call = read_call(json.loads(asked.trace.read_text())["traceEvents"], asked.call)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": asked.picture.name, "font.size": 9}):
        figure = Figure(figsize=(9.0, 1.3 + 0.28 * len(call.rows)), layout="constrained")
        axes = figure.add_subplot()
        draw(axes, call)
        axes.set_title(asked.title, loc="left", pad=34, fontsize=10)
        figure.savefig(asked.picture, metadata={"Date": None} if asked.picture.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
