"""Health: is this as fast as it should be?

    report = health_of([Path("all_reduce.log")], Question(Setup(system="p5.48xlarge")))

For: holding logs against what machines with the same links reached (catalogue/) and against the physical limit, and
several logs against each other. Not for: whether a log's figures are right (ringtree.audit), which of two runs is
faster (ringtree.judge.runs).
"""

from ringtree.health.checking import Question, health_of
from ringtree.health.records import FORMAT, HealthReport, Verdict

__all__ = ["FORMAT", "HealthReport", "Question", "Verdict", "health_of"]
