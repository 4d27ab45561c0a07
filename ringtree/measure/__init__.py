"""The lab: a plan of launches -> fresh processes -> a RESULT.

For: the one way to start rank processes, to time them and to store what they gave. Not for: what the samples support
(ringtree.judge), or for showing it (ringtree.show).
"""
