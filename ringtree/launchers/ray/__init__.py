"""Ray: agents as actors of a placement group, started and ended through Ray's own API.

For: who has a Ray cluster and no other launcher. `seats.py` numbers the agents, `held_agent.py` holds one's process,
`mirror.py` brings its files home, `actor.py` is what Ray runs on a node, `job.py` is the driver's side. Not for: a
scheduler (Ray places), scripts for `ray job submit` (launchers/jobs/ray.py), what agents do (ringtree.measure.crew), or
reading the variables that are set here (launchers/by_hand.py).

Nothing here is imported by `ringtree.launchers`, and only job.py imports Ray, when a job is started.
"""
