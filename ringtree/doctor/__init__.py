"""Checks of this machine that matter to collectives: facts, each with where it was read and what to do.

    report = examine(Host(), arms=["nccl", "openmpi"])
    for fact in report.problems: print(fact.name, fact.value, fact.why)

For: looking before anything is measured. Not for: measuring, nor judging what was measured (ringtree.health).
"""

from ringtree.doctor.examining import examine
from ringtree.doctor.host import Host, Software
from ringtree.doctor.records import FORMAT, DoctorReport, Fact, Section, Verdict

__all__ = ["FORMAT", "DoctorReport", "Fact", "Host", "Section", "Software", "Verdict", "examine"]
