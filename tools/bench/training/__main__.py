"""`make bench-torch`: measures part by part with `ringtree train`, into docs/benchmarks/training-<machine>-<date>.

    PYTHONPATH=tools python -m bench.training run [--launches 8] [--parts ddp,fsdp2]
    PYTHONPATH=tools python -m bench.training page DIR

For: the command. A run that was interrupted goes on with --out DIR. Exit code 0 also where bars are missed. Not for:
what is measured (parts.py), the page (page.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from bench.runner import UNDER_WAY, newest
from bench.stored import PACKED, RAW, dated, keep
from bench.training.page import write_page
from bench.training.parts import ROOT, plans
from ringtree.errors import RingtreeError, UsageError
from ringtree.results import Plan
from ringtree.train.sweep import resume, run


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0, 2 for what can't be done, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    os.chdir(ROOT)
    stderr = Console(stderr=True)
    try:
        directory: Path = options.directory or ROOT / "docs" / "benchmarks" / dated("training-")
        if options.command == "run":
            chosen = plans(options.launches, options.seed)
            names = options.parts.split(",") if options.parts else list(chosen)
            unknown = [name for name in names if name not in chosen]
            if unknown:
                raise UsageError(f"there is no part {unknown[0]!r}; choose from: {', '.join(chosen)}")
            _measure({name: chosen[name] for name in names}, directory, stderr)
        page, missed = write_page(directory)
    except (RingtreeError, KeyboardInterrupt) as error:
        stderr.print(f"bench: {str(error) or 'stopped; --out with the same folder goes on'}", markup=False)
        return 2 if isinstance(error, UsageError) else 1 if isinstance(error, RingtreeError) else 130
    stderr.print(f"{page}: {missed} bars are not reached", markup=False)
    return 0


def _measure(parts: dict[str, Callable[[], Plan]], directory: Path, stderr: Console) -> None:
    for name, make in parts.items():
        if (directory / RAW / name / PACKED).exists():
            continue
        runs = directory / UNDER_WAY / name
        begun = newest(runs)
        found = run(make(), runs, stderr) if begun is None else resume(runs, begun.name, stderr)
        keep(found, directory, name, ROOT)
    shutil.rmtree(directory / UNDER_WAY, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.training", description="Training on this backend and on Gloo.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run", help="measure, then write the page")
    command.add_argument("--launches", type=int, default=8, help="launches of each part (default 8)")
    command.add_argument("--seed", type=int, default=1, help="of order, weights and tokens (default 1)")
    command.add_argument("--parts", help=f"of: {','.join(plans(1, 1))}")
    command.add_argument("--out", type=Path, dest="directory", help="default docs/benchmarks/training-<machine>-<date>")
    commands.add_parser("page", help="write the page of a stored run again").add_argument("directory", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
