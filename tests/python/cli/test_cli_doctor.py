"""`ringtree doctor` on this machine: options, exit codes, JSON, text.

For: the command. Not for: what it looks at (tests/python/doctor).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from io import StringIO

import pytest
from cli_support import assert_refused, invoke
from rich.console import Console

from ringtree.doctor import DoctorReport, Fact, Host, Section, Verdict, examine
from ringtree.doctor.records import fail, not_known, ok, told, warn
from ringtree.doctor.table import Probe
from ringtree.show.doctor_text import print_doctor

FACTS = [
    ok("cores", "4", "/sys"),
    warn("governor", "powersave", "/sys/governor", "set it to performance"),
    fail("quota", "1.5 of 4 cores", "cpu.max", "raise it"),
    told("NUMA", "one", "/sys", "for a reason"),
    not_known("clock", "odd \x1b[31m thing", "/sys"),
]
REPORT = DoctorReport(host_name="n", arms=[], verdict=Verdict.FAIL, sections=[Section(name="all", facts=FACTS)])


def test_this_machine_as_json_is_what_the_record_reads() -> None:
    done = invoke("doctor", "--json")
    report = DoctorReport.model_validate_json(done.stdout)
    assert done.exit_code == (1 if report.verdict is Verdict.FAIL else 0)
    assert json.loads(done.stdout)["format"] == "ringtree.doctor/1"
    assert "usable cores" in [fact.name for part in report.sections for fact in part.facts]
    assert not [fact for part in report.sections for fact in part.facts if "probe that failed" in fact.source]


def test_this_machine_as_text_ends_in_its_name() -> None:
    done = invoke("doctor", "--verbose")
    assert done.exit_code in (0, 1)
    assert "affinity mask" in done.stdout
    assert "warning" in done.stdout.splitlines()[-1]


def probes_of(*facts: Fact) -> tuple[Probe, ...]:
    def look(host: Host) -> Iterator[Fact]:
        yield from facts

    return (Probe("all", look),)


@pytest.mark.parametrize(("facts", "code"), [(FACTS[:2], 0), (FACTS, 1)])
def test_the_exit_code_is_1_where_something_hinders(
    monkeypatch: pytest.MonkeyPatch, facts: list[Fact], code: int
) -> None:
    monkeypatch.setattr("ringtree.cli.doctor.examine", partial(examine, probes=probes_of(*facts)))
    assert invoke("doctor").exit_code == code
    assert invoke("doctor", "--json").exit_code == code


def test_an_arm_that_is_not_here_hinders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGTREE_NCCL_TESTS", "/nonexistent")
    done = invoke("doctor", "--arms", "nccl-tests")
    assert done.exit_code == 1
    assert "nccl-tests: not ready" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arms", "said"), [("fast", "unknown arm 'fast'"), (" , ", "names no arm"), ("openmpi,openmpi:!", "unknown arm")]
)
def test_mistakes_end_in_one_line(arms: str, said: str) -> None:
    assert_refused(invoke("doctor", "--arms", arms), said)


def text(verbose: bool = False, width: int = 200, report: DoctorReport = REPORT) -> list[str]:
    output = StringIO()
    print_doctor(Console(file=output, width=width), report, verbose)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def test_problems_come_first_the_worst_before_others() -> None:
    assert text() == [
        "fail     quota: 1.5 of 4 cores",
        "         raise it",
        "warn     governor: powersave",
        "         set it to performance",
        "",
        "all",
        "ok       cores                    4",
        "warn     governor                 powersave",
        "fail     quota                    1.5 of 4 cores",
        "         NUMA                     one (for a reason)",
        "         clock                    not known: odd \\x1b[31m thing",
        "n: 1 failure, 1 warning, 1 not known",
    ]


def test_verbose_says_where_each_was_read() -> None:
    assert any(line.split() == ["warn", "governor", "powersave", "/sys/governor"] for line in text(verbose=True))


def test_what_a_launcher_says_is_told_with_the_variable() -> None:
    facts = [told("launcher", "Slurm", "environment"), told("rank", "1", "SLURM_PROCID")]
    report = DoctorReport(host_name="n", arms=[], verdict=Verdict.OK, sections=[Section(name="launcher", facts=facts)])
    assert [line.split() for line in text(report=report)[1:3]] == [
        ["launcher", "Slurm"],
        ["rank", "1", "(SLURM_PROCID)"],
    ]
    assert text(verbose=True, report=report)[2].split() == ["rank", "1", "SLURM_PROCID"]


def test_no_line_is_longer_than_the_terminal() -> None:
    *lines, last = text(width=40)
    assert max(map(len, lines)) <= 40
    assert last == text()[-1], "which a terminal breaks by itself"
