"""The command of the bench between hosts: `run` measures and writes the page, `page` only writes it, `tune` before
both makes the rules that auto and the engine choose by on such hosts.

    PYTHONPATH=tools:tests/python/support python -m bench.hosts tune [--budget 6m]
    PYTHONPATH=tools:tests/python/support python -m bench.hosts run [--budget 10m] [--launches 8] [--parts A,B]
    PYTHONPATH=tools:tests/python/support python -m bench.hosts page DIR

For: `make bench-hosts`. Exit code 0 also where bars are missed: a figure that is not reached stands on the page. Not
for: what is done (session.py, page.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.__main__ import BENCHMARKS, ROOT, reported, say
from bench.hosts.header import default_directory
from bench.hosts.page import write_page
from bench.hosts.session import Choices, run
from bench.hosts.tuned import tune_worlds
from bench.hosts.worlds import DEFAULT_BUDGET, WORLDS, world_of
from ringtree.measure.probe import usable_cores
from ringtree.units import parse_duration


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0, 2 for what can't be done (no hosts can be made here), 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    if options.command == "tune":
        tune_worlds(parse_duration(options.budget), say)
        return 0
    return reported(
        "bench-hosts", lambda: write_page(_measured(options) if options.command == "run" else Path(options.directory))
    )


def _measured(options: argparse.Namespace) -> Path:
    """Measures, and returns the run's directory."""
    worlds = WORLDS if options.parts is None else tuple(world_of(name) for name in options.parts.split(","))
    budget = DEFAULT_BUDGET if options.budget is None else parse_duration(options.budget)
    directory = Path(options.out or default_directory(BENCHMARKS, len(usable_cores())))
    run(Choices(budget, options.launches, options.seed, worlds), directory, ROOT, say)
    return directory


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench-hosts", description="all_reduce between hosts, and its peers.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, then write the page")
    measure.add_argument("--budget", help="time aimed at for all of it, for example 30m (default 10m)")
    measure.add_argument("--launches", type=int, help="launches of each part (default 8, with little time 2)")
    measure.add_argument("--seed", type=int, default=1, help="of order and data (default 1)")
    measure.add_argument("--parts", help=f"of: {','.join(world.name for world in WORLDS)} (default all)")
    measure.add_argument("--out", type=Path, help="directory (default docs/benchmarks/hosts-<machine>-<date>)")
    tuning = commands.add_parser("tune", help="`ringtree tune` on such hosts, into the profile of this machine")
    tuning.add_argument("--budget", default="6m", help="time aimed at for all of it (default 6m)")
    page = commands.add_parser("page", help="write the page of a stored run again")
    page.add_argument("directory")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
