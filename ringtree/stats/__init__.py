"""Statistics of comparisons: pure functions on arrays, results whose types hold their invariants.

For: turning launch medians into intervals, ratios and rates. Not for: input or output of any kind; this package imports
nothing of ringtree and knows no file, arm or table.
"""

from ringtree.stats.bandwidth import algbw, bus_factor, busbw
from ringtree.stats.intervals import MedianInterval, coverage_of, median_interval
from ringtree.stats.ratio import MARGIN, MIN_LAUNCHES, RatioInterval, Verdict, ratio_to_reference
from ringtree.stats.samples import launch_median, samples

__all__ = [
    "MARGIN",
    "MIN_LAUNCHES",
    "MedianInterval",
    "RatioInterval",
    "Verdict",
    "algbw",
    "bus_factor",
    "busbw",
    "coverage_of",
    "launch_median",
    "median_interval",
    "ratio_to_reference",
    "samples",
]
