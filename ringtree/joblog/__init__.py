"""A training job's collectives: recorded in its ranks, read back, summed up by step, and what a setting could change.

For: `ringtree trace`, `worth` and `replay`; a rank process records itself with `tracer.install(folder)` and
`tracer.stop()`. Not for: what the engine does inside one call (ringtree.trace, `ringtree trace-run`), nor for running
trainings of our own.

Nothing is imported here: the tracer runs in the user's processes, which must not load the lab.
"""
