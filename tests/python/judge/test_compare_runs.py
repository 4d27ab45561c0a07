"""Runs against each other: what is shown, what single runs tell (nothing), and what must not be compared."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from audit_support import as_text, make_table
from comparison_support import stored_run
from lab_support import make_cell, make_launch, make_plan
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.judge.observations import observations_of_run
from ringtree.judge.runs import Contender, compare, read_contender
from ringtree.judge.runs.series import Key, Series, SeriesCell, series_of
from ringtree.logs import OUT_OF_PLACE, Printed, Row, Side, Table
from ringtree.logs.nccltests.conclude import FORMAT as NCCL_TESTS
from ringtree.logs.observations import observations_of_table, origin_of
from ringtree.results import SizeMeans
from ringtree.show.runs_table import verdict_lines

KEY = Key("all_reduce", 8, "float", "sum", OUT_OF_PLACE)


def contender(name: str, times: dict[int, list[float]], key: Key = KEY, label: str = "", **cell: object) -> Contender:
    series = Series(key, label)
    for size, launches in times.items():
        series.cells[size] = SeriesCell(launches=list(launches), **cell)  # type: ignore[arg-type]
    return Contender(name, [series])


def noisy(seed: int, centre: float, count: int = 8) -> list[float]:
    return [float(x) for x in centre * np.exp(np.random.default_rng(seed).normal(0, 0.01, count))]


def exchange_p(x: list[float], y: list[float], margin: float) -> float:
    """The slow reference of one cell: how often an exchange of launches gives as large a difference of means."""
    values = [math.log(v) - math.log1p(margin) for v in x] + [math.log(v) for v in y]
    everything = range(len(values))

    def difference(chosen: tuple[int, ...]) -> float:
        mine = [values[i] for i in chosen]
        other = [values[i] for i in everything if i not in chosen]
        return sum(mine) / len(mine) - sum(other) / len(other)

    seen = difference(tuple(range(len(x))))
    all_of_them = [difference(chosen) for chosen in itertools.combinations(everything, len(x))]
    return sum(one >= seen - 1e-12 for one in all_of_them) / len(all_of_them)


def test_a_slowdown_of_a_tenth_in_eight_launches_is_shown_and_a_single_run_of_it_is_not() -> None:
    before, after = noisy(1, 1e-3), noisy(2, 1.1e-3)
    many = compare([contender("a", {1024: before}), contender("b", {1024: after})])
    cell = many.series[0].cells[0]
    assert cell.verdict == "slower"
    assert many.regressed
    assert cell.p_slower == pytest.approx(exchange_p(after, before, 0.02))
    assert cell.low is not None
    assert cell.high is not None
    assert 1.02 < cell.low < 1.1 < cell.high < 1.15
    one = compare([contender("a", {1024: before[:1]}), contender("b", {1024: after[:1]})])
    assert one.series[0].cells[0].verdict == "single run"
    assert not one.regressed
    assert "nothing can be claimed" in verdict_lines(one.series[0], 0.02)[0]


def test_one_launch_against_many_is_a_single_run_too() -> None:
    result = compare([contender("a", {8: noisy(1, 1.0)}), contender("b", {8: [2.0]})])
    assert result.series[0].cells[0].verdict == "single run"


def test_three_launches_a_side_can_show_nothing() -> None:
    result = compare([contender("a", {8: [1.0, 1.01, 0.99]}), contender("b", {8: [2.0, 2.01, 1.99]})])
    assert result.series[0].cells[0].verdict == "not shown"
    assert result.series[0].cells[0].p_slower == pytest.approx(1 / 20)


def test_faster_is_said_and_is_no_regression() -> None:
    result = compare([contender("a", {8: noisy(3, 1.1)}), contender("b", {8: noisy(4, 1.0)})])
    assert result.series[0].cells[0].verdict == "faster"
    assert not result.regressed


def test_a_difference_within_the_margin_is_not_shown() -> None:
    result = compare([contender("a", {8: noisy(5, 1.0)}), contender("b", {8: noisy(6, 1.05)})], margin=0.1)
    assert [cell.verdict for cell in result.series[0].cells] == ["not shown"]


def test_crossover_of_two_measured_curves() -> None:
    a = contender("tree", {1 << 10: noisy(1, 1.0), 1 << 20: noisy(2, 3.0)})
    b = contender("ring", {1 << 10: noisy(3, 2.0), 1 << 20: noisy(4, 2.0)})
    found = compare([a, b]).series[0].crossovers
    assert [(c.below, c.above, c.first, c.second, c.shown) for c in found] == [(1 << 10, 1 << 20, "tree", "ring", True)]
    single = compare([contender("tree", {1: [1.0], 2: [3.0]}), contender("ring", {1: [2.0], 2: [2.0]})])
    assert [c.shown for c in single.series[0].crossovers] == [False]


def test_iterations_of_one_launch_give_a_spread_and_no_verdict() -> None:
    a = contender("a", {8: [1.0]}, iterations=tuple(noisy(1, 1.0, 40)))
    b = contender("b", {8: [2.0]}, iterations=tuple(noisy(2, 2.0, 40)))
    cell = compare([a, b]).series[0].cells[0]
    assert cell.verdict == "single run"
    assert cell.spread is not None
    assert 1.9 < cell.spread[0] < 2.0 < cell.spread[1] < 2.1


def test_wrong_results_are_not_compared() -> None:
    a = contender("a", {8: noisy(1, 1.0)})
    b = contender("b", {8: noisy(1, 3.0)}, wrong="24 wrong elements in line 7")
    result = compare([a, b])
    assert [cell.verdict for cell in result.series[0].cells] == ["wrong"]
    assert not result.regressed


def test_a_lead_that_goes_to_and_fro_in_single_runs_is_called_noise_and_nothing_else() -> None:
    sizes = [1 << power for power in range(10, 17)]
    there = {size: [1e-3 * (1.001 if index % 2 else 0.999)] for index, size in enumerate(sizes)}
    one = compare([contender("a", {size: [1e-3] for size in sizes}), contender("b", there)])
    assert len(one.series[0].crossovers) == 6
    assert verdict_lines(one.series[0], 0.02)[1:] == ["the faster one changes 6 times along the sizes: that is noise"]


def test_runs_that_do_not_say_how_many_ranks_they_had_may_differ_in_them(tmp_path: Path) -> None:
    names = []
    for name, time in (("a", "10.1"), ("b", "20.2")):
        (tmp_path / f"{name}.md").write_text(
            f"# all_reduce\n\n| Size | Time (us) |\n|---|---|\n| 1 MB | {time} |\n| 2 MB | {time} |\n"
        )
        names.append(str(tmp_path / f"{name}.md"))
    said = CliRunner().invoke(app, ["compare-runs", *names]).stdout
    assert "neither log says how many ranks it had: they may not have run the same" in " ".join(said.split())


def test_what_measured_something_else_is_refused() -> None:
    other = contender("b", {8: [1.0]}, key=KEY._replace(num_ranks=16))
    with pytest.raises(UsageError, match="nothing in common"):
        compare([contender("a", {8: [1.0]}), other])


def test_arms_of_two_runs_are_matched_by_label_when_there_are_several() -> None:
    def two(name: str, ring: float, tree: float) -> Contender:
        first, second = contender(name, {8: [ring]}, label="ring"), contender(name, {8: [tree]}, label="tree")
        return Contender(name, [*first.series, *second.series])

    result = compare([two("a", 1.0, 5.0), two("b", 2.0, 5.0)])
    assert [(s.label_baseline, s.label_other, s.cells[0].ratio) for s in result.series] == [
        ("ring", "ring", 2.0),
        ("tree", "tree", 1.0),
    ]


def table(times: list[tuple[int, str]], **fields: object) -> Table:
    found = Table(NCCL_TESTS, 1, collective="all_reduce", num_ranks=8)
    for name, value in fields.items():
        setattr(found, name, value)
    for line, (size, text) in enumerate(times, 2):
        side = Side(OUT_OF_PLACE, Printed(text, 1e-6))
        found.rows.append(Row(line, size, (side,), dtype="float", op="sum"))
    return found


def series(*tables: Table, notes: list[str] | None = None) -> list[Series]:
    """The series of tables, all of one file and line, as those of a sweep's columns are."""
    seen = [one for each in tables for one in observations_of_table(each, origin_of(each, "a.log"))]
    return series_of(seen, [] if notes is None else notes)


def test_tables_of_one_configuration_are_launches_of_it() -> None:
    found = series(table([(8, "10.0")]), table([(8, "12.0")]), table([(8, "30.0")], algorithm="Tree"))
    assert [(one.label, one.cells[8].launches) for one in found] == [
        ("", [pytest.approx(1e-5), pytest.approx(1.2e-5)]),
        ("Tree", [pytest.approx(3e-5)]),
    ]


def test_a_size_that_stands_twice_in_a_table_is_no_second_launch() -> None:
    notes: list[str] = []
    (found,) = series(table([(8, "10.0"), (8, "20.0"), (8, "90.0")]), notes=notes)
    assert found.cells[8].launches == [pytest.approx(2e-5)]
    assert "more than once" in notes[0]


def test_failed_runs_do_not_count() -> None:
    (found,) = series(table([(8, "1.0")], out_of_bounds_okay=False))
    assert found.cells[8].wrong is not None


def test_what_sizes_count_is_said_where_it_differs() -> None:
    peer = table([(8, "1.0")], size_means=SizeMeans.ONE_PEER)
    (one,) = compare([Contender("a", series(table([(8, "1.0")]))), Contender("b", series(peer))]).series
    assert one.differing["sizes"] == ("", SizeMeans.ONE_PEER.value)


def test_one_rank_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(as_text(make_table(num_ranks=1)) + as_text(make_table()))
    found = read_contender(str(tmp_path / "a.log"), tmp_path)
    assert "one rank" in found.notes[0]
    assert {one.key.num_ranks for one in found.series} == {8}


def test_a_stored_run_and_a_log_go_through_the_same_comparison(tmp_path: Path) -> None:
    """The log prints, in µs, the medians of the run's launches: the same times, the same ratio 1."""
    plan = make_plan(arms=["ring"], sizes=[1024], num_ranks=8)
    launches = [make_launch(launch, [make_cell("ring", 1024, 1e-5 * (1 + launch), 8)]) for launch in range(2)]
    stored = list(observations_of_run(stored_run(plan, launches)))
    assert [one.seconds for one in stored] == [pytest.approx(1e-5), pytest.approx(2e-5)]
    logs = [table([(1024, text)], collective=plan.collective) for text in ("10.0", "20.0")]
    run = series_of(stored, [])
    (of_run,), (of_logs,) = run, series(*logs)
    assert of_run.cells[1024].launches == pytest.approx(of_logs.cells[1024].launches)
    for each in (of_run, of_logs):
        each.key = KEY
    (compared,) = compare([Contender("run", [of_run]), Contender("logs", [of_logs])]).series
    assert compared.cells[0].ratio == pytest.approx(1.0)
    assert (compared.cells[0].num_baseline, compared.cells[0].num_other) == (2, 2)


def test_the_command_says_what_it_needs(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["compare-runs", "a"]).exit_code == 2
    assert runner.invoke(app, ["compare-runs", "a", "b", "--runs", str(tmp_path)]).exit_code == 2
    empty = tmp_path / "empty.log"
    empty.write_text("nothing here\n")
    result = runner.invoke(app, ["compare-runs", str(empty), str(empty)])
    assert result.exit_code == 2
    assert "no table of timings" in result.output


def test_the_same_log_twice_is_no_second_launch(tmp_path: Path) -> None:
    logs = []
    for name, factor in (("a", 1.0), ("b", 1.1), ("copy", 1.0)):
        rows = [osu_row(size, size / 100 * factor + 7) for size in (8, 64, 512, 4096)]
        log = tmp_path / f"{name}.log"
        log.write_text(
            "\n".join(["# OSU MPI Allreduce Latency Test v7.3", "# Size       Avg Latency(us)", *rows]) + "\n"
        )
        logs.append(str(log))
    a, b, copy = logs
    runner = CliRunner()
    for twice in (f"x={a},{a}", f"x={a},{copy}"):
        result = runner.invoke(app, ["compare-runs", twice, b])
        assert result.exit_code == 2
        assert "the same log twice is one launch" in " ".join(result.output.split())
    assert runner.invoke(app, ["compare-runs", f"x={a},{b}", copy]).exit_code == 0


def osu_row(size: int, microseconds: float) -> str:
    return f"{size:<10} {microseconds:.2f}"


def test_json_has_the_published_format() -> None:
    result = compare([contender("a", {8: [1.0]}), contender("b", {8: [1.0]})])
    assert json.loads(result.model_dump_json())["format"] == "ringtree.compare-runs/1"


def test_a_time_that_is_not_printed_follows_from_algbw(tmp_path: Path) -> None:
    for name, rates in (("a.md", ("10.0", "20.0")), ("b.md", ("8.0", "20.0"))):
        rows = "".join(f"| {size} | {rate} |\n" for size, rate in zip(("1MB", "2MB"), rates, strict=True))
        (tmp_path / name).write_text(f"## all_reduce, 8 GPUs\n\n| size | algbw (GB/s) |\n|---|---|\n{rows}")
    result = compare([read_contender(str(tmp_path / name), tmp_path) for name in ("a.md", "b.md")])
    first, second = result.series[0].cells
    assert first.baseline == pytest.approx((1 << 20) / 10e9)
    assert first.ratio == pytest.approx(10 / 8)
    assert first.rounding == pytest.approx((9.95 / 8.05, 10.05 / 7.95))
    assert second.ratio == 1.0
    assert first.verdict == second.verdict == "single run"
    assert sum("derived: size/algbw" in note for note in result.notes) == 2


def test_two_files_without_times_are_not_the_same_log(tmp_path: Path) -> None:
    for name, rate in (("a.md", 10.0), ("b.md", 11.0)):
        rows = "".join(f"| {size}MB | {rate + size} |\n" for size in (1, 2, 4, 8, 16))
        (tmp_path / name).write_text(f"| size | algbw (GB/s) |\n|---|---|\n{rows}")
    (series,) = read_contender(f"both={tmp_path / 'a.md'},{tmp_path / 'b.md'}", tmp_path).series
    assert [len(cell.launches) for cell in series.cells.values()] == [2] * 5


def test_a_rate_that_may_be_nothing_gives_no_time(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("| size | algbw (GB/s) |\n|---|---|\n| 8 | 0.00 |\n")
    with pytest.raises(UsageError, match="no times"):
        read_contender(str(tmp_path / "a.md"), tmp_path)


def test_measured_times_are_not_derived() -> None:
    notes: list[str] = []
    (series,) = series_of(observations_of_table(table := make_table(), origin_of(table, "a.log")), notes)[:1]
    assert notes == []
    assert all(cell.derived is None for cell in series.cells.values())
