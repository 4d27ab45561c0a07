"""Runs held against each other, as one page."""

from ringtree.show.compare_page.page import compare_page

__all__ = ["compare_page"]
