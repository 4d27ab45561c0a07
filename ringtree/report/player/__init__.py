"""The algorithm player: schedules, animated."""

from ringtree.report.player.page import page
from ringtree.report.player.scene import scene

__all__ = ["page", "scene"]
