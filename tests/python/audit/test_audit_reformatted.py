"""Tables that someone wrote from a log: other decimals and units are not defects; defects are found in spite of them.

For: CSV and Markdown. Not for: what benchmarks print themselves (test_audit_properties.py).
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest
from audit_support import GIGABYTE, MICROSECOND, SIZES, column, make_table

from ringtree.audit import AuditRun, Finding, Setup, Severity
from ringtree.audit.factors import nearest_ranks
from ringtree.audit.intervals import Interval
from ringtree.audit.reformatted import half_width, interval
from ringtree.logs import Printed, Row
from ringtree.logs.records import GB_PER_SECOND, GBIT_PER_SECOND


@dataclass(frozen=True)
class Way:
    """How figures are written again: formats, and what is made of µs and of GB/s."""

    time: str
    rate: str
    time_unit: str = "us"
    time_times: float = 1.0
    rate_unit: str = "GB/s"
    rate_times: float = 1.0


WAYS = {
    "times of three decimals, rates of four": Way(".3f", ".4f"),
    "six decimals": Way(".6f", ".6f"),
    "two decimals": Way(".2f", ".2f"),
    "one decimal": Way(".1f", ".1f"),
    "whole": Way(".0f", ".0f"),
    "Gbit/s of two decimals": Way(".2f", ".2f", rate_unit="Gbps", rate_times=8),
    "Gbit/s of one": Way(".1f", ".1f", rate_unit="Gbps", rate_times=8),
    "Gbit/s of four": Way(".4f", ".4f", rate_unit="Gbps", rate_times=8),
    "Gbit/s as Python prints them": Way("", "", rate_unit="Gbps", rate_times=8),
    "MB/s": Way(".3f", ".4f", rate_unit="MB/s", rate_times=1e3),
    "GiB/s of two decimals": Way(".3f", ".2f", rate_unit="GiB/s", rate_times=GIGABYTE / 2**30),
    "GiB/s of four": Way(".3f", ".4f", rate_unit="GiB/s", rate_times=GIGABYTE / 2**30),
    "ms": Way(".6f", ".4f", time_unit="ms", time_times=1e-3),
}
KINDS = {"a.csv": (",", ""), "a.md": (" | ", "| ")}


def figures(row: Row) -> tuple[float, float, float]:
    """Returns the figures of a row as nccl-tests prints them, in µs and GB/s."""
    one = row.sides[0]
    assert one.time is not None
    assert one.algbw is not None
    assert one.busbw is not None
    return float(one.time.text), float(one.algbw.text), float(one.busbw.text)


def written(rows: list[tuple[int, tuple[float, float, float]]], way: Way, name: str) -> str:
    between, before = KINDS[name]
    after = before[::-1]
    heading = ("collective", "size", f"time ({way.time_unit})", f"algbw ({way.rate_unit})", f"busbw ({way.rate_unit})")
    lines = [list(heading)] + ([["---"] * len(heading)] if before else [])
    for size, (time, algbw, busbw) in rows:
        rates = [format(rate * way.rate_times, way.rate) for rate in (algbw, busbw)]
        lines.append(["all_reduce", str(size), format(time * way.time_times, way.time), *rates])
    return "".join(f"{before}{between.join(cells)}{after}\n" for cells in lines)


def findings(text: str, name: str, num_rows: int = len(SIZES)) -> list[Finding]:
    session = AuditRun(Setup())
    session.add_stream(io.BytesIO(text.encode()), name)
    (report,) = session.finish().files
    assert report.num_rows == num_rows
    return [finding for finding in report.findings if finding.severity is not Severity.INFO]


def measured(num_ranks: int = 8) -> list[tuple[int, tuple[float, float, float]]]:
    # Times that end in any digit, and rates from 0.05 to 167 GB/s.
    table = make_table(num_ranks=num_ranks, time=lambda size: 21.37e-6 + size / 95.73e9)
    return [(row.size_bytes or 0, figures(row)) for row in table.rows]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("num_ranks", [3, 8, 48])
@pytest.mark.parametrize("way", WAYS)
def test_figures_that_were_written_again_are_not_accused(way: str, num_ranks: int, name: str) -> None:
    assert findings(written(measured(num_ranks), WAYS[way], name), name) == []


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "whole"])
def test_an_edited_figure_is_found_however_it_is_written(way: str, name: str) -> None:
    rows = measured()
    size, (time, algbw, busbw) = rows[-2]
    rows[-2] = size, (time, algbw, round(busbw * 1.02, 2))
    assert [finding.code for finding in findings(written(rows, WAYS[way], name), name)] == ["factor-varies"]
    rows[-2] = size, (time, round(algbw * 1.02, 2), round(busbw * 1.02, 2))
    assert "figures-do-not-fit" in {finding.code for finding in findings(written(rows, WAYS[way], name), name)}


@pytest.mark.parametrize("way", ["six decimals", "Gbit/s of two decimals", "GiB/s of four"])
def test_a_factor_between_two_numbers_of_ranks_is_impossible(way: str) -> None:
    rows = [(size, (time, algbw, float(column(1.42e-3 * size / time, 6)))) for size, (time, algbw, _) in measured()]
    (found,) = findings(written(rows, WAYS[way], "a.csv"), "a.csv")
    assert found.code == "factor-impossible"
    # 2(n-1)/n is 1.3333 for 3 ranks and 1.5 for 4.
    assert "possible: 1.5 for all_reduce of n = 4, the nearest whole n" in found.arithmetic


def test_the_nearest_number_of_ranks() -> None:
    assert nearest_ranks("all_reduce", Interval(1.34, 1.36)) == (3, pytest.approx(4 / 3))
    assert nearest_ranks("all_gather", Interval(0.73, 0.74)) == (4, 0.75)
    assert nearest_ranks("all_reduce", Interval(0.5, 0.6)) == (2, 1.0)


def test_the_step_is_the_column_s() -> None:
    def of(texts: list[str], unit: float = GB_PER_SECOND) -> float:
        return half_width([Printed(text, unit) for text in texts], is_rate=True) / unit

    assert of(["0.070000", "1.830000", "167.530000"]) == pytest.approx(0.005)
    assert of(["0.56", "14.64", "1340.24"], GBIT_PER_SECOND) == pytest.approx(0.04)
    assert of(["0.0701", "1.8302", "167.5307"]) < 0.00005
    assert of([]) == 0.0
    # The column's step is not all: 1402.000 was 1402.0, or 1402.
    padded = interval(Printed("1402.000", MICROSECOND), 0.0)
    assert padded is not None
    assert padded.low == pytest.approx(1401.5e-6)
    assert padded.high == pytest.approx(1402.5e-6)
