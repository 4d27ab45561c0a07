"""`ringtree cluster from LOG`: a description of the machine that printed a log, or with --probe of this one.

For: `nvidia-smi topo -m`, NCCL's topology XML, NCCL_DEBUG lines, probes; TOML on standard output, what was not found or
not told on standard error. Not for: reading logs of timings (`ringtree import`), drawing (cluster_show.py).
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.options import MACHINE, RUNS, Runs, written
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.measure.progress import LiveProgress
from ringtree.show.calibration_text import calibration_lines
from ringtree.show.printable import printable
from ringtree.simulate.calibration.describing import described as described_calibration
from ringtree.simulate.cluster import Cluster, cluster_text
from ringtree.simulate.from_log import describe_log
from ringtree.simulate.probing import probe_machine


def cluster_from(
    context: typer.Context,
    log: Annotated[
        Path | None, typer.Argument(metavar="LOG", help="Output of nvidia-smi topo -m, or NCCL's XML or log.")
    ] = None,
    gpu: Annotated[str | None, MACHINE["gpu"]] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write. Default: standard output.")
    ] = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="Measure this machine instead of reading a log; takes about half a minute.")
    ] = False,
    ranks: Annotated[int, typer.Option(min=2, help="With --probe: number of ranks to measure with.")] = 2,
    runs: Runs = RUNS,
) -> None:
    """Describe a cluster from the output of nvidia-smi topo -m, from NCCL's topology XML or log, or by probing this
    machine. Lists what could not be found."""
    with exit_codes():
        if probe:
            if log is not None or gpu is not None:
                raise UsageError("--probe measures this machine: leave LOG and --gpu out")
            _probe(ranks, runs, output)
            return
        given = written(context, "ranks", "runs")
        if log is None or given:
            raise UsageError(f"{given[0]} is for --probe" if given else "name a log, or --probe for this machine")
        described = describe_log(log, gpu)
        for line in described.found:
            typer.echo(printable(f"found: {line}"), err=True)
        for line in described.missing:
            typer.echo(printable(f"not found: {line}"), err=True)
        write_cluster(described.cluster, output)


def _probe(ranks: int, runs: Path, output: Path | None) -> None:
    stderr = Console(stderr=True)

    def tell(line: str) -> None:
        typer.echo(printable(line), err=True)

    with ExitStack() as stack:
        found = probe_machine(
            ranks, runs, lambda plan: stack.enter_context(LiveProgress(stderr, plan)).on_progress, tell
        )
    for line in calibration_lines(found):
        tell(line)
    write_cluster(described_calibration(found), output)


def write_cluster(cluster: Cluster, output: Path | None) -> None:
    """Writes a description as TOML to a file, to standard output without one. Raises RingtreeError if it can't."""
    text = cluster_text(cluster)
    if output is None:
        typer.echo(text, nl=False)
        return
    with os_errors(f"can't write {output}", kind=RingtreeError):
        output.write_text(text, encoding="utf-8")
    typer.echo(printable(f"{output}: `ringtree cluster show {output}` draws it"))
