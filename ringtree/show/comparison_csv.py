"""A comparison as CSV: one line an arm × size × placement.

For: its columns, and what stands in them. Not for: how a value is written (csv_text.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ringtree.judge.comparison import CellSummary, Comparison
from ringtree.show.csv_text import csv_text

COLUMNS: Mapping[str, Callable[[Comparison, CellSummary], object]] = {
    "run": lambda run, cell: run.run,
    "collective": lambda run, cell: run.collective,
    "op": lambda run, cell: run.op,
    "dtype": lambda run, cell: run.dtype,
    "num_ranks": lambda run, cell: run.num_ranks,
    "emulated": lambda run, cell: run.emulated is not None,
    "simulated": lambda run, cell: run.simulated is not None,
    "size_bytes": lambda run, cell: cell.size_bytes,
    "placement": lambda run, cell: cell.placement,
    "arm": lambda run, cell: cell.arm,
    "reference": lambda run, cell: run.reference,
    "verified": lambda run, cell: cell.verified,
    "disqualified": lambda run, cell: cell.disqualified,
    "executed": lambda run, cell: " ".join(cell.executed),
    "num_launches": lambda run, cell: cell.time and cell.time.num_launches,
    "num_iterations": lambda run, cell: cell.num_iterations,
    "batch": lambda run, cell: cell.batch,
    "time_s": lambda run, cell: cell.time and cell.time.median,
    "time_low_s": lambda run, cell: cell.time and cell.time.low,
    "time_high_s": lambda run, cell: cell.time and cell.time.high,
    "time_coverage": lambda run, cell: cell.time and cell.time.coverage,
    "algbw_bytes_per_s": lambda run, cell: cell.algbw,
    "busbw_bytes_per_s": lambda run, cell: cell.busbw,
    "limit_s": lambda run, cell: cell.limit,
    "share_of_limit": lambda run, cell: cell.share_of_limit,
    "predicted_s": lambda run, cell: cell.predicted,
    "time_ratio": lambda run, cell: cell.versus_reference and cell.versus_reference.ratio,
    "time_ratio_low": lambda run, cell: cell.versus_reference and cell.versus_reference.low,
    "time_ratio_high": lambda run, cell: cell.versus_reference and cell.versus_reference.high,
    "time_ratio_coverage": lambda run, cell: cell.versus_reference and cell.versus_reference.coverage,
    "num_paired_launches": lambda run, cell: cell.versus_reference and cell.versus_reference.num_launches,
    "p_faster": lambda run, cell: cell.versus_reference and cell.versus_reference.p_faster,
    "p_slower": lambda run, cell: cell.versus_reference and cell.versus_reference.p_slower,
    "p_equivalent": lambda run, cell: cell.versus_reference and cell.versus_reference.p_equivalent,
    "margin": lambda run, cell: cell.versus_reference and cell.versus_reference.margin,
    "verdict": lambda run, cell: cell.versus_reference and cell.versus_reference.verdict,
    "launches_needed": lambda run, cell: cell.versus_reference and cell.versus_reference.launches_needed,
}


def comparison_csv(comparison: Comparison) -> str:
    """Returns the table with its header line."""
    return csv_text(COLUMNS, comparison, comparison.cells)
