"""`ringtree compare`: arms against arms, from what a person asked for to a stored run.

For: preflight, pilot and launches of one comparison. Not for: measuring (ringtree.measure), verdicts (ringtree.judge).
"""
