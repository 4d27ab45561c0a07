"""Simulation: the schedules that the engine runs, timed on a cluster that is described, not owned.

For: what a collective would take on other hosts, what limits it there, and where algorithms cross. Not for: measuring
(ringtree.measure), emulating slow links with real ranks (`ringtree compare --emulate`).
"""
