"""The command of the bench: `run` measures and writes the page, `page` only writes it, `tune` before both makes the
rules that `auto` chooses by between hosts.

    PYTHONPATH=tools python -m bench run [--budget 40m] [--launches 8] [--parts native-2,torch-2]
    PYTHONPATH=tools:tests/python/support python -m bench run --hosts [--budget 15m]
    PYTHONPATH=tools:tests/python/support python -m bench tune [--budget 6m]
    PYTHONPATH=tools python -m bench page DIR

For: `make bench` and `make bench-hosts`. Exit code 0 also where bars are missed: a figure that is not reached stands on
the page. Not for: what is done (runner.py, page.py).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.across import tune
from bench.page import write_page
from bench.parts import HOST_PARTS, PARTS, Choices, parts_named
from bench.runner import measured, run
from bench.stored import dated
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.joining import crew_of_the_launcher
from ringtree.units import parse_duration

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0, 2 for what can't be done, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        _do(options)
    except (RingtreeError, KeyboardInterrupt) as error:
        say(f"bench: {str(error) or 'stopped'}")
        return 2 if isinstance(error, UsageError) else 1 if isinstance(error, RingtreeError) else 130
    return 0


def say(text: str) -> None:
    """Prints progress."""
    print(text, file=sys.stderr, flush=True)


def _do(options: argparse.Namespace) -> None:
    directory: Path = options.directory
    if options.command == "tune":
        tune(HOST_PARTS, parse_duration(options.budget or "6m"), say)
        return
    if options.command != "page":
        parts = parts_named(options.parts) if options.parts else (HOST_PARTS if options.hosts else PARTS)
        budget = parse_duration(options.budget or ("15m" if options.hosts else "40m"))
        choices = Choices(budget, options.launches, options.seed, parts)
        if options.command == "rank":
            _be_a_rank(choices, directory)
            return
        kind = "hosts-" if any(part.hosts > 1 for part in parts) else ""
        directory = directory or ROOT / "docs" / "benchmarks" / dated(kind)
        run(choices, directory, ROOT, say)
    page, missed = write_page(directory)
    say(f"{page}: {missed} bars are not reached")


def _be_a_rank(choices: Choices, runs: Path) -> None:
    """Rank 0 is the lab, the others do what it says."""
    with crew_of_the_launcher() or contextlib.nullcontext() as crew:
        if crew is None:
            raise UsageError("no launcher has started several processes: RANK and WORLD_SIZE must be set")
        if not crew.is_lab:
            crew.serve()
        else:
            measured(choices.parts[0], choices, runs, crew)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="The engine and its peers, side by side.")
    commands = parser.add_subparsers(dest="command", required=True)
    texts = {
        "run": "measure, then write the page",
        "rank": "a rank of `run`, on its host",
        "tune": "`ringtree tune` between the hosts, into the profile of this machine",
    }
    for name, what in texts.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("--hosts", action="store_true", help="the parts between hosts")
        command.add_argument("--budget", help="time aimed at for all of it (default 40m, --hosts 15m, tune 6m)")
        command.add_argument("--launches", type=int, default=8, help="launches of each part (default 8)")
        command.add_argument("--seed", type=int, default=1, help="of order and data (default 1)")
        command.add_argument("--parts", help=f"of: {','.join(part.name for part in (*PARTS, *HOST_PARTS))}")
        command.add_argument("--out", type=Path, dest="directory", help="default docs/benchmarks/<machine>-<date>")
    commands.add_parser("page", help="write the page of a stored run again").add_argument("directory", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
