"""What pytest needs before it reads any test: the packages of tools/ can be imported like those of the project.

For: the path. Not for: fixtures; helpers of tests are modules beside them (`*_support.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
