"""Simulated calls in the player: scenes with the times that the core found, and what is said of them.

For: `ringtree play --cluster`. Not for: the simulation and which channel is shown (ringtree.simulate.played), the page
(page.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree.show.player.scene import scene_of
from ringtree.show.simulation_text import limit_of
from ringtree.simulate.played import Timeline, played
from ringtree.simulate.points import Point
from ringtree.simulate.recorded import RecordedCall
from ringtree.simulate.run import TICKS_PER_SECOND
from ringtree.units import count, format_share, format_size, format_time


def simulated_scene(call: RecordedCall) -> dict[str, Any]:
    """Returns the scene of a call: its schedule's, with its timeline and what limits it. Raises UsageError as
    scene_of() and played()."""
    return {**scene_of(call.schedule, call.hosts), "timeline": played(call), "told": told(call.point)}


def headline(calls: Sequence[RecordedCall], scenes: Sequence[dict[str, Any]]) -> list[str]:
    """Returns sentences: that it is simulated and of what, and how it is drawn."""
    cluster, point = calls[0].cluster, calls[0].point
    collectives = {one.schedule.collective for one in calls}
    what = collectives.pop() if len(collectives) == 1 else "calls"
    assumed = sum(one.assumed for _, one in cluster.constants())
    lines = [
        f"Simulated, not measured: {what} of {format_size(point.size_bytes)} on "
        f"{count(point.nodes, 'node')} of {cluster.title or cluster.name}, {count(point.num_ranks, 'rank')}, as "
        "described" + (f" ({count(assumed, 'constant')} assumed)." if assumed else ".")
    ]
    timeline: Timeline = scenes[0]["timeline"]
    drawn = []
    if timeline["launch"]:
        drawn.append(
            f"Ranks begin when the call is launched, after {format_time(timeline['launch'] / TICKS_PER_SECOND)}."
        )
    if timeline["channels"] > 1:
        drawn.append(
            f"Of {timeline['channels']} channels, which work side by side on parts of the data, the one that finishes "
            "last is drawn, of a mix one for each share; all share the links."
            if any(scene["timeline"]["shares"] > 1 for scene in scenes)
            else f"Of {timeline['channels']} channels, which work side by side on parts of the data, the one that "
            "finishes last is drawn; all share the links."
        )
    return [*lines, " ".join(drawn)] if drawn else lines


def told(point: Point) -> str:
    """Returns a call's time, what most of it went on, and the link that is in use for the longest time."""
    limit = limit_of(point)
    said = f"Simulated: {format_time(point.seconds)}"
    if limit is not None:
        cause, share = limit
        if point.limited_by == "link" and point.critical_links:
            cause = f"link {point.critical_links[0]}"
        said += f", limited by {cause} ({share} of the time)"
    said += "."
    if point.busiest is not None:
        said += f" Busiest link: {point.busiest.name}, in use for {format_share(point.busiest.share)} of the time."
    return said
