"""The page of the bench from small made-up parts: what stands on it, and that it comes from the raw launches alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from bench.effects import World
from bench.page import page_text, write_page
from bench.stored import FORMAT, ArmNote, Header, pack, part_path, read_bench, read_part, write_header
from bench.tables import size_table
from bench_support import made_up_part, made_up_world, times_of

from ringtree.errors import UsageError
from ringtree.results import RunWriter, StoredRun

FACTORS = {"engine": 1.0, "engine/shared": 0.5, "mpich5": 2.5, "impi": 0.8}
SIZES = (8, 1000, 8192, 4 << 20)


def header(parts: Mapping[str, object]) -> Header:
    return Header(
        machine="some-cpu-2-cores",
        created_utc="2026-11-21T12:00:00Z",
        budget=600.0,
        num_launches=8,
        seed=1,
        cores=[0, 1],
        parts=list(parts),
        arms=[
            ArmNote(name="engine", command=["driver", "--socket", "SOCKET"]),
            ArmNote(name="oneccl", missing="not had"),
        ],
        left_out={"oneccl": "not had"},
    )


def store(directory: Path, stored: StoredRun) -> None:
    """Writes a run of one part as the bench does."""
    write_header(directory, header({stored.run.run_id: stored}))
    with RunWriter(part_path(directory, stored.run.run_id).parent, stored.run) as writer:
        for launch in stored.launches:
            writer.append(launch)


def column(table: list[str], name: str) -> list[str]:
    names = [text.strip() for text in table[0].split("|")]
    return [line.split("|")[names.index(name)].strip() for line in table[2:]]


def test_a_table_has_a_row_a_power_of_two_and_marks_who_is_faster() -> None:
    world = made_up_world(times_of(FACTORS), tuple(FACTORS), SIZES)
    table = size_table(world, world.places[0])
    assert column(table, "size") == ["8 B", "8 KB", "4 MB"]
    assert [text[:8] for text in column(table, "mpich5")] == ["▼ 2.5× ("] * 3
    assert all(text.startswith("**▲ 0.80× (") for text in column(table, "impi"))
    assert column(table, "engine/shared")[1].startswith("**▲ 0.50×")
    assert column(table, "*n*") == ["8", "8", "8"]
    assert column(table, "engine")[0].startswith("1.0")
    far = size_table(world, world.places[1])
    assert column(far, "engine")[0].startswith("2.0")


def test_the_engine_is_the_first_column_wherever_it_was_named() -> None:
    factors = {"engine": 1.0, "mpich5": 2.5}
    stored = made_up_part(times_of(factors), tuple(factors), (8,))
    turned = stored.run.plan.model_copy(update={"arms": stored.run.plan.arms[::-1]})
    world = World(replace(stored, run=stored.run.model_copy(update={"plan": turned})))
    table = size_table(world, world.places[0])
    assert column(table, "engine")[0].startswith("1.0")
    assert column(table, "mpich5")[0].startswith("▼ 2.5×")


def test_odd_sizes_have_a_table_of_their_own_and_old_variants_none() -> None:
    factors = {"engine": 1.0, "mpich5": 2.5, "engine/unaligned": 2.0, "mpich5/unaligned": 7.0}
    world = made_up_world(times_of(factors), tuple(factors), (1000, 4096))
    table = size_table(world, world.places[0], odd=True)
    assert column(table, "size") == ["1,000 B"]
    assert [text[:6] for text in column(table, "mpich5")] == ["▼ 2.5×"]
    assert "unaligned" not in table[0]
    assert size_table(made_up_world(times_of(FACTORS), tuple(FACTORS), (8,)), world.places[0], odd=True) == []


def test_the_page_holds_bars_tables_notes_and_what_was_left_out() -> None:
    world = made_up_world(times_of(FACTORS), tuple(FACTORS), SIZES)
    text = page_text(header({"native-2": world}), {"native-2": world}, "Tried hard.\n")
    parts = [
        "## Bars",
        "## Notes\n\nTried hard.",
        *(f"## all_reduce, 2 ranks, native C, {at}" for at in ("near", "far")),
    ]
    parts += ["- oneccl: not had", "engine: driver --socket SOCKET"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "| all_reduce, 2 ranks near, against the best of all peers, ≤ 4 KB | 1.8× | 0.80×" in text
    assert "| **missed** |" in text
    assert "## Notes" not in page_text(header({}), {"native-2": world}, " \n")


def test_parts_of_another_collective_stand_beside_with_its_name() -> None:
    names = ("native-2", "native-2-all_to_all")
    worlds = {name: made_up_world(times_of(FACTORS), tuple(FACTORS), SIZES, name=name) for name in names}
    text = page_text(header(worlds), worlds, "")
    assert "## all_to_all, 2 ranks, native C, near" in text
    assert "![time over size](native-2-all_to_all-near-time.svg)" in text
    assert "| all_to_all, 2 ranks far, against the best of all peers, ≤ 4 KB | 1× | 0.80×" in text
    assert "- native-2-all_to_all: 8 launches of 8" in text


def test_failures_are_listed_once_for_each_reason() -> None:
    stored = made_up_part(times_of(FACTORS), tuple(FACTORS), (8, 1024))
    cells = [
        cell.model_copy(update={"error": "rank 1 <left>", "verified": False, "times": [], "visits": []})
        if cell.arm == "impi"
        else cell
        for cell in stored.launches[0].cells
    ]
    first = stored.launches[0].model_copy(update={"cells": cells})
    world = World(StoredRun(stored.path, stored.run, [first, *stored.launches[1:]], []))
    text = page_text(header({}), {"native-2": world}, "")
    assert "- native-2, impi: rank 1  left  (8 B–1 KB; 1 launch)" in text


def test_the_page_is_made_from_the_raw_launches_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    store(tmp_path, made_up_part(times_of(FACTORS), tuple(FACTORS), SIZES))
    missed = write_page(tmp_path)[1]
    first = {file.name: file.read_bytes() for file in tmp_path.glob("*.*")}
    assert missed > 0
    assert {name for name in first if name.endswith(".svg")} == {
        f"native-2-{place}-{what}.svg" for place in ("near", "far") for what in ("time", "ratio")
    }
    for name in first.keys() - {"bench.json"}:
        (tmp_path / name).unlink()
    pack(tmp_path, "native-2")
    assert write_page(tmp_path)[1] == missed
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.*")} == first


def test_packing_keeps_every_launch(tmp_path: Path) -> None:
    stored = made_up_part(times_of(FACTORS), tuple(FACTORS), SIZES)
    store(tmp_path, stored)
    plain = part_path(tmp_path, "native-2") / "launches.jsonl"
    before = plain.read_bytes()
    pack(tmp_path, "native-2")
    packed = plain.with_name("launches.jsonl.xz").read_bytes()
    assert not plain.exists()
    assert len(packed) < len(before) / 4
    found = read_part(tmp_path, "native-2")
    assert found is not None
    assert found.launches == stored.launches


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run of the bench"):
        read_bench(tmp_path)
    write_header(tmp_path, header({}))
    file = tmp_path / "bench.json"
    file.write_text(file.read_text().replace(FORMAT, "ringtree.bench/9"))
    with pytest.raises(UsageError, match="has the format ringtree"):
        read_bench(tmp_path)
    file.write_text("{}")
    with pytest.raises(UsageError, match="damaged"):
        read_bench(tmp_path)
