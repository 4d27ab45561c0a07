"""Measuring which configuration is fastest here: rounds of candidates -> rules -> a profile that the engine loads.

For: `ringtree tune`, its check, and `ringtree which`. Not for: comparing arms with verdicts (ringtree.judge), or
choosing at run time (core/engine).
"""
