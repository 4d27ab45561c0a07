"""From a tested log ratio to its record.

For: what arms against a reference and effects of factors have in common. Not for: testing (ringtree.stats.family).
"""

from __future__ import annotations

import math

from ringtree.judge.comparison import Versus
from ringtree.stats import Judged


def versus_record(judged: Judged, num_launches: int) -> Versus:
    """`num_launches`: in which the arms ran at this size; not all of them count under every placement."""
    needed = judged.launches_needed
    if needed is not None:
        # What a new run needs, in which as few of the launches will count.
        needed = math.ceil(needed * num_launches / judged.num_launches)
    # A single launch has no interval: its ends lie at 0 and infinity, which is nothing to print.
    bounded = judged.low > 0 and math.isfinite(judged.high)
    return Versus.from_fields_of(
        judged,
        low=judged.low if bounded else None,
        high=judged.high if bounded else None,
        num_comparisons=judged.num_cells,
        launches_needed=needed,
    )
