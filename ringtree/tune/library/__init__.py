"""Which of a library's own switches is fastest at which size, and what its users deploy of that.

For: `ringtree tune --arms openmpi` and its like: MPI libraries and oneCCL, all_reduce on one host. Not for: the
engine's profile (the rest of ringtree.tune).
"""
