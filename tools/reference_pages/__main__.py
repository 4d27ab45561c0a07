"""Writes the pages, or compares them with what is there."""

from __future__ import annotations

import sys
from pathlib import Path

from generated import write_or_check

from reference_pages import commands, modules

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {"cli.md": commands.page, "lab.md": modules.page}


def main(arguments: list[str]) -> int:
    """Writes, or with --check compares; returns the exit code."""
    return write_or_check(arguments, {FOLDER / name: page() for name, page in PAGES.items()}, "make tables")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
