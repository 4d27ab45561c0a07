"""Figures for papers and tickets: the numbers of a stored run, drawn.

For: `ringtree plot`. Not for: computing them (ringtree.judge.summary gives what is drawn), pages.
"""

from ringtree.show.plot.figure import SUFFIXES
from ringtree.show.plot.kinds import KINDS, draw

__all__ = ["KINDS", "SUFFIXES", "draw"]
