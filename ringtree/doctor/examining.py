"""Looks at everything, and makes the report.

For: `ringtree doctor`. Not for: what is looked at (table.py), printing.

A probe that fails becomes one fact, "not known" with the reason, and the others go on: a machine that is odd is what
the command is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ringtree.arms.kind import ArmKind
from ringtree.arms.registry import has_arm, kind_named
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.records import DoctorReport, Fact, Section, Verdict, not_known
from ringtree.doctor.table import PROBES, Probe, needs_of
from ringtree.errors import UsageError


def examine(host: Host, arms: Sequence[str] = (), probes: Sequence[Probe] = PROBES) -> DoctorReport:
    """Returns what the probes find. `arms`: only what these need, which then must be there. Raises UsageError for an
    arm that does not exist."""
    kinds = [_kind(name) for name in arms]
    needs = {need for kind in kinds for need in needs_of(kind)}
    host = replace(host, asked=frozenset(kind.name for kind in kinds))
    sections: dict[str, list[Fact]] = {}
    for probe in probes:
        if not kinds or probe.needs & needs:
            sections.setdefault(probe.section, []).extend(_look(probe, host))
    verdicts = [fact.verdict for facts in sections.values() for fact in facts if fact.verdict is not None]
    return DoctorReport(
        host_name=host.name,
        arms=list(arms),
        verdict=max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.OK),
        sections=[Section(name=name, facts=facts) for name, facts in sections.items() if facts],
    )


def _look(probe: Probe, host: Host) -> list[Fact]:
    facts: list[Fact] = []
    try:
        facts.extend(probe.look(host))
    except NotKnown as because:
        facts.append(not_known(_name(probe), str(because), "see the reason"))
    except Exception as error:  # whatever an odd machine makes of a probe, the others must go on
        facts.append(not_known(_name(probe), f"{type(error).__name__}: {error}", "a probe that failed"))
    return facts


def _name(probe: Probe) -> str:
    return probe.look.__name__.replace("_", " ")


def _kind(name: str) -> ArmKind:
    plain = name.partition("@")[0]
    kind = kind_named(plain)
    if not any(has_arm(plain, collective) for collective in kind.collectives):
        raise UsageError(f"unknown arm {name!r}; `ringtree arms` lists all arms")
    return kind
