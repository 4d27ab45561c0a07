"""False alarms of health by cross-validation: counted on the catalogue, and on entries of our own where a slow one is.

For: tools/held_out.py, and that the page says what it counts. Not for: bounds (test_health_judging.py).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from health_support import entry, time_of

from ringtree.health.entries import Reached, load_reached

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import held_out

ROOT = Path(__file__).parents[3]
RATES = (256e9, 257e9, 258e9, 259e9, 261e9, 262e9)


def of_site(number: int, rate: float) -> Reached:
    return entry(time_of(rate=rate)).model_copy(update={"source": f"https://example.org/site-{number}/log"})


def test_the_page_shows_what_is_counted() -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "held_out.py", "--check"], capture_output=True, text=True, cwd=ROOT
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_at_most_one_in_twenty_tables_of_the_catalogue_is_called_slow() -> None:
    """The bar: with too tight bands this fails, and the rule of the bounds must change."""
    held = list(held_out.held_out(load_reached()))
    assert held_out.logs(held) >= 30
    assert held_out.logs(held_out.slow(held)) <= held_out.logs(held) / 20


def test_a_slow_log_among_healthy_ones_is_called_slow_and_nobody_else() -> None:
    sick = of_site(9, 180e9)
    held = list(held_out.held_out([*(of_site(i, rate) for i, rate in enumerate(RATES)), sick]))
    assert {one.entry.source for one in held_out.slow(held) if one.band.band == "large"} == {sick.source}
    assert held_out.logs(held) == len(RATES) + 1


def test_a_log_is_held_out_with_its_whole_site() -> None:
    same = [of_site(1, rate) for rate in RATES]
    assert list(held_out.held_out(same)) == []
    # Its own site does not make its spread either: two others with 10 % between them do.
    others = [of_site(2, 250e9), of_site(3, 275e9)]
    bands = [
        one.band for one in held_out.held_out([*same, *others]) if one.entry is same[0] and one.band.band == "large"
    ]
    assert [(band.num_logs, band.dof) for band in bands] == [(2, 1)]


def test_a_kind_that_is_new_has_its_spread_from_other_kinds() -> None:
    known = [of_site(i, rate) for i, rate in enumerate(RATES[:2])]
    assert list(held_out.held_out(known, held_out.other_kind)) == []
    hosts = [entry(time_of(rate=rate), hosts=1, ranks=8) for rate in (250e9, 262e9)]
    other = [one.model_copy(update={"source": f"https://example.org/host-{i}/log"}) for i, one in enumerate(hosts)]
    held = list(held_out.held_out([*known, *other], held_out.other_kind))
    assert held_out.logs(held) == 4


@pytest.mark.parametrize(("loss", "found"), [(0.0, False), (1 / 8, True)])
def test_a_loss_is_found_from_the_bound_on(loss: float, found: bool) -> None:
    held = list(held_out.held_out([of_site(i, rate) for i, rate in enumerate(RATES)]))
    assert {one.would_be(loss) for one in held if one.band.band == "large"} == {found}


@pytest.mark.parametrize(("events", "number", "bound"), [(0, 59, 0.0495), (0, 1, 0.95), (1, 1, 1.0)])
def test_the_bound_of_a_rate(events: int, number: int, bound: float) -> None:
    """Of none in n it is 1 - 0.05^(1/n)."""
    assert held_out.most(events, number) == pytest.approx(bound, abs=1e-4)
