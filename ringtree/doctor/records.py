"""What `ringtree doctor --json` prints: facts about a machine, some with a verdict.

For: the shape of the result, and short ways to make a fact. Not for: reading anything (probes/), printing it
(ringtree.show.doctor_text).
"""

from __future__ import annotations

from pydantic import Field

from ringtree.results import Graded, Record

FORMAT = "ringtree.doctor/1"


class Verdict(Graded):
    """Best first. `warn`: it may cost speed or repeatability; `fail`: something can't run, or can't be timed."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Fact(Record):
    """One thing that was looked at."""

    name: str
    value: str = Field(description='"not known: " and the reason where it could not be found out')
    source: str = Field(description="where it was read: files, programs, variables")
    verdict: Verdict | None = Field(default=None, description="null: nothing to judge, or not known")
    why: str = Field(default="", description="why it matters for collectives, and what to do")
    known: bool = True


class Section(Record):
    """Facts that belong together."""

    name: str
    facts: list[Fact]


class DoctorReport(Record):
    """Everything. `arms`: those it was narrowed to, none for all."""

    format: str = FORMAT
    host_name: str
    arms: list[str]
    verdict: Verdict = Field(description="the worst of all facts")
    sections: list[Section]

    @property
    def problems(self) -> list[Fact]:
        """The facts to act on, the worst first."""
        facts = [fact for section in self.sections for fact in section.facts]
        return [fact for verdict in (Verdict.FAIL, Verdict.WARN) for fact in facts if fact.verdict is verdict]


def told(name: str, value: object, source: str, why: str = "") -> Fact:
    """A fact that is not judged."""
    return Fact(name=name, value=str(value), source=source, why=why)


def ok(name: str, value: object, source: str) -> Fact:
    """A fact that is as it should be."""
    return Fact(name=name, value=str(value), source=source, verdict=Verdict.OK)


def warn(name: str, value: object, source: str, why: str) -> Fact:
    """A fact that may cost speed or repeatability."""
    return Fact(name=name, value=str(value), source=source, verdict=Verdict.WARN, why=why)


def ok_unless(wrong: bool, name: str, value: object, source: str, why: str) -> Fact:
    """A fact that is as it should be; where it is `wrong`, one that may cost speed or repeatability."""
    return warn(name, value, source, why) if wrong else ok(name, value, source)


def fail(name: str, value: object, source: str, why: str) -> Fact:
    """A fact with which something can't run, or can't be timed."""
    return Fact(name=name, value=str(value), source=source, verdict=Verdict.FAIL, why=why)


def not_known(name: str, because: str, source: str) -> Fact:
    """A fact that could not be found out."""
    return Fact(name=name, value=f"not known: {because}", source=source, known=False)
