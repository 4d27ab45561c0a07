"""A comparison as CSV: one line an arm × size × placement.

For: spreadsheets and scripts; units stand in the names of the columns, what is not known is empty. Not for: raw samples
(`ringtree export`).
"""

from __future__ import annotations

import csv
import io

from ringtree.judge.comparison import CellSummary, Comparison
from ringtree.show.printable import printable

COLUMNS = (
    "run",
    "collective",
    "op",
    "dtype",
    "num_ranks",
    "emulated",
    "simulated",
    "size_bytes",
    "placement",
    "arm",
    "reference",
    "verified",
    "disqualified",
    "executed",
    "num_launches",
    "num_iterations",
    "batch",
    "time_s",
    "time_low_s",
    "time_high_s",
    "time_coverage",
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
    "limit_s",
    "share_of_limit",
    "predicted_s",
    "time_ratio",
    "time_ratio_low",
    "time_ratio_high",
    "time_ratio_coverage",
    "num_paired_launches",
    "p_faster",
    "p_slower",
    "p_equivalent",
    "margin",
    "verdict",
    "launches_needed",
)


def csv_text(comparison: Comparison) -> str:
    """Returns the table with its header line; lines end with a newline only."""
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in comparison.cells:
        fields = _fields(comparison, cell)
        writer.writerow({name: csv_value(value) for name, value in fields.items()})
    return target.getvalue()


def _fields(comparison: Comparison, cell: CellSummary) -> dict[str, object]:
    """A column -> its value; columns that are missing stay empty."""
    fields: dict[str, object] = {
        "run": comparison.run,
        "collective": comparison.collective,
        "op": comparison.op,
        "dtype": comparison.dtype,
        "num_ranks": comparison.num_ranks,
        "emulated": comparison.emulated is not None,
        "simulated": comparison.simulated is not None,
        "size_bytes": cell.size_bytes,
        "placement": cell.placement,
        "arm": cell.arm,
        "reference": comparison.reference,
        "verified": cell.verified,
        "disqualified": cell.disqualified,
        "executed": " ".join(cell.executed),
        "num_iterations": cell.num_iterations,
        "batch": cell.batch,
        "algbw_bytes_per_s": cell.algbw,
        "busbw_bytes_per_s": cell.busbw,
        "limit_s": cell.limit,
        "share_of_limit": cell.share_of_limit,
        "predicted_s": cell.predicted,
    }
    if cell.time is not None:
        fields |= {
            "num_launches": cell.time.num_launches,
            "time_s": cell.time.median,
            "time_low_s": cell.time.low,
            "time_high_s": cell.time.high,
            "time_coverage": cell.time.coverage,
        }
    versus = cell.versus_reference
    if versus is not None:
        fields |= {
            "time_ratio": versus.ratio,
            "time_ratio_low": versus.low,
            "time_ratio_high": versus.high,
            "time_ratio_coverage": versus.coverage,
            "num_paired_launches": versus.num_launches,
            "p_faster": versus.p_faster,
            "p_slower": versus.p_slower,
            "p_equivalent": versus.p_equivalent,
            "margin": versus.margin,
            "verdict": versus.verdict,
            "launches_needed": versus.launches_needed,
        }
    return fields


def csv_value(value: object) -> str:
    """Returns a value as our tables write it: nothing for null, true or false, a float in full."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(value) if isinstance(value, str) else repr(value)
