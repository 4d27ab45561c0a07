"""What a torch.distributed backend costs a training: DDP and FSDP2 steps and small calls, on this one and on Gloo.

__main__.py   the command: `make bench-torch`
worker.py     one rank of a launch: builds the models, times the arms in turn
page.py       launches -> exposed communication, its ratio, intervals, and the page
"""
