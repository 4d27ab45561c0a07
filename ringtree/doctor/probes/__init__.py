"""Probes: what is looked at on a machine, a file a subject.

For: functions that take the host and give facts. Not for: which there are and whose needs they are (doctor/table.py).
"""
