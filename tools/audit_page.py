"""Writes what the audit may find into docs/audit.md, between its two marks: one section a code, from the rules.

    python tools/audit_page.py          # rewrite it
    python tools/audit_page.py --check  # exit 1 if the page differs from the rules

For: `make tables`, and the test that holds the page against the rules. Not for: what people write around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

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


def page(text: str) -> str:
    """The page with the rules between its marks. Raises ValueError if a mark is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} has no place for the rules: write {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{rules()}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Writes, or with --check compares; returns the exit code."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    old = PAGE.read_text()
    new = page(old)
    if old != new and not arguments:
        PAGE.write_text(new)
    if old != new and arguments:
        print(f"stale: {PAGE.name}; run python tools/audit_page.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
