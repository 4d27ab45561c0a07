"""What a torch.distributed backend costs a training: DDP and FSDP2 steps and small calls, on this one and on Gloo.

    worker.py     one rank of a launch: builds the models, times the arms in turn
    figures.py    launches -> exposed communication, its ratio, intervals
    page.py       the page
    __main__.py   the command: `make bench-torch`

Exposed communication is what a step takes longer than the same step without any: what overlaps with the backward pass
costs nothing. Through PyTorch on both sides; all arms in the same processes, in shuffled turns.
"""
