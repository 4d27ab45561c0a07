"""Writes the pages, or compares them with what is there."""

from __future__ import annotations

import sys
from pathlib import Path

import reference_pages
from reference_pages import commands, modules

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {"cli.md": commands.page, "lab.md": modules.page}


def main(arguments: list[str]) -> int:
    """Writes, or with --check compares; returns the exit code."""
    if arguments not in ([], ["--check"]):
        print(reference_pages.__doc__, file=sys.stderr)
        return 2
    stale = []
    for name, page in PAGES.items():
        file, text = FOLDER / name, page()
        if not file.exists() or file.read_text() != text:
            stale.append(name)
            if not arguments:
                file.write_text(text)
    if arguments and stale:
        print(f"stale: {', '.join(stale)}; run make tables", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
