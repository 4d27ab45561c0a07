"""A training as CSV: one line a model, number of ranks and arm.

For: spreadsheets and scripts; units stand in the names of the columns, what is not known is empty. Not for: raw samples
(`ringtree export`).
"""

from __future__ import annotations

import csv
import io

from ringtree.judge.training_records import TrainingCellSummary, TrainingSummary
from ringtree.show.comparison_csv import csv_value

COLUMNS = (
    "run",
    "strategy",
    "dtype",
    "model",
    "num_ranks",
    "arm",
    "reference",
    "disqualified",
    "num_launches",
    "tokens_per_s",
    "tokens_per_s_a_rank",
    "step_s",
    "step_low_s",
    "step_high_s",
    "step_coverage",
    "exposed_s",
    "exposed_low_s",
    "exposed_high_s",
    "efficiency",
    "mean_step_s",
    "mean_compute_s",
    "mean_exposed_s",
    "mean_imbalance_s",
    "mean_input_s",
    "peak_bytes",
    "collectives",
    "bytes_a_step",
    "step_ratio",
    "step_ratio_low",
    "step_ratio_high",
    "step_ratio_coverage",
    "verdict",
    "margin",
)


def training_csv(summary: TrainingSummary) -> str:
    """Returns the table with its header line; lines end with a newline only. `collectives`: as "all_reduce:3:4194304",
    calls and bytes of a step; `step_ratio`: over the reference's, below 1 is faster."""
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in summary.cells:
        writer.writerow({name: csv_value(value) for name, value in _fields(summary, cell).items()})
    return target.getvalue()


def _fields(summary: TrainingSummary, cell: TrainingCellSummary) -> dict[str, object]:
    """A column -> its value; columns that are missing stay empty."""
    called = cell.collectives
    fields: dict[str, object] = {
        "run": summary.run,
        "strategy": summary.training.strategy,
        "dtype": summary.dtype,
        "model": cell.model,
        "num_ranks": cell.num_ranks,
        "arm": cell.arm,
        "reference": summary.reference,
        "disqualified": cell.disqualified,
        "num_launches": cell.num_launches,
        "tokens_per_s": cell.tokens_per_second,
        "tokens_per_s_a_rank": cell.tokens_per_second_a_rank,
        "efficiency": cell.efficiency,
        "peak_bytes": cell.peak_bytes,
        "collectives": " ".join(f"{one.collective}:{one.calls}:{one.size_bytes}" for one in called),
        "bytes_a_step": sum(one.size_bytes for one in called) if called else None,
    }
    for name, interval in (("step", cell.step), ("exposed", cell.exposed)):
        if interval is not None:
            fields |= {f"{name}_s": interval.median, f"{name}_low_s": interval.low, f"{name}_high_s": interval.high}
    if cell.step is not None:
        fields["step_coverage"] = cell.step.coverage
    if cell.parts is not None:
        parts = cell.parts.model_dump()
        fields |= {f"mean_{name}_s": seconds for name, seconds in parts.items()}
    versus = cell.versus_reference
    if versus is not None:
        fields |= {
            "step_ratio": versus.ratio,
            "step_ratio_low": versus.low,
            "step_ratio_high": versus.high,
            "step_ratio_coverage": versus.coverage,
            "verdict": versus.verdict,
            "margin": summary.margin,
        }
    return fields
