"""Fuzzing of the log readers: pieces of logs, cut, joined and damaged, given to every reader.

For: `make fuzz`. Not for: tests of what a reader gives (tests/python/logs/test_logs_*.py).
"""
