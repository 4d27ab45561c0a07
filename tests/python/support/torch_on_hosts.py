"""A rank of test_torch_hosts.py, started as torchrun would: collectives and a message between hosts."""

import torch
import torch.distributed as dist

if __name__ == "__main__":
    dist.init_process_group("ringtree")
    rank, size = dist.get_rank(), dist.get_world_size()
    data = torch.arange(100_000) * (rank + 1)
    dist.all_reduce(data)
    assert torch.equal(data, torch.arange(100_000) * sum(range(1, size + 1)))
    got = torch.zeros(3)
    sent = dist.isend(torch.full((3,), float(rank)), (rank + 1) % size)
    dist.recv(got, (rank - 1) % size)
    assert sent is not None
    sent.wait()
    assert got.tolist() == [float((rank - 1) % size)] * 3
    dist.destroy_process_group()
    print("right")
