"""`--json` of trace, worth and replay: the figures of the records behind the tables, and the published schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli_support import invoke
from joblog_support import call_line, group_line, step_line, whole_rank

from ringtree.joblog.reading import read_trace
from ringtree.joblog.replay import Samples, _judged
from ringtree.joblog.reports import replay_report
from ringtree.joblog.script import make_script
from ringtree.joblog.summary import summarise

SCHEMAS = Path(__file__).parents[3] / "docs" / "reference"


def checked(name: str, text: str) -> dict[str, Any]:
    """The document, which the published schema accepts, and without one of its fields does not."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, schema)
    less = {field: value for field, value in found.items() if field != "arms" and field != "rows"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(less, schema)
    return found


def job(folder: Path) -> Path:
    """Two ranks, one step of 10 s, with an all-reduce of 4 KB from 1 to 3 s, in which nothing is computed."""
    for rank in (0, 1):
        call, step = call_line(0, 1.0, 3.0, (1.0, 1.0)), step_line(0, 0.0, 10.0, (0.0, 8.0))
        whole_rank(folder, [call], [step], groups=[group_line()], rank=rank, world_size=2)
    return folder


def test_a_trace(tmp_path: Path) -> None:
    result = invoke("trace", "--out", job(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    found = checked("trace", result.stdout)
    row = found["rows"][0]
    assert [row[name] for name in ("collective", "size_bytes", "calls", "exposed", "share")] == [
        "all_reduce", 4096, 1, 2.0, 0.2,
    ]  # fmt: skip
    assert [found["step_time"], found["exposed"]] == [10.0, 2.0]


def test_worth(tmp_path: Path) -> None:
    result = invoke("worth", job(tmp_path), "--arms", "nccl:Tree,gloo", "--nccl-version", "2.27.3", "--json")
    assert result.exit_code == 0, result.stderr
    tree, gloo = checked("worth", result.stdout)["arms"]
    assert [tree["arm"], tree["bound"], tree["rows"][0]["effect"]] == ["nccl:Tree", 2.0, "changes"]
    assert [gloo["bound"], gloo["rows"][0]["effect"]] == [0.0, "same"]


def test_a_replay(tmp_path: Path) -> None:
    trace = read_trace(job(tmp_path))
    summary = summarise(trace)
    launches: list[Samples] = [{"a": [(1.0 + n / 1000, 0.2)], "b": [(0.5 + n / 1000, 0.1)]} for n in range(8)]
    replayed = _judged(["a", "b"], launches, {"c": "wrong"})
    found = checked("replay", replay_report(summary, make_script(trace, summary), replayed).model_dump_json())
    a, b = found["arms"]
    assert [a["versus"], b["versus"]["verdict"], found["disqualified"]] == [None, "faster", {"c": "wrong"}]
    assert b["step"]["median"] == pytest.approx(0.5035)
