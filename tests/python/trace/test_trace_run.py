"""`ringtree trace-run`: mistakes are one line, a run leaves a file and a table, traces survive their way through the
pipe. Ranks are processes here; what is in a file is tested with threads (test_trace_chrome.py)."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cli_support import assert_refused, invoke
from forked_ranks import forked_ranks
from rich.console import Console
from trace_support import event, made_up, reduced, traces_of

import ringtree
from ringtree.errors import UsageError
from ringtree.measure.messages import reports
from ringtree.measure.trace_reports import CallsReport, call_records, events_reports, joined_trace
from ringtree.show.trace_table import print_run
from ringtree.trace import summarise
from ringtree.trace.request import Asked, Options, make_options
from ringtree.trace.traced_run import TracedRun

__all__ = ["forked_ranks"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--collective scan", "all_reduce"),
        ("--algorithm star", "ring"),
        ("--collective broadcast --algorithm halving_doubling", "for broadcast; choose from: auto"),
        ("--protocol ll256", "ll128"),
        ("--dtype float128", "float32"),
        ("--size many", "for example"),
        ("--size 7", "multiple of 4 bytes"),
        ("--size 1K --ranks 3 --collective all_gather", "3 equal blocks: use a multiple of 12"),
        ("--ranks 0", "1..256"),
        ("--ranks 3 --emulate 2x2", "means 4 ranks"),
        ("--alpha 1ms", "--emulate 2x8"),
        ("--calls 0", "--calls must lie in 1.."),
        ("--warm-up -1", "--warm-up must lie in 0.."),
        ("--events 0", "--events must lie in 1.."),
        ("--channels 0", "--channels must lie in 1.."),
        ("--size 64T", "free"),
        ("--out /no-such-folder/trace.json", "folder that exists"),
        ("--out /", "folder that exists"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: str, said: str) -> None:
    assert_refused(invoke("trace-run", *arguments.split()), said)


@pytest.mark.parametrize(
    ("collective", "count"),
    [("all_reduce", 600), ("broadcast", 600), ("all_gather", 200), ("all_to_all", 200), ("reduce_scatter", 200)],
)
def test_the_size_is_that_of_the_whole_vector(collective: str, count: int) -> None:
    options = make_options(Asked(ranks=3, size="2400", collective=collective))
    assert (options.count, options.size_bytes, options.num_ranks) == (count, 2400, 3)


def test_a_cluster_says_how_many_ranks() -> None:
    options = make_options(Asked(emulate="2x3", alpha="2ms"))
    assert options.num_ranks == 6
    assert options.emulation is not None
    assert options.emulation.alpha == 0.002
    assert make_options(Asked()).num_ranks == 4


@pytest.mark.parametrize("collective", ["all_reduce", "all_gather", "scatter", "all_to_all"])
def test_a_run_leaves_a_file_and_a_table(collective: str, tmp_path: Path) -> None:
    out = tmp_path / "here.json"
    result = invoke(
        "trace-run", "--ranks", "2", "--size", "64K", "--collective", collective, "--calls", "2", "--out", str(out)
    )
    assert result.exit_code == 0, result.stderr
    content = json.loads(out.read_text())
    calls = [one for one in content["traceEvents"] if one.get("cat") == "call"]
    assert [(one["pid"], one["name"]) for one in sorted(calls, key=lambda one: (one["pid"], one["ts"]))] == [
        (pid, f"{collective} #{number}")
        for pid in (1, 2)
        for number in (8, 9)  # after 5 to warm up and 2 untraced
    ]
    assert content["otherData"]["options"]["size_bytes"] == 65536
    assert content["otherData"]["events_lost"] == {"0": 0, "1": 0}
    first, *_, second_to_last, last = result.stdout.strip().splitlines()
    assert first.startswith(f"{collective} float32 of 64 KB, 2 ranks, ")
    assert str(out) in result.stdout
    assert "ui.perfetto.dev" in second_to_last
    assert "chrome://tracing" in last
    rows = [line.split()[0] for line in result.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert rows[-2:] == ["0", "1"]
    assert "busiest link: rank " in result.stdout


def test_an_emulated_cluster_shows_cards_and_messages_under_way(tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    cluster = ("--emulate", "2x1", "--alpha", "50ms", "--beta", "1GB/s")
    how = ("--algorithm", "ring", "--size", "8K", "--calls", "1", "--warm-up", "1")
    result = invoke("trace-run", *cluster, *how, "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert "ring/simple, 1 channel, emulated 2x1 (50.0 ms, 1.00 GB/s)" in result.stdout
    assert "busiest network card: host " in result.stdout
    names = {one["name"] for one in json.loads(out.read_text())["traceEvents"]}
    assert names & {"under way from rank 0", "under way from rank 1"}


def test_traces_come_through_the_pipe_as_they_are() -> None:
    for trace in traces_of(reduced(100_000, "two_shot"), 3, num_calls=2):
        said = CallsReport(
            own_cores=True, untraced=[(1, 2)], traced=[(3, 4)], calls=call_records(trace), num_lost=trace.num_lost
        )
        lines = [one.model_dump_json() for one in (said, *events_reports(trace))]
        first, *parts = [reports.validate_json(line) for line in lines]
        joined = joined_trace(trace.rank, 3, first, parts)  # type: ignore[arg-type]
        assert joined.events.tobytes() == trace.events.tobytes()
        assert (joined.rank, joined.num_lost) == (trace.rank, trace.num_lost)
        for one, other in zip(joined.calls, trace.calls, strict=True):
            assert {**vars(one), "schedule": None} == {**vars(other), "schedule": None}
            assert one.schedule.program(trace.rank) == other.schedule.program(trace.rank)


def printed(options: Options, **changes: Any) -> str:
    """What is printed of made up traces of two ranks that lost events, or did not."""
    schedule = ringtree.schedule("all_reduce", "ring", 2)
    steps = [event("step", 1000 * i, 1000 * i + 400, step=i, bytes=1000) for i in range(3)]
    traces = [made_up(rank, schedule, event("call", 0, 4000), *steps, event("slot", 1400, 2000)) for rank in (0, 1)]
    run = TracedRun(
        **{"options": options, "traces": traces, "own_cores": True, "untraced": 4e-6, "traced": 5e-6, **changes}
    )
    said = StringIO()
    print_run(Console(width=200, file=said), run, summarise(run.traces), Path("x.json"))
    return said.getvalue()


def test_the_table_says_where_the_time_went() -> None:
    text = printed(make_options(Asked(ranks=2)))
    assert "3 calls traced: 5.00 µs a call; as many untraced before: 4.00 µs" in text
    (row,) = [line.split() for line in text.splitlines() if line.split()[:1] == ["1"]]
    assert " ".join(row) == "1 4.00 µs 1.20 µs - 600 ns - 2.20 µs -"
    assert "busiest link: rank 0 to rank 1, 2.0 KB in 2 messages a call (as much on 2 of 2 links)" in text
    assert "note:" not in text
    assert "readers" not in text


def test_the_table_says_what_qualifies_it() -> None:
    text = printed(make_options(Asked(ranks=2)), own_cores=False)
    assert "note: fewer cores than ranks" in text
    lost = traces_of(reduced(10_000), 2, num_calls=5, capacity=6)
    text = printed(make_options(Asked(ranks=2)), traces=lost)
    assert "did not fit and the oldest are lost" in text


def test_an_out_that_is_no_file_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(options: Options) -> TracedRun:
        raise AssertionError("was run")

    monkeypatch.setattr(sys.modules["ringtree.cli.trace_run"], "run", never)  # the name in the package is the command
    assert invoke("trace-run", "--out", str(tmp_path)).exit_code == 2
    with pytest.raises(UsageError):
        make_options(Asked(collective="nothing"))
