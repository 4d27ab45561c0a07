"""What `make bench-torch` measures: each part a plan of `ringtree train`.

For: models, arms, sizes of small calls. Not for: running plans (ringtree.train.sweep), or bars (page.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ringtree.results import Plan
from ringtree.train.request import make_plan
from ringtree.train.request_record import TrainRequest
from ringtree.units import format_size

ROOT = Path(__file__).resolve().parents[3]
OURS, GLOO = "ringtree:auto", "gloo"
STEPS = ("ddp", "fsdp2")
SMALL_BYTES = (8, 1 << 10, 64 << 10)
CALLS = {f"all_reduce-{size}": size for size in SMALL_BYTES}
SCRIPT = Path(__file__).with_name("small_calls.py")


def plans(launches: int, seed: int) -> dict[str, Callable[[], Plan]]:
    """Returns what makes the plan of each part; that raises UsageError where it can't run here."""
    common = TrainRequest(arms=f"{GLOO},{OURS}", ranks="2", launches=launches, seed=seed, reference=GLOO)
    found: dict[str, Callable[[], Plan]] = {}
    for strategy in STEPS:  # 26 M parameters, 64 tokens a rank: gradients of 105 MB beside little to compute
        asked = replace(common, scale="small", strategy=strategy, batch=2, sequence=32)
        found[strategy] = partial(make_plan, asked)
    # Paths as seen from the root of the repository, where this runs: the plan is published.
    script = tuple(os.path.relpath(path, ROOT) for path in (sys.executable, SCRIPT))
    for name, size in CALLS.items():
        found[name] = partial(make_plan, replace(common, command=(*script, str(size))))
    return found


def named(part: str) -> str:
    """Returns what the page calls a part."""
    return f"all_reduce of {format_size(CALLS[part])}" if part in CALLS else part
