"""The picture of a trace: which call is drawn, and that every message of it is.

For: tools/trace_picture.py on traces of ranks that are threads. Not for: the trace's file (test_trace_chrome.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import trace_picture
from trace_support import reduced, traces_of

from ringtree.trace import write_chrome_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.json"
    write_chrome_trace(file, traces_of(reduced(100_000), 2, num_calls=2))
    return file


def test_a_call_has_a_row_a_rank_and_all_its_messages(trace: Path) -> None:
    events = json.loads(trace.read_text())["traceEvents"]
    first, last = (trace_picture.read_call(events, number) for number in (2, 3))
    assert trace_picture.read_call(events, None) == last != first
    for call in (first, last):
        assert list(call.rows.values()) == ["rank 0", "rank 1"]
        assert len(call.messages) == 16  # 2 ranks, 2 hops, chunks of 200,000 bytes in 4 slices
        assert all(bar.begin >= 0 and bar.begin + bar.length <= call.end * 1.001 for bar in call.bars)
    with pytest.raises(SystemExit, match=r"there is no call 9; choose from: 2, 3"):
        trace_picture.read_call(events, 9)


def test_a_rank_that_is_in_its_next_call_already_sends_nothing_of_this_one() -> None:
    def call(pid: int, number: int, begin: float, length: float) -> dict[str, object]:
        return {"cat": "call", "ph": "X", "pid": pid, "tid": 1, "ts": begin, "dur": length, "name": f"sum #{number}"}

    def message(name: int, begin: float) -> list[dict[str, object]]:
        there = {"name": "message", "id": name, "tid": 2}
        return [{**there, "ph": "s", "pid": 1, "ts": begin}, {**there, "ph": "f", "pid": 2, "ts": begin + 9.0}]

    events = [call(1, 1, 0.0, 4.0), call(2, 1, 0.0, 8.0), call(1, 2, 5.0, 5.0), call(2, 2, 8.5, 2.0)]
    events += [*message(1, 2.0), *message(2, 6.0)]  # the second while rank 1 is still in call 1
    for number, sent_at in ((1, 2.0), (2, 1.0)):
        (only,) = trace_picture.read_call(events, number).messages
        assert only[1] == sent_at


def test_it_is_drawn(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "trace.svg"
    monkeypatch.setattr("sys.argv", ["trace_picture.py", str(trace), str(picture), "--call", "2"])
    trace_picture.main()
    ElementTree.parse(picture)
    text = picture.read_text()
    assert all(words in text for words in ("rank 0", "rank 1", "slice step that reduces"))
