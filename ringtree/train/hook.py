"""Two lines for a user's script: which backend the arm asks for, and how many tokens a step had.

    from ringtree.train.hook import backend, step
    torch.distributed.init_process_group(backend()); ...; step(tokens)      # after each step, tokens of all ranks

For: scripts that `ringtree train` starts; without it `backend()` is what the script would take anyway, and `step`
prints. Not for: measuring: what is printed is read as any other line is.
"""

from __future__ import annotations

import os
import time

DEFAULT_METRIC = r"^ringtree-tokens/s: ([0-9.eE+-]+)$"
_before: list[float] = []


def backend(otherwise: str = "gloo") -> str:
    """Returns the backend of the arm; `otherwise` where no arm is asked for."""
    return os.environ.get("RINGTREE_TRAIN_BACKEND", otherwise)


def step(tokens: float) -> None:
    """Says that a step with so many tokens, of all ranks, is over. The first call only begins to count."""
    now = time.perf_counter()
    if _before and os.environ.get("RANK", "0") == "0":
        print(f"ringtree-tokens/s: {tokens / (now - _before[-1]):.6g}", flush=True)
    _before[:] = [now]
