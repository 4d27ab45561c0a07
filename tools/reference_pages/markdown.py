"""Text of the code as a cell of a Markdown table.

For: what somebody wrote into a docstring or a help text. Not for: links and code, which the pages put around it.
"""

from __future__ import annotations

import re


def cell(text: str) -> str:
    """Returns text that Markdown takes as it is, in one line; what stands in backticks stays code."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(re.sub(r"\|" if i % 2 else r"[\\|<*\[\]`]", r"\\\g<0>", part) for i, part in enumerate(parts))
