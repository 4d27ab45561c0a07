"""The player: schedules, animated, in one HTML file that needs no network.

For: `ringtree play`. Not for: the times and pictures themselves (simulate.js, view.js, controls.js).

The page allows exactly its own script and style (a content-security policy with their hashes). Names may come from a
user's file: they are data in a JSON block, and the script only ever sets them as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from ringtree.errors import UsageError

SCRIPTS = ("simulate.js", "view.js", "controls.js")
MAX_SCENES = 4


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
    """Returns the page as text. alpha: seconds; bandwidth: bytes/s; layout: auto, circle, tree or hosts.

    Raises UsageError if the extra `report` is not installed, or for more than MAX_SCENES scenes.
    """
    if not 1 <= len(scenes) <= MAX_SCENES:
        raise UsageError(f"the player shows 1 to {MAX_SCENES} schedules side by side, not {len(scenes)}")
    try:
        import jinja2
    except ImportError as error:
        raise UsageError("pages need Jinja2: pip install 'ringtree[report]'") from error
    script, style = "\n".join(map(_file, SCRIPTS)), _file("player.css")
    template = jinja2.Environment(autoescape=True).from_string(_file("page.html.j2"))
    data = {
        "scenes": list(scenes),
        "clock": {"alpha": alpha, "bandwidth": bandwidth, "size": size_bytes, "slice": slice_bytes},
    }
    return template.render(
        title=title,
        layout=layout,
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        scenes=jinja2.utils.markupsafe.Markup(json_block(data)),
    )


def json_block(data: object) -> str:
    """Returns JSON that may stand in a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("ringtree.report.player").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
