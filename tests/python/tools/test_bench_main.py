"""The bench's command line: exit codes and what is said. Measuring is in test_bench_parts.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.__main__ import main
from bench.stored import keep
from bench_support import made_up_part, times_of


def test_the_page_of_a_stored_run_is_written_whatever_the_bars_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    keep(made_up_part(times_of({"auto": 1.0, "mpich5": 0.9}), ("auto", "mpich5"), (8,)), tmp_path, "native-2", tmp_path)
    assert main(["page", str(tmp_path)]) == 0
    assert "bars are not reached" in capsys.readouterr().err
    assert "**missed**" in (tmp_path / "index.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["page", "/nowhere"], "holds no run of the bench"),
        (["run", "--parts", "native-3"], "there is no part 'native-3'; choose from: native-2"),
        (["run", "--budget", "soon"], "invalid duration 'soon'"),
        (["run", "--budget", "0s"], "--budget must be above 0"),
        (["rank", "--parts", "rate-2x1", "--out", "runs"], "no launcher has started several processes"),
    ],
)
def test_mistakes_are_one_line_and_code_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("bench: ")
    assert said in error
    assert error.count("\n") == 1
