"""The variables by which `ringtree trace` tells the processes of a job to record themselves.

For: their names, shared by who sets them (running.py) and who reads them (tracer.py). Not for: anything else.
"""

FOLDER = "RINGTREE_TRACE"  # where rank files are written; unset: nothing is recorded
TIME_EVERY = "RINGTREE_TRACE_TIME_EVERY"  # of how many steps one is timed; unset or "": as timed_steps.py chooses
EVERY = "RINGTREE_TRACE_OPTIMIZER_STEPS"  # optimizer steps that make one step of the job
