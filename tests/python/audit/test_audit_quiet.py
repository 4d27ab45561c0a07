"""What real documents hold and is not a fault: nothing above "info" may be said of it. Each with a case that is one."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from audit_support import GIGABYTE, audited, codes, make_table, side, usual_time, with_sides

from ringtree.audit import AuditRun, Setup, Severity
from ringtree.logs import Printed, Row, Side, Table
from ringtree.logs.osu import FORMAT as OSU

KB, MB = 1 << 10, 1 << 20


def above_info(text: str) -> list[str]:
    session = AuditRun(Setup())
    session.add_stream(io.BytesIO(text.encode()), "a.md")
    (report,) = session.finish().files
    assert report.num_rows > 0
    return [finding.code for finding in report.findings if finding.severity is not Severity.INFO]


TIMES = {"1 MB": "1204.5", "2 MB": "2311.2", "4 MB": "4520.9", "8 MB": "8943.7", "16 MB": "17786.1"}


def latencies(heading: str, *columns: tuple[str, dict[str, str]]) -> str:
    names = "".join(f" {name} (us) |" for name, _ in columns)
    lines = [f"## {heading}\n", f"| Size |{names}", "|---|" + "---|" * len(columns)]
    for size in TIMES:
        lines.append(f"| {size} |" + "".join(f" {times[size]} |" for _, times in columns))
    return "\n".join(lines) + "\n\n"


OTHERS = {size: f"{float(time) * 2:.1f}" for size, time in TIMES.items()}


def test_a_summary_that_tells_the_figures_again_is_no_forgery() -> None:
    first = latencies("All-reduce, Ring against LL", ("Default", TIMES), ("LL", OTHERS))
    assert "copied-tables" not in above_info(first + latencies("Summary", ("NCCL default", TIMES), ("tuned", OTHERS)))
    # The same times under the name of another algorithm are one.
    copied = latencies("All-reduce", ("Ring", TIMES)) + latencies("All-reduce again", ("Tree", TIMES))
    assert "copied-tables" in above_info(copied)


def test_runs_of_one_size_agree_by_chance() -> None:
    def run(first_line: int) -> Table:
        sizes, microseconds = [128 * MB] * 6, iter((4335, 4340, 4345, 4344, 4345, 4336, 4341, 4339) * 2)
        return make_table("send_recv", 2, sizes, lambda size: next(microseconds) / 10e6, first_line=first_line)

    assert "copied-tables" not in codes(run(10), run(30))


def test_the_best_of_several_columns_is_one_of_them() -> None:
    assert "copied-tables" not in above_info(latencies("Gap", ("Default", TIMES), ("Best", TIMES)))
    assert "copied-tables" in above_info(latencies("Gap", ("Default", TIMES), ("Tuned", TIMES)))


@pytest.mark.parametrize(
    ("names", "compared"),
    [(("Rep1", "Rep2"), False), (("run 1", "run 2"), False), (("Ring", "Tree"), True)],
    ids=["repetitions", "runs", "algorithms"],
)
def test_repetitions_are_not_configurations(names: tuple[str, str], compared: bool) -> None:
    near = {size: f"{float(time) * 1.05:.1f}" for size, time in TIMES.items()}
    found = above_info(latencies("All-reduce", (names[0], TIMES), (names[1], near)))
    assert ("single-runs-compared" in found) is compared


@pytest.mark.parametrize(("buffers", "severity"), [("host", Severity.INFO), ("CUDA", Severity.WARNING)])
def test_messages_that_outgrow_a_cache_are_slower(buffers: str, severity: Severity) -> None:
    rates = {64 * KB: 20.0, 256 * KB: 20.0, MB: 19.0, 4 * MB: 3.0, 16 * MB: 3.0, 64 * MB: 3.0}
    rows = [
        Row(line, size, (Side("", Printed(f"{size / rate / GIGABYTE * 1e6:.2f}", 1e-6)),))
        for line, (size, rate) in enumerate(rates.items(), 4)
    ]
    table = Table(OSU, 1, collective="send_recv", num_ranks=2, settings={"buffers": buffers}, rows=rows)
    found = {finding.code: finding.severity for finding in audited(table).findings}
    assert found["bandwidth-collapse"] is severity


def slower(num_ranks: int) -> Callable[[int], float]:
    return lambda size: usual_time(size) * (1 + num_ranks / 100)


def test_what_grep_left_of_several_logs_is_one_table_each() -> None:
    lines = []
    for num_ranks in (8, 16, 32):
        lines.append(f"====== {num_ranks // 8} nodes ======")
        table = make_table(num_ranks=num_ranks, sizes=[256 * MB, 512 * MB, 1024 * MB], time=slower(num_ranks))
        for row in table.rows:
            sides = (f"{s.time.text:>9} {s.algbw.text:>7} {s.busbw.text:>7}      0" for s in row.sides)  # type: ignore[union-attr]
            lines.append(f"{row.size_bytes:>12} {row.count:>12}     float     sum      -1 {' '.join(sides)}")
    assert above_info("$ grep -h float *.log\n" + "\n".join(lines) + "\n") == []


def test_an_algbw_of_old_versions_does_not_make_the_factor_vary() -> None:
    """They left the rank's own block out of algbw: busbw/algbw is 1, busbw/(size/time) (n-1)/n."""
    table = make_table("all_gather", 12)

    def old(row: Row, one: Side) -> Side:
        assert row.size_bytes is not None
        seconds = usual_time(row.size_bytes)
        return side("all_gather", 12, row.size_bytes, seconds, one.place, algbw_times=11 / 12)

    table = with_sides(table, old)
    assert "factor-varies" not in codes(table)
