"""The player: schedules, animated, in one HTML file that needs no network.

For: `ringtree play`. Not for: the times and pictures themselves (simulate.js, recorded.js, view.js, controls.js), its
colours (theme.js, player.css).

The page allows exactly its own scripts and style (a content-security policy with their hashes). Names may come from a
user's file: they are data in a JSON block, and the script only ever sets them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree.errors import UsageError
from ringtree.show.html import json_block, packaged, render, script_block, source_hashes

HERE = "ringtree.show.player"
SCRIPTS = ("contents.js", "simulate.js", "recorded.js", "view.js", "controls.js")
MAX_SCENES = 4
_KEYS = "Keys: space, ← →, Home, End."
_DRAWN = "Squares are messages: under way, then in a slot until they are read. A rank with a thick rim folds or copies."
_MODEL = (
    "Times are a model's, not measured: a message of b bytes takes α + b / bandwidth, a rank sends and receives one at "
    f"a time. {_KEYS}"
)


def page(
    scenes: Sequence[dict[str, Any]],
    *,
    title: str,
    alpha: float,
    bandwidth: float,
    size_bytes: int,
    slice_bytes: int,
    layout: str = "auto",
) -> str:
    """Returns the page of scenes on the model's clock, as text. alpha: seconds; bandwidth: bytes/s; layout: auto,
    circle, tree or hosts.

    Raises UsageError if the extra `report` is not installed, or for more than MAX_SCENES scenes.
    """
    clock = {"alpha": alpha, "bandwidth": bandwidth, "size": size_bytes, "slice": slice_bytes}
    return _page(scenes, title, layout, [_MODEL], {"clock": clock})


def recorded_page(
    scenes: Sequence[dict[str, Any]], *, title: str, size_bytes: int, headline: Sequence[str], layout: str = "auto"
) -> str:
    """Returns the page of scenes with timelines, as text. `headline`: what they are of, sentences. Raises UsageError as
    page()."""
    return _page(scenes, title, layout, [*headline, f"{_DRAWN} {_KEYS}"], {"clock": None, "size": size_bytes})


def _page(
    scenes: Sequence[dict[str, Any]], title: str, layout: str, headline: Sequence[str], data: dict[str, Any]
) -> str:
    if not 1 <= len(scenes) <= MAX_SCENES:
        raise UsageError(f"the player shows 1 to {MAX_SCENES} schedules side by side, not {len(scenes)}")
    script = script_block("\n".join(packaged(HERE, name) for name in SCRIPTS))
    theme = script_block(packaged(HERE, "theme.js"))
    style = packaged(HERE, "player.css")
    return render(
        packaged(HERE, "page.html.j2"),
        raw={
            "style": style,
            "theme": theme,
            "script": script,
            "scenes": json_block({"scenes": list(scenes), **data}),
        },
        title=title,
        layout=layout,
        headline=headline,
        has_clock=data["clock"] is not None,
        style_hash=source_hashes(style),
        script_hashes=source_hashes(theme, script),
    )
