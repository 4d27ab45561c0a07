"""All of the method's tests of itself: the stored data in, one summary out.

For: docs/method-data/summary.json, from which the page is printed without computing anything. Not for: words (page.py).

Deterministic: every draw is made from SEED and its number. The summary names the content of each data file, so that a
page can't outlive its data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from generated import Bar

import ringtree
from method import bars
from method.bank import Bank, read_bank
from method.cells import columns_of
from method.counts import Share
from method.coverage import coverage
from method.emulated import read_emulated
from method.error_rate import LAUNCHES, LEVEL, MARGIN, QUICK, error_rates
from method.live import LIVE, Live, read_live
from method.packed import sha256
from method.power import EFFECTS, injected_power, simulated, typical_deviation
from method.shaped import DESIGNS
from ringtree.stats import launches_needed

FORMAT = "ringtree.method-summary/1"
SEED = 20261120
ERROR_DRAWS, POWER_DRAWS, CURVE_DRAWS, NEEDED_DRAWS = 1000, 100, 300, 200

# What the page wants beside live runs: banks of an arm against itself.
BANKS = ("aa-ring", "aa-gloo")

DECIDED = ("faster", "slower", "equivalent")
CURVE_DEVIATIONS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)
CURVE_CELLS = 9
# (effect, standard deviation of launches) whose needed launches stay within what all flips can be taken of.
NEEDED = ((0.05, 0.02), (0.05, 0.025), (0.10, 0.04), (0.10, 0.06), (0.30, 0.15), (0.0, 0.008), (0.0, 0.012))


def summarise(data: Path) -> dict[str, Any]:
    """The summary of the files in `data`; parts whose file is missing are None."""
    files = sorted(file for file in data.iterdir() if file.suffix == ".npz" or file.name.startswith("live-"))
    banks = {name: _stored(data / f"{name}.npz", _bank) for name in BANKS}
    emulated = {design.name: _stored(data / f"emulated-{design.name}.npz", _emulated) for design in DESIGNS}
    live = {one.name: _stored(data / f"{one.name}.json", read_live) for one in LIVE}
    summary = {
        "format": FORMAT,
        "data": {file.name: sha256(file) for file in files},
        "settings": {"launches": LAUNCHES, "margin": MARGIN, "level": LEVEL, "seed": SEED, "error_draws": ERROR_DRAWS},
        "banks": banks,
        "curve": power_curve(),
        "needed": needed_table(),
        "emulated": emulated,
        "live": live,
        "bars": [as_json(bar) for bar in all_bars(banks, emulated, live)],
    }
    rounded: dict[str, Any] = in_six_digits(summary)
    return rounded


def in_six_digits(value: Any) -> Any:
    """Floats anywhere in `value` with six significant digits: the last ones differ between processors."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: in_six_digits(part) for key, part in value.items()}
    return [in_six_digits(part) for part in value] if isinstance(value, list | tuple) else value


def as_json(found: Any) -> Any:
    """A record, and those inside it, as they are stored: objects, a share as its two numbers."""
    if isinstance(found, Share):
        return pair(found)
    if isinstance(found, list | tuple):
        return [as_json(part) for part in found]
    return {name: as_json(part) for name, part in vars(found).items()} if is_dataclass(found) else found


def _stored(file: Path, read: Callable[[Path], dict[str, Any]]) -> dict[str, Any] | None:
    return read(file) if file.exists() else None


def _some(of: object, *names: str) -> dict[str, Any]:
    return {name: as_json(getattr(of, name)) for name in names}


def _bank(file: Path) -> dict[str, Any]:
    bank = read_bank(file)
    columns = columns_of(bank)
    errors = error_rates(columns, ERROR_DRAWS, SEED)
    powers = [injected_power(columns, effect, POWER_DRAWS, SEED) for effect in EFFECTS]
    return {
        "arms": list(bank.arms),
        "engine": is_engine(bank),
        **_some(bank, "kind", "collective", "num_ranks", "num_blocks", "num_rounds", "sizes"),
        "placements": sorted(set(columns.placements)),
        "deviation": typical_deviation(columns),
        "origin": bank.origin,
        **as_json(errors),
        "quick": [errors.quick, QUICK],
        "power": as_json(powers),
    }


def _emulated(file: Path) -> dict[str, Any]:
    stored = read_emulated(file)
    design = stored.design
    return {
        **_some(design, "arms", "alpha", "beta", "sizes", "spread", "launches_per_run", "num_rounds"),
        "origin": stored.origin,
        **as_json(coverage(design, stored.seconds, stored.links)),
    }


def power_curve(num_draws: int = CURVE_DRAWS) -> list[dict[str, Any]]:
    """Simulated: share found by effect and standard deviation of launches, 8 launches, 9 cells."""
    return [
        {
            "deviation": deviation,
            "effect": effect,
            "found": pair(simulated(("slower",), effect, deviation, CURVE_CELLS, LAUNCHES, num_draws, SEED)),
        }
        for deviation in CURVE_DEVIATIONS
        for effect in EFFECTS
    ]


def needed_table(num_draws: int = NEEDED_DRAWS) -> list[dict[str, Any]]:
    """Simulated: how often the number of launches that would be asked for decides; planned for 80 %."""
    rows = []
    for effect, deviation in NEEDED:
        # As the effects are logarithms, so is the one that is planned for.
        launches = launches_needed(math.log1p(effect), deviation, MARGIN, LEVEL, num_cells=CURVE_CELLS)
        assert launches is not None, "NEEDED lists settings within reach"
        decided = simulated(DECIDED, effect, deviation, CURVE_CELLS, launches, num_draws, SEED)
        rows.append({"effect": effect, "deviation": deviation, "launches": launches, "decided": pair(decided)})
    return rows


def all_bars(banks: dict[str, Any], emulated: dict[str, Any], live: dict[str, Any]) -> list[Bar]:
    """Every bar, in the order of the page."""
    found = []
    for name, bank in banks.items():
        found += _error_bars(name, bank)
    for name, bank in banks.items():
        if bank is None or bank["engine"]:
            found.append(_power_bar(name, bank))
    for name, experiment in emulated.items():
        for what, key in (("crossovers", "crossover"), ("ratios", "all_ratios")):
            question = f"coverage of {what}, emulated {name}"
            found.append(
                bars.no_data(question)
                if experiment is None
                else bars.at_least(question, Share(*experiment[key]), bars.MIN_COVERAGE, bars.MIN_RUNS)
            )
    for one in LIVE:
        found.append(_live_bar(one, live[one.name]))
    return found


def _error_bars(name: str, bank: dict[str, Any] | None) -> list[Bar]:
    question = f"runs with a false difference, {name}"
    if bank is None:
        return [bars.no_data(question)]
    return [
        bars.at_most(question, Share(*bank["permuted"]), bars.MAX_ERROR, bars.MIN_DRAWS),
        bars.not_shown_above(
            f"false “slower” at the margin, {name}", Share(*bank["slower_at_margin"]), bars.MAX_ERROR / 2
        ),
        bars.not_shown_above(
            f"false “equivalent” at the margin, {name}", Share(*bank["equivalent_at_margin"]), bars.MAX_ERROR / 2
        ),
    ]


def _power_bar(name: str, bank: dict[str, Any] | None) -> Bar:
    question = f"power at {bars.BAR_EFFECT:.0%} with {LAUNCHES} launches, {name}"
    if bank is None:
        return bars.no_data(question)
    (at,) = (entry for entry in bank["power"] if entry["effect"] == bars.BAR_EFFECT)
    return bars.at_least(question, Share(*at["found"]), bars.MIN_POWER, POWER_DRAWS)


def _live_bar(study: Live, live: dict[str, Any] | None) -> Bar:
    question = f"live runs that {'find the slowed arm' if study.slowed else 'claim nothing'}, {study.name}"
    if live is None:
        return bars.no_data(question)
    return bars.at_least(question, study.as_it_should_be(live["runs"]), study.share, study.number)


def is_engine(bank: Bank) -> bool:
    """Whether the bank's arms are algorithms of the engine, for which power has a bar."""
    known = {*ringtree.algorithms.names(bank.collective), "auto"}
    return all(arm.split("#")[0].split("@")[0] in known for arm in bank.arms)


def pair(share: Share) -> list[int]:
    return [share.hits, share.draws]
