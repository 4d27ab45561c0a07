"""The commands of `ringtree`: their names, where they are and a line on each, in groups.

For: listing the commands without loading them (`ringtree --help` must not wait for NumPy), and loading the one that is
called. Not for: what a command does, nor its options: those are in its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Entry(NamedTuple):
    """A command before it is loaded: a function of the module of that name. A name may have two words."""

    group: str
    name: str
    module: str
    summary: str

    def load(self) -> tuple[Callable[..., Any], dict[str, Any] | None]:
        """Imports the command's module; returns its function, named like the module, and its settings for typer."""
        module = import_module(f"ringtree.cli.{self.module}")
        return getattr(module, self.module), getattr(module, "CONTEXT", None)


MEASURE, READ, SIMULATE, STORED, CHOOSE, ALGORITHMS = (
    "Measure",
    "Check other people's results",
    "Simulate",
    "Look at results",
    "Choose and deploy",
    "Algorithms",
)
COMMANDS = {
    entry.name: entry
    for entry in (
        Entry(MEASURE, "compare", "compare", "Compare algorithms and libraries: verdicts, intervals, crossovers."),
        Entry(MEASURE, "bench", "bench", "Run a benchmark with nccl-tests' options, columns and JSON."),
        Entry(MEASURE, "explain", "explain", "Measure why the engine beats a ring in Python, one change at a time."),
        Entry(MEASURE, "train", "train", "Train models or run your script under several arms: does a setting matter?"),
        Entry(MEASURE, "replay", "replay", "Replay a step of a traced job with other arms, without its model."),
        Entry(MEASURE, "trace-run", "trace_run", "Trace a few calls: a timeline of every rank, for Perfetto."),
        Entry(MEASURE, "trace", "trace", "Record every collective that a PyTorch job issues, step by step."),
        Entry(MEASURE, "doctor", "doctor", "Check this machine before measuring: cores, network, GPUs, variables."),
        Entry(MEASURE, "launchers", "launchers", "Show the rank, hosts and job that this process's launcher has set."),
        Entry(MEASURE, "launch", "launch", "Print or submit a job file: Slurm, Kubernetes, Ray, Ansible."),
        Entry(MEASURE, "ray", "ray", "Run a ringtree command on a Ray cluster, and copy its runs back."),
        Entry(MEASURE, "arms", "arms", "List what can be measured, and what is missing on this machine."),
        Entry(READ, "audit", "audit", "Check a log or table against arithmetic and the hardware's limits."),
        Entry(READ, "health", "health", "Acceptance test: check whether a cluster is as fast as its peers."),
        Entry(READ, "import", "import_logs", "Read and store logs of nccl-tests, NCCL, OSU, IMB and others."),
        Entry(READ, "compare-runs", "compare_runs", "Compare stored runs or logs: differences with intervals."),
        Entry(READ, "hardware", "hardware", "Show the catalogue of GPUs, links, networks and systems."),
        Entry(SIMULATE, "simulate", "simulate", "Simulate collectives on a cluster that you describe."),
        Entry(SIMULATE, "cluster list", "cluster_list", "List the clusters that can be simulated by name."),
        Entry(SIMULATE, "cluster show", "cluster_show", "Draw a cluster, with the source of every constant."),
        Entry(SIMULATE, "cluster from", "cluster_from", "Describe a cluster from topo -m, or from NCCL's XML or log."),
        Entry(STORED, "report", "report", "Write runs or logs as one HTML page."),
        Entry(STORED, "plot", "plot", "Plot runs or logs: bandwidth, time, differences, scaling, crossovers."),
        Entry(STORED, "show", "show", "Print a stored run again."),
        Entry(STORED, "runs", "runs", "List stored runs, newest first."),
        Entry(STORED, "sql", "sql", "Query stored runs in SQL."),
        Entry(STORED, "export", "export", "Export a table of stored runs to Parquet, CSV or JSON."),
        Entry(STORED, "serve", "serve", "Browse stored runs in a local web app."),
        Entry(CHOOSE, "tune", "tune", "Measure this machine and write the profile that auto uses."),
        Entry(CHOOSE, "which", "which", "Show what auto would run at a size, and why."),
        Entry(CHOOSE, "worth", "worth", "Show what a setting could change in a traced job, and the most it can gain."),
        Entry(CHOOSE, "support", "support", "Show which algorithms and protocols run each collective."),
        Entry(CHOOSE, "nccl vars", "nccl_vars", "Show what NCCL's variables do, and which of yours have no effect."),
        Entry(CHOOSE, "nccl support", "nccl_support", "Show which algorithms and protocols NCCL has, by version."),
        Entry(ALGORITHMS, "algorithms", "algorithms", "List the built-in algorithms with their steps and bytes."),
        Entry(ALGORITHMS, "verify", "verify", "Prove schedules correct and deadlock-free."),
        Entry(ALGORITHMS, "play", "play", "Write a page that animates schedules side by side."),
    )
}


def loaded(name: str) -> TyperCommand:
    """Returns the command `name` with its options, ready to be called."""
    function, settings = COMMANDS[name].load()
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, context_settings=settings)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


class CommandGroup(TyperGroup):
    """`ringtree`: lists its commands from the table above, and loads the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=entry.summary, rich_help_panel=entry.group))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        two = " ".join(args[:2])
        if two in COMMANDS:
            return two, loaded(two), args[2:]
        second = [name.split()[1] for name in COMMANDS if name.startswith(f"{args[0]} ")]
        if second:
            ctx.fail(f"{args[0]} is followed by {' or '.join(second)}")
        name, _, rest = super().resolve_command(ctx, args)
        return name, loaded(str(name)), rest
