"""A rank of torch.distributed over Gloo that calls all_reduce until it fails. Arguments: rank, ranks, file, seconds.

For: peers.py. Writes lines of JSON: its pid when five calls have worked, then how a call failed and when. Stays alive
until it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

HEALTHY = 5
COUNT = 50_000


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    rank, ranks, file, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    dist.init_process_group(
        "gloo", init_method=f"file://{file}", rank=rank, world_size=ranks, timeout=timedelta(seconds=seconds)
    )
    for _ in range(HEALTHY):
        dist.all_reduce(torch.ones(COUNT))
    say(pid=os.getpid())
    try:
        while True:
            dist.all_reduce(torch.ones(COUNT))
    except RuntimeError as error:
        say(error=type(error).__name__, text=str(error), at=time.monotonic())
    signal.pause()


if __name__ == "__main__":
    main()
