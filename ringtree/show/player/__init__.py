"""The algorithm player: schedules, animated."""

from ringtree.show.player.page import page
from ringtree.show.player.scene import scene

__all__ = ["page", "scene"]
