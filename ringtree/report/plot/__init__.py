"""Figures for papers and tickets: the numbers of a stored run, drawn.

For: `ringtree plot`. Not for: computing them (ringtree.lab.summary gives what is drawn), pages.
"""

from ringtree.report.plot.figure import SUFFIXES
from ringtree.report.plot.kinds import KINDS, draw

__all__ = ["KINDS", "SUFFIXES", "draw"]
