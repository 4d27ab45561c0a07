"""The lab: a plan of launches -> fresh processes -> a RESULT -> what may be said about it.

For: running comparisons. Not for: what an arm does (ringtree.backends), formulas (ringtree.stats), storage
(ringtree.results) or arguments (ringtree.cli).
"""
