"""SCHEDULE in Python: built-in algorithms by name, your own, JSON in and out, and their cost by the model.

For: collective algorithms as data. Not for: running them (ringtree.comm, ringtree.arms).
"""
