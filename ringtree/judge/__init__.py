"""From RESULT to verdicts: effects with intervals, crossovers, rankings, regressions, and what qualifies them.

For: what may be said about stored samples; the arithmetic is ringtree.stats'. Not for: measuring (ringtree.measure),
drawing or printing (ringtree.show).
"""
