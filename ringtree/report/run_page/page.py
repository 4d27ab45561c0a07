"""The report's page: one HTML file that needs no network.

For: `ringtree report`. Not for: what is in it (data.py), drawing (charts.js).

All text of runs, logs and files is data: Jinja2 escapes what it writes, and the scripts only ever set text. The page
allows its own scripts and styles by their hashes; Plotly makes one empty style element and sets style attributes, which
can't run anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError
from ringtree.report.run_page.data import run_data
from ringtree.results import StoredRun

SCRIPTS = ("words.js", "tables.js", "charts.js", "page.js")
HOW_TO_GET = "reports need Jinja2 and Plotly: pip install 'ringtree[report]'"


@dataclass(frozen=True)
class Extra:
    """Something else that belongs to the page: a picture (SVG), or a table with headings."""

    title: str
    svg: bytes | None = None
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=tuple)


def report_page(runs: Sequence[StoredRun], *, title: str, extras: Sequence[Extra] = ()) -> str:
    """Returns the page as text. Raises UsageError without runs, or if the extra `report` is not installed."""
    if not runs:
        raise UsageError("a report needs at least one stored run")
    try:
        import jinja2
        import plotly
    except ImportError as error:
        raise UsageError(HOW_TO_GET) from error
    markup = jinja2.utils.markupsafe.Markup
    data = [run_data(run) for run in runs]
    plotly_js = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    # Plotly's maps bring a style element that the policy forbids; it leaves it out where its id is taken.
    unwanted = sorted(set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', plotly_js)))
    # Nothing in a script may end its element.
    scripts = [one.replace("</script", "<\\/script") for one in (plotly_js, "\n".join(map(_file, SCRIPTS)))]
    style = _file("report.css")
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        _file("report.html.j2")
    )
    return template.render(
        title=title,
        runs=data,
        extras=[_extra(one) for one in extras],
        unwanted=unwanted,
        data=markup(_json_block(data)),
        style=markup(style),
        scripts=[markup(one) for one in scripts],
        script_hashes=" ".join(f"'{_hash(one)}'" for one in scripts),
        style_hashes=" ".join(f"'{_hash(one)}'" for one in (style, "")),
    )


def _extra(one: Extra) -> dict[str, Any]:
    picture = None if one.svg is None else "data:image/svg+xml;base64," + base64.b64encode(one.svg).decode()
    return {"title": one.title, "picture": picture, "headings": one.headings, "rows": one.rows}


def _json_block(data: object) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("ringtree.report.run_page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
