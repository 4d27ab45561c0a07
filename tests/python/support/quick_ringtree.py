"""The command `ringtree` whose comparisons give each cell the least time that there is: 0.05 s of a launch, not 1 s.

    python tests/python/support/quick_ringtree.py compare --sizes 8 --launches 1

For: tests of whole comparisons that look at no time. Not for: what a plan makes of the time that a user gives
(--budget): that stays as it is.
"""

from __future__ import annotations

from ringtree.cli import app
from ringtree.measure import request

if __name__ == "__main__":
    request.DEFAULT_SECONDS = 0.0
    app(prog_name="ringtree")
