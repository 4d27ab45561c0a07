"""Sphinx configuration: MyST Markdown in, Furo HTML out. `make docs` builds with warnings as errors.

Not the place for generated content: pages are files in docs/, generated ones are written by the tools that own them;
only players are made during the build (docs/_ext/player.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

_PYPROJECT = (Path(__file__).parents[1] / "pyproject.toml").read_text()
_VERSION = re.search(r'^version = "(.+)"$', _PYPROJECT, re.MULTILINE)
assert _VERSION is not None, "pyproject.toml has no version"

project = "ringtree"
author = "the ringtree contributors"
copyright = author
release = version = _VERSION[1]

extensions = ["myst_parser", "player"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "benchmarks/*/notes.md", "published/README.md"]
nitpicky = True

html_theme = "furo"
html_title = f"ringtree {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("players.js", {"defer": "defer"})]
