"""What a ladder looks like: the table's lines, the picture's marks, the JSON.

For: ringtree.explain's table and picture on made-up runs. Not for: figures (test_explain_ladder.py).
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from comparison_support import near_then_far
from explain_support import TIMES, made_up_pilot, made_up_run
from rich.console import Console

from ringtree.errors import RingtreeError, UsageError
from ringtree.explain.ladder import ladder_of
from ringtree.explain.ladder_record import Ladder
from ringtree.show.ladder.picture import write_picture
from ringtree.show.ladder.table import print_ladder

SVG = "{http://www.w3.org/2000/svg}"


def printed(ladder: Ladder, width: int = 150) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_ladder(console, ladder)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def line_with(lines: list[str], text: str) -> str:
    return next(line for line in lines if text in line)


def row_of(lines: list[str], title: str) -> str:
    return next(line for line in lines if line.startswith(f" {title}"))


def test_a_table_names_changes_arms_times_and_factors() -> None:
    lines = printed(ladder_of(made_up_run(), made_up_pilot()))
    assert lines[0] == "all_reduce sum float32, 2 ranks, in place, through PyTorch, 8 launches"
    headline = line_with(lines, "1 MB: send-recv:ring")
    assert "auto/shared 63.8 µs: 126× (125–126)" in headline
    assert "the floor is 21.0 µs, of which the top reaches 33%" in headline
    assert row_of(lines, "Python → native").split()[4:6] == ["1.99", "ms"]  # with the noise of the made-up launches
    assert lines[lines.index(row_of(lines, "Python → native")) + 1].split()[0] == "textbook-tcp:ring"
    assert "▲ 4.0×" in row_of(lines, "Python → native")
    fused = row_of(lines, "separate folds")
    assert "▲ 1.25×" in fused
    assert "▲ 1.05×" in fused
    assert "≠ 1.19×" in fused
    assert "= 1.00×" in row_of(lines, "private buffers")
    assert "ran two_shot/simple/64K" in "\n".join(lines)
    assert "private buffers (auto/for-shared)" in " ".join(lines)


def test_reasons_are_numbered_and_said_once() -> None:
    lines = printed(ladder_of(made_up_run(), made_up_pilot()))
    reasons = [line for line in lines if re.match(r"\([0-9]+\) ", line)]
    assert [int(line[1 : line.index(")")]) for line in reasons] == list(range(1, len(reasons) + 1))
    assert sum("the engine has no links over TCP" in line for line in lines) == 1
    assert "(2)" in row_of(lines, "TCP → shared memory")


@pytest.mark.parametrize("width", [72, 80, 200])
def test_a_table_fits_its_terminal(width: int) -> None:
    ladder = ladder_of(made_up_run(), made_up_pilot())
    lines = printed(ladder, width)
    assert all(len(line) <= width for line in lines if "raw samples" not in line)
    text = "".join(lines).replace(" ", "")
    assert all(arm in text for arm in list(TIMES)[1:6])


def test_a_single_launch_has_no_intervals_and_nothing_measured_no_ladder() -> None:
    lines = printed(ladder_of(made_up_run(num_launches=1), made_up_pilot()))
    assert "1 launch" in line_with(lines, "all_reduce")
    assert "? 4.0×" in row_of(lines, "Python → native")
    nothing = made_up_run()
    empty = type(nothing)(nothing.path, nothing.run, [], [])
    assert ladder_of(empty, made_up_pilot()).panels == []


def test_json_is_the_record() -> None:
    ladder = ladder_of(made_up_run(), made_up_pilot())
    text = ladder.model_dump_json(indent=1)
    assert Ladder.model_validate_json(text) == ladder
    assert json.loads(text)["format"] == "ringtree.ladder/1"


def test_the_picture_holds_every_rung_and_is_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ladder = ladder_of(made_up_run(handoff=near_then_far, num_rounds=7), made_up_pilot())
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        write_picture(ladder, file)
    assert files[0].read_bytes() == files[1].read_bytes()
    root = ElementTree.fromstring(files[0].read_text())
    assert root.tag == f"{SVG}svg"
    texts = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    for rung in ladder.panels[0].rungs:
        assert rung.title in texts
    assert texts.count("4.0×") == 2, "near and far"
    for text in ("1 MB, near cores", "1 MB, far cores", "what is left", "not measurable", "no change", "floor", "1 ms"):
        assert text in texts
    assert not any("4.00e" in text or "10^" in text for text in texts)


def test_a_picture_may_be_a_png_and_no_gif(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ladder = ladder_of(made_up_run(), made_up_pilot())
    write_picture(ladder, tmp_path / "ladder.png")
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"\.svg, \.png, \.pdf"):
        write_picture(ladder, tmp_path / "ladder.gif")
    with pytest.raises(RingtreeError, match="can't write"):
        write_picture(ladder, tmp_path / "missing" / "ladder.svg")
