"""The marks of verdicts, the same in every table.

For: whoever prints a verdict. Not for: choosing one (ringtree.stats.family).
"""

MARKS = {"faster": "▲", "slower": "▼", "equivalent": "=", "inconclusive": "?"}
