"""The command of the bench: `run` measures and writes the page, `page` only writes it.

    PYTHONPATH=tools python -m bench run [--budget 40m] [--launches 8] [--arms mpich5,impi] [--parts native-2]
    PYTHONPATH=tools python -m bench run --resume DIR
    PYTHONPATH=tools python -m bench page DIR

For: `make bench`. Exit code 0 also where bars are missed: a figure that is not reached stands on the page. Not for:
what is done (session.py, page.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.cases import LARGEST
from bench.crew import Limits
from bench.page import write_page
from bench.peers import arms
from bench.plans import DEFAULT_BUDGET, WORLDS, Choices
from bench.session import resume, run
from bench.stored import default_directory
from ringtree.errors import UsageError
from ringtree.lab.units import parse_duration, parse_size
from ringtree.probe import usable_cores

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0, 2 for what can't be done, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        directory = _measured(options) if options.command == "run" else Path(options.directory)
        missed = write_page(directory)
    except UsageError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        print(f"bench: stopped; {interrupt}" if str(interrupt) else "bench: stopped", file=sys.stderr)
        return 130
    print(f"{directory / 'index.md'}: {missed} bars are not reached", file=sys.stderr)
    return 0


def _measured(options: argparse.Namespace) -> Path:
    """Measures, and returns the run's directory."""
    choices = _choices(options)
    if options.resume is not None:
        resume(options.resume, arms(), ROOT, _say, Limits())
        return Path(options.resume)
    directory = options.out or default_directory(BENCHMARKS, len(usable_cores()))
    run(choices, directory, arms(), ROOT, _say, Limits())
    return Path(directory)


def _choices(options: argparse.Namespace) -> Choices:
    worlds = {world.name: world for world in WORLDS}
    names = list(worlds) if options.parts is None else options.parts.split(",")
    unknown = [name for name in names if name not in worlds]
    if unknown:
        raise UsageError(f"there is no part {unknown[0]!r}; there are: {', '.join(worlds)}")
    return Choices(
        budget=DEFAULT_BUDGET if options.budget is None else parse_duration(options.budget),
        num_launches=options.launches,
        seed=options.seed,
        arms=None if options.arms is None else options.arms.split(","),
        worlds=[worlds[name] for name in names],
        largest=LARGEST if options.largest is None else parse_size(options.largest),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="The engine and its peers, side by side.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, then write the page")
    measure.add_argument("--budget", help="time aimed at for all of it, for example 10m (default 40m)")
    measure.add_argument("--launches", type=int, help="launches of each part (default 8, with little time 6)")
    measure.add_argument("--seed", type=int, default=1, help="of order and data (default 1)")
    measure.add_argument("--arms", help="names, separated by commas; the engine always takes part (default all)")
    measure.add_argument("--parts", help=f"of: {','.join(world.name for world in WORLDS)} (default all)")
    measure.add_argument("--largest", help="largest size (default 256M)")
    measure.add_argument("--out", type=Path, help="directory (default docs/benchmarks/<machine>-<date>)")
    measure.add_argument("--resume", type=Path, metavar="DIR", help="go on with an interrupted run")
    page = commands.add_parser("page", help="write the page of a stored run again")
    page.add_argument("directory")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
