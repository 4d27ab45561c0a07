"""`ringtree train`: whether a setting changes a training.

For: the options of a sweep. Not for: planning or running it (ringtree.train), judging (ringtree.judge.training).

The result goes to standard output, everything else to standard error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.agents import as_lab_or_agent
from ringtree.cli.options import (
    RUNS,
    AsCsv,
    AsJson,
    DryRun,
    ResumeRun,
    Runs,
    asks,
    refuse_beside_resume,
    with_default,
    written,
)
from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import WANTED, Wanted, check_format, finish_training, warn_of
from ringtree.measure.crew import Crew
from ringtree.measure.few_launches import few_launches
from ringtree.show.training_plan import print_training_plan
from ringtree.train.arms import WRITTEN
from ringtree.train.metric import EXAMPLE
from ringtree.train.models import FAMILIES, PUBLISHED, SCALES
from ringtree.train.request import DEFAULT_ARMS, DEFAULT_MODELS, DEFAULT_RANKS, check_seconds_per_step, make_plan
from ringtree.train.request_record import TrainRequest
from ringtree.train.sweep import resume, run

OPTIONS = {
    "models": with_default(
        f"{', '.join((*FAMILIES, *PUBLISHED))}, or folders with a config.json; weights are random.", DEFAULT_MODELS
    ),
    "scale": with_default(f"Size of {' and '.join(FAMILIES)}: {' or '.join(SCALES)}, 1 to 30 M parameters.", "tiny"),
    "arms": with_default(f"{WRITTEN}; arm@VAR=value sets a variable.", DEFAULT_ARMS),
    "ranks": with_default("Rank counts, one process per rank.", DEFAULT_RANKS),
    "launches": with_default("Launches (fresh sets of processes) for each model and rank count.", "8"),
    "seed": with_default("Seed for order, weights and tokens.", "random, recorded"),
    "reference": with_default("Arm that the others are compared with.", "nccl or gloo, else the first"),
    "margin": with_default("Ignore smaller differences.", "2%"),
    "strategy": with_default("ddp, fsdp1 or fsdp2.", "ddp"),
    "sharding": with_default("How FSDP shards: full, grad_op or hybrid.", "full"),
    "precision": with_default("float32, or bf16 mixed precision (gradients are reduced in float32).", "float32"),
    "experts": with_default("replicated, or parallel (spread over ranks; tokens travel by all_to_all).", "replicated"),
    "checkpointing": typer.Option("--checkpointing", help="Recompute activations instead of keeping them."),
    "accumulate": with_default("Batches per step.", "1"),
    "batch": with_default("Sequences per rank and batch.", "1"),
    "sequence": with_default("Tokens per sequence.", "512"),
    "tokens": with_default("A file whose bytes are the tokens.", "synthetic"),
    "apart": typer.Option(
        "--apart", help="Separate launches for each arm, for models whose copies don't fit in memory together."
    ),
    "budget": "Total time, e.g. 20m; a pilot run decides how many launches fit.",
    "price": "Price for --dry-run and --steps, e.g. 2.50/gpu-hour.",
    "metric": f"Regular expression that finds tokens/s in a script's output, e.g. '{EXAMPLE}'.",
}


@asks(TrainRequest, OPTIONS)
def train(
    context: typer.Context,
    asked: TrainRequest,
    script: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND...", help="After --: your own script, instead of models.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Also print what each arm saves or costs over this many steps.")
    ] = None,
    seconds_per_step: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Step time for --dry-run's estimate, e.g. 0.8. Without it, only tiny and small models are estimated.",
        ),
    ] = None,
    runs: Runs = RUNS,
    resume_run: ResumeRun = None,
    dry_run: DryRun = False,
    verbose: Annotated[bool, WANTED["verbose"]] = False,
    json: AsJson = False,
    csv: AsCsv = False,
) -> None:
    """Train models, or run your own script (after --), under several arms and report whether the arm matters."""
    with exit_codes():
        stderr, wanted = Console(stderr=True), Wanted(verbose=verbose, json=json, csv=csv)
        check_format(wanted)
        check_seconds_per_step(seconds_per_step, dry_run, bool(script))

        def measure(crew: Crew | None) -> None:
            if resume_run is not None:
                refuse_beside_resume([*written(context, *OPTIONS, "dry_run"), *(script or [])])
                stored = resume(runs, resume_run, stderr, crew)
            else:
                agents = None if crew is None else crew.agent_hosts
                plan = make_plan(replace(asked, agents=agents, command=tuple(script or []), dry_run=dry_run))
                warn_of(few_launches(plan), stderr)
                if dry_run:
                    print_training_plan(Console(), plan, seconds_per_step)
                    return
                stored = run(plan, runs, stderr, crew)
            finish_training(stored, wanted, steps=steps)

        as_lab_or_agent(measure)
