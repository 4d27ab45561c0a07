"""A training as CSV: one line a model, number of ranks and arm.

For: its columns, and what stands in them. Not for: how a value is written (csv_text.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ringtree.judge.training_records import TrainingCellSummary, TrainingSummary
from ringtree.show.csv_text import csv_text

# `collectives`: as "all_reduce:3:4194304", calls and bytes of a step. `mean_exposed_by_collective`: as
# "all_reduce:0.0123"; empty where no step was recorded. `step_ratio`: over the reference's, below 1 is
# faster.
COLUMNS: Mapping[str, Callable[[TrainingSummary, TrainingCellSummary], object]] = {
    "run": lambda run, cell: run.run,
    "strategy": lambda run, cell: run.training.strategy,
    "dtype": lambda run, cell: run.dtype,
    "model": lambda run, cell: cell.model,
    "num_ranks": lambda run, cell: cell.num_ranks,
    "arm": lambda run, cell: cell.arm,
    "reference": lambda run, cell: run.reference,
    "disqualified": lambda run, cell: cell.disqualified,
    "num_launches": lambda run, cell: cell.num_launches,
    "tokens_per_s": lambda run, cell: cell.tokens_per_second,
    "tokens_per_s_a_rank": lambda run, cell: cell.tokens_per_second_a_rank,
    "step_s": lambda run, cell: cell.step and cell.step.median,
    "step_low_s": lambda run, cell: cell.step and cell.step.low,
    "step_high_s": lambda run, cell: cell.step and cell.step.high,
    "step_coverage": lambda run, cell: cell.step and cell.step.coverage,
    "exposed_s": lambda run, cell: cell.exposed and cell.exposed.median,
    "exposed_low_s": lambda run, cell: cell.exposed and cell.exposed.low,
    "exposed_high_s": lambda run, cell: cell.exposed and cell.exposed.high,
    "efficiency": lambda run, cell: cell.efficiency,
    "mean_step_s": lambda run, cell: cell.parts and cell.parts.step,
    "mean_compute_s": lambda run, cell: cell.parts and cell.parts.compute,
    "mean_exposed_s": lambda run, cell: cell.parts and cell.parts.exposed,
    "mean_imbalance_s": lambda run, cell: cell.parts and cell.parts.imbalance,
    "mean_input_s": lambda run, cell: cell.parts and cell.parts.input,
    "peak_bytes": lambda run, cell: cell.peak_bytes,
    "collectives": lambda run, cell: " ".join(
        f"{one.collective}:{one.calls}:{one.size_bytes}" for one in cell.collectives
    ),
    "mean_exposed_by_collective": lambda run, cell: " ".join(
        f"{name}:{seconds!r}" for name, seconds in (cell.parts.by_collective if cell.parts else {}).items()
    ),
    "bytes_a_step": lambda run, cell: sum(one.size_bytes for one in cell.collectives) if cell.collectives else None,
    "step_ratio": lambda run, cell: cell.versus_reference and cell.versus_reference.ratio,
    "step_ratio_low": lambda run, cell: cell.versus_reference and cell.versus_reference.low,
    "step_ratio_high": lambda run, cell: cell.versus_reference and cell.versus_reference.high,
    "step_ratio_coverage": lambda run, cell: cell.versus_reference and cell.versus_reference.coverage,
    "verdict": lambda run, cell: cell.versus_reference and cell.versus_reference.verdict,
    "margin": lambda run, cell: cell.versus_reference and run.margin,
}


def training_csv(summary: TrainingSummary) -> str:
    """Returns the table with its header line."""
    return csv_text(COLUMNS, summary, summary.cells)
