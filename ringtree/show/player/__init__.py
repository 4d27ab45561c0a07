"""The algorithm player: schedules, animated."""

from ringtree.show.player.page import page, recorded_page
from ringtree.show.player.scene import scene
from ringtree.show.player.simulated import headline, simulated_scene

__all__ = ["headline", "page", "recorded_page", "scene", "simulated_scene"]
