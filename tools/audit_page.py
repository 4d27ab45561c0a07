"""Writes what the audit may find into docs/audit.md, between its two marks: one section a code, from the rules.

    python tools/audit_page.py          # rewrite it
    python tools/audit_page.py --check  # exit 1 if the page differs from the rules

For: `make tables`, and the test that holds the page against the rules. Not for: what people write around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import between_marks, write_or_check

from ringtree.audit import RULES, Severity
from ringtree.audit.rule import Rule

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
BEGIN, END = "<!-- rules: written by tools/audit_page.py -->", "<!-- end of rules -->"


def rules() -> str:
    """The rules in Markdown: a table of all, then a section each, the worst first."""
    ordered = [rule for severity in reversed(Severity) for rule in RULES.values() if rule.severity is severity]
    lines = ["| code | at worst | |", "| --- | --- | --- |"]
    lines += [f"| [`{rule.code}`](#{rule.code}) | {rule.severity.value} | {rule.title} |" for rule in ordered]
    for rule in ordered:
        lines += ["", *_section(rule)]
    return "\n".join(lines)


def _section(rule: Rule) -> list[str]:
    return [
        f"### {rule.code}",
        "",
        rule.means,
        "",
        "```text",
        rule.example,
        "```",
        "",
        f"Settled by: {rule.settles}.",
    ]


if __name__ == "__main__":
    page = between_marks(PAGE, BEGIN, f"{rules()}\n", END)
    sys.exit(write_or_check(sys.argv[1:], {PAGE: page}, "python tools/audit_page.py"))
