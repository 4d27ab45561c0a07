"""The method's tests of itself (tools/method): a quick, seeded form of them, and that each can fail.

Made-up launches of known effect stand in for real ones. Of the stored measurements only what is cheap is computed
again; that the page is the one of the stored summary, and the summary that of the data files, is checked in full.
`make method-check` does everything.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ringtree.stats import Judged, judge, sign_flip_p

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from method import bars, live, study  # noqa: E402
from method.bank import read_bank, write_bank  # noqa: E402
from method.cells import Columns, columns_of  # noqa: E402
from method.counts import Share  # noqa: E402
from method.coverage import Coverage, coverage  # noqa: E402
from method.emulated import read_emulated  # noqa: E402
from method.error_rate import QUICK, ErrorRates, error_rates  # noqa: E402
from method.packed import sha256  # noqa: E402
from method.page import page, summary_text  # noqa: E402
from method.power import injected_power  # noqa: E402
from method.shaped import DESIGNS, Design, times  # noqa: E402
from method_synthetic import synthetic_bank  # noqa: E402

DATA = ROOT / "docs" / "method-data"
SEED = 3
DRAWS = 100


@pytest.fixture(scope="module")
def quiet() -> Columns:
    return columns_of(synthetic_bank(32, 0.008, seed=SEED, num_sizes=6, share_far=0.0))


@pytest.fixture(scope="module")
def noisy() -> Columns:
    return columns_of(synthetic_bank(32, 0.30, seed=SEED, num_sizes=6, num_rounds=4))


def every_cell_alone(effects: NDArray[np.float64], _: float, level: float) -> list[Judged]:
    """A broken method: no margin, and nothing done for there being many cells."""
    return [judge(effects[:, [cell]], 0.0, level)[0] for cell in range(effects.shape[1])]


class TestErrorRate:
    @pytest.mark.parametrize("which", ["quiet", "noisy"])
    def test_few_runs_claim_what_is_not_there(self, which: str, request: pytest.FixtureRequest) -> None:
        rates = error_rates(request.getfixturevalue(which), DRAWS, SEED)
        for share, limit in [
            (rates.permuted, 0.05),
            (rates.slower_at_margin, 0.025),
            (rates.equivalent_at_margin, 0.05),
        ]:
            assert bars.not_shown_above("", share, limit).met, f"{which}, seed {SEED}: {share}, limit {limit}"

    def test_a_method_without_margin_and_family_is_caught(self, noisy: Columns) -> None:
        share = error_rates(noisy, DRAWS, SEED, every_cell_alone).permuted
        assert not bars.at_most("", share, bars.MAX_ERROR, DRAWS).met, f"seed {SEED}: {share}"
        assert not bars.not_shown_above("", share, bars.MAX_ERROR).met, f"seed {SEED}: {share}"

    def test_flipping_cells_one_by_one_is_caught_at_the_margin(self, noisy: Columns) -> None:
        """Each cell's p is right, but nothing is done for there being many."""

        def unadjusted(effects: NDArray[np.float64], margin: float, level: float) -> list[Judged]:
            return [judge(effects[:, [cell]], margin, level)[0] for cell in range(effects.shape[1])]

        share = error_rates(noisy, DRAWS, SEED, unadjusted).slower_at_margin
        assert not bars.not_shown_above("", share, bars.MAX_ERROR / 2).met, f"seed {SEED}: {share}"

    def test_a_difference_that_is_there_shows_in_the_draws_as_measured_only(self, quiet: Columns) -> None:
        slowed = Columns(quiet.effects + math.log(1.5), quiet.sizes, quiet.placements)
        rates = error_rates(slowed, 40, SEED)
        assert rates.as_measured == Share(40, 40)
        assert rates.disjoint == Share(4, 4)
        assert bars.not_shown_above("", rates.permuted, 0.05).met, f"seed {SEED}: {rates.permuted}"

    def test_the_same_seed_gives_the_same_draws(self, noisy: Columns) -> None:
        first = error_rates(noisy, QUICK, SEED, every_cell_alone)
        more = error_rates(noisy, QUICK + 30, SEED, every_cell_alone)
        assert first == error_rates(noisy, QUICK, SEED, every_cell_alone)
        assert first.quick == more.quick == first.permuted.hits
        assert first.quick < more.permuted.hits

    def test_blocks_that_show_nothing_are_refused(self) -> None:
        nothing = Columns(np.full((9, 2), np.nan), (1, 2), ("", ""))
        with pytest.raises(ValueError, match="nothing to judge"):
            error_rates(nothing, 1, SEED)


class TestPower:
    def test_ten_percent_is_found_in_quiet_launches_and_not_in_noisy_ones(self, quiet: Columns, noisy: Columns) -> None:
        found = injected_power(quiet, 0.10, 25, SEED)
        assert bars.at_least("", found.found, bars.MIN_POWER, 1).met, f"seed {SEED}: {found}"
        assert found.worst.value <= found.found.value
        assert found.wrong_direction == 0
        missed = injected_power(noisy, 0.10, 10, SEED)
        assert not bars.at_least("", missed.found, bars.MIN_POWER, 1).met, f"seed {SEED}: {missed}"

    def test_nothing_injected_is_hardly_ever_found(self, quiet: Columns) -> None:
        assert injected_power(quiet, 0.0, 20, SEED).found.value <= 0.05

    def test_simulated_power_grows_with_the_effect_and_falls_with_the_scatter(self) -> None:
        rows = {(row["effect"], row["deviation"]): row["found"][0] for row in study.power_curve(12)}
        assert rows[0.30, 0.02] == 12
        assert rows[0.05, 0.02] >= rows[0.05, 0.12]
        assert rows[0.05, 0.08] <= rows[0.30, 0.08]

    def test_the_launches_said_decide_about_four_times_out_of_five(self) -> None:
        decided = [row["decided"] for row in study.needed_table(8)]
        assert sum(hits for hits, _ in decided) / sum(draws for _, draws in decided) > 0.6, decided


def made_up(design: Design, scatter: float, slow_first: float = 1.0, num_runs: int = 40) -> Coverage:
    """The coverage of launches that take the closed form's times, each round with a scatter of its own."""
    design = replace(design, num_runs=num_runs)
    links = np.array([design.links_of(launch) for launch in range(design.num_launches)])
    exact = np.array([[times(arm, design.sizes, *link) for arm in design.arms] for link in links]).transpose(0, 2, 1)
    exact[:, :, 0] *= slow_first
    noise = np.random.default_rng(SEED).normal(scale=scatter, size=(*exact.shape, design.num_rounds))
    return coverage(design, exact[..., np.newaxis] * np.exp(noise), links)


class TestCoverage:
    @pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
    def test_intervals_hold_the_truth_of_exact_links(self, design: Design) -> None:
        found = made_up(design, scatter=0.01, num_runs=100)
        for share in (found.crossover, *(at.covered for at in found.ratios)):
            # 95.3 % by design; a hundred runs scatter around it.
            assert share.interval(0.999)[0] <= 1 - 12 / 256 <= share.interval(0.999)[1], f"seed {design.seed}: {found}"
        assert found.crossover_median == pytest.approx(design.crossover, rel=0.01)
        assert found.wrong == 0
        assert max(map(abs, found.arm_bias)) < 0.001

    def test_a_bias_of_five_percent_is_caught(self) -> None:
        found = made_up(DESIGNS[0], scatter=0.01, slow_first=1.05)
        for share in (found.crossover, found.all_ratios):
            assert not bars.at_least("", share, bars.MIN_COVERAGE, 1).met, f"seed {DESIGNS[0].seed}: {found}"
            assert share.interval(0.999)[1] < 1 - 12 / 256
        assert found.arm_bias == pytest.approx((0.05, 0.0), abs=0.001)
        assert found.ratios[2].bias == pytest.approx(math.log(1.05), abs=0.001)

    def test_runs_that_find_no_crossover_do_not_cover(self) -> None:
        found = made_up(DESIGNS[0], scatter=0.01, slow_first=4.0)  # the first arm is slower at every size
        assert (found.crossings, found.crossover) == (0, Share(0, 40))
        assert found.wrong == 40


class TestBars:
    def test_each_bar_can_be_missed(self) -> None:
        assert bars.at_most("", Share(50, 1000), 0.05, 1000).met
        assert not bars.at_most("", Share(51, 1000), 0.05, 1000).met
        assert not bars.at_most("", Share(0, 999), 0.05, 1000).met, "too few draws"
        assert bars.at_least("", Share(186, 200), 0.93, 200).met
        assert not bars.at_least("", Share(185, 200), 0.93, 200).met
        assert not bars.at_least("", Share(199, 199), 0.93, 200).met, "too few draws"
        assert bars.not_shown_above("", Share(55, 1000), 0.05).met
        assert not bars.not_shown_above("", Share(80, 1000), 0.05).met
        assert bars.no_data("").met is None

    @pytest.mark.parametrize(("hits", "low", "high"), [(0, 0.0, 0.3085), (3, 0.0667, 0.6525), (10, 0.6915, 1.0)])
    def test_intervals_of_shares_are_those_of_the_tables(self, hits: int, low: float, high: float) -> None:
        """Ten draws; Clopper and Pearson's 95 % limits, as tabulated."""
        assert Share(hits, 10).interval() == pytest.approx((low, high), abs=5e-5)

    @pytest.mark.parametrize(
        ("arm", "engine"), [("ring", True), ("auto", True), ("gloo", False), ("send-recv:ring", False)]
    )
    def test_power_has_a_bar_for_arms_of_the_engine(self, arm: str, engine: bool) -> None:
        bank = replace(synthetic_bank(2, 0.02, seed=SEED), arms=(arm, f"{arm}#2"))
        assert study.is_engine(bank) == engine

    def test_without_data_no_bar_is_reached(self) -> None:
        nothing = (
            dict.fromkeys(study.BANKS),
            {design.name: None for design in DESIGNS},
            dict.fromkeys(one.name for one in live.LIVE),
        )
        found = study.all_bars(*nothing)
        assert len(found) == 12
        assert {bar.met for bar in found} == {None}


def result_of(*verdicts: str) -> dict[str, object]:
    """The part of `ringtree compare --json` that is read."""
    cells = [{"time": {"median": 1.0}, "versus_reference": {"ratio": 1.2, "verdict": verdict}} for verdict in verdicts]
    return {"format": "x", "cells": [*cells, {"versus_reference": None}], "crossovers": [{"kind": "none"}]}


class TestLive:
    def test_verdicts_are_counted(self) -> None:
        found = live.verdicts(result_of("inconclusive", "slower", "equivalent", "slower"))
        assert found == {"faster": 0, "slower": 2, "equivalent": 1, "inconclusive": 1, "claimed_ratios": [1.2, 1.2]}

    def test_a_result_without_comparisons_is_an_error(self) -> None:
        with pytest.raises(SystemExit, match="no comparison"):
            live.verdicts(result_of())

    def test_runs_as_they_should_be(self) -> None:
        runs = [live.verdicts(result_of(*verdicts)) for verdicts in (["equivalent"], ["slower"], ["slower", "faster"])]
        for slowed in (False, True):
            assert live.Live("live-any", "any", (), slowed=slowed).as_it_should_be(runs) == Share(1, 3)

    def test_a_study_may_miss_as_many_runs_as_its_share_allows(self) -> None:
        found, missed = ([live.verdicts(result_of(verdict))] for verdict in ("slower", "inconclusive"))
        (slowed,) = (one for one in live.LIVE if one.name == "live-train-slowed")
        nothing = dict.fromkeys(study.BANKS), {design.name: None for design in DESIGNS}
        for misses, reached in ((1, True), (2, False)):
            data = dict.fromkeys(one.name for one in live.LIVE) | {
                slowed.name: {"runs": found * (20 - misses) + missed * misses}
            }
            assert [bar.met for bar in study.all_bars(*nothing, data)][-1] is reached


class TestStoredPage:
    """docs/method.md, docs/method-data/summary.json and the data files belong together."""

    SUMMARY = DATA / "summary.json"

    def test_the_page_is_that_of_the_summary(self) -> None:
        text = self.SUMMARY.read_text()
        assert text == summary_text(json.loads(text))
        assert page(text) == (ROOT / "docs" / "method.md").read_text(), "run make method-check"

    def test_the_summary_is_that_of_the_data(self) -> None:
        stored = json.loads(self.SUMMARY.read_text())["data"]
        files = {file.name: sha256(file) for file in DATA.iterdir() if file.name != "summary.json"}
        assert files == stored, "run make method-check"

    def test_the_bars_are_those_of_the_figures(self) -> None:
        stored = json.loads(self.SUMMARY.read_text())
        found = study.all_bars(stored["banks"], stored["emulated"], stored["live"])
        assert study.as_json(found) == stored["bars"]

    @pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
    def test_coverage_is_computed_from_the_data(self, design: Design) -> None:
        file = DATA / f"emulated-{design.name}.npz"
        if not file.exists():
            pytest.skip("not measured yet")
        stored = read_emulated(file)
        assert stored.design == design, "measured with another design: make method-data"
        found = study.as_json(coverage(design, stored.seconds, stored.links))
        kept = json.loads(self.SUMMARY.read_text())["emulated"][design.name]
        assert found["crossover"] == kept["crossover"]
        assert [at["covered"] for at in found["ratios"]] == [at["covered"] for at in kept["ratios"]]
        for key in ("crossover_median", "width"):
            assert found[key] == pytest.approx(kept[key], rel=1e-5)
        assert found["arm_bias"] == pytest.approx(kept["arm_bias"], rel=1e-5)

    @pytest.mark.parametrize("name", study.BANKS)
    def test_the_first_permutations_are_computed_from_the_data(self, name: str) -> None:
        file = DATA / f"{name}.npz"
        if not file.exists():
            pytest.skip("not measured yet")
        rates: ErrorRates = error_rates(columns_of(read_bank(file)), QUICK, study.SEED)
        assert [rates.quick, QUICK] == json.loads(self.SUMMARY.read_text())["banks"][name]["quick"]


def test_a_page_is_written_for_whatever_data_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, draws in [("ERROR_DRAWS", 4), ("POWER_DRAWS", 2)]:
        monkeypatch.setattr(study, name, draws)
    monkeypatch.setattr(study, "CURVE_DEVIATIONS", (0.02,))
    monkeypatch.setattr(study, "CURVE_DRAWS", 2)
    monkeypatch.setattr(study, "power_curve", lambda: [{"deviation": 0.02, "effect": 0.1, "found": [1, 2]}])
    monkeypatch.setattr(study, "needed_table", lambda: [])
    nothing = page(summary_text(study.summarise(tmp_path)))
    assert nothing.count("**no data**") == 12
    assert "reached" not in nothing
    write_bank(tmp_path / "aa-ring.npz", synthetic_bank(9, 0.02, seed=SEED, num_sizes=2, num_rounds=3))
    run = {"seed": 1, "seconds": 3.0, **live.verdicts(result_of("equivalent"))}
    record = {"format": live.FORMAT, "arms": "x,x", "options": [], "origin": {}, "runs": [run]}
    (tmp_path / "live-aa.json").write_text(json.dumps(record))
    summary = study.summarise(tmp_path)
    assert summary["banks"]["aa-ring"]["engine"]
    assert set(summary["data"]) == {"aa-ring.npz", "live-aa.json"}
    written = page(summary_text(summary))
    assert (
        "| live-aa: an arm against itself | `ringtree compare --arms x,x` | 1 of 1 | 0 | 0 | 1 | 0 | none | 3–3 s |"
        in written
    )
    assert "**missed**" in written, "four draws and one run are too few for any bar"


def test_power_of_the_test_itself_is_not_an_accident_of_the_bank() -> None:
    """The unadjusted test that the error rate catches does differ from the adjusted one on these effects."""
    effects = np.random.default_rng(SEED).normal(size=(8, 9))
    alone = [sign_flip_p(effects[:, [cell]])[0] for cell in range(9)]
    assert np.all(sign_flip_p(effects) >= np.array(alone) - 1e-12)
