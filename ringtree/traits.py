"""What each collective is: whether it reduces, has a root, is cut into blocks, may be in place.

For: names of collectives, as tuples to look into; a name that the core doesn't know (send_recv) is in none of them.
Not for: what a collective does (ringtree.schedules), how its bus bandwidth is counted (ringtree.stats.bandwidth).
"""

from __future__ import annotations

from typing import Final

from ringtree._core import collectives

_TABLE = collectives()  # core/schedule/collective.h
Names = tuple[str, ...]

COLLECTIVES: Final[Names] = tuple(one.name for one in _TABLE)
REDUCING: Final[Names] = tuple(one.name for one in _TABLE if one.reduces)
ROOTED: Final[Names] = tuple(one.name for one in _TABLE if one.has_root)
WHOLE: Final[Names] = tuple(one.name for one in _TABLE if not one.has_blocks)  # every array is the whole vector
BLOCKED: Final[Names] = tuple(one.name for one in _TABLE if one.has_blocks)  # the larger array: a block a rank
TAKES_BLOCK: Final[Names] = tuple(one.name for one in _TABLE if one.takes_block)  # a rank gives one block, gets all
GIVES_BLOCK: Final[Names] = tuple(one.name for one in _TABLE if one.gives_block)  # a rank gets one block of all
IN_PLACE: Final[Names] = tuple(one.name for one in _TABLE if one.can_be_in_place)
