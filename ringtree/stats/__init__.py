"""Statistics of comparisons: pure functions on arrays, results whose types hold their invariants.

For: turning samples into effects, intervals, verdicts, crossovers and warnings. Not for: input or output of any kind;
this package imports nothing of ringtree and knows no file, arm or table.
"""

from ringtree.stats.bandwidth import algbw, bus_factor, busbw
from ringtree.stats.crossover import CrossoverFinding, find_crossovers
from ringtree.stats.drift import Drift, drift, is_stable
from ringtree.stats.factorial import LEAST_RESOLUTION, Contrast, contrasts, fractional_design, full_design, resolution
from ringtree.stats.family import MARGIN, Judged, Outlook, Verdict, judge
from ringtree.stats.holm import holm
from ringtree.stats.intervals import MedianInterval, coverage_of, median_interval
from ringtree.stats.line import Line, ToldApart, fit_line, tell_apart
from ringtree.stats.needed import MAX_LAUNCHES, launches_needed, least_launches
from ringtree.stats.outliers import outliers
from ringtree.stats.placement import Placements, split_placements
from ringtree.stats.regression import Regressed, RegressionVerdict, slower_than_baseline
from ringtree.stats.rounds import round_effect
from ringtree.stats.samples import samples
from ringtree.stats.signflip import sign_flip_p
from ringtree.stats.stragglers import Straggler, stragglers
from ringtree.stats.typical import TypicalInterval, typical_interval

__all__ = [
    "LEAST_RESOLUTION",
    "MARGIN",
    "MAX_LAUNCHES",
    "Contrast",
    "CrossoverFinding",
    "Drift",
    "Judged",
    "Line",
    "MedianInterval",
    "Outlook",
    "Placements",
    "Regressed",
    "RegressionVerdict",
    "Straggler",
    "ToldApart",
    "TypicalInterval",
    "Verdict",
    "algbw",
    "bus_factor",
    "busbw",
    "contrasts",
    "coverage_of",
    "drift",
    "find_crossovers",
    "fit_line",
    "fractional_design",
    "full_design",
    "holm",
    "is_stable",
    "judge",
    "launches_needed",
    "least_launches",
    "median_interval",
    "outliers",
    "resolution",
    "round_effect",
    "samples",
    "sign_flip_p",
    "slower_than_baseline",
    "split_placements",
    "stragglers",
    "tell_apart",
    "typical_interval",
]
