"""The page of a run of the bench: what stands on it, and that it comes from the raw launches alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.bars import Judged, bars_of
from bench.page import page_text, write_page
from bench.stored import PACKED, RAW, keep, machine_name, published, read_parts
from bench_support import made_up_part, times_of

from ringtree.errors import UsageError
from ringtree.results import StoredRun

FACTORS = {"auto": 1.0, "mpich5": 2.5, "impi": 0.8, "auto/shared": 0.5}
SIZES = (8, 8192, 4 << 20)


def part(name: str = "native-2", sizes: tuple[int, ...] = SIZES) -> StoredRun:
    return made_up_part(times_of(FACTORS), tuple(FACTORS), sizes, name=name)


def text_of(*stored: StoredRun, notes: str = "") -> str:
    parts = {one.run.run_id: Judged(one) for one in stored}
    return page_text("some-cpu-2026-11-24", parts, bars_of(parts), notes)


def test_the_page_holds_bars_notes_and_the_lab_s_tables() -> None:
    text = text_of(part(), part("native-2-all_to_all"), notes="Tried hard.\n")
    wanted = ["# The engine and its peers: some-cpu", "## Bars", "## Notes\n\nTried hard.", "## native-2\n"]
    wanted += ["mpich5 is 2.5× slower than auto", "| 8 B near |", "![time over size](native-2-time.svg)"]
    wanted += ["## native-2-all_to_all", "bench page docs/benchmarks/some-cpu-2026-11-24"]
    places = [text.index(one) for one in wanted]
    assert places == sorted(places)
    assert "cores near, ≤ 4 KB | 1.8× | 0.80×" in text
    assert "| **missed** |" in text
    assert "which have no launches here: native-4, native-16, torch-2" in text
    assert "## Notes" not in text_of(part(), notes=" \n")


def test_between_hosts_the_page_says_so() -> None:
    text = text_of(part("native-2x1"))
    assert "# Between hosts: some-cpu" in text
    assert "network namespaces" in text


def test_the_page_is_made_from_the_raw_launches_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    keep(part(), tmp_path, "native-2", tmp_path)
    missed = write_page(tmp_path)[1]
    first = {file.name: file.read_bytes() for file in tmp_path.glob("*.*")}
    assert missed > 0
    assert first.keys() == {"index.md", "native-2-time.svg", "native-2-crossover.svg"}
    for name in first:
        (tmp_path / name).unlink()
    assert write_page(tmp_path)[1] == missed
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.*")} == first


def test_storing_keeps_every_launch_in_a_quarter_of_the_bytes(tmp_path: Path) -> None:
    stored = part()
    keep(stored, tmp_path, "native-2", tmp_path)
    found = read_parts(tmp_path)["native-2"]
    plain = "".join(f"{launch.model_dump_json()}\n" for launch in stored.launches)
    assert len((tmp_path / RAW / "native-2" / PACKED).read_bytes()) < len(plain) / 4
    for launch, kept in zip(stored.launches, found.launches, strict=True):
        for cell, again in zip(launch.cells, kept.cells, strict=True):
            assert (again.arm, again.size_bytes, len(again.visits)) == (cell.arm, cell.size_bytes, len(cell.visits))
            assert again.times[0] == pytest.approx(cell.times[0], abs=0.6e-9)


def test_what_is_published_names_neither_the_host_nor_its_folders(tmp_path: Path) -> None:
    origin = part().run.provenance.model_copy(
        update={"host_name": "secret", "command": ["/x/bench", "run", f"--out={tmp_path}/docs/a", f"{Path.home()}/b"]}
    )
    found = published(origin, tmp_path)
    assert found.command == ["bench", "run", "--out=docs/a", "~/b"]
    assert found.host_name == machine_name(len(origin.affinity))


def test_what_is_not_a_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run of the bench"):
        read_parts(tmp_path)
    keep(replace(part(), launches=[]), tmp_path, "native-2", tmp_path)
    with pytest.raises(UsageError, match="holds no run of the bench"):
        read_parts(tmp_path)
    (tmp_path / RAW / "native-2" / PACKED).write_bytes(b"torn")
    with pytest.raises(UsageError, match="is damaged"):
        read_parts(tmp_path)
