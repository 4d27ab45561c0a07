"""The form of claims, and the cells of tables that its fields name; files good and bad.

For: ringtree.audit.claims below its kinds, docs/claims.md and the published schema. Not for: verdicts
(test_audit_claims.py), amounts and formulas (test_audit_claims_amounts.py).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ringtree.audit.claims import ClaimsFile, Verdict, as_text, judge, judge_file, kinds, read_claims
from ringtree.audit.claims.columns import column_formula, time_column
from ringtree.audit.claims.grid import Grid, read_grid
from ringtree.audit.claims.kinds import Kind
from ringtree.audit.claims.records import Part, judgement
from ringtree.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "docs" / "published"


def grid_of(text: str, tmp_path: Path, name: str = "a.csv") -> Grid:
    (tmp_path / name).write_text(text)
    found = read_grid(tmp_path / name)
    assert found is not None
    return found


TABLE = "model,nodes,size,ring_ms\nLlama-8B,2,64 KB,1\nLlama-8B,4,64 KB,2\nGemma,2,1 MB,3\nGemma,4,1 GB,4\n"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"model": "gemma"}, [2, 3]),
        ({"nodes": 2}, [0, 2]),
        ({"nodes": "2", "size": "64KB"}, [0]),
        ({"nodes": ">= 3"}, [1, 3]),
        ({"nodes": "2.5"}, []),
        ({"size": "65536"}, [0, 1]),
        ({"size": ["64 KB", "1 GB"]}, [0, 1, 3]),
        ({"size": "<= 64 KB"}, [0, 1]),
        ({"size": "< 64 KB"}, []),
        ({"size": "> 64 KB"}, [2, 3]),
        ({"size": "64 KB .. 1 MB"}, [0, 1, 2]),
        ({"size": "2 MB .. 4 MB"}, []),
        ({"size": "large"}, []),
    ],
)
def test_rows(row: dict[str, Any], expected: list[int], tmp_path: Path) -> None:
    assert grid_of(TABLE, tmp_path).rows_where(row) == expected


def test_a_heading_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="colour"):
        grid_of(TABLE, tmp_path).rows_where({"colour": "red"})


def test_markdown_and_logs_are_tables_too(tmp_path: Path) -> None:
    markdown = grid_of(
        "# Title\n\n| size | Default Avg |\n|---|--:|\n| 1 KB | 40 us |\n| 1 MB | ~ 2 ms |\n\nEnd\n", tmp_path
    )
    assert [markdown.value(row, markdown.columns[1]) for row in (0, 1)] == [pytest.approx(40e-6), pytest.approx(2e-3)]
    log = read_grid(ROOT / "docs" / "audit-example.log")
    assert log is not None
    assert {"size", "out_of_place time", "in_place busbw"} <= set(log.headings)
    busbw = log.column("out_of_place busbw")
    assert busbw is not None
    assert (log.value(len(log.rows) - 1, busbw) or 0.0) > 1e9


def test_a_file_may_have_several_tables(tmp_path: Path) -> None:
    text = "| size | ring_ms |\n|---|---|\n| 1 KB | 2 |\n\nand\n\n| size | tree_ms |\n|---|---|\n| 1 KB | 3 |\n"
    (tmp_path / "article.md").write_text(text)
    second = read_grid(tmp_path / "article.md", 2)
    assert second is not None
    assert (second.headings, second.rows) == (("size", "tree_ms"), (("1 KB", "3"),))
    said = '{kind = "value", value = "3 ms", column = "tree_ms"}'
    claims = [f'{{sentence = "x", table = "article.md{number}", says = [{said}]}}' for number in ("#2", "", "#3")]
    found = judge_file(write(tmp_path, f"claims = [{', '.join(claims)}]"))
    assert [one.verdict for one in found.judgements] == [Verdict.HOLDS, Verdict.OPEN, Verdict.OPEN]
    assert len(found.missing) == 2


def test_a_column_whose_unit_nobody_says_is_a_number(tmp_path: Path) -> None:
    grid = grid_of("size,ring time,busbw,ring_us\n1 KB,40,3,40\n", tmp_path)
    assert [one.kind for one in grid.columns] == ["size", "number", "number", "time"]


def test_a_column_is_known_by_its_times(tmp_path: Path) -> None:
    """64 MiB / 1 ms · 1.75 = 117.4; 1 GiB / 10 ms · 1.75 = 187.9."""
    grid = grid_of("size,time_ms,bandwidth_GBps\n64 MB,1.00,117.4\n1 GB,10.0,187.9\n", tmp_path)
    rate = grid.of_kind("rate")[0]
    time = time_column(grid, rate)
    assert time is not None
    found = column_formula(grid, rate, time, 8)
    assert found is not None
    assert (found.words, found.binary, found.num_explained) == ("2(n-1)/n · size/time", True, 2)
    assert found.factor(8) == 1.75
    wrong = column_formula(grid, rate, time, 4)
    assert wrong is not None
    assert not wrong.sure


RING = 'kind = "steps", algorithm = "ring", ranks = 8, count = 14'


def write(tmp_path: Path, text: str, name: str = "claims.toml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_beside_the_kinds_is_all_that_a_kind_takes() -> None:
    files = {path.stem for path in Path(kinds.__file__).parent.glob("*.py")} - {"__init__"}
    found = {one.__module__.rpartition(".")[2] for one in get_args(get_args(Kind)[0])}
    assert found == files


def test_the_name_of_a_file_is_kept_at_the_beginning_of_a_sentence() -> None:
    part = Part(kind="value", verdict=Verdict.OPEN, reason="a.csv has no column b")
    assert judgement("a.csv", "b is 1", [part]).reason == "a.csv has no column b."
    assert judgement("", "", [part.model_copy(update={"reason": "the table has 2"})]).reason == "The table has 2."


def test_json_is_as_good_as_toml(tmp_path: Path) -> None:
    toml = write(tmp_path, f'claims = [{{sentence = "14", says = [{{{RING}}}]}}]')
    as_json = write(tmp_path, json.dumps(tomllib.loads(toml.read_text())), "claims.json")
    assert read_claims(toml) == read_claims(as_json)
    assert [one.verdict for one in judge_file(as_json).judgements] == [Verdict.HOLDS]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "claims: Field required"),
        ("claims = []", "claims: Tuple should have at least 1 item"),
        ("claims = [", "neither TOML nor JSON"),
        ("{]", "neither TOML nor JSON"),
        ("table,claim\n,A ring of 8 ranks takes 14 steps\n", "neither TOML nor JSON"),
        ('{"claims": ' + "[" * 100_000, "neither TOML nor JSON"),
        ('format = "ringtree.claims/9"\nclaims = []', "format: Input should be 'ringtree.claims/2'"),
        ('claims = [{sentence = "x", says = []}]', "claims.1.says: "),
        ('claims = [{sentence = "x", says = [{kind = "hope"}]}]', "claims.1.says.1: Input tag 'hope'"),
        ('claims = [{sentence = "x", says = [{kind = "cause"}]}]', "claims.1.says.1.cause.cause: Field required"),
        (f'claims = [{{sentence = "x", says = [{{{RING}, colour = 1}}]}}]', "says.1.steps.colour: Extra inputs"),
        (f'claims = [{{sentence = "x", says = [{{{RING}, each = "soon"}}]}}]', "each: invalid amount 'soon'"),
        (f'claims = [{{sentence = "x", says = [{{{RING}, collective = "scan"}}]}}]', "no collective 'scan'"),
        (
            'claims = [{sentence = "x", says = [{kind = "transfer", size = "0", time = "1 s"}]}]',
            "size: invalid size '0'",
        ),
        (
            'claims = [{sentence = "x", says = [{kind = "transfer", size = 8, time = "1 GB"}]}]',
            "time: invalid time '1 GB'",
        ),
        ('claims = [{sentence = "x", says = [{kind = "limit_share", value = "0.4"}]}]', "invalid percent '0.4'"),
        (f'claims = [{{sentence = "x", gpu = "Quantum 9000", says = [{{{RING}}}]}}]', "no 'Quantum 9000'"),
        (f'[tables."a.csv"]\nsystem = "quantum.9000xl"\n[[claims]]\nsentence = "x"\nsays = [{{{RING}}}]', "quantum"),
    ],
)
def test_a_file_that_is_not_in_the_form_is_the_users_mistake(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(said)) as caught:
        read_claims(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_name_that_leads_elsewhere_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("size,ring_GBps\n1 GB,300\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    said = '{kind = "value", value = "300 GB/s", column = "ring_GBps"}'
    claims = write(inside, f'claims = [{{sentence = "300", table = "../secret.csv", says = [{said}]}}]')
    found = judge_file(claims)
    assert [one.verdict for one in found.judgements] == [Verdict.OPEN]
    assert "secret.csv" in found.missing[0]
    moved = claims.read_text().replace("../secret.csv", "secret.csv")
    assert judge(ClaimsFile.model_validate(tomllib.loads(moved)), tmp_path).judgements[0].verdict is Verdict.HOLDS


def test_text_names_every_verdict(tmp_path: Path) -> None:
    right, wrong = (
        f'{{sentence = "right", says = [{{{RING}}}]}}',
        f'{{sentence = "no", says = [{{{RING}, denied = true}}]}}',
    )
    text = as_text(judge_file(write(tmp_path, f"claims = [{right}, {wrong}]")))
    assert text.startswith("HOLDS: right")
    assert text.endswith("2 claims: 1 holds, 1 falls, 0 undecided")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.binary(max_size=300), which=st.sampled_from(["csv", "md", "log"]))
def test_no_table_raises(data: bytes, which: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("tables")
    heads = {"csv": b"size,ring_ms,ring_GBps\n", "md": b"| size | ring_ms | ring_GBps |\n|---|---|---|\n", "log": b""}
    (folder / "t.csv").write_bytes(heads[which] + data)
    said = (
        '{kind = "value", value = "300 GB/s", column = "ring_GBps"}, {kind = "ranking", column = "ring_ms"}, '
        '{kind = "crossover", column = "ring_ms", other = "ring_GBps", at = "1 MB"}, '
        '{kind = "limit_share", value = "5%"}'
    )
    claims = f'claims = [{{sentence = "x", table = "t.csv", gpu = "H100", ranks = 8, says = [{said}]}}]'
    assert judge(ClaimsFile.model_validate(tomllib.loads(claims)), folder).judgements


DOCS = (ROOT / "docs" / "claims.md").read_text()
BLOCKS = re.findall(r"^```toml\n(.*?)^```", DOCS, re.M | re.S)


def statements() -> list[str]:
    return [line for line in DOCS.splitlines() if line.startswith("{ kind = ")]


@pytest.mark.parametrize("statement", statements())
def test_every_example_of_the_page_is_in_the_form_and_can_be_judged(statement: str, tmp_path: Path) -> None:
    claims = ClaimsFile.model_validate(tomllib.loads(f'claims = [{{sentence = "x", says = [{statement}]}}]'))
    assert judge(claims, tmp_path).judgements[0].parts


def test_the_page_explains_every_kind_and_field_and_shows_what_its_example_prints(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "reference" / "claims.schema.json").read_text())
    kinds = schema["$defs"]["Claim"]["properties"]["says"]["items"]["discriminator"]["mapping"]
    assert {one.split('"')[1] for one in statements()} == set(kinds)
    for kind, reference in kinds.items():
        assert f"**`{kind}`**" in DOCS
        missing = [name for name in schema["$defs"][reference.rpartition("/")[2]]["properties"] if name not in DOCS]
        assert missing == [], kind
    table = re.search(r"^```text\n(size.*?)^```", DOCS, re.M | re.S)
    assert table is not None
    (tmp_path / "all-reduce.csv").write_text(table[1])
    shown = re.search(r"^\$ ringtree audit --claims claims.toml\n(.*?)^```", DOCS, re.M | re.S)
    assert shown is not None
    assert as_text(judge_file(write(tmp_path, BLOCKS[0]))).split() == shown[1].split()


VALUES = [
    *("1 GB", "64 KB", "40 us", "100 GB/s", "~40%", "2.6 times", "at most 5 ms", "N/(N-4)", "log2(N)", "S/B", "fancy"),
    *("Tree", "ring", "one_shot", "nccl", "calls", "ring_ms", "broadcast", 0, 1, 3, 64, 5000, -1, 0.5, True, ["Ring"]),
    {"size": "> 1"},
]


def test_no_statement_stops_the_judge(tmp_path: Path) -> None:
    """Statements of the page with one or two fields of others or of anything: in the form, or refused by it."""
    random = Random(11)
    cells = ["", "1 KB", "1 MB", "-5", "0", "2.5", "x", "40 us", "100 GB/s", "1e300", "nan", "~3"]
    known = [tomllib.loads(f"says = {one}")["says"] for one in statements()]
    fields = {one.model_fields["kind"].annotation: sorted(one.model_fields) for one in get_args(get_args(Kind)[0])}
    names = {get_args(kind)[0]: of_kind for kind, of_kind in fields.items()}
    judged = 0
    for number in range(1500):
        if number % 50 == 0:
            rows = [",".join(f'"{random.choice(cells)}"' for _ in range(4)) for _ in range(random.randint(1, 5))]
            (tmp_path / "t.csv").write_text("\n".join(["size,nodes,ring_ms,ring_us", *rows]))
        says = dict(random.choice(known))
        for name in random.sample(names[says["kind"]], random.randint(1, 2)):
            says[name] = says[name] if name == "kind" else random.choice(VALUES)
        claim = {"sentence": "x", "table": random.choice(["t.csv", ""]), "gpu": "A100", "says": [says]}
        try:
            claims = ClaimsFile.model_validate({"claims": [claim]})
        except ValidationError:
            continue
        assert judge(claims, tmp_path).judgements[0].reason
        judged += 1
    assert judged > 100
