"""The report's page: one HTML file that needs no network.

For: `ringtree report`. Not for: what is in it (ringtree.show.views), drawing (charts.js).

All text of runs, logs and files is data: Jinja2 escapes what it writes, and the scripts only ever set text. The page
allows its own scripts and styles by their hashes; Plotly makes one empty style element and sets style attributes, which
can't run anything.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError
from ringtree.show.html import HOW_TO_GET, json_block, packaged, render, script_block, source_hashes
from ringtree.show.views import View, as_json

HERE = "ringtree.show.run_page"
SCRIPTS = ("words.js", "tables.js", "queue.js", "charts.js", "curves.js", "scaling.js", "page.js")


@dataclass(frozen=True)
class Extra:
    """Something else that belongs to the page: a picture (SVG), or a table with headings."""

    title: str
    svg: bytes | None = None
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=tuple)


def report_page(views: Sequence[View], *, title: str, extras: Sequence[Extra] = ()) -> str:
    """Returns the page as text. Raises UsageError without views, or if the extra `report` is not installed."""
    if not views:
        raise UsageError("a report needs at least one stored run, or a log")
    try:
        import plotly
    except ImportError as error:
        raise UsageError(HOW_TO_GET) from error
    plotly_js = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    # Plotly's maps bring a style element that the policy forbids; it leaves it out where its id is taken.
    unwanted = sorted(set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', plotly_js)))
    ours = "\n".join(packaged(HERE, name) for name in SCRIPTS)
    scripts = [script_block(one) for one in (parsed_once(plotly_js), ours)]
    style = packaged(HERE, "report.css")
    data = [as_json(view) for view in views]
    return render(
        packaged(HERE, "report.html.j2"),
        raw={"data": json_block(data), "style": style, "plotly": scripts[0], "script": scripts[1]},
        title=title,
        runs=data,
        extras=[_extra(one) for one in extras],
        unwanted=unwanted,
        script_hashes=source_hashes(*scripts),
        style_hashes=source_hashes(style, ""),  # Plotly makes one that is empty
    )


def parsed_once(plotly_js: str) -> str:
    """Returns Plotly with the function that holds all of it in parentheses, or as it is where it begins in another way.

    Browsers take a function in parentheses for one that is called at once, and read its 5 MB once instead of twice.
    """
    before, begin, body = plotly_js.partition(", () => {\n")
    body, end, after = body.rpartition("\n}));")
    if not begin or not end or len(before) > 1000 or after.strip():
        return plotly_js
    return f"{before}, (() => {{\n{body}\n}})));{after}"


def _extra(one: Extra) -> dict[str, Any]:
    picture = None if one.svg is None else "data:image/svg+xml;base64," + base64.b64encode(one.svg).decode()
    return {"title": one.title, "picture": picture, "headings": one.headings, "rows": one.rows}
