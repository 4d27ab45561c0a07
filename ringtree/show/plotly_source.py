"""Plotly's own script, as pages embed it.

For: pages with charts. Not for: what is drawn.
"""

from __future__ import annotations

import re
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.show.html import HOW_TO_GET


def plotly_source() -> tuple[str, list[str]]:
    """Returns the script, and ids that a page must have taken: Plotly's maps bring a style element each that the policy
    forbids, and leave it out where its id is taken. Raises UsageError if the extra `report` is not installed."""
    try:
        import plotly
    except ImportError as error:
        raise UsageError(HOW_TO_GET) from error
    text = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return parsed_once(text), sorted(set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', text)))


def parsed_once(plotly_js: str) -> str:
    """Returns Plotly with the function that holds all of it in parentheses, or as it is where it begins in another way.

    Browsers take a function in parentheses for one that is called at once, and read its 5 MB once instead of twice.
    """
    before, begin, body = plotly_js.partition(", () => {\n")
    body, end, after = body.rpartition("\n}));")
    if not begin or not end or len(before) > 1000 or after.strip():
        return plotly_js
    return f"{before}, (() => {{\n{body}\n}})));{after}"
