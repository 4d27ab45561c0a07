"""Writes docs/published-results.md and its figures.

    python -m published            # rewrite them; the figures take matplotlib
    python -m published --check    # exit 1 if the page differs from what would be written, or a figure is missing

For: `make audit-published` and the test that the page is current. Not for: what stands on the page (page.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import write_or_check

from published.figures import DRAWINGS, draw
from published.page import page

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "published-results.md"


if __name__ == "__main__":
    code = write_or_check(sys.argv[1:], {PAGE: page(DOCS / "published")}, "make audit-published")
    for drawing in DRAWINGS:
        if not sys.argv[1:]:
            draw(drawing, DOCS / "published", DOCS / "drawings")
        elif not (DOCS / "drawings" / f"{drawing.name}.svg").is_file():
            print(f"{drawing.name}.svg is missing: run make audit-published", file=sys.stderr)
            code = code or 1
    sys.exit(code)
