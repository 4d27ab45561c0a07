"""The commands of `ringtree`: their names, where they are and a line and an example on each, in groups.

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
    """A command before it is loaded: a function of the module of that name. A name may have two words; `example`:
    arguments of a typical call, without square brackets, which would be markup."""

    group: str
    name: str
    module: str
    summary: str
    example: str = ""

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
        Entry(
            MEASURE,
            "compare",
            "compare",
            "Compare algorithms and libraries: verdicts, intervals, crossovers.",
            "--ranks 2 --arms ring,tree,gloo --sizes 8:16M",
        ),
        Entry(
            MEASURE,
            "bench",
            "bench",
            "Run a benchmark with nccl-tests' options, columns and JSON.",
            "-b 8 -e 128M -f 2 -g 4 --arm ring",
        ),
        Entry(
            MEASURE,
            "explain",
            "explain",
            "Measure why the engine beats a ring in Python, one change at a time.",
            "--ranks 4 --sizes 64K,4M --budget 10m",
        ),
        Entry(
            MEASURE,
            "train",
            "train",
            "Train models or run your script under several arms: does a setting matter?",
            "--models qwen2.5 --scale tiny --arms gloo,ringtree:auto --ranks 2",
        ),
        Entry(
            MEASURE,
            "replay",
            "replay",
            "Replay a step of a traced job with other arms, without its model.",
            "job-trace --arms gloo,ring,auto",
        ),
        Entry(
            MEASURE,
            "trace-run",
            "trace_run",
            "Trace a few calls: a timeline of every rank, for Perfetto.",
            "--ranks 4 --size 1M --algorithm ring --out trace.json",
        ),
        Entry(
            MEASURE,
            "trace",
            "trace",
            "Record every collective that a PyTorch job issues, step by step.",
            "-- torchrun --nproc-per-node 2 train.py",
        ),
        Entry(MEASURE, "doctor", "doctor", "Check this machine before measuring: cores, network, GPUs, variables."),
        Entry(MEASURE, "launchers", "launchers", "Show the rank, hosts and job that this process's launcher has set."),
        Entry(
            MEASURE,
            "launch",
            "launch",
            "Print or submit a job file: Slurm, Kubernetes, Ray, Ansible.",
            "--slurm --hosts 2 --ranks-per-host 8 -o . -- compare --arms auto,ring,gloo",
        ),
        Entry(
            MEASURE,
            "ray",
            "ray",
            "Run a ringtree command on a Ray cluster, and copy its runs back.",
            "--agents 4 --cpus 8 -- compare --ranks 32 --arms auto,ring,gloo",
        ),
        Entry(MEASURE, "arms", "arms", "List what can be measured, and what is missing on this machine."),
        Entry(
            READ,
            "audit",
            "audit",
            "Check a log or table against arithmetic and the hardware's limits.",
            "nccl.log results/*.txt",
        ),
        Entry(
            READ,
            "health",
            "health",
            "Acceptance test: check whether a cluster is as fast as its peers.",
            'nccl.log --system "DGX H100"',
        ),
        Entry(
            READ, "import", "import_logs", "Read and store logs of nccl-tests, NCCL, OSU, IMB and others.", "nccl.log"
        ),
        Entry(
            READ,
            "compare-runs",
            "compare_runs",
            "Compare stored runs or logs: differences with intervals.",
            "old.log new.log",
        ),
        Entry(READ, "hardware", "hardware", "Show the catalogue of GPUs, links, networks and systems.", "p5.48xlarge"),
        Entry(
            SIMULATE,
            "simulate",
            "simulate",
            "Simulate collectives on a cluster that you describe.",
            "--cluster dgx-h100 --nodes 1:64 --algorithm ring,double_tree",
        ),
        Entry(SIMULATE, "cluster list", "cluster_list", "List the clusters that can be simulated by name."),
        Entry(
            SIMULATE, "cluster show", "cluster_show", "Draw a cluster, with the source of every constant.", "dgx-h100"
        ),
        Entry(
            SIMULATE,
            "cluster from",
            "cluster_from",
            "Describe a cluster from topo -m, or from NCCL's XML or log.",
            "topo.txt -o ours.toml",
        ),
        Entry(STORED, "report", "report", "Write runs or logs as one HTML page.", "last -o report.html"),
        Entry(
            STORED,
            "plot",
            "plot",
            "Plot runs or logs: bandwidth, time, differences, scaling, crossovers.",
            "last --kind busbw -o busbw.svg",
        ),
        Entry(STORED, "show", "show", "Print a stored run again.", "last -v"),
        Entry(STORED, "runs", "runs", "List stored runs, newest first."),
        Entry(
            STORED,
            "sql",
            "sql",
            "Query stored runs in SQL.",
            '"select arm, size_bytes, median(median_seconds) from cells group by all order by all"',
        ),
        Entry(
            STORED,
            "export",
            "export",
            "Export a table of stored runs to Parquet, CSV or JSON.",
            "last --table samples -o samples.parquet",
        ),
        Entry(STORED, "serve", "serve", "Browse stored runs in a local web app."),
        Entry(
            CHOOSE,
            "tune",
            "tune",
            "Measure this machine and write the profile that auto uses.",
            "--ranks 2,4 --budget 10m",
        ),
        Entry(CHOOSE, "which", "which", "Show what auto would run at a size, and why.", "--size 1M --ranks 4"),
        Entry(
            CHOOSE,
            "worth",
            "worth",
            "Show what a setting could change in a traced job, and the most it can gain.",
            "job-trace --arms nccl:Tree --nccl-version 2.27.3",
        ),
        Entry(CHOOSE, "support", "support", "Show which algorithms and protocols run each collective."),
        Entry(
            CHOOSE,
            "nccl vars",
            "nccl_vars",
            "Show what NCCL's variables do, and which of yours have no effect.",
            "--version 2.27.3",
        ),
        Entry(
            CHOOSE,
            "nccl support",
            "nccl_support",
            "Show which algorithms and protocols NCCL has, by version.",
            "--version 2.21.5",
        ),
        Entry(ALGORITHMS, "algorithms", "algorithms", "List the built-in algorithms with their steps and bytes."),
        Entry(ALGORITHMS, "verify", "verify", "Prove schedules correct and deadlock-free.", "star.json"),
        Entry(
            ALGORITHMS,
            "play",
            "play",
            "Write a page that animates schedules side by side.",
            "ring,tree --ranks 8 -o play.html",
        ),
    )
}


def loaded(name: str) -> TyperCommand:
    """Returns the command `name` with its options, ready to be called."""
    entry = COMMANDS[name]
    function, settings = entry.load()
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    epilog = f"Example: ringtree {name} {entry.example}" if entry.example else None
    app.command(name, context_settings=settings, epilog=epilog)(function)
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
