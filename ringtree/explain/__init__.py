"""The measured answer to "why is the library so much faster than my ring?".

For: a ladder of arms from a ring in Python to the engine's best, each rung changing one thing, and the top with one
thing taken away. Not for: measuring (ringtree.measure does), or arms (ringtree.arms).
"""
