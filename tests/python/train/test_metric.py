"""Numbers that --metric finds in a script's output. Not for: running scripts (test_train_sweep.py)."""

from __future__ import annotations

import pytest

from ringtree.errors import RingtreeError
from ringtree.train.hook import DEFAULT_METRIC
from ringtree.train.metric import EXAMPLE, parse_metric, read_rates


@pytest.mark.parametrize(
    ("metric", "output", "rates"),
    [
        (EXAMPLE, "tokens/s: 12345.6\ntokens/s: 12,345.6\ntokens/s: 1.2e4", [12345.6, 12345.6, 12000.0]),
        (EXAMPLE, "step 1 tokens/s: 1,234,567, loss 3.2", [1234567.0]),
        (EXAMPLE, "tokens/s: 1.2E+04\rtokens/s: .5", [12000.0, 0.5]),
        (r"^tok: ([0-9.]+)$", "x\ntok: 5\ny\ntok: 6.5", [5.0, 6.5]),
        (r"([0-9.]+) tok", "12 tok, 3 s; 13 tok", [12.0, 13.0]),
        (r"([0-9]+), loss", "step.12, loss 3", [12.0]),
        (r"v: ([0-9.]+)", "v: 12, then more; v: 13. Next", [12.0, 13.0]),
        (DEFAULT_METRIC, "ringtree-tokens/s: 1.23457e+06", [1234570.0]),
        (EXAMPLE, "nothing", []),
    ],
)
def test_numbers(metric: str, output: str, rates: list[float]) -> None:
    assert read_rates(parse_metric(metric), output) == rates


@pytest.mark.parametrize(
    "line",
    ["t ...", "t nan", "t inf", "t -5", "t 0", "t 0.0", "t 1e999", "t 12,34", "t 1,2345", "t 1.2.3", "t 0x10", "t ١٢"],
)
def test_what_is_not_a_number_above_0_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(RingtreeError) as refused:
        read_rates(parse_metric(r"t (\S+)"), f"one\n{line}\nthree")
    assert f"finds {line[2:]!r}, which is not a number above 0, in the line {line!r}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("metric", "line", "part"),
    [
        (r"t ([0-9.]+)", "t 1.2e4", "1.2"),
        (r"t ([0-9.]+)", "t 1E+4", "1"),
        (r"t ([0-9.]+)", "t 12,345", "12"),
        (r"t ([0-9]+)", "t 12.5", "12"),
        (r"t ([0-9.]+)", "t 12k", "12"),
        (r"t ([0-9])", "t 12", "1"),
        (r"t.*([0-9.]+)", "t 12345", "5"),
        (r"([0-9]+) tok", "12.5 tok", "5"),
        (r"([0-9]+) tok", ".5 tok", "5"),
        (r"([0-9.]+) tok", "12,345 tok", "345"),
        (r"([0-9.]+) tok", "1.2e4 tok", "4"),
        (r"([0-9.]+) tok", "1e+4 tok", "4"),
    ],
)
def test_a_part_of_a_number_is_refused(metric: str, line: str, part: str) -> None:
    with pytest.raises(RingtreeError) as refused:
        read_rates(parse_metric(metric), f"one\n{line}\nthree")
    assert f"finds {part!r}, a part of the number in the line {line!r}" in str(refused.value)
    assert f"as '{EXAMPLE}' does" in str(refused.value)


def test_a_group_that_takes_no_part_is_not_a_number() -> None:
    with pytest.raises(RingtreeError, match="finds '', which is not a number above 0, in the line 'speed unknown'"):
        read_rates(parse_metric("speed (?:unknown|([0-9.]+))"), "speed unknown")
