"""Statistics of comparisons: pure functions on arrays, results whose types hold their invariants.

For: turning samples into effects, intervals, verdicts, crossovers and warnings. Not for: input or output of any kind;
this package imports nothing of ringtree and knows no file, arm or table.
"""

from ringtree.stats.bandwidth import algbw, bus_factor, busbw
from ringtree.stats.crossover import CrossoverFinding, find_crossovers
from ringtree.stats.drift import Drift, drift, is_stable, warmed_up_after
from ringtree.stats.family import MARGIN, Judged, Outlook, Verdict, judge
from ringtree.stats.intervals import MedianInterval, coverage_of, median_interval
from ringtree.stats.needed import MAX_LAUNCHES, launches_needed, least_launches
from ringtree.stats.outliers import outliers
from ringtree.stats.placement import Placements, split_placements
from ringtree.stats.regression import Regressed, RegressionVerdict, slower_than_baseline
from ringtree.stats.rounds import round_effect
from ringtree.stats.samples import launch_median, samples
from ringtree.stats.signflip import sign_flip_p
from ringtree.stats.stragglers import Straggler, stragglers
from ringtree.stats.typical import TypicalInterval, typical_interval

__all__ = [
    "MARGIN",
    "MAX_LAUNCHES",
    "CrossoverFinding",
    "Drift",
    "Judged",
    "MedianInterval",
    "Outlook",
    "Placements",
    "Regressed",
    "RegressionVerdict",
    "Straggler",
    "TypicalInterval",
    "Verdict",
    "algbw",
    "bus_factor",
    "busbw",
    "coverage_of",
    "drift",
    "find_crossovers",
    "is_stable",
    "judge",
    "launch_median",
    "launches_needed",
    "least_launches",
    "median_interval",
    "outliers",
    "round_effect",
    "samples",
    "sign_flip_p",
    "slower_than_baseline",
    "split_placements",
    "stragglers",
    "typical_interval",
    "warmed_up_after",
]
