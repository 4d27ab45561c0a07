"""This machine as a description: what is probed, what is held, and that the rest comes from the run.

For: `ringtree cluster from --probe`. Not for: the fit (test_calibration.py), the rates of this machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.measure.probe import DEFAULT_MEMORY_CAP
from ringtree.results import StoredRun, read_run
from ringtree.show.calibration_text import calibration_lines
from ringtree.simulate import probing
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.calibration.constants import changed, constant_like
from ringtree.simulate.calibration.describing import described
from ringtree.simulate.cluster import Cluster, cluster_text
from ringtree.simulate.cluster.core_hosts import core_host
from ringtree.simulate.cluster.files import parse_cluster_text
from ringtree.simulate.on_core import CORE
from ringtree.simulate.probing import SIZES, calibrated_by, probe_plan, probed_base
from ringtree.simulate.recording import store
from ringtree.simulate.sweep import simulate_all


def host(ranks: int, cores: int) -> Cluster:
    base = core_host("made", ranks)
    assert base.host.memory is not None
    memory = base.host.memory.model_copy(update={"cores": cores})
    return base.model_copy(update={"host": base.host.model_copy(update={"memory": memory})})


def simulated_run(cluster: Cluster, path: Path) -> StoredRun:
    file = path / "true.toml"
    file.write_text(cluster_text(cluster))
    arms = ",".join(arm.name for arm in probe_plan(cluster.host.ranks).arms)
    sweep = sweep_of(Asked(str(file), algorithm=arms, sizes=SIZES))
    (run,) = store(sweep, simulate_all(sweep, CORE)[1], path / "runs")
    return read_run(run)


@pytest.mark.parametrize(
    ("ranks", "cores", "fitted", "held"),
    [
        # A core for each rank: the call and the hop are told apart.
        (
            2,
            2,
            {"host.memory.core": 3e9, "launch.simple": 30e-6, "host.memory.latency.simple": 9e-6},
            "channel.copy_rate",
        ),
        # Ranks outnumber cores: a hop waits for a core.
        (4, 2, {"host.memory.core": 3e9, "host.memory.latency.simple": 30e-6}, "launch.simple"),
    ],
)
def test_what_a_hop_costs_depends_on_whether_each_rank_has_a_core(
    ranks: int, cores: int, fitted: dict[str, float], held: str, tmp_path: Path
) -> None:
    base = host(ranks, cores)
    of = dict(base.constants())
    true = changed(base, {key: constant_like(of[key], value) for key, value in fitted.items()})
    found = calibrated_by(base, [simulated_run(true, tmp_path)])
    values = {one.key: one.value for one in found.fitted}
    for key, value in fitted.items():
        assert values[key] == pytest.approx(value, rel=0.03)
    assert held not in values
    assert dict(found.cluster.constants())[held] == of[held]


def test_the_base_has_what_was_probed_with_source_and_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing.Handoff, "measure", lambda _probe, _seconds: 3e-7)
    monkeypatch.setattr(probing, "copy_rates", lambda sizes, _cores, _seconds: dict.fromkeys(sizes, 2e10))
    base, told = probed_base(2)
    assert base.host.ranks == 2
    assert told.startswith("probed: ")
    of = dict(base.constants())
    for key, value in (("host.memory.latency.simple", 3e-7), ("channel.copy_rate", 2e10)):
        assert of[key].si == pytest.approx(value)
        assert of[key].source.endswith("probed")
        assert of[key].date
        assert key in told


def test_fast_copies_are_not_hidden_by_an_assumed_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores that share a cache copy several times what is assumed of a link: what they do is found all the same."""
    monkeypatch.setattr(probing.Handoff, "measure", lambda _probe, _seconds: 1e-7)
    monkeypatch.setattr(
        probing, "copy_rates", lambda sizes, _cores, _seconds: {one: 120e9 if one < 1 << 20 else 55e9 for one in sizes}
    )
    base, _ = probed_base(2)
    assert dict(base.constants())["host.memory.rate"].si == 120e9
    true = changed(base, {"host.memory.core": constant_like(dict(base.constants())["host.memory.core"], 60e9)})
    values = {one.key: one.value for one in calibrated_by(base, [simulated_run(true, tmp_path)]).fitted}
    assert values["host.memory.core"] == pytest.approx(60e9, rel=0.05)


def test_a_core_that_never_limits_gets_the_bound_that_times_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times say no more than how fast it is at least; the assumed 8 GB/s, which they refute, would limit everything."""
    monkeypatch.setattr(probing.Handoff, "measure", lambda _probe, _seconds: 5e-8)
    monkeypatch.setattr(
        probing, "copy_rates", lambda sizes, _cores, _seconds: {one: 120e9 if one < 1 << 20 else 55e9 for one in sizes}
    )
    base, _ = probed_base(2)
    of = dict(base.constants())
    fast = {"host.memory.core": 1e13, "host.memory.latency.simple": 2e-7}
    true = changed(base, {key: constant_like(of[key], value) for key, value in fast.items()})
    found = calibrated_by(base, [simulated_run(true, tmp_path)])
    (core,) = [one for one in found.bounded if one.key == "host.memory.core"]
    assert core.words == "at least"
    assert 120e9 < core.value < 1e13
    assert dict(found.cluster.constants())[core.key].si == pytest.approx(core.value)
    assert core.key not in {one.key for one in [*found.held, *found.fitted]}
    values = {one.key: one.value for one in found.fitted}
    assert values["host.memory.latency.simple"] == pytest.approx(2e-7, rel=0.05)
    assert max(map(abs, found.errors)) < 0.05
    (line,) = [one for one in calibration_lines(found) if core.key in one]
    assert line.startswith("bounded: host.memory.core is at least ")
    said = dict(described(found).constants())[core.key]
    assert "at least that" in said.source
    assert said.date


def test_what_a_core_touches_is_a_copy_twice_and_slower_with_more_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy reads and writes; a size that was disturbed, here 1 MB, has the rate of the next larger one."""

    def rates(sizes: tuple[int, ...], _cores: int, _seconds: float) -> dict[int, float]:
        return {size: 1e9 if size == 1 << 20 else 40e9 if size < 1 << 20 else 5e9 for size in sizes}

    monkeypatch.setattr(probing, "copy_rates", rates)
    base, told = probed_base(2)
    memory = base.host.memory
    assert memory is not None
    found = {one.bytes.si: one.rate.si for one in memory.touched}
    assert found == {2.0 * (1 << power): 80e9 if power < 20 else 10e9 for power in range(17, 26)}
    assert list(found) == sorted(found)
    assert all(one.rate.date and "probed" in one.rate.source and one.bytes.date for one in memory.touched)
    assert "a core reads or writes 80 GB/s of 256 KB and 10 GB/s of 64 MB" in told


def test_a_probed_base_survives_its_file_and_fits_keep_what_cores_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "copy_rates", lambda sizes, _cores, _seconds: dict.fromkeys(sizes, 2e10))
    base, _ = probed_base(2)
    assert parse_cluster_text(cluster_text(base), "here") == base
    true = changed(base, {"host.memory.core": constant_like(dict(base.constants())["host.memory.core"], 20e9)})
    found = calibrated_by(base, [simulated_run(true, tmp_path)])
    assert found.cluster.host.memory is not None
    assert base.host.memory is not None
    assert found.cluster.host.memory.touched == base.host.memory.touched
    values = {one.key: one.value for one in found.fitted}
    assert values["host.memory.core"] == pytest.approx(20e9, rel=0.03)


def test_where_no_core_answers_the_base_says_that_it_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing.Handoff, "measure", lambda _probe, _seconds: None)
    monkeypatch.setattr(probing, "copy_rates", lambda _sizes, _cores, _seconds: {})
    base, told = probed_base(2)
    assert told == "probed: nothing: no core answered"
    assert all(constant.assumed for _, constant in base.constants())


def test_the_plan_is_small() -> None:
    plan = probe_plan(2)
    assert (plan.num_ranks, [arm.label for arm in plan.arms], len(plan.sizes)) == (2, ["ring", "tree", "one_shot"], 4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a log, or --probe for this machine"),
        (["some.log", "--probe"], "leave LOG and --gpu out"),
        (["some.log", "--ranks", "4"], "--ranks is for --probe"),
    ],
)
def test_mistakes_are_one_line(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["cluster", "from", *words])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_many_cores_copy_what_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def rates(sizes: list[int], cores: int, _seconds: float) -> dict[int, float]:
        assert all(2 * size * cores <= DEFAULT_MEMORY_CAP for size in sizes), "copy_rates() refuses that"
        return dict.fromkeys(sizes, 2e10)

    monkeypatch.setattr(probing, "copy_rates", rates)
    monkeypatch.setattr(probing, "usable_cores", lambda: list(range(64)))
    base, _ = probing.probed_base(64)
    assert base.host.memory is not None
    assert base.host.memory.touched[-1].bytes.value == 16 << 10  # KiB: copies of 8 MB
