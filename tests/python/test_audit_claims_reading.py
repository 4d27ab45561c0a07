"""What claims are made of: quantities, formulas, tables, files, and what no form may ever do.

For: ringtree.audit.claims below its forms. Not for: verdicts (test_audit_claims.py).
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtree.audit.claims import Verdict, as_text, judge, judge_file
from ringtree.audit.claims.columns import BUSBW, column_formula
from ringtree.audit.claims.expressions import NoFormulaError, formulas, parse
from ringtree.audit.claims.grid import read_grid
from ringtree.audit.claims.quantities import quantities
from ringtree.audit.claims.surroundings import describe
from ringtree.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("482 GB/s", [("rate", 482e9)]),
        ("400 Gb/s", [("rate", 50e9)]),
        ("64 MiB in 1.21 ms", [("size", 64 * 2**20), ("time", 1.21e-3)]),
        ("25-50% of peak", [("percent", 0.25)]),
        ("4.9x Ring on 8 x A100", [("factor", 4.9), ("count", 8)]),
        ("Qwen2.5-7B on H100 with LL128", []),
        ("slots of 512, 32 and 600 KiB", [("size", 512 * 1024), ("size", 32 * 1024), ("size", 600 * 1024)]),
        ("for 2 and for 8 nodes", [("count", 2), ("count", 8)]),
        ("more than 1,234.5 GB/s", [("rate", 1234.5e9)]),
        ("three times", [("factor", 3)]),
    ],
)
def test_quantities(text: str, expected: list[tuple[str, float]]) -> None:
    assert [(one.kind, pytest.approx(one.low)) for one in quantities(text)] == expected


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("83%", 0.8357, True),  # cut off
        ("84%", 0.8357, True),  # rounded
        ("85%", 0.8357, False),
        ("82%", 0.8357, False),
        ("~40%", 0.394, True),
        ("3x", 2.2, False),
        ("at most 50 GB/s", 32e9, True),
        ("at most 50 GB/s", 60e9, False),
    ],
)
def test_a_stated_number_agrees_with_what_it_can_be_cut_or_rounded_from(text: str, value: float, agrees: bool) -> None:
    assert quantities(text)[0].agrees(value) is agrees


@pytest.mark.parametrize(
    ("text", "names", "value"),
    [
        ("2(N-1)/N x S/B", {"ranks": 8, "size": 1, "rate": 1}, 1.75),
        ("(N-1)/N × size / link bandwidth", {"ranks": 4, "size": 8, "rate": 2}, 3.0),
        ("2 * ceil(log2 N)", {"ranks": 9}, 8.0),
        ("2k-1", {"ranks": 5}, 9.0),
        ("alpha + S/B", {"latency": 1, "size": 6, "rate": 3}, 3.0),
        ("N/0", {"ranks": 3}, math.nan),
        ("N^99", {"ranks": 3}, math.nan),
    ],
)
def test_formulas(text: str, names: dict[str, float], value: float) -> None:
    assert parse(text).value(**names) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("text", ["", "import os", "N-", "(N", "N N 2 3", "__class__", "(" * 50 + "N" + ")" * 50])
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(NoFormulaError):
        parse(text)


def test_formulas_are_found_in_sentences() -> None:
    found = formulas("takes (N-1)/N x S / bandwidth, so all-reduce of k ranks in 2k-1 steps")
    assert [one.text for one in found] == ["(N-1)/N x S / bandwidth", "2k-1"]


def test_a_column_is_known_by_its_times(tmp_path: Path) -> None:
    """64 MiB / 1 ms · 1.75 = 117.4; 1 GiB / 10 ms · 1.75 = 187.9."""
    path = tmp_path / "a.csv"
    path.write_text("size,time_ms,bandwidth_GBps\n64 MB,1.00,117.4\n1 GB,10.0,187.9\n")
    grid = read_grid(path)
    assert grid is not None
    rate, time = grid.of_kind("rate")[0], grid.of_kind("time")[0]
    found = column_formula(grid, rate, time, 8)
    assert found is not None
    assert (found.formula, found.binary, found.num_explained) == (BUSBW, True, 2)


def test_names_of_files_say_which_gpus() -> None:
    found = describe("h100x16-something.csv", "")
    assert (found.gpu, found.num_ranks) == ("h100", 16)
    assert describe("notes.csv", "").gpu is None


def test_a_name_that_leads_elsewhere_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("size,ring_GBps\n1 GB,300\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "claims.csv").write_text('table,claim\n../secret.csv,"Ring reaches 300 GB/s at 1 GB"\n')
    (found,) = judge_file(inside / "claims.csv")
    assert found.verdict is Verdict.OPEN


def test_tables_may_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("size,ring_GBps\n1 GB,300\n")
    (tmp_path / "claims.csv").write_text('table,claim\na.csv,"Ring reaches 300 GB/s at 1 GB"\n')
    (found,) = judge_file(tmp_path / "claims.csv", tmp_path / "tables")
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "table,claim\n"])
def test_a_file_without_sentences_is_the_users_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.csv").write_text(text)
    with pytest.raises(UsageError):
        judge_file(tmp_path / "claims.csv")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't read"):
        judge_file(tmp_path / "claims.csv")


def test_a_long_sentence_is_not_read() -> None:
    assert judge("ring takes 30 steps " * 100).verdict is Verdict.OPEN


def test_text_names_every_verdict() -> None:
    said = as_text([judge("A ring of 16 ranks takes 30 steps"), judge("A ring of 16 ranks takes 15 steps")])
    assert said.startswith("HOLDS: A ring")
    assert said.endswith("2 sentences: 1 holds, 1 falls, 0 can't be told")


WORDS = re.findall(
    r"\S+",
    """ring tree Tree LL LL128 Simple NCCL NCCL_ALGO=Tree FSDP busbw algbw takes steps hops of at is each GPU sends
    16 GPUs 2 nodes 482 GB/s 0 GB/s 50% 4.9x twice 8 ports 64 MB 28 GB 160 ms 0 ms N (N-1)/N 2k-1 x S / B log2(0)
    N^N^N crossover cross     beats every large faster than default scaling efficiency parameters experts
    buffer slots because does not ( )
    1e309 99999999999999999999 1000000 GPUs N/0 0 nodes ~ - , ; :""",
)
TABLES = ["", "h100x4-nccl-tests.csv", "a100x8-ring-vs-tree.csv", "h100-tcpx-default-vs-nvlstree.csv"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=25),
    st.sampled_from(TABLES),
)
def test_no_sentence_raises(words: list[str], table: str) -> None:
    folder = Path(__file__).parents[2] / "docs" / "published"
    judge(" ".join(words), folder / table if table else None)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    assert judge(text).parts


@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.binary(max_size=300))
def test_no_table_raises(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tables") / "h100x8.csv"
    path.write_bytes(b"size,ring_ms,ring_GBps\n" + data)
    judge("Ring reaches 300 GB/s at 1 GB, 2x Tree", path)
