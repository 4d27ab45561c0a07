"""A script for `ringtree train`: batches of one small all_reduce, whose size in bytes is its argument.

For: `make bench-torch`. A batch counts as a step of CALLS tokens a rank, so that the time of a rank-token is that of a
call. Not for: checking results (tests do that), or timing (ringtree.train.hook).
"""

from __future__ import annotations

import sys
from datetime import timedelta

import torch
import torch.distributed as dist

from ringtree.train.hook import backend, step

CALLS, BATCHES = 50, 100


def main(size_bytes: int) -> None:
    """Calls all_reduce; prints a line a batch."""
    torch.set_num_threads(1)
    dist.init_process_group(backend(), timeout=timedelta(minutes=5))
    data = torch.zeros(size_bytes // 4)
    for _ in range(BATCHES):
        for _ in range(CALLS):
            dist.all_reduce(data)
        step(CALLS * dist.get_world_size())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
