"""Where the collected logs lie, for tests that read them.

For: tests of ringtree.logs, ringtree.hardware and ringtree.audit. Not for: fixtures, which stand in the tests.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]


def shared_data() -> Path:
    """Returns the folder `data` of what is shared beside the checkout; skips the test where it is not.

    RINGTREE_SHARED names the folder `shared` where it lies elsewhere.
    """
    places = [Path(os.environ["RINGTREE_SHARED"])] if "RINGTREE_SHARED" in os.environ else [_ROOT.parent / "shared"]
    for place in places:
        if (place / "data").is_dir():
            return place / "data"
    pytest.skip("needs the collected logs in ../shared/data (or RINGTREE_SHARED)")


def log_index() -> list[dict[str, str]]:
    """Returns the rows of the collected logs' index."""
    with open(shared_data() / "logs" / "index.csv", newline="") as file:
        return list(csv.DictReader(file))
