"""Prints what nccl-tests 2.17.9 prints, and writes NCCL's line of what ran, without running anything.

For: the nccl-tests arm's tests. FAKE_FAILS: start, wrong, or other (another algorithm runs than was asked for).
"""

import os
import sys
from pathlib import Path

options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
fails = os.environ.get("FAKE_FAILS", "")
size, num_ranks, num_cycles = (int(options[letter]) for letter in ("-b", "-g", "-N"))
print("# nccl-tests version 2.17.9 nccl-headers=22703 nccl-library=22703")
print("# Collective test starting: all_reduce_perf")
print(
    f"# nThread 1 nGpus {num_ranks} minBytes {size} maxBytes {size} step: 1048576(bytes) warmup iters: 5 "
    f"iters: {options['-n']} agg iters: 1 validation: {options['-c']} graph: 0"
)
print("#\n# Using devices")
for rank in range(num_ranks):
    print(f"#  Rank {rank:2} Group  0 Pid {os.getpid():6} on host device {rank:2} [0000:1d:00] GPU")
if fails == "start":
    print("host: Test NCCL failure common.cu:1 'invalid usage / '")
    sys.exit(3)
if "NCCL_DEBUG_FILE" in os.environ:
    ran = "RING" if fails == "other" else os.environ.get("NCCL_ALGO", "Ring").upper()
    path = os.environ["NCCL_DEBUG_FILE"].replace("%h", "host").replace("%p", str(os.getpid()))
    line = f"host:1:1 [0] NCCL INFO AllReduce: {size} Bytes -> Algo {ran} proto LL channel{{Lo..Hi}}={{0..3}}\n"
    Path(path).write_text(line)
columns = " ".join(["   time   algbw   busbw #wrong"] * 2)
print("#\n#                                       out-of-place                       in-place")
print(f"#       size         count      type   redop    root  {columns}")
print("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)")
wrong = 3 if fails == "wrong" else 0 if options["-c"] != "0" else "N/A"
for cycle in range(num_cycles):
    rate = size / (100 + cycle) / 1e3
    side = f"{100 + cycle:8.2f} {rate:7.2f} {rate:7.2f} {wrong:>6}"
    print(f"{size:12} {size // 4:12} {options['-d']:>9} {options['-o']:>7} {-1:7} {side} {side}")
print("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.04\n#")
