"""When collectives of a traced job ran on its GPU, and which part of that nothing else hid.

For: the GPU's own record of a step (record.py), which kernels a call had (matching.py), its times (times.py), and the
steps that are recorded so (steps.py). Not for: calls and bytes, which the tracer records in every step, nor ranks on
CPUs (ringtree.joblog.exposure).
"""
