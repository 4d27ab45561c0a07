"""The page of the bench between hosts from made-up parts: its bars, and that it comes from the stored data alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench.hosts.__main__ import main
from bench.hosts.header import FORMAT, HEADER, LINKS, HostsHeader, begin, read_header, read_links, write
from bench.hosts.links import LARGE, MIDDLE, SMALL, Links, LinkTimes
from bench.hosts.page import page_text, worlds_of, write_page
from bench.hosts.rate import share_of
from bench.hosts.worlds import CROSSOVER, RATE, WORLDS, World, make_plan, world_of
from bench.parts import NATIVE, TORCH
from bench.stored import part_path
from bench_hosts_support import made_up_part
from comparison_support import noise

from ringtree.errors import UsageError
from ringtree.results import RunWriter

FACTORS = {"engine": 1.0, "openmpi4": 1.9, "openmpi5": 1.5, "auto": 1.0, "gloo": 3.0, "ring": 1.0}
PARTS = (World(NATIVE, 2, 1, 1), World(TORCH, 4, 1, 1), World(RATE, 4, 1, 1), World(CROSSOVER, 4, 1, 1))


def header(parts: tuple[World, ...]) -> HostsHeader:
    return HostsHeader(
        machine="some-cpu-2-cores",
        created_utc="2026-11-22T12:00:00Z",
        command="bench.hosts run",
        budget=600.0,
        num_launches=8,
        seed=1,
        cores=[0, 1],
        parts=[part.name for part in parts],
        arms={"native-2x1 engine": ["engine_worker"]},
        left_out={"openmpi4": "not had"},
    )


def seconds_of(part: World, factors: dict[str, float]) -> Callable[[int, int, str, int], float]:
    def seconds(launch: int, size: int, arm: str, round_: int) -> float:
        if part.kind == CROSSOVER:
            # ring and tree change places at 8 KB
            time = 100e-6 + size * 10e-9 if arm == "ring" else 18.08e-6 + size * 20e-9
        elif part.kind == RATE:
            time = 1.5 * size * 8 / 1e9 / factors.get("share", 0.93)
        else:
            time = factors[arm] * (1e-5 + size * 1e-9)
        return time * noise(launch, size, arm, round_)

    return seconds


def stored(directory: Path, parts: tuple[World, ...] = PARTS, **changed: float) -> Path:
    """Writes a run as the bench does."""
    begin(directory, header(parts))
    for part in parts:
        run = made_up_part(part, seconds_of(part, {**FACTORS, **changed}))
        with RunWriter(part_path(directory, part.name).parent, run.run) as writer:
            for launch in run.launches:
                writer.append(launch)
    one_way = {size: [16e-6 + size / 24e6] * 8 for size in (SMALL, MIDDLE, LARGE)}
    found = {"crossover-4x1": LinkTimes(alone=one_way, together=one_way), "rate-4x1": LinkTimes(streams=[117e6] * 8)}
    write(directory / LINKS, Links(parts=found))
    return directory


def page(directory: Path) -> str:
    """The page without its pictures, which take seconds."""
    return page_text(read_header(directory), worlds_of(directory), read_links(directory), "Tried hard.\n")


def bar(text: str, question: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| {question}"))


def test_bars_are_reached_against_the_faster_peer(tmp_path: Path) -> None:
    text = page(stored(tmp_path))
    for size in ("8 B", "64 KB", "16 MB"):
        line = bar(text, f"2 hosts of 1 rank native C, against Open MPI, {size}")
        assert "| 1.50× (" in line
        assert "; openmpi5 | reached |" in line
        assert line.endswith("reached |")
        assert "| reached |" in bar(text, f"4 hosts of 1 rank through PyTorch, against Gloo, {size}")
    line = bar(text, "4 hosts of 1 rank, 1 Gbit/s, ring, 16 MB: busbw over the rate")
    assert "| 93." in line or "| 92." in line
    assert line.endswith("| reached |")


def test_each_bar_can_be_missed(tmp_path: Path) -> None:
    text = page(stored(tmp_path, openmpi5=0.8, gloo=0.9, share=0.85))
    assert "| 0.80× (" in bar(text, "2 hosts of 1 rank native C, against Open MPI, 8 B")
    missed = [line for line in text.splitlines() if line.endswith("| **missed** |")]
    assert len(missed) == 3 + 3 + 1


def test_a_part_without_launches_has_no_data(tmp_path: Path) -> None:
    begin(tmp_path, header(PARTS))
    assert write_page(tmp_path)[1] == 3 + 3 + 1
    text = page(tmp_path)
    assert text.count("**no data**") == 7
    assert "- openmpi4: not had" in text


def test_the_page_tells_shares_plain_sockets_and_crossovers(tmp_path: Path) -> None:
    text = page(stored(tmp_path))
    assert "16 MB from every host to the next at the same time: 93.6 % (93.6–93.6 %) of the rate, 8 times." in text
    assert "% of 96." in text
    assert "## Notes\n\nTried hard." in text
    crossing = bar(text, "tree, ring")
    assert "8.0 KB" in crossing or "8.1 KB" in crossing or "7.9 KB" in crossing
    assert "tree is faster below" in crossing
    assert "| alone | 16.3 µs" in text
    assert str(tmp_path) not in text, "no path of a machine"


def test_the_page_is_made_from_the_stored_data_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert write_page(stored(tmp_path, PARTS[:1]))[1] == 0
    first = {file.name: file.read_bytes() for file in tmp_path.glob("*.*")}
    assert {name for name in first if name.endswith(".svg")} == {
        f"native-2x1-{place}-{what}.svg" for place in ("near", "far") for what in ("time", "ratio")
    }
    assert main(["page", str(tmp_path)]) == 0
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.*")} == first


def test_the_page_says_what_auto_chooses_by(tmp_path: Path) -> None:
    found = stored(tmp_path, PARTS[:1])
    assert "choose by the model\n" in page(found)
    tuned = header(PARTS[:1]).model_copy(update={"rules": ["2x1", "4x1"]})
    write(found / HEADER, tuned)
    assert "choose by measured rules on 2x1, 4x1 hosts" in page(found)


def test_a_directory_is_not_written_twice_and_other_formats_are_refused(tmp_path: Path) -> None:
    begin(tmp_path, header(()))
    with pytest.raises(UsageError, match="holds a run"):
        begin(tmp_path, header(()))
    (tmp_path / "hosts.json").write_text(header(()).model_dump_json().replace(FORMAT, "another/9"))
    with pytest.raises(UsageError, match="another/9"):
        read_header(tmp_path)
    assert main(["page", str(tmp_path / "nothing")]) == 2


def test_where_no_hosts_can_be_made_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hosts_support.why_no_hosts", lambda: "Operation not permitted")
    assert main(["run", "--budget", "1m", "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("bench-hosts: no hosts can be made here")
    assert said.endswith("Operation not permitted")
    assert "\n" not in said
    assert not (tmp_path / "run").exists()


def test_parts_have_names_plans_and_together_all_of_the_time() -> None:
    assert sum(world.share for world in WORLDS) == pytest.approx(1.0)
    for world in WORLDS:
        assert world_of(world.name) is world
        plan = make_plan(world, 30.0, 8, 1, ("engine",))
        assert plan.hosts == [rank // world.ranks_per_host for rank in range(world.num_ranks)]
    with pytest.raises(UsageError, match="no part 'native-9x9'"):
        world_of("native-9x9")


def test_a_share_is_that_of_the_bus(tmp_path: Path) -> None:
    assert share_of(16 << 20, 1.5 * (16 << 20) * 8 / 1e9 / 0.93, 4) == pytest.approx(0.93)
