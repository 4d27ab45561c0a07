"""`ringtree simulate`: what a collective would take on a cluster that is described, not owned.

For: options, table, JSON, stored runs, and the fit of a cluster to measured ones. Not for: the simulation and the fit
(ringtree.simulate), emulation with real ranks (`ringtree compare --emulate`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.cluster_from import write_cluster
from ringtree.cli.cluster_show import WhatIf
from ringtree.cli.options import RUNS, AsJson, Runs, written
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.judge.runs.sources import read_observations
from ringtree.show.calibration_text import calibration_lines
from ringtree.show.cells import console_for_tables
from ringtree.show.printable import printable
from ringtree.show.simulation_text import print_simulation
from ringtree.show.trace_table import file_lines
from ringtree.simulate import on_core
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.calibration import calibrate, evidence_of
from ringtree.simulate.calibration.describing import described
from ringtree.simulate.cluster import load_cluster
from ringtree.simulate.recorded import RecordedCall, record_single
from ringtree.simulate.recording import store
from ringtree.simulate.sweep import simulate_all
from ringtree.simulate.timeline import write_timeline
from ringtree.trace_events import check_trace_path
from ringtree.version import __version__


def simulate(
    context: typer.Context,
    cluster: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="A name from `ringtree cluster list`, or a TOML file.")
    ],
    nodes: Annotated[str, typer.Option(help="Host counts: 8, or 1,2,4, or 1:512 (doubling).")] = "1",
    collective: Annotated[str, typer.Option(help="Collective.")] = "all_reduce",
    algorithm: Annotated[str, typer.Option(help="Comma-separated algorithms, or all.")] = "ring,double_tree",
    sizes: Annotated[str, typer.Option(help="Sizes in bytes: a list, first:last (×4) or first:last:factor.")] = "1K:1G",
    protocol: Annotated[str, typer.Option(help="Comma-separated protocols (simple, ll, ll128), or all.")] = "simple",
    channels: Annotated[int | None, typer.Option(min=1, help="Number of channels. Default: the cluster's.")] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(min=1, help="Ranks per host. Default: all that a host has.")
    ] = None,
    what_if: WhatIf = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--calibrate",
            metavar="RUN|LOG",
            help="Instead of simulating, fit the cluster's constants to measured runs or logs and print the cluster; "
            "repeatable. --algorithm names what ran, if a log does not.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File for the calibrated cluster. Default: standard output."),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write a timeline of the call, by rank and by link, for Perfetto or chrome://tracing; needs a single "
            "call; an existing file is replaced."
        ),
    ] = None,
    runs: Runs = RUNS,
    keep: Annotated[bool, typer.Option("--store/--no-store", help="Store the runs, marked as simulated.")] = True,
    json: AsJson = False,
) -> None:
    """Simulate algorithms on a described cluster: time, busbw, crossovers and bottlenecks."""
    with exit_codes():
        if by is not None:
            _calibrate(context, cluster, by, algorithm, channels, output, runs)
            return
        if trace is not None:
            check_trace_path(trace, "--trace")
        if output is not None:
            raise UsageError("-o is only for a calibrated cluster: add --calibrate RUN")
        asked = Asked(
            cluster, nodes, collective, algorithm, sizes, protocol, channels, ranks_per_node, tuple(what_if or ())
        )
        _sweep(asked, trace, runs if keep else None, json)


def _sweep(asked: Asked, trace: Path | None, runs: Path | None, json: bool) -> None:
    """Simulates, stores (in `runs`, if there is one), shows and draws what is asked for."""
    sweep = sweep_of(asked)
    recorded = None if trace is None else record_single(sweep)  # if it can't be, nothing is stored or printed
    with Console(stderr=True).status("simulating") as status:
        result, done = simulate_all(sweep, on_core.CORE, lambda what: status.update(f"simulating {what} nodes"))
    if runs is not None:
        result = result.model_copy(update={"runs": [str(path) for path in store(sweep, done, runs)]})
    if json:
        typer.echo(result.model_dump_json(indent=1))
    else:
        print_simulation(console_for_tables(), result)
    if trace is not None and recorded is not None:
        _write_trace(trace, recorded, asked, told=not json)


def _write_trace(path: Path, call: RecordedCall, asked: Asked, told: bool) -> None:
    with os_errors(f"can't write {path}", kind=RingtreeError):
        num_events = write_timeline(path, call, {"ringtree": __version__, "what_if": list(asked.what_if)})
    for line in file_lines(path, num_events) if told else ():
        typer.echo(printable(line))


def _calibrate(
    context: typer.Context,
    named: str,
    by: list[str],
    algorithm: str,
    channels: int | None,
    output: Path | None,
    runs: Path,
) -> None:
    sweeps = ("nodes", "collective", "sizes", "protocol", "ranks_per_node", "what_if", "trace", "keep", "json")
    given = written(context, *sweeps)
    if given:
        raise UsageError(f"--calibrate takes its calls from what was measured: leave {', '.join(given)} out")
    cluster, notes = load_cluster(named), list[str]()
    observations = [one for name in by for one in read_observations(name, runs, notes)[1]]
    told = algorithm if written(context, "algorithm") else None
    if channels is not None:  # the file has the number that its constants were fitted with
        cluster = cluster.model_copy(update={"channel": cluster.channel.model_copy(update={"count": channels})})
    with Console(stderr=True).status("fitting"):
        found = calibrate(cluster, evidence_of(observations, cluster, told))
    for line in [*calibration_lines(found), *(f"note: {note}" for note in notes)]:
        typer.echo(printable(line), err=True)
    write_cluster(described(found), output)
