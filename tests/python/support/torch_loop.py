"""A rank under torchrun that reduces for ever, for the test of Ctrl-C: one line when it has begun."""

import os

import torch
import torch.distributed as dist

if __name__ == "__main__":
    dist.init_process_group("ringtree")
    dist.all_reduce(torch.zeros(8))
    os.write(1, b"begun\n")  # in one piece, beside the other rank's
    while True:
        dist.all_reduce(torch.zeros(1000))
