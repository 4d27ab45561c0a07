"""`ringtree bench`: what nccl-tests measures and prints, for any arm.

For: nccl-tests' options by their letters, help, exit codes. Not for: measuring or laying out (ringtree.ncclbench).

Standard output is what nccl-tests would print there; mistakes and failures are one line on standard error.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape

from ringtree.backends import has_out_of_place
from ringtree.cli.outcome import WRONG, exit_codes
from ringtree.errors import RingtreeError, UsageError
from ringtree.meeting import refuse_several_hosts
from ringtree.ncclbench.figures import MeasuredRow, summarise
from ringtree.ncclbench.json_report import JsonFile
from ringtree.ncclbench.messages import JoinedReport
from ringtree.ncclbench.names import COLLECTIVES, DTYPES, OPS
from ringtree.ncclbench.options import Asked, Options, make_options, parse_min_busbw
from ringtree.ncclbench.session import run
from ringtree.ncclbench.text import closing_lines, opening_lines, row_line

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
_SIZES, _CALLS, _TIMES, _OUTPUT, _RANKS = "Sizes", "Operations", "Timing and checks", "Output", "Ranks and arm"


def bench(
    context: typer.Context,
    collective: Annotated[
        str, typer.Option(help=f"One of {', '.join(COLLECTIVES)}.", rich_help_panel=_RANKS)
    ] = Asked.collective,
    arm: Annotated[
        str,
        typer.Option(
            help="An algorithm of the engine, auto, gloo, send-recv:<algorithm> or textbook-shm:<algorithm>.",
            rich_help_panel=_RANKS,
        ),
    ] = Asked.arm,
    ngpus: Annotated[
        int | None,
        typer.Option(
            "-g",
            "--ngpus",
            help=escape("Rank processes, each with -t ranks: -g times -t ranks. [default: 2, or 1 with -t]"),
            rich_help_panel=_RANKS,
        ),
    ] = None,
    nthreads: Annotated[
        int | None,
        typer.Option(
            "-t",
            "--nthreads",
            help=escape("Ranks of each process, a thread each; they share one interpreter. [default: 1]"),
            rich_help_panel=_RANKS,
        ),
    ] = None,
    local_register: Annotated[
        int,
        typer.Option(
            "-R",
            "--local_register",
            help="0: private buffers; 2: shared ones, which peers read in place.",
            rich_help_panel=_RANKS,
        ),
    ] = Asked.local_register,
    minbytes: Annotated[
        str, typer.Option("-b", "--minbytes", help="Smallest size; K, M, G are binary.", rich_help_panel=_SIZES)
    ] = Asked.minbytes,
    maxbytes: Annotated[
        str, typer.Option("-e", "--maxbytes", help="Largest size.", rich_help_panel=_SIZES)
    ] = Asked.maxbytes,
    stepbytes: Annotated[
        str, typer.Option("-i", "--stepbytes", help="Added from size to size.", rich_help_panel=_SIZES)
    ] = Asked.stepbytes,
    stepfactor: Annotated[
        int,
        typer.Option("-f", "--stepfactor", help="Above 1: sizes are multiplied instead.", rich_help_panel=_SIZES),
    ] = Asked.stepfactor,
    unalign: Annotated[
        int, typer.Option("-u", "--unalign", help="First element of the buffers used.", rich_help_panel=_SIZES)
    ] = Asked.unalign,
    op: Annotated[
        str, typer.Option("-o", "--op", help=f"One of {', '.join(OPS)}, all.", rich_help_panel=_CALLS)
    ] = Asked.op,
    datatype: Annotated[
        str, typer.Option("-d", "--datatype", help=f"One of {', '.join(DTYPES)}, all.", rich_help_panel=_CALLS)
    ] = Asked.datatype,
    root: Annotated[
        str, typer.Option("-r", "--root", help="A rank, or all; for collectives with a root.", rich_help_panel=_CALLS)
    ] = Asked.root,
    iters: Annotated[int, typer.Option("-n", "--iters", help="Timed iterations.", rich_help_panel=_TIMES)] = (
        Asked.iters
    ),
    agg_iters: Annotated[
        int, typer.Option("-m", "--agg_iters", help="Calls of an iteration.", rich_help_panel=_TIMES)
    ] = Asked.agg_iters,
    warmup_iters: Annotated[
        int,
        typer.Option("-w", "--warmup_iters", help="Untimed calls of each size, before all.", rich_help_panel=_TIMES),
    ] = Asked.warmup_iters,
    run_cycles: Annotated[
        int,
        typer.Option("-N", "--run_cycles", help="How often all sizes are run; 0: for ever.", rich_help_panel=_TIMES),
    ] = Asked.run_cycles,
    check: Annotated[
        int, typer.Option("-c", "--check", help="Checked calls after each timed loop.", rich_help_panel=_TIMES)
    ] = Asked.check,
    average: Annotated[
        int,
        typer.Option(
            "-a", "--average", help="Whose time: 0 rank 0, 1 mean, 2 min, 3 max of the ranks.", rich_help_panel=_TIMES
        ),
    ] = Asked.average,
    blocking: Annotated[
        int,
        typer.Option(
            "-z",
            "--blocking",
            help="1: barrier after each call; 3: after each iteration, not timed; 0, 2: none (calls wait anyway).",
            rich_help_panel=_TIMES,
        ),
    ] = Asked.blocking,
    timeout: Annotated[
        int, typer.Option("-T", "--timeout", help="Seconds of each wait; 0: 300.", rich_help_panel=_TIMES)
    ] = Asked.timeout,
    per_iter_timing: Annotated[
        int,
        typer.Option("-I", "--per_iter_timing", help="1: columns of the iterations.", rich_help_panel=_OUTPUT),
    ] = Asked.per_iter_timing,
    per_iter_skip: Annotated[
        int,
        typer.Option("-K", "--per_iter_skip", help="First iterations that -I leaves out.", rich_help_panel=_OUTPUT),
    ] = Asked.per_iter_skip,
    report_timestamps: Annotated[
        int, typer.Option("-S", "--report_timestamps", help="1: when a row was done.", rich_help_panel=_OUTPUT)
    ] = Asked.report_timestamps,
    output_file: Annotated[
        str | None,
        typer.Option("-J", "--output_file", help="A .json file besides; never overwrites.", rich_help_panel=_OUTPUT),
    ] = None,
) -> None:
    """Measure like nccl-tests: its options, columns, JSON and exit codes, for any arm. Options of GPUs are refused."""
    with exit_codes():
        refuse(context.args)
        options = make_options(
            Asked(
                collective=collective,
                arm=arm,
                ngpus=ngpus,
                nthreads=nthreads,
                minbytes=minbytes,
                maxbytes=maxbytes,
                stepbytes=stepbytes,
                stepfactor=stepfactor,
                iters=iters,
                agg_iters=agg_iters,
                warmup_iters=warmup_iters,
                run_cycles=run_cycles,
                check=check,
                op=op,
                datatype=datatype,
                root=root,
                average=average,
                blocking=blocking,
                per_iter_timing=per_iter_timing,
                per_iter_skip=per_iter_skip,
                report_timestamps=report_timestamps,
                unalign=unalign,
                local_register=local_register,
                timeout=timeout,
            )
        )
        refuse_several_hosts("ringtree bench")
        required = parse_min_busbw(os.environ.get("NCCL_TESTS_MIN_BW"))
        file = None if output_file is None else JsonFile(output_file)
        measure(options, None if required is None else required * 1e9, file)


def refuse(arguments: list[str]) -> None:
    """Raises UsageError for the first argument that is no option of bench; those of nccl-tests' GPUs by name."""
    for argument in arguments:
        if not argument.startswith("-"):
            continue  # the value of an option that comes before it, or a mistake that is told below
        for letter, (name, subject) in NOT_HERE.items():
            if argument.split("=")[0] == name or (argument.startswith(letter) and not argument.startswith("--")):
                raise UsageError(f"{letter} ({name}) is about {subject}, which nothing here has: leave it out")
        raise UsageError(f"unknown option {argument!r}: see ringtree bench --help")
    if arguments:
        raise UsageError(f"unexpected argument {arguments[0]!r}: bench takes options only, see ringtree bench --help")


def measure(options: Options, required: float | None, file: JsonFile | None) -> None:
    """Runs, prints line by line, writes the file whatever happens; leaves with WRONG as nccl-tests would.

    `required`: bytes/s that the mean busbw is held against.
    """
    joined: list[JoinedReport] = []
    rows: list[MeasuredRow] = []

    def on_joined(ranks: list[JoinedReport]) -> None:
        joined[:] = ranks
        _say(*opening_lines(options, ranks, copied=not has_out_of_place(options.arm)))

    def on_row(row: MeasuredRow) -> None:
        rows.append(row)
        _say(row_line(options, row, datetime.now()))

    if file is not None:
        _say(f"# Writing JSON output to {file.path}")
    errors: list[str] = []
    try:
        run(options, on_joined, on_row)
    except (RingtreeError, KeyboardInterrupt) as error:
        errors.append(str(error) or "interrupted")
        raise
    finally:
        summary = summarise(rows, required)
        if file is not None:
            file.write(options, joined, rows, summary, errors)
    _say(*closing_lines(options, rows, summary))
    if summary.num_failed:
        typer.echo(f"ringtree: wrong elements in {summary.num_failed} of {summary.num_sides} measurements", err=True)
    if summary.num_failed or not summary.is_fast_enough:
        raise typer.Exit(WRONG)


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line)
