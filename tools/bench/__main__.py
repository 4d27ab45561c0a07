"""The command of the bench: `run` measures and writes the page, `page` only writes it.

    PYTHONPATH=tools python -m bench run [--budget 40m] [--launches 8] [--arms mpich5,impi] [--parts native-2]
    PYTHONPATH=tools python -m bench page DIR

For: `make bench`. A run that was interrupted goes on where it was with the same --out. Exit code 0 also where bars are
missed: a figure that is not reached stands on the page. Not for: what is done (parts.py, page.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.page import write_page
from bench.parts import DEFAULT_BUDGET, LARGEST, PARTS, Choices, run
from bench.stored import default_directory
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.probe import usable_cores
from ringtree.units import parse_duration, parse_size

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0, 2 for what can't be done, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return reported("bench", lambda: write_page(_measured(options) if options.command == "run" else options.directory))


def reported(name: str, do: Callable[[], tuple[Path, int]]) -> int:
    """Does it, says how many bars of the page were missed, and returns the exit code."""
    try:
        page, missed = do()
    except UsageError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except RingtreeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print(f"{name}: stopped; {interrupt}" if str(interrupt) else f"{name}: stopped", file=sys.stderr)
        return 130
    print(f"{page}: {missed} bars are not reached", file=sys.stderr)
    return 0


def say(text: str) -> None:
    """Prints progress."""
    print(text, file=sys.stderr, flush=True)


def _measured(options: argparse.Namespace) -> Path:
    """Measures, and returns the run's directory."""
    parts = {part.name: part for part in PARTS}
    names = list(parts) if options.parts is None else options.parts.split(",")
    unknown = [name for name in names if name not in parts]
    if unknown:
        raise UsageError(f"there is no part {unknown[0]!r}; there are: {', '.join(parts)}")
    choices = Choices(
        budget=DEFAULT_BUDGET if options.budget is None else parse_duration(options.budget),
        num_launches=options.launches,
        seed=options.seed,
        arms=None if options.arms is None else options.arms.split(","),
        parts=[parts[name] for name in names],
        largest=LARGEST if options.largest is None else parse_size(options.largest),
    )
    directory = Path(options.out or default_directory(BENCHMARKS, len(usable_cores())))
    run(choices, directory, ROOT, say)
    return directory


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="The engine and its peers, side by side.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, then write the page")
    measure.add_argument("--budget", help="time aimed at for all of it, for example 10m (default 40m)")
    measure.add_argument("--launches", type=int, help="launches of each part (default 8, with little time 7)")
    measure.add_argument("--seed", type=int, default=1, help="of order and data (default 1)")
    measure.add_argument("--arms", help="peers, separated by commas; the engine always takes part (default all)")
    measure.add_argument("--parts", help=f"of: {','.join(part.name for part in PARTS)} (default all)")
    measure.add_argument("--largest", help="largest size (default 256M)")
    measure.add_argument("--out", type=Path, help="directory (default docs/benchmarks/<machine>-<date>)")
    page = commands.add_parser("page", help="write the page of a stored run again")
    page.add_argument("directory", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
