"""What pytest needs before it reads any test: tools/, tests/ and the helpers of tests can be imported.

For: the path, and that neither a profile of the user's, constants that were probed, BLAS nor a start in the background
changes what tests see. Not for: fixtures; helpers of tests, and the programs that their ranks run, are modules in
python/support.

It lies above python/, not in it: pytest puts a conftest's folder on the path, and there `torch` would be a folder.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

os.environ["RINGTREE_PROFILE"] = ""  # also for the ranks and commands that tests start
os.environ.pop("RINGTREE_PROBE", None)
# NumPy's BLAS starts a thread a core on import, which spins: a tenth of a process that does nothing else.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A shell's "&" makes its jobs ignore SIGINT, and all that they start; Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS.parent / "tools"), str(TESTS), str(TESTS / "python" / "support")]
pytest_plugins = ["deferring", "hanging"]
