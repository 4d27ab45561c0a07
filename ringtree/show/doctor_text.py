"""What the doctor found, on a terminal: what to act on first, then everything by section.

For: text. Not for: judging (ringtree.doctor).
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.doctor import DoctorReport, Fact, Section, Verdict
from ringtree.show.cells import cell, say
from ringtree.units import count

_SAID_BY_VARIABLES = "launcher"  # the section whose values tell little without the variable that said each
_STYLES = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "bold red"}


def print_doctor(console: Console, report: DoctorReport, verbose: bool = False) -> None:
    """Prints the facts to act on with their reasons, then all facts; `verbose`: also where each was read."""
    for fact in report.problems:
        _problem(console, fact)
    if report.problems:
        say(console, "")
    for section in report.sections:
        say(console, section.name)
        console.print(_table(section, verbose))
    say(console, _last_line(report))


def _problem(console: Console, fact: Fact) -> None:
    assert fact.verdict is not None, "problems are judged"
    mark = Text(f"{fact.verdict.value:8}", style=_STYLES[fact.verdict])
    table = _rows()
    table.add_row(mark, Text.assemble(cell(fact.name), ": ", cell(fact.value)))
    table.add_row("", Text.assemble(cell(fact.why), style="dim"))
    console.print(table)


def _table(section: Section, verbose: bool) -> Table:
    table = _rows(3 + verbose)
    for fact in section.facts:
        mark = Text("") if fact.verdict is None else Text(fact.verdict.value, style=_STYLES[fact.verdict])
        is_said = section.name == _SAID_BY_VARIABLES and fact.source != "environment" and not verbose
        behind = fact.source if is_said else fact.why
        note = f" ({behind})" if behind and fact.verdict is None else ""
        value = Text.assemble(cell(fact.value), (f"{cell(note)}", "dim"))
        table.add_row(mark, cell(fact.name), value, *([cell(fact.source)] if verbose else []))
    return table


def _rows(columns: int = 2) -> Table:
    """A table without lines, whose last columns are broken where they must be."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(min_width=8, no_wrap=True)
    if columns > 2:
        table.add_column(min_width=24)
    for _ in range(columns - (2 if columns > 2 else 1)):
        table.add_column(overflow="fold")
    return table


def _last_line(report: DoctorReport) -> str:
    numbers = [sum(fact.verdict is verdict for fact in report.problems) for verdict in (Verdict.FAIL, Verdict.WARN)]
    unknown = sum(not fact.known for section in report.sections for fact in section.facts)
    said = f"{report.host_name}: {count(numbers[0], 'failure')}, {count(numbers[1], 'warning')}"
    return said + (f", {unknown} not known" if unknown else "")
