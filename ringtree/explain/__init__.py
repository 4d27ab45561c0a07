"""The measured answer to "why is the library so much faster than my ring?".

For: ladders of arms (ladder_kinds.py), each rung changing one thing, and the top with one thing taken away. Not for:
measuring (ringtree.measure does), or arms (ringtree.arms).
"""
