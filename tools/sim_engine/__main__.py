"""python -m sim_engine [--parts engine-2,emulated-4x2] [--runs DIR] [--page FILE]

For: measuring and writing the page. Not for: any part of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ringtree.errors import RingtreeError
from sim_engine.measuring import PARTS, measure
from sim_engine.page import bars_of, page_text

PAGE = Path(__file__).parents[2] / "docs/benchmarks/simulator-against-engine.md"


def main() -> int:
    """Returns 0, 1 if a bar is missed, 2 if nothing could be measured."""
    parser = argparse.ArgumentParser(prog="sim_engine")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--runs", type=Path, default=Path("build/bench-sim-engine"))
    parser.add_argument("--page", type=Path, default=PAGE)
    asked = parser.parse_args()
    names = asked.parts.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(PARTS)}")
    try:
        parts = []
        for number, name in enumerate(names, 1):
            parts.append(measure(name, asked.runs, lambda what: print(what, file=sys.stderr)))
            # After each part: what is stopped early has not measured for nothing.
            done = names[:number]
            only = "" if done == list(PARTS) else f' ARGS="--parts {",".join(done)}"'
            asked.page.write_text(page_text(parts, f"make bench-sim-engine{only}"), encoding="utf-8")
    except RingtreeError as error:
        print(f"sim_engine: {error}", file=sys.stderr)
        return 2
    for bar in bars_of(parts):
        print(f"{bar.question}: {bar.measured}, wanted {bar.wanted}: {'reached' if bar.met else 'missed'}")
    return 0 if all(bar.met for bar in bars_of(parts)) else 1


if __name__ == "__main__":
    sys.exit(main())
