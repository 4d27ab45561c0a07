"""Pages that people open: the algorithm player.

For: one HTML file each, self-contained, that needs no network. Not for: measuring (ringtree.lab), statistics
(ringtree.stats).
"""
