"""Verdicts: as fast, below, far below, nothing to compare with, not to be trusted.

For: ringtree.health on logs of our own. Not for: symptoms (test_health_symptoms.py), the catalogue
(test_health_catalogue.py).
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from health_support import H100X2, SIZES, checked, entry, log_text, time_of

from ringtree.audit import Setup
from ringtree.health import HealthReport, Verdict
from ringtree.health.judging import spreads

ALIKE = [entry(time_of(rate=rate)) for rate in (256e9, 257e9, 258e9, 259e9, 261e9, 262e9)]


def only(report: HealthReport) -> tuple[Verdict, str]:
    ((table,),) = (one.tables for one in report.files)
    assert report.verdict is table.verdict
    return table.verdict, table.because


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, Verdict.AS_FAST), (0.97, Verdict.AS_FAST), (0.8, Verdict.BELOW), (0.3, Verdict.FAR_BELOW)],
)
def test_the_plateau_decides_by_what_others_differ(tmp_path: Path, share: float, verdict: Verdict) -> None:
    report = checked(tmp_path, log_text(time_of(rate=share * 260e9)), entries=ALIKE)
    found, because = only(report)
    assert found is verdict
    assert "479–490 GB/s at 8 GB (6 logs)" in because
    (band,) = (one for one in report.files[0].tables[0].bands if one.band == "large")
    assert band.share == pytest.approx(share * 260 / 258.5, rel=0.01)


def test_the_sentence_says_by_how_much(tmp_path: Path) -> None:
    _, because = only(checked(tmp_path, log_text(time_of(rate=0.8 * 260e9)), entries=ALIKE))
    assert because.startswith("2 hosts of 8 ranks, 450 GB/s a rank inside, 400 GB/s a host between, reach")
    assert "here 389 GB/s, 19% below the slowest" in because


def test_a_slow_floor_is_found_though_the_plateau_is_fine(tmp_path: Path) -> None:
    report = checked(tmp_path, log_text(time_of(alpha=300e-6)), entries=ALIKE)
    verdicts = {one.band: one.verdict for one in report.files[0].tables[0].bands}
    assert verdicts["small"] is Verdict.FAR_BELOW
    assert verdicts["large"] is Verdict.AS_FAST
    assert report.verdict is Verdict.FAR_BELOW


def test_one_log_has_no_spread_of_its_own_and_without_any_nothing_is_said(tmp_path: Path) -> None:
    others = [entry(time_of(rate=rate), hosts=1, ranks=8) for rate in (250e9, 262e9)]
    found, because = only(checked(tmp_path, log_text(), entries=[ALIKE[0], *others]))
    assert found is Verdict.AS_FAST
    assert "1 log, so no spread of its own" in because
    assert only(checked(tmp_path, log_text(), entries=ALIKE[:1]))[0] is Verdict.UNKNOWN
    assert only(checked(tmp_path, log_text(), entries=ALIKE[:1], at_least=0.9))[0] is Verdict.AS_FAST


@pytest.mark.parametrize(("asked", "verdict"), [(0.75, Verdict.AS_FAST), (0.9, Verdict.BELOW)])
def test_a_share_that_is_asked_for_takes_the_place_of_the_spread(
    tmp_path: Path, asked: float, verdict: Verdict
) -> None:
    report = checked(tmp_path, log_text(time_of(rate=0.8 * 260e9)), entries=ALIKE, at_least=asked)
    assert report.verdict is verdict


def test_sizes_from_one_on(tmp_path: Path) -> None:
    slow = log_text(time_of(alpha=300e-6))
    assert checked(tmp_path, slow, entries=ALIKE, from_bytes=1 << 30).verdict is Verdict.AS_FAST


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (Setup(), "which differ: --system"),
        (Setup(system="a3-highgpu-8g"), "; it has some of 2 such hosts"),
        (
            Setup(gpu="NVIDIA L40S", system="g6e.48xlarge", num_hosts=2),
            "no log of all_reduce of float on 2 hosts of 8 ranks",
        ),
        (Setup(system="HGX H100 8-GPU"), "--system"),
        # Four GPUs a host: not the machine of this log, so that --system is no answer.
        (Setup(system="Polaris"), "--system Polaris does not fit 2 hosts of 8 ranks: --hosts, --ranks"),
    ],
)
def test_nothing_is_healthy_where_nothing_is_known(tmp_path: Path, setup: Setup, said: str) -> None:
    verdict, because = only(checked(tmp_path, log_text(time_of(rate=5e9)), setup=setup, entries=ALIKE))
    assert verdict is Verdict.UNKNOWN
    assert said in because


def test_sizes_that_nobody_measured_are_nothing_to_compare_with(tmp_path: Path) -> None:
    verdict, because = only(checked(tmp_path, log_text(sizes=[16, 64, 256]), entries=ALIKE))
    assert verdict is Verdict.UNKNOWN
    assert "no size of this log is among those known" in because
    assert only(checked(tmp_path, log_text(), entries=[]))[0] is Verdict.UNKNOWN


def test_a_log_is_not_held_against_itself(tmp_path: Path) -> None:
    times = entry(lambda size: float(f"{time_of()(size):.4g}"))
    report = checked(tmp_path, log_text(), entries=[times, *ALIKE[::2]])
    assert len(report.files[0].tables[0].references) == len(ALIKE[::2])


@pytest.mark.parametrize("text", [log_text().replace("      0 ", "      3 ", 3), log_text(time_of(rate=700e9))])
def test_a_log_that_refutes_itself_is_not_healthy(tmp_path: Path, text: str) -> None:
    verdict, because = only(checked(tmp_path, text, entries=ALIKE))
    assert verdict is Verdict.WRONG
    assert "ringtree audit" in because


def test_no_table_is_nothing_to_compare_with(tmp_path: Path) -> None:
    assert checked(tmp_path, "hello\n").verdict is Verdict.UNKNOWN


def test_another_collective_is_left_out(tmp_path: Path) -> None:
    report = checked(tmp_path, log_text(), entries=ALIKE, collective="broadcast")
    assert report.files[0].tables == []
    assert report.verdict is Verdict.UNKNOWN


def test_the_shape(tmp_path: Path) -> None:
    (table,) = checked(tmp_path, log_text(time_of(60e-6, 260e9)), entries=ALIKE).files[0].tables
    shape = table.shape
    assert shape is not None
    assert shape.fit is not None
    assert shape.floor == pytest.approx(60e-6, rel=0.01)
    assert shape.plateau == pytest.approx(487.5e9 / (1 + 60e-6 * 260e9 / SIZES[-1]), rel=1e-3)
    exact = next(size for size in SIZES if time_of()(size) * 0.9 * shape.plateau <= size * 1.875 * 1.0001)
    assert shape.saturation == exact
    assert not shape.rising
    assert shape.fit.alpha == pytest.approx(60e-6, rel=1e-2)
    assert shape.fit.rate == pytest.approx(260e9, rel=1e-2)


def test_without_small_sizes_there_is_no_floor(tmp_path: Path) -> None:
    (table,) = checked(tmp_path, log_text(sizes=SIZES[15:]), entries=ALIKE).files[0].tables
    assert table.shape is not None
    assert (table.shape.floor, table.shape.floor_sizes) == (None, None)


def test_what_is_slow_but_within_the_spread_is_not_passed_over(tmp_path: Path) -> None:
    """Large sizes decide the verdict, and small ones at 1/1.25 of the speed of six that differ by as much again."""
    others = [entry(time_of(alpha=alpha)) for alpha in (30e-6, 45e-6, 60e-6, 60e-6, 80e-6, 120e-6)]
    verdict, because = only(checked(tmp_path, log_text(time_of(alpha=90e-6)), entries=others))
    assert verdict is Verdict.AS_FAST
    assert "; small sizes have 67%, and logs of alike machines differ by that much" in because
    assert "differ by that much" not in only(checked(tmp_path, log_text(), entries=others))[1]


def test_a_curve_that_still_rises_says_so(tmp_path: Path) -> None:
    text = log_text(sizes=SIZES[:12])
    shape = checked(tmp_path, text, entries=ALIKE).files[0].tables[0].shape
    assert shape is not None
    assert shape.rising


def test_the_spread_is_that_of_the_logs() -> None:
    doubled = [entry(time_of(rate=rate)) for rate in (200e9, 400e9)]
    large = spreads([*doubled, entry(hosts=1, ranks=8)])["large"]
    assert large.dof == 1
    assert large.deviation == pytest.approx(math.log(2) / math.sqrt(2), rel=0.02)


def test_the_share_of_the_limit(tmp_path: Path) -> None:
    table = checked(tmp_path, log_text(), setup=H100X2, entries=ALIKE).files[0].tables[0]
    assert table.limit == pytest.approx(750e9)
    assert table.sizes[-1].share_of_limit == pytest.approx(table.sizes[-1].busbw / 750e9)
