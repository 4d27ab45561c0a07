"""Every rule of the audit: where it must speak, and where it must be silent.

For: one firing and one near miss a code, and that true arithmetic is never accused. Not for: real logs
(test_audit_logs.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from audit_cases import CASES, Case
from audit_support import audited

from ringtree.audit import RULES, FileReport, Finding, Severity

PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
SECTIONS = {one.partition("\n")[0]: "\n" + one.partition("\n")[2] for one in re.split(r"^### ", PAGE, flags=re.M)[1:]}


def reported(case: Case) -> FileReport:
    return audited(*case.items(), setup=case.setup, skipped=case.skipped)


def of_code(case: Case, code: str) -> list[Finding]:
    return [finding for finding in reported(case).findings if finding.code == code]


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_speaks_where_it_must(code: str) -> None:
    found = of_code(CASES[code].fires, code)
    assert len(found) == 1
    assert found[0].severity is RULES[code].severity
    assert found[0].title
    assert found[0].settles
    assert "\n" not in found[0].arithmetic + found[0].title + found[0].settles


@pytest.mark.parametrize("code", RULES)
def test_its_section_says_what_it_means_what_is_printed_and_what_settles_it(code: str) -> None:
    example = of_code(CASES[code].fires, code)[0].arithmetic
    told = re.fullmatch(r"\n\n(\S.+)\n\n```text\n(.+)\n```\n\nSettled by: (.+)\.\n\n?", SECTIONS[code])
    assert told is not None, "a sentence or more, the arithmetic as a block, and what settles it"
    assert told.groups()[1:] == (example, RULES[code].settles)


def test_the_page_lists_the_rules_in_order_and_explains_no_other() -> None:
    ordered = [rule for severity in reversed(Severity) for rule in RULES.values() if rule.severity is severity]
    table = [f"| [`{one.code}`](#{one.code}) | {one.severity.value} | {one.title} |" for one in ordered]
    assert re.findall(r"^\| \[`.+$", PAGE, re.MULTILINE) == table
    assert list(SECTIONS) == [rule.code for rule in ordered]
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in RULES)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_is_silent_at_a_near_miss(code: str) -> None:
    assert of_code(CASES[code].near, code) == []


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.severity is not Severity.INFO])
def test_a_near_miss_is_no_accusation_of_something_else(code: str) -> None:
    above = [one.code for one in reported(CASES[code].near).findings if one.severity is not Severity.INFO]
    assert above in ([], ["single-runs-compared"])
