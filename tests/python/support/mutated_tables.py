"""Clean tables, the same with one thing changed, and an oracle that says whether arithmetic can see the change.

    python tests/python/support/mutated_tables.py --mutants 2000 --clean 300

For: how many changes the audit finds, and whom it accuses (audit/test_audit_mutants.py). Not for: single rules
(audit_cases.py).

A table has a size and, for one or two configurations, time, algbw or busbw. It is set as nccl-tests prints it, as CSV,
or as Markdown with a column for each figure or with time and rate in one cell; there the rate may have no name. What is
changed: a digit of a figure, a heading, a unit, a column by a factor, a row, the number of ranks.

The oracle knows nothing of ringtree. A figure with d decimals may be off by half a unit of the last place, in tables
that somebody typed by a whole unit of the last place that is not 0, since it may have been rounded twice. A change can
be seen if afterwards a row breaks algbw = size/time, busbw = f·size/time or busbw = f·algbw for every value that its
figures may have, with f of the collective and the ranks that are stated, or if a row is missing between sizes that all
double. A rate that is only called bandwidth must be the same multiple of size/time in all rows.
"""

from __future__ import annotations

import argparse
import copy
import io
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from ringtree.audit import AuditRun, FileReport, Setup

SEED = 22
LAYOUTS = ("log", "csv", "markdown", "arms", "cells", "unnamed")
_TWO = ("Own ring", "NCCL")
ARMS = {"log": ("out", "in"), "arms": ("Default", "NVLSTree"), "cells": _TWO, "unnamed": _TWO}
FACTORS = {"all_reduce": lambda n: Fraction(2 * (n - 1), n), "all_gather": lambda n: Fraction(n - 1, n)}
UNITS = {"us": Fraction(1, 10**6), "ms": Fraction(1, 10**3), "GB/s": Fraction(10**9), "Gbit/s": Fraction(10**9, 8)}
# Findings of clean tables that say nothing about their figures: a configuration has one run each.
EXPECTED = {"single-runs-compared", "limit-not-checked", "above-ring-limit"}


@dataclass
class Column:
    """`means`: time, algbw or busbw; `unit`: as its heading has it; `texts`: its figures."""

    arm: str
    means: str
    unit: str
    texts: list[str]


@dataclass
class Sheet:
    """One table. `average`: the footer's, of a log."""

    layout: str
    collective: str
    ranks: int
    sizes: list[int]
    columns: list[Column] = field(default_factory=list)
    average: str = ""

    def arms(self) -> list[str]:
        return list(dict.fromkeys(column.arm for column in self.columns))

    def column(self, arm: str, means: str) -> Column | None:
        return next((one for one in self.columns if (one.arm, one.means) == (arm, means)), None)


def clean(random: Random, layout: str) -> Sheet:
    """Returns a table whose figures belong together, with 2 % of noise in its times."""
    collective = random.choice(sorted(FACTORS)) if layout in ("log", "csv", "markdown") else "all_reduce"
    ranks = random.choice((4, 8, 16, 32, 64))
    first = random.randrange(16, 22)
    sheet = Sheet(layout, collective, ranks, [1 << power for power in range(first, first + random.randrange(7, 10))])
    arms = {
        "log": ("out", "in"),
        "arms": ("Default", "NVLSTree"),
        "cells": ("Own ring", "NCCL"),
        "unnamed": ("Own ring", "NCCL"),
    }.get(layout, ("",))
    kept = random.choice(("algbw", "busbw")) if layout != "unnamed" else "algbw"
    latency, rate = random.uniform(15e-6, 60e-6), random.uniform(20e9, 180e9)
    for arm in arms:
        if layout != "log":  # both sides of a log are one configuration
            latency, rate = random.uniform(15e-6, 60e-6), random.uniform(20e9, 180e9)
        unit = "us" if layout == "log" else random.choice(("us", "ms"))
        seconds = [(latency + size / rate) * random.gauss(1, 0.004) for size in sheet.sizes]
        means = ("time", "algbw", "busbw") if layout in ("log", "csv", "markdown") else ("time", kept)
        for one in means:
            texts = [text_of(sheet, one, size, time, unit) for size, time in zip(sheet.sizes, seconds, strict=True)]
            sheet.columns.append(Column(arm, one, unit if one == "time" else "GB/s", texts))
    if layout == "log":
        busbw = [float(text) for column in sheet.columns if column.means == "busbw" for text in column.texts]
        sheet.average = f"{sum(busbw) / len(busbw):.6g}"
    return sheet


def text_of(sheet: Sheet, means: str, size: int, seconds: float, unit: str) -> str:
    """Prints a figure as a program does, from the time that it has measured."""
    if means == "time":
        value = seconds / float(UNITS[unit])
        return f"{value:.2f}" if unit == "us" else f"{value:.4f}"
    rate = size / seconds / 1e9
    return f"{rate if means == 'algbw' else rate * float(FACTORS[sheet.collective](sheet.ranks)):.2f}"


def change_figure(sheet: Sheet, random: Random) -> str:
    """Replaces a digit of a figure by another one."""
    column = random.choice(sheet.columns)
    row = random.randrange(len(sheet.sizes))
    text = column.texts[row]
    place = random.choice([index for index, digit in enumerate(text) if digit.isdigit()])
    digit = random.choice([one for one in "0123456789" if one != text[place]])
    column.texts[row] = text[:place] + digit + text[place + 1 :]
    return f"{column.means} {text} -> {column.texts[row]}"


def change_heading(sheet: Sheet, random: Random) -> str:
    """Calls a rate what it is not: both columns of rates change their names, or the only one."""
    rates = [column for column in sheet.columns if column.means != "time"]
    for column in rates:
        column.means = "busbw" if column.means == "algbw" else "algbw"
    return "rates change their names"


def change_unit(sheet: Sheet, random: Random) -> str:
    """Writes another unit above (or behind) figures that stay."""
    column = random.choice(sheet.columns)
    other = {"us": "ms", "ms": "us", "GB/s": "Gbit/s"}[column.unit]
    said = f"{column.unit} -> {other}"
    column.unit = other
    return said


def change_factor(sheet: Sheet, random: Random) -> str:
    """Multiplies a column by what people multiply by."""
    n = sheet.ranks
    factor = random.choice((2.0, 0.5, n - 1.0, (n - 1) / n, 1 / n, 8.0, 2**30 / 1e9, 1e9 / 2**30))
    column = random.choice(sheet.columns)
    column.texts = [f"{float(text) * factor:.{len(text.partition('.')[2])}f}" for text in column.texts]
    return f"{column.means} times {factor:.4g}"


def change_row(sheet: Sheet, random: Random) -> str:
    """Takes the figure of another row, changes a size, or leaves a row out."""
    kind, row = random.choice(("copy", "size", "drop")), random.randrange(1, len(sheet.sizes) - 1)
    if kind == "copy":
        column = random.choice(sheet.columns)
        column.texts[row] = column.texts[row + 1]
    elif kind == "size":
        sheet.sizes[row] = sheet.sizes[row] * 2 if random.random() < 0.5 else sheet.sizes[row] // 2
    else:
        sheet.sizes.pop(row)
        for column in sheet.columns:
            column.texts.pop(row)
    return kind


def change_ranks(sheet: Sheet, random: Random) -> str:
    """States another number of ranks."""
    before = sheet.ranks
    sheet.ranks = random.choice([one for one in (2, 4, 6, 8, 12, 16, 24, 32, 64, 128) if one != before])
    return f"{before} -> {sheet.ranks} ranks"


CHANGES = {
    "figure": change_figure, "heading": change_heading, "unit": change_unit, "factor": change_factor,
    "row": change_row, "ranks": change_ranks,
}  # fmt: skip


def can_be_seen(sheet: Sheet) -> bool:
    """The oracle."""
    if any(high != 2 * low for low, high in zip(sheet.sizes, sheet.sizes[1:], strict=False)):
        return len(sheet.sizes) > 6
    typed, bus = sheet.layout != "log", FACTORS[sheet.collective](sheet.ranks)
    if sheet.layout == "unnamed":
        return any(is_alone(sheet, arm) for arm in sheet.arms())
    for arm in sheet.arms():
        found = {means: sheet.column(arm, means) for means in ("time", "algbw", "busbw")}
        for row, size in enumerate(sheet.sizes):
            ends = {means: span(column, row, typed) for means, column in found.items() if column is not None}
            claims = []
            for means, factor in (("algbw", Fraction(1)), ("busbw", bus)):
                if means in ends and "time" in ends:
                    low, high = ends["time"]
                    claims.append((ends[means], (factor * size / high, factor * size / low if low > 0 else None)))
            if "algbw" in ends and "busbw" in ends:
                claims.append((ends["busbw"], (ends["algbw"][0] * bus, ends["algbw"][1] * bus)))
            if any(is_apart(*claim) for claim in claims):
                return True
    return False


def is_alone(sheet: Sheet, arm: str) -> bool:
    """Of a rate that nobody names only this can be seen: rate/(size/time) of a row is not what all others agree on."""
    time, rate = (one for one in sheet.columns if one.arm == arm)
    ends = []
    for row, size in enumerate(sheet.sizes):
        (low, high), (least, most) = span(time, row, True), span(rate, row, True)
        ends.append((least * low / size, most * high / size))
    for row, one in enumerate(ends):
        rest = [other for index, other in enumerate(ends) if index != row]
        common = max(low for low, _ in rest), min(high for _, high in rest)
        if common[0] <= common[1] and is_apart(one, common):
            return True
    return False


def span(column: Column, row: int, typed: bool) -> tuple[Fraction, Fraction]:
    """Returns the least and the largest value that a printed figure may stand for."""
    text = column.texts[row]
    decimals = len((text.rstrip("0") if typed and "." in text else text).partition(".")[2])
    off = Fraction(1, 10**decimals) * (1 if typed else Fraction(1, 2))
    value, unit = Fraction(text), UNITS[column.unit]
    return max(Fraction(0), value - off) * unit, (value + off) * unit


def is_apart(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction | None]) -> bool:
    return one[1] < other[0] or (other[1] is not None and one[0] > other[1])


def as_text(sheet: Sheet) -> str:
    """Sets the table in its layout."""
    if sheet.layout == "log":
        return as_log(sheet)
    size = [f"{one >> 10}KB" if one < 1 << 20 else f"{one >> 20}MB" for one in sheet.sizes]
    if sheet.layout == "csv":
        titles = ["collective", "gpus", "size", *(f"{one.means}_{one.unit.replace('/', 'p')}" for one in sheet.columns)]
        rows = [[sheet.collective, str(sheet.ranks), size[i], *(one.texts[i] for one in sheet.columns)]
                for i in range(len(size))]  # fmt: skip
        return "\n".join(",".join(line) for line in [titles, *rows]) + "\n"
    if sheet.layout in ("cells", "unnamed"):
        titles, rows = ["Size", *sheet.arms()], []
        for i in range(len(size)):
            cells = [[one for one in sheet.columns if one.arm == arm] for arm in sheet.arms()]
            rows.append([size[i], *(f"{a.texts[i]} {a.unit} ({b.texts[i]} {b.unit})" for a, b in cells)])
    else:
        titles = ["Size", *(f"{one.arm} {one.means} ({one.unit})".strip() for one in sheet.columns)]
        rows = [[size[i], *(one.texts[i] for one in sheet.columns)] for i in range(len(size))]
    measure = f", {sheet.columns[1].means}" if sheet.layout == "cells" else ""
    lines = [f"| {' | '.join(line)} |" for line in [titles, ["---"] * len(titles), *rows]]
    table = "\n".join(lines)
    return f"# {sheet.collective}\n\nSome prose.\n\n## On {sheet.ranks} GPUs{measure}\n\n{table}\n\nThat was all.\n"


def as_log(sheet: Sheet) -> str:
    """Sets it as nccl-tests prints it. A unit or a name that is changed stands in its headings."""
    lines = [
        f"# nThread 1 nGpus {sheet.ranks} minBytes {min(sheet.sizes)} maxBytes {max(sheet.sizes)} step: 2(factor) "
        "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
        "# Using devices",
        *(f"#  Rank {rank:2} Group  0 Pid {1000 + rank} on node-1 device {rank:2} [0x0{rank}] Some GPU"
          for rank in range(sheet.ranks)),
        "#                                                              out-of-place                       in-place",
        "#       size         count      type   redop    root "
        + " ".join("".join(f"{one.means:>8}" for one in sheet.columns if one.arm == arm) + " #wrong"
                   for arm in sheet.arms()),
        "#        (B)    (elements)                           "
        + " ".join("".join(f"{f'({one.unit})':>8}" for one in sheet.columns if one.arm == arm) + "       "
                   for arm in sheet.arms()),
    ]  # fmt: skip
    op = "sum" if "reduce" in sheet.collective else "none"
    blocks = 1 if sheet.collective == "all_reduce" else sheet.ranks
    for row, size in enumerate(sheet.sizes):
        sides = (" ".join(f"{one.texts[row]:>8}" for one in sheet.columns if one.arm == arm) for arm in sheet.arms())
        shown = " ".join(f"{side}      0" for side in sides)
        lines.append(f"{size:12} {size // 4 // blocks:13} {'float':>9} {op:>7} {-1:7} {shown}")
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {sheet.average}"]
    return f"# Collective test starting: {sheet.collective}_perf\n" + "\n".join(lines) + "\n"


def audited(text: str) -> FileReport:
    session = AuditRun(Setup())
    session.add_stream(io.BytesIO(text.encode()), "a.txt")
    (report,) = session.finish().files
    return report


def said(sheet: Sheet) -> set[str]:
    """Returns the codes of what is found, and that rows were left out."""
    report = audited(as_text(sheet))
    return {finding.code for finding in report.findings} | ({"left out"} if report.num_rows_left_out else set())


@dataclass
class Tried:
    """One mutant. `seen`: the oracle's word; `found`: the codes that the clean table does not have."""

    sheet: Sheet
    kind: str
    what: str
    seen: bool
    found: set[str]


def mutants(number: int, seed: int = SEED) -> Iterator[Tried]:
    """Yields changed tables, all layouts and kinds of change in turn."""
    for index in range(number):
        random = Random(f"mutant/{seed}/{index}")
        sheet = clean(random, LAYOUTS[index % len(LAYOUTS)])
        changed = copy.deepcopy(sheet)
        kind = list(CHANGES)[index // len(LAYOUTS) % len(CHANGES)]
        what = CHANGES[kind](changed, random)
        yield Tried(changed, kind, what, can_be_seen(changed), said(changed) - said(sheet))


def accused(number: int, seed: int = SEED) -> list[tuple[Sheet, set[str]]]:
    """Returns the clean tables of which something is said that is about their figures."""
    sheets = [clean(Random(f"clean/{seed}/{index}"), LAYOUTS[index % len(LAYOUTS)]) for index in range(number)]
    found = [(sheet, said(sheet) - EXPECTED) for sheet in sheets]
    return [(sheet, codes) for sheet, codes in found if codes or can_be_seen(sheet)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--clean", type=int, default=300)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--missed", type=int, default=0, help="of so many that are missed, show the table")
    options = parser.parse_args()
    seen, found = Counter[str](), Counter[str]()
    missed = []
    for one in mutants(options.mutants, options.seed):
        for key in (one.kind, one.sheet.layout, "all"):
            seen[key] += one.seen
            found[key] += one.seen and bool(one.found)
        if one.seen and not one.found:
            missed.append(one)
    for key in (*CHANGES, *LAYOUTS, "all"):
        print(f"{key:10} {seen[key]:5} can be seen, {found[key]:5} found, {100 * found[key] / max(1, seen[key]):.1f} %")
    for one in missed[: options.missed]:
        print(f"--- {one.kind}: {one.what}\n{as_text(one.sheet)}")
    wrongly = accused(options.clean, options.seed)
    print(f"clean: {len(wrongly)} of {options.clean} accused")
    for sheet, codes in wrongly[: options.missed]:
        print(f"--- {codes}\n{as_text(sheet)}")
    return int(found["all"] < 0.95 * seen["all"] or bool(wrongly))


if __name__ == "__main__":
    sys.exit(main())
