r"""Reads tokens/s from what a script prints: the number that the one group of --metric finds.

    --metric 'tokens/s: (\S+)'      reads 12345.6, 12,345.6 and 1.2e4

For: checking the expression, and every number that it finds. Not for: starting the script (script_set.py), nor its own
two lines (hook.py).

A group that stops inside of a number ('([0-9.]+)' in 1.2e4 or 12,345) would give another one, and nobody would see it:
it is refused, as is everything else that is not a finite number above 0.
"""

from __future__ import annotations

import math
import re

from ringtree.errors import RingtreeError, UsageError

EXAMPLE = r"tokens/s: (\S+)"  # takes all of a number, however it is written
_THOUSANDS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_PLAIN = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGER_BEFORE = re.compile(r"([0-9][.,]?|[0-9][eE][+-]?|(?<![A-Za-z])\.)\Z")
_LONGER_BEHIND = re.compile(r"[.,]?[0-9]|[eE][+-]?[0-9]|[kKMG]\b")
_SHOWN = 100  # characters of a line in a message


def parse_metric(text: str) -> re.Pattern[str]:
    """Returns the expression. Raises UsageError if it is none, or does not have one group."""
    try:
        metric = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"invalid --metric {text!r}: {error}") from None
    if metric.groups != 1:
        raise UsageError(f"--metric {text!r} has {metric.groups} groups: put the number in one, as '{EXAMPLE}'")
    return metric


def read_rates(metric: re.Pattern[str], output: str) -> list[float]:
    """Returns tokens/s of each match, in order. Raises RingtreeError for a match that is not a whole, finite number
    above 0, with its line."""
    return [_number(metric, found) for found in metric.finditer(output)]


def _number(metric: re.Pattern[str], found: re.Match[str]) -> float:
    text, begin, end = found[1] or "", found.start(1), found.end(1)
    before = found.string[max(0, begin - 3) : begin] if begin > 0 else ""
    if text and (_LONGER_BEFORE.search(before) or _LONGER_BEHIND.match(found.string, end)):
        raise RingtreeError(
            f"--metric {metric.pattern!r} finds {text!r}, a part of the number in the line {_line_of(found)!r}: take "
            f"all of it, as '{EXAMPLE}' does"
        )
    plain = text.rstrip(",;")
    number = plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain
    value = float(number) if _PLAIN.fullmatch(number) else math.nan
    if not 0 < value < math.inf:
        raise RingtreeError(
            f"--metric {metric.pattern!r} finds {text!r}, which is not a number above 0, in the line "
            f"{_line_of(found)!r}"
        )
    return value


def _line_of(found: re.Match[str]) -> str:
    at = max(found.start(), found.start(1))
    begin, end = found.string.rfind("\n", 0, at) + 1, found.string.find("\n", at)
    return found.string[begin : None if end < 0 else end].strip()[:_SHOWN]
