"""What pytest needs before it reads any test: the packages of tools/ can be imported like those of the project.

For: the path, and that neither a profile of the user's nor a start in the background changes what tests see. Not for:
fixtures; helpers of tests are modules beside them (`*_support.py`).
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

os.environ["RINGTREE_PROFILE"] = ""  # also for the ranks and commands that tests start
# A shell's "&" makes its jobs ignore SIGINT, and all that they start; Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tools"), str(Path(__file__).resolve().parents[1])]
