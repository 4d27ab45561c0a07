"""The report's page: one HTML file that needs no network.

For: `ringtree report`. Not for: what is in it (ringtree.show.views), drawing (charts.js).

All text of runs, logs and files is data: Jinja2 escapes what it writes, and the scripts only ever set text. The page
allows its own scripts and styles by their hashes; Plotly makes one empty style element and sets style attributes, which
can't run anything.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ringtree.errors import UsageError
from ringtree.show.html import json_block, packaged, render, script_block, source_hashes
from ringtree.show.plotly_source import plotly_source
from ringtree.show.views import View, as_json

HERE = "ringtree.show.run_page"
SCRIPTS = ("words.js", "tables.js", "queue.js", "charts.js", "curves.js", "scaling.js", "page.js")


@dataclass(frozen=True)
class Extra:
    """Something else that belongs to the page: a picture (SVG), lines, or a table with headings."""

    title: str
    svg: bytes | None = None
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=tuple)
    lines: Sequence[str] = ()
    below: Sequence[str] = ()  # lines that explain the table


def report_page(views: Sequence[View], *, title: str, extras: Sequence[Extra] = ()) -> str:
    """Returns the page as text. Raises UsageError without views, or if the extra `report` is not installed."""
    if not views:
        raise UsageError("a report needs at least one stored run, or a log")
    plotly_js, unwanted = plotly_source()
    ours = "\n".join(packaged(HERE, name) for name in SCRIPTS)
    scripts = [script_block(one) for one in (plotly_js, ours)]
    style = packaged(HERE, "report.css")
    data = [as_json(view) for view in views]
    return render(
        packaged(HERE, "report.html.j2"),
        raw={"data": json_block(data), "style": style, "plotly": scripts[0], "script": scripts[1]},
        title=title,
        runs=data,
        extras=[extra_block(one) for one in extras],
        unwanted=unwanted,
        script_hashes=source_hashes(*scripts),
        style_hashes=source_hashes(style, ""),  # Plotly makes one that is empty
    )


def extra_block(one: Extra) -> dict[str, Any]:
    """Returns what the template needs of an extra."""
    picture = None if one.svg is None else "data:image/svg+xml;base64," + base64.b64encode(one.svg).decode()
    fields = {name: getattr(one, name) for name in ("title", "headings", "rows", "lines", "below")}
    return {"picture": picture, **fields}
