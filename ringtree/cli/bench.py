"""`ringtree bench`: what nccl-tests measures and prints, for any arm.

For: nccl-tests' options by their letters, help, exit codes. Not for: measuring or laying out (ringtree.bench).

Standard output is what nccl-tests would print there; mistakes and failures are one line on standard error.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import Annotated

import typer

from ringtree.arms import kind_named
from ringtree.bench.bench_run import run
from ringtree.bench.figures import MeasuredRow, summarise
from ringtree.bench.json_report import JsonFile
from ringtree.bench.options import Asked, Options, make_options, parse_min_busbw
from ringtree.cli.agents import as_lab_or_agent
from ringtree.cli.options import asks, with_default
from ringtree.cli.outcome import WRONG, exit_codes
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.crew import Crew
from ringtree.nccl.nccl_tests import COLLECTIVES, DTYPES, OPS
from ringtree.show.bench_text import closing_lines, opening_lines, row_line

# What a command line of nccl-tests may hold and nothing here answers to: letter -> long name, what it is of.
NOT_HERE = {
    "-C": ("--report_cputime", "the time until a kernel is launched"),
    "-D": ("--device_implementation", "kernels of the device API"),
    "-G": ("--cudagraph", "CUDA graphs"),
    "-M": ("--memory", "GPU memory"),
    "-V": ("--device_cta_count", "kernels of the device API"),
    "-p": ("--parallel_init", "how NCCL makes its communicators"),
    "-x": ("--cta_policy", "NCCL's thread blocks"),
    "-y": ("--stream_null", "CUDA streams"),
}
# Options of nccl-tests come in any order and may be unknown; `bench` says itself what is wrong with them.
CONTEXT = {"help_option_names": ["-h", "--help"], "allow_extra_args": True, "ignore_unknown_options": True}
# Panel of --help -> option -> its letter, its help.
_PANELS = {
    "Ranks and arm": {
        "collective": ("", f"One of {', '.join(COLLECTIVES)}."),
        "arm": ("", "What to run: auto, ring, gloo, openmpi, nccl, …; `ringtree arms` lists all."),
        "ngpus": (
            "-g",
            with_default("Number of processes, each with -t ranks; on GPUs, one GPU per rank.", "2, or 1 with -t"),
        ),
        "nthreads": ("-t", with_default("Ranks per process, one thread each; they share one interpreter.", "1")),
        "local_register": (
            "-R",
            "0: private buffers; 2: shared buffers, which peers read in place. With NCCL, 1: registered, 2: symmetric.",
        ),
    },
    "Sizes": {
        "minbytes": ("-b", "Smallest size; K, M, G are powers of 1024."),
        "maxbytes": ("-e", "Largest size."),
        "stepbytes": ("-i", "Step from one size to the next."),
        "stepfactor": ("-f", "If above 1: multiply sizes by this instead of adding -i."),
        "unalign": ("-u", "Start at this element of each buffer."),
    },
    "Operations": {
        "op": ("-o", f"One of {', '.join(OPS)}, or all."),
        "datatype": ("-d", f"One of {', '.join(DTYPES)}, or all."),
        "root": ("-r", "A rank, or all; for collectives with a root."),
    },
    "Timing and checks": {
        "iters": ("-n", "Timed iterations."),
        "agg_iters": ("-m", "Calls per iteration."),
        "warmup_iters": ("-w", "Untimed calls of each size, before any is timed."),
        "run_cycles": ("-N", "How many times to run all sizes; 0: forever."),
        "check": ("-c", "Checked calls after each timed loop."),
        "average": ("-a", "Time to report: 0 rank 0's, 1 mean, 2 min, 3 max over the ranks."),
        "blocking": (
            "-z",
            "1: barrier after each call; 3: after each iteration, not timed; 0, 2: none (calls block anyway).",
        ),
        "timeout": ("-T", "Timeout of each wait in seconds; 0 means 300."),
    },
    "Output": {
        "per_iter_timing": ("-I", "1: add columns of per-iteration times."),
        "per_iter_skip": ("-K", "Number of initial iterations that -I skips."),
        "report_timestamps": ("-S", "1: add the time at which each row finished."),
    },
}
_OPTIONS = {
    name: typer.Option(*filter(None, (letter, f"--{name}")), help=text, rich_help_panel=panel)
    for panel, options in _PANELS.items()
    for name, (letter, text) in options.items()
}


@asks(Asked, _OPTIONS)
def bench(
    context: typer.Context,
    asked: Asked,
    output_file: Annotated[
        str | None,
        typer.Option(
            "-J", "--output_file", help="Also write a new .json file; never overwrites one.", rich_help_panel="Output"
        ),
    ] = None,
) -> None:
    """Measure like nccl-tests: its options, columns, JSON and exit codes, for any arm."""
    with exit_codes():
        refuse(context.args)
        required = parse_min_busbw(os.environ.get("NCCL_TESTS_MIN_BW"))

        def run_here(crew: Crew | None) -> None:
            options = make_options(asked, crew)
            file = None if output_file is None else JsonFile(output_file)
            measure(options, None if required is None else required * 1e9, file, crew)

        as_lab_or_agent(run_here)


def refuse(arguments: list[str]) -> None:
    """Raises UsageError for the first argument that is not an option of bench; those of nccl-tests' GPUs by name."""
    for argument in arguments:
        if not argument.startswith("-"):
            continue  # the value of an option that comes before it, or a mistake that is told below
        for letter, (name, subject) in NOT_HERE.items():
            if argument.split("=")[0] == name or (argument.startswith(letter) and not argument.startswith("--")):
                raise UsageError(f"{letter} ({name}) is about {subject}, which bench does not support: leave it out")
        raise UsageError(f"unknown option {argument!r}: see ringtree bench --help")
    if arguments:
        raise UsageError(f"unexpected argument {arguments[0]!r}: bench takes options only, see ringtree bench --help")


def measure(options: Options, required: float | None, file: JsonFile | None, crew: Crew | None = None) -> None:
    """Runs, prints line by line, writes the file whatever happens; leaves with WRONG as nccl-tests would.

    `required`: bytes/s that the mean busbw is held against. `crew`: as bench_run.run().
    """
    pids: list[int] = []
    rows: list[MeasuredRow] = []

    def on_joined(joined: list[int]) -> None:
        pids[:] = joined
        copied = COLLECTIVES[options.asked.collective] in kind_named(options.arm).in_place_only
        _say(*opening_lines(options, pids, copied))

    def on_row(row: MeasuredRow) -> None:
        rows.append(row)
        _say(row_line(options, row, datetime.now()))

    if file is not None:
        _say(f"# Writing JSON output to {file.path}")
    errors: list[str] = []
    try:
        run(options, on_joined, on_row, crew)
    except (RingtreeError, KeyboardInterrupt) as error:
        errors.append(str(error) or "interrupted")
        raise
    finally:
        summary = summarise(rows, required)
        if file is not None:
            file.write(options, pids, rows, summary, errors)
    _say(*closing_lines(options, rows, summary))
    if summary.num_failed:
        typer.echo(f"ringtree: wrong elements in {summary.num_failed} of {summary.num_sides} measurements", err=True)
    if summary.num_failed or not summary.is_fast_enough:
        raise typer.Exit(WRONG)


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line)
