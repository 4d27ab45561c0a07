"""What a torch.distributed backend costs a training: DDP and FSDP2 steps and small calls, on this one and on Gloo.

__main__.py      the command: `make bench-torch`
parts.py         what is measured: each part a plan of `ringtree train`
small_calls.py   the script that some of the plans train: an all_reduce, again and again
page.py          runs -> exposed communication, its ratio, verdicts, and the page
"""
