"""Several logs: growth over hosts, and two tools on one question.

For: ringtree.health.growth, ringtree.health.tools. Not for: the statistics (test_stats_line.py).
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from health_support import H100X2, SIZES, checked, entry, log_text, time_of

from ringtree.audit import Setup
from ringtree.health import HealthReport
from ringtree.stats import bus_factor

UNKNOWN_HOSTS = Setup(system="p5.48xlarge")


def grown(folder: Path, floors: dict[int, float]) -> HealthReport:
    sizes = SIZES[:6]
    texts = [log_text(time_of(floor), ranks=8 * hosts, hosts=hosts, sizes=sizes) for hosts, floor in floors.items()]
    return checked(folder, *texts, setup=UNKNOWN_HOSTS)


@pytest.mark.parametrize(
    ("floor", "verdict"),
    [(lambda hosts: 10e-6 + 8e-6 * hosts, "linear"), (lambda hosts: 10e-6 + 12e-6 * math.log2(hosts), "logarithmic")],
)
def test_ring_and_tree_are_told_apart(tmp_path: Path, floor: object, verdict: str) -> None:
    (growth,) = grown(tmp_path, {hosts: floor(hosts) for hosts in (2, 4, 8, 16)}).growth  # type: ignore[operator]
    assert growth.verdict == verdict
    assert growth.slope == pytest.approx(8e-6 if verdict == "linear" else 12e-6, rel=0.01)


@pytest.mark.parametrize("hosts", [(2, 4), (1, 2, 4)])
def test_never_from_two_points(tmp_path: Path, hosts: tuple[int, ...]) -> None:
    (growth,) = grown(tmp_path, {one: 10e-6 + 8e-6 * one for one in hosts}).growth
    assert growth.verdict == "cannot be told apart"
    assert growth.delta_aicc is None
    assert "any line fits two points" in growth.because


def test_points_between_both_are_left_open(tmp_path: Path) -> None:
    (growth,) = grown(tmp_path, {2: 30e-6, 4: 40e-6, 8: 52e-6}).growth
    assert growth.verdict == "cannot be told apart"
    assert growth.delta_aicc is not None


def test_logs_of_one_number_of_hosts_that_differ_are_shown_both(tmp_path: Path) -> None:
    texts = [
        log_text(time_of(floor), ranks=8 * hosts, hosts=hosts, sizes=SIZES[:6])
        for hosts, floor in ((2, 30e-6), (4, 40e-6), (4, 90e-6))
    ]
    (growth,) = checked(tmp_path, *texts, setup=UNKNOWN_HOSTS).growth
    assert growth.floors[4] == (pytest.approx(40e-6, rel=0.01), pytest.approx(90e-6, rel=0.01))


def test_one_number_of_hosts_is_no_growth(tmp_path: Path) -> None:
    assert grown(tmp_path, {2: 30e-6}).growth == []


def bench(busbw: object, *, ranks: int = 16, unit: float = 1e9, sizes: range = range(20, 34)) -> str:
    """What ml-engineering's all_reduce_bench.py prints."""
    rows = ["| payload |    busbw   |    algbw   |", "| ------: | ---------: | ---------: |"]
    for size in (1 << power for power in sizes):
        rate = busbw(size) / unit  # type: ignore[operator]
        rows.append(f"| {size >> 20}MiB | {rate:.3f}GBps | {rate / bus_factor('all_reduce', ranks):.3f}GBps |")
    head = f"The average bandwidth of all_reduce over {ranks} ranks (5 warmups / 20 trials):\n\n"
    return head + "\n".join(rows) + "\n"


def both(folder: Path, text: str) -> list[str]:
    report = checked(folder, log_text(sizes=SIZES[10:]), text, setup=H100X2, entries=[entry()])
    (tools,) = report.tools
    assert {tools.first, tools.second} == {"nccl-tests", "ml-engineering's all_reduce_bench.py"}
    return [tools.verdict, *tools.differences]


def rate(size: int, seconds: float) -> float:
    return size / seconds * 1.875


def test_tools_that_agree(tmp_path: Path) -> None:
    verdict, *differences = both(tmp_path, bench(lambda size: rate(size, time_of()(size))))
    assert verdict == "they agree within 5% at 14 of 14 sizes"
    assert not any("factor" in one or "adds" in one for one in differences)


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (2.0, "2: one of them counts twice"),
        (1.875, "busbw what the other calls algbw"),
        (8.0, "bits against bytes"),
        (16.0, "number of ranks"),
        (1.024**3, "GiB against GB"),
        (3.3, "no definition makes this one"),
    ],
)
def test_a_constant_factor_is_named(tmp_path: Path, factor: float, said: str) -> None:
    found = both(tmp_path, bench(lambda size: rate(size, time_of()(size)) / factor))
    assert any(said in one for one in found), found


def test_time_that_one_adds_to_each_call(tmp_path: Path) -> None:
    found = both(tmp_path, bench(lambda size: rate(size, time_of()(size) + 40e-6)))
    assert any("the second tool adds about 40" in one or "the second tool adds about 39.9" in one for one in found), (
        found
    )
    assert "they agree within 5%" in found[0]
    assert "14 of 14" not in found[0]


def test_one_tool_twice_is_left_to_compare_runs(tmp_path: Path) -> None:
    report = checked(tmp_path, log_text(), log_text(time_of(rate=200e9)), entries=[entry()])
    assert report.tools == []
