"""The algorithm player: its model against closed forms, its contents against what is proved, the page in a browser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser
from typer.testing import CliRunner

import ringtree
from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.schedules.format import to_json
from ringtree.show.player import page, scene

ALPHA, BANDWIDTH, SIZE, SLICE = 1e-5, 1e9, 1 << 20, 1 << 30
CLOCK = {"alpha": ALPHA, "bandwidth": BANDWIDTH, "size": SIZE, "slice": SLICE}


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as one:
        yield one


def written(tmp_path: Path, *scenes: dict[str, Any], title: str = "test") -> str:
    file = tmp_path / "play.html"
    text = page(scenes, title=title, alpha=ALPHA, bandwidth=BANDWIDTH, size_bytes=SIZE, slice_bytes=SIZE)
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def all_reduce(name: str, ranks: int) -> dict[str, Any]:
    return scene(ringtree.schedule("all_reduce", name, ranks))


RESULT = """([clock, i]) => {
  const scene = player.views[i].scene;
  const result = simulate(scene, clock);
  const last = new Map();
  for (const write of result.writes) if (write.kept) last.set(`${write.rank}/${write.chunk}`, [...write.value]);
  return { end: result.end, sent: [...result.sent], stuck: result.stuck.length, last: [...last] };
}"""


@pytest.mark.parametrize("num_ranks", [2, 3, 8])
def test_a_ring_takes_what_its_closed_form_says(opened: Any, tmp_path: Path, num_ranks: int) -> None:
    shown = Page(opened, written(tmp_path, all_reduce("ring", num_ranks)))
    got = shown.run_on_text(RESULT, [CLOCK, 0])
    steps = 2 * (num_ranks - 1)
    assert got["end"] == pytest.approx(steps * (ALPHA + SIZE / num_ranks / BANDWIDTH))
    assert got["sent"] == pytest.approx([steps * SIZE / num_ranks] * num_ranks)
    assert shown.problems == []


def test_a_chain_of_two_in_slices_is_a_pipeline(opened: Any, tmp_path: Path) -> None:
    # One hop up and one down, of k slices each: the first one arrives after two hops, the others follow it.
    shown = Page(opened, written(tmp_path, all_reduce("chain", 2)))
    slices = 4
    got = shown.run_on_text(RESULT, [{**CLOCK, "slice": SIZE / slices}, 0])
    one = SIZE / slices / BANDWIDTH
    assert got["end"] == pytest.approx(2 * (ALPHA + one) + (slices - 1) * one)


@pytest.mark.parametrize("num_ranks", [1, 2, 5, 8])
def test_every_algorithm_ends_with_every_contribution_once(opened: Any, tmp_path: Path, num_ranks: int) -> None:
    names = ringtree.algorithms.names("all_reduce")
    for first in range(0, len(names), 4):
        chosen = [all_reduce(name, num_ranks) for name in names[first : first + 4]]
        shown = Page(opened, written(tmp_path, *chosen))
        for i, one in enumerate(chosen):
            got = shown.run_on_text(RESULT, [{**CLOCK, "slice": 100_000}, i])
            assert got["stuck"] == 0, one["name"]
            held = dict(got["last"])
            expected = {f"{rank}/{chunk}" for rank in range(num_ranks) for chunk in range(one["chunks"])}
            assert set(held) == expected, one["name"]
            assert all(value == [1] * num_ranks for value in held.values()), one["name"]
        assert shown.problems == []


def test_tree_wins_small_and_ring_wins_large_by_the_size_slider(opened: Any, tmp_path: Path) -> None:
    shown = Page(opened, written(tmp_path, all_reduce("ring", 8), all_reduce("tree", 8)))

    def winner(share: float) -> str:
        shown.run("share => { const s = document.getElementById('size'); s.value = share; "
                  "s.dispatchEvent(new Event('input')); }", 1000 * share)  # fmt: skip
        return str(shown.run("document.getElementById('winner').textContent"))

    assert "; tree is" in winner(0.0)
    assert "; ring is" in winner(1.0)
    assert shown.problems == []


def test_play_pause_step_scrub_and_keys(opened: Any, tmp_path: Path) -> None:
    shown = Page(opened, written(tmp_path, all_reduce("ring", 4)))
    now = "player.time"
    shown.page.keyboard.press("ArrowRight")
    first = shown.run(now)
    # The first thing that happens is the arrival of a quarter.
    assert first == pytest.approx(ALPHA + SIZE / 4 / BANDWIDTH, rel=0.2)
    assert shown.run("document.querySelectorAll('td.part').length") == 4  # every rank has added its own to what came
    shown.page.keyboard.press("ArrowLeft")
    assert shown.run(now) == 0
    assert shown.run("document.querySelectorAll('td.part').length") == 0
    shown.page.keyboard.press("End")
    assert shown.run(now) == shown.run("player.end")
    assert shown.run("document.querySelectorAll('td.full').length") == 16
    assert "done" in shown.run("document.querySelector('.status').textContent")
    shown.page.keyboard.press("Home")
    shown.page.click("#play")
    shown.until("player.time > 0")
    assert shown.page.inner_text("#play") == "Pause"
    shown.page.click("#play")
    stopped = shown.run(now)
    assert 0 < stopped < shown.run("player.end")
    shown.run("const s = document.getElementById('scrub'); s.value = 500; s.dispatchEvent(new Event('input'))")
    assert shown.run(now) == pytest.approx(shown.run("player.end") / 2)
    assert shown.problems == []


def test_it_is_light_or_dark_as_the_system_or_its_address_says(opened: Any, tmp_path: Path) -> None:
    address = written(tmp_path, all_reduce("ring", 4))
    # The colour of the first rank's circle, which is drawn: nothing but its number is in it.
    inside = "getComputedStyle(document.body).backgroundColor"
    drawn = (
        "(() => { const view = player.views[0], c = view.canvas, s = c.width / c.clientWidth; "
        "const [x, y] = view.place(c.clientWidth, c.clientHeight)[0]; "
        "return [...c.getContext('2d').getImageData((x - 9) * s, y * s, 1, 1).data]; })()"
    )
    light, dark = ("rgb(255, 255, 255)", [255, 255, 255, 255]), ("rgb(17, 22, 28)", [17, 22, 28, 255])
    for system, end, expected in [
        ("light", "", light),
        ("dark", "", dark),
        ("light", "#theme=dark", dark),
        ("dark", "#theme=light", light),
        ("dark", "#theme=auto", dark),
        ("dark", "#theme=<b>", dark),
    ]:
        shown = Page(opened, address + end, color_scheme=system)
        assert (shown.run(inside), shown.run(drawn)) == expected, (system, end)
        assert shown.problems == []
    shown.page.emulate_media(color_scheme="light")
    shown.until("document.documentElement.dataset.theme === 'light'")
    assert (shown.run(inside), shown.run(drawn)) == light
    shown.run("location.hash = 'theme=dark'")
    shown.until("document.documentElement.dataset.theme === 'dark'")
    assert (shown.run(inside), shown.run(drawn)) == dark


def test_a_refuted_schedule_shows_what_is_wrong_and_where(opened: Any, tmp_path: Path) -> None:
    def wrong(p: ringtree.ProgramBuilder) -> None:
        other = 1 - p.rank
        p.send(0, to=other)
        p.recv(0, source=other)  # keeps what came and forgets its own

    own = ringtree.build("all_reduce", wrong, ranks=2, name="forgetful")
    shown = Page(opened, written(tmp_path, scene(own)))
    assert "refuted" in shown.page.inner_text(".bad")
    shown.page.keyboard.press("End")
    assert shown.run("document.querySelectorAll('td.full').length") == 0
    assert shown.problems == []


def test_a_schedule_that_locks_up_says_who_waits(opened: Any, tmp_path: Path) -> None:
    def stuck(p: ringtree.ProgramBuilder) -> None:
        other = 1 - p.rank
        p.recv_reduce_copy(0, source=other)  # both wait for the other one to begin
        p.send(0, to=other)

    own = ringtree.build("all_reduce", stuck, ranks=2, name="polite")
    shown = Page(opened, written(tmp_path, scene(own)))
    shown.page.keyboard.press("End")
    assert "stuck" in shown.page.inner_text(".status")


def test_a_hostile_name_is_text(opened: Any, tmp_path: Path) -> None:
    one = all_reduce("ring", 2)
    one["name"] = "</script><script>window.hostile = 1</script><img src=x onerror='window.hostile = 2'>"
    one["title"] = one["verdict"]["problem"] = "<b onclick=alert(1)>&lt;"
    shown = Page(opened, written(tmp_path, one, title="<script>window.hostile = 3</script>"))
    assert shown.run("window.hostile === undefined")
    assert shown.page.inner_text("h2") == one["name"]
    assert shown.problems == []
    assert shown.requests == [shown.page.url]  # and nothing is fetched from anywhere


def test_sixty_four_ranks_are_drawn(opened: Any, tmp_path: Path) -> None:
    shown = Page(opened, written(tmp_path, all_reduce("ring", 64)))
    shown.run("player.seek(player.end / 2)")
    shares = shown.run(
        "player.views[0].result.messages.filter(m => m.depart <= player.time && m.arrive > player.time).length"
    )
    assert shares == 64  # every rank's message is on its way
    assert shown.problems == []


def test_the_command(tmp_path: Path) -> None:
    runner = CliRunner()
    file = tmp_path / "a.html"
    assert runner.invoke(app, ["play", "ring,tree", "--ranks", "4", "-o", str(file)]).exit_code == 0
    data = json.loads(file.read_text().split('id="scenes">')[1].split("</script>")[0])
    assert [one["name"] for one in data["scenes"]] == ["ring", "tree"]
    assert data["scenes"][0]["ranks"] == 4
    own = tmp_path / "own.json"
    own.write_text(to_json(ringtree.schedule("all_reduce", "ring", 3)))
    assert runner.invoke(app, ["play", str(own), "-o", str(file)]).exit_code == 0
    for bad in (["ringg"], ["ring,ring,ring,ring,ring"], ["none.json"], ["ring", "--hosts", "2x2", "--ranks", "3"]):
        result = runner.invoke(app, ["play", *bad, "-o", str(file)])
        assert result.exit_code == 2, bad
    assert runner.invoke(app, ["play", "ring", "-o", str(tmp_path / "no" / "a.html")]).exit_code == 1


def test_what_is_too_much_for_a_browser_is_refused() -> None:
    assert math.prod((1024, 2 * 1023 + 1)) > 200_000
    with pytest.raises(UsageError, match="the player takes"):
        scene(ringtree.schedule("all_reduce", "ring", 1024))
