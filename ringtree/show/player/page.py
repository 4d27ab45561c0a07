"""The player: schedules, animated, in one HTML file that needs no network.

For: `ringtree play`. Not for: the times and pictures themselves (simulate.js, view.js, controls.js), its colours
(theme.js, player.css).

The page allows exactly its own scripts and style (a content-security policy with their hashes). Names may come from a
user's file: they are data in a JSON block, and the script only ever sets them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree.errors import UsageError
from ringtree.show.html import json_block, packaged, render, script_block, source_hashes

HERE = "ringtree.show.player"
SCRIPTS = ("simulate.js", "view.js", "controls.js")
MAX_SCENES = 4
LEAST_ALPHA = 1e-7  # seconds: where the slider begins (controls.js), and so what a latency of 0 is played as


def page(
    scenes: Sequence[dict[str, Any]],
    *,
    title: str,
    alpha: float,
    bandwidth: float,
    size_bytes: int,
    slice_bytes: int,
    layout: str = "auto",
    inside: tuple[float, float] | None = None,
    note: str = "",
) -> str:
    """Returns the page as text. alpha: seconds; bandwidth: bytes/s; layout: auto, circle, tree or hosts. `inside`:
    alpha and bandwidth inside a host; a tenth and ten times by default. `note`: a sentence below the first one.

    Raises UsageError if the extra `report` is not installed, or for more than MAX_SCENES scenes.
    """
    if not 1 <= len(scenes) <= MAX_SCENES:
        raise UsageError(f"the player shows 1 to {MAX_SCENES} schedules side by side, not {len(scenes)}")
    script = script_block("\n".join(packaged(HERE, name) for name in SCRIPTS))
    theme = script_block(packaged(HERE, "theme.js"))
    style = packaged(HERE, "player.css")
    data = {
        "scenes": list(scenes),
        "clock": {"alpha": alpha, "bandwidth": bandwidth, "size": size_bytes, "slice": slice_bytes},
        # As shares of alpha and bandwidth: the sliders move both.
        "inside": {"alpha": 0.1, "bandwidth": 10.0}
        if inside is None
        else {"alpha": inside[0] / max(alpha, LEAST_ALPHA), "bandwidth": inside[1] / bandwidth},
    }
    return render(
        packaged(HERE, "page.html.j2"),
        raw={"style": style, "theme": theme, "script": script, "scenes": json_block(data)},
        title=title,
        layout=layout,
        note=note,
        style_hash=source_hashes(style),
        script_hashes=source_hashes(theme, script),
    )
