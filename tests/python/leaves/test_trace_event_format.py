"""The Trace Event Format: files, tracks that keep apart what overlaps, and paths that can't be written.

For: trace_events.py. Not for: what is on a timeline (tests/python/trace, joblog, simulate).
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ringtree.errors import UsageError
from ringtree.trace_events import Tracks, arrow, check_trace_path, counter, process_name, span, track_name, write_trace


def test_a_file_has_what_was_written(tmp_path: Path) -> None:
    events = [
        *process_name(1, "rank 0", 0),
        *track_name(1, 2, "lane \u0022A\u0022"),
        span(1, 2, "send", "step", 0.5, 2, {"bytes": 8}),
        *arrow(7, "message", (1, 2, 0.5), (2, 1, 3.0)),
        counter(1, "bytes", 0.5, 8),
    ]
    path = tmp_path / "trace.json"
    assert write_trace(path, iter(events), {"of": "a test"}, "ms") == len(events)
    content = json.loads(path.read_text())
    assert content == {"displayTimeUnit": "ms", "otherData": {"of": "a test"}, "traceEvents": events}
    assert write_trace(path, [], {}) == 0
    assert json.loads(path.read_text())["traceEvents"] == []


def test_tracks_are_as_few_as_overlap() -> None:
    """Against the most that overlap at one time, which no fewer tracks can hold."""
    for seed in range(50):
        draw = random.Random(seed)
        spans = sorted((begin, begin + draw.randint(0, 9)) for begin in (draw.randint(0, 40) for _ in range(30)))
        tracks, free = Tracks(), dict[int, float]()
        for begin, end in spans:
            track = tracks.take(begin, end)
            assert free.get(track, 0) <= begin, seed
            free[track] = end
        deepest = max(sum(begin <= at < end for begin, end in spans) for at in range(50))
        assert deepest <= len(tracks) <= max(deepest, 1) + 1, seed  # one of no length may need its own


@pytest.mark.parametrize("name", ["no/trace.json", "."])
def test_a_path_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        UsageError, match=r"^--out .* can't be written: name a file in a folder that exists and is yours$"
    ):
        check_trace_path(tmp_path / name, "--out")
    check_trace_path(tmp_path / "trace.json", "--out")
