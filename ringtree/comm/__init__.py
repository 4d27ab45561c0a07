"""The communicator as users call it: making groups, calling collectives, work in the background, profiles.

For: what `ringtree.init` gives. Not for: which algorithms exist (ringtree.schedules), comparing them
(ringtree.compare).
"""
