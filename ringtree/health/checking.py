"""A check-up: logs in, a report out.

For: `ringtree health` and whoever asks from Python. Not for: one step of it (curve.py, judging.py, symptoms.py,
growth.py, tools.py), printing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ringtree.audit import AuditRun, Setup, Severity, Subject, ceiling
from ringtree.audit.links import links_of
from ringtree.audit.machine import machine_of
from ringtree.hardware import named_systems
from ringtree.health.curve import Curve, Measured, curve_of
from ringtree.health.entries import Links, Reached, load_reached
from ringtree.health.growth import growth_of
from ringtree.health.judging import bands_of, sizes_of, spreads
from ringtree.health.records import FileHealth, HealthReport, Reference, TableHealth, Verdict
from ringtree.health.shape import shape_of
from ringtree.health.symptoms import Host, next_steps, symptoms_of
from ringtree.health.tools import tools_of
from ringtree.health.words import sentence
from ringtree.logs import Document, Imported, Item, Table, read_file
from ringtree.units import count

_NVLINK = 100e9  # bytes/s: PCIe has less


@dataclass
class _Log:
    name: str
    tables: list[Table] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    wrong: dict[int | None, list[str]] = field(default_factory=dict)  # errors by table; None: of the file

    def refuted(self, line: int) -> str:
        """Returns why the table that begins at `line` can't be relied on, nothing if nothing is wrong."""
        found = list(dict.fromkeys([*self.wrong.get(None, []), *self.wrong.get(line, [])]))
        return f"the log contradicts itself ({'; '.join(found[:3])}): ringtree audit {self.name}" if found else ""


@dataclass(frozen=True)
class Question:
    """What is asked. `at_least`: the share of what others reached; None: by their spread. `collective`: this one only;
    None: all. `from_bytes`: smaller sizes are not judged. `entries`: what is compared with,
    by default the catalogue; what is there of this very log does not count."""

    setup: Setup
    at_least: float | None = None
    collective: str | None = None
    from_bytes: int = 0
    entries: Sequence[Reached] | None = None


def health_of(paths: Iterable[Path], asked: Question) -> HealthReport:
    """Checks logs. Raises UsageError for a file that can't be read or a machine that the catalogue lacks."""
    logs = _read(paths, asked.setup)
    measured: list[Measured] = []
    files = [_file(log, asked, measured) for log in logs]
    verdicts = [table.verdict for one in files for table in one.tables] or [Verdict.UNKNOWN]
    several = len(files) > 1
    return HealthReport(
        verdict=max(verdicts, key=lambda one: one.rank),
        files=files,
        growth=growth_of(measured) if several else [],
        tools=tools_of(measured) if several else [],
    )


def _read(paths: Iterable[Path], setup: Setup) -> list[_Log]:
    audit, logs = AuditRun(setup), []
    for path in paths:
        log = _Log(str(path))

        def reading(emit: Callable[[Item], None], log: _Log = log, path: Path = path) -> Imported:
            def take(item: Item) -> None:
                (log.tables if isinstance(item, Table) else log.documents).append(item)  # type: ignore[arg-type]
                emit(item)

            return read_file(path, take)

        log.name = audit.add_reading(log.name, reading)
        logs.append(log)
    for log, report in zip(logs, audit.finish().files, strict=True):
        for one in report.findings:
            if one.severity is Severity.ERROR:
                log.wrong.setdefault(one.table, []).append(f"{one.code}: {one.title}")
    return logs


def _file(log: _Log, asked: Question, measured: list[Measured]) -> FileHealth:
    links = links_of(log.documents)
    subjects = [Subject(log.name, table, asked.setup, links=links) for table in log.tables if table.rows]
    wanted = [one for one in subjects if asked.collective in (None, one.collective or one.table.collective)]
    tables = [_table(one, log, asked, measured) for one in wanted]
    host = max((_host(one) for one in subjects), default=Host(), key=lambda one: (one.several, one.nics or 0))
    return FileHealth(
        file=log.name,
        tables=tables,
        symptoms=symptoms_of(log.documents, log.tables, host),
        next_steps=next_steps(log.documents, [band for one in tables for band in one.bands], host),
    )


def _table(subject: Subject, log: _Log, asked: Question, measured: list[Measured]) -> TableHealth:
    table, hosts = subject.table, asked.setup.num_hosts or subject.table.num_hosts
    held = ceiling(subject)
    limit = held.top.busbw if held is not None and hosts is not None else None
    about: dict[str, object] = {
        "file": log.name,
        "line": table.first_line,
        "tool": table.tool or str(table.format),
        "collective": subject.collective or table.collective,
        "num_ranks": subject.num_ranks or table.num_ranks,
        "num_hosts": hosts,
        "limit": limit,
    }
    about |= _compared(subject, hosts, limit, asked, measured)
    if refuted := log.refuted(table.first_line):
        about |= {"verdict": Verdict.WRONG, "because": refuted}
    return TableHealth.model_validate(about)


def _compared(
    subject: Subject, hosts: int | None, limit: float | None, asked: Question, measured: list[Measured]
) -> dict[str, object]:
    """Returns what follows from the curve, as far as that goes."""
    unknown: dict[str, object] = {"verdict": Verdict.UNKNOWN}
    curve = curve_of(subject)
    if isinstance(curve, str):
        return unknown | {"because": curve}
    measured.append(Measured(subject, curve, hosts, subject.table.tool or str(subject.table.format)))
    found: dict[str, object] = {"shape": shape_of(curve)}
    links = _links(subject, hosts)
    if isinstance(links, str):
        return unknown | found | {"because": links, "sizes": sizes_of(curve, [], limit)}
    known = load_reached() if asked.entries is None else asked.entries
    entries = [one for one in known if not one.is_of(curve)]
    alike = [one for one in entries if one.links == links and one.answers(curve)]
    sizes = sizes_of(curve, alike, limit)
    found |= {"machine": str(links), "sizes": sizes}
    judged = [one for one in sizes if one.size_bytes >= asked.from_bytes]
    bands = bands_of(judged, spreads(entries), asked.at_least)
    if not bands:
        return unknown | found | {"because": _nothing(links, curve, entries, bool(alike))}
    verdict = max((one.verdict for one in bands), key=lambda one: one.rank)
    references = [Reference(system=one.system, library=one.library, source=one.source) for one in alike]
    because = sentence(str(links), judged, bands)
    return found | {"bands": bands, "references": references, "verdict": verdict, "because": because}


def _links(subject: Subject, hosts: int | None) -> Links | str:
    """Returns the links of the machine, or why they are not known."""
    machine = machine_of(subject)
    if not machine.topologies:
        return machine.why
    if hosts is None:
        return "how many hosts it ran on is not known: --hosts"
    named = [f"× {one.name} (" for one in named_systems(subject.setup.system or "")]
    meant = [one for one in machine.topologies if any(name in one.name for name in named)]
    if named and not meant:
        ranks = (subject.num_ranks or 0) / hosts
        return (
            f"--system {subject.setup.system} does not fit {count(hosts, 'host')} of {ranks:g} ranks: --hosts, --ranks"
        )
    meant = meant or list(machine.topologies)
    found = {Links.of(one): one.name for one in reversed(meant) if Links.of(one).are_known}
    if len(found) == 1:
        return next(iter(found))
    if not found:
        return f"the network, or the links, of {machine.called(meant[0])} are not known: --system"
    return f"it may be {' or '.join(sorted(found.values()))}, which differ: --system"


def _nothing(links: Links, curve: Curve, entries: Sequence[Reached], is_known: bool) -> str:
    if is_known:
        return f"no size of this log is among those known of {links}"
    near = [one for one in entries if one.answers(curve) and one.links[1:3] == links[1:3]]
    what = curve.collective + (f" of {curve.dtype}" if curve.dtype else "")
    hosts = " or ".join(str(number) for number in sorted({one.hosts for one in near}))
    known = f"; it has some of {hosts} such hosts" if near else ""
    return f"the catalogue has no log of {what} on {links}{known}"


def _host(subject: Subject) -> Host:
    topologies = machine_of(subject).topologies
    hosts = subject.setup.num_hosts or subject.table.num_hosts or 1
    nics = {one.nics_per_host for one in named_systems(subject.setup.system or "")}
    return Host(
        several=hosts > 1,
        ranks=(subject.num_ranks or 0) // hosts,
        nvlink=bool(topologies) and all((one.intra_rate or 0) >= _NVLINK for one in topologies),
        nvls=bool(topologies) and all(one.nvls and one.ranks_per_host > 4 for one in topologies),
        nics=nics.pop() if len(nics) == 1 else None,
    )
