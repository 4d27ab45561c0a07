"""`ringtree audit`: files and standard input, text and JSON, exit codes, and the page about it.

For: the command line by typer's runner, docs/audit.md. Not for: what is found (test_audit_*.py).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audit_support import as_text, make_table, with_sides
from typer.testing import CliRunner, Result

from ringtree.audit import AUDIT_FORMAT, Audit, Severity
from ringtree.audit.claims import Judgements
from ringtree.cli import app
from ringtree.cli.audit import SHOWN
from ringtree.logs import Printed

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
EXAMPLE = DOCS / "audit-example.log"


def invoke(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["audit", *map(str, arguments)], input=stdin)


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.log"
    path.write_text(as_text(make_table()))
    return path


@pytest.fixture
def wild(tmp_path: Path) -> Path:
    path = tmp_path / "wild.log"
    path.write_text(as_text(make_table(in_place=lambda size: 3e-6 * (20 + size / 1e5))))
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.log"
    table = with_sides(
        make_table(time=lambda size: 19e-6 + size / 90e9), lambda row, one: one._replace(wrong=Printed("17"))
    )
    path.write_text(as_text(table))
    return path


def test_exit_codes_go_by_the_worst_finding(clean: Path, wild: Path, wrong: Path) -> None:
    assert invoke(clean).exit_code == 0
    assert invoke(wild).exit_code == 1
    assert invoke(wrong).exit_code == 3
    assert invoke(clean, wild).exit_code == 1
    assert invoke(wrong, wild, clean).exit_code == 3


@pytest.mark.parametrize(("fail_on", "of_wild", "of_wrong"), [("warning", 1, 3), ("error", 0, 3), ("never", 0, 0)])
def test_fail_on_says_from_where_on(wild: Path, wrong: Path, fail_on: str, of_wild: int, of_wrong: int) -> None:
    assert invoke(wild, "--fail-on", fail_on).exit_code == of_wild
    assert invoke(wrong, "--fail-on", fail_on).exit_code == of_wrong


def test_a_file_begins_with_its_verdict_and_findings_have_their_arithmetic(clean: Path, wrong: Path) -> None:
    text = invoke(clean, wrong).stdout
    assert f"{clean}: nothing wrong found in 21 rows of 1 table" in text
    assert f"{wrong}: don't use it: 1 error" in text
    assert "error wrong-results: the benchmark found wrong results" in text
    assert "#wrong: 17 at 1 KB" in text
    assert "settled by: a rerun with validation" in text
    assert "2 files, 1 of them with findings above info" in text


def test_standard_input_is_a_file_too(wrong: Path) -> None:
    result = invoke("-", stdin=wrong.read_bytes())
    assert result.exit_code == 3
    assert result.stdout.startswith("standard input: don't use it")


def test_json_is_the_published_record_and_nothing_else(wrong: Path, clean: Path) -> None:
    result = invoke("--json", wrong, clean)
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert found["format"] == AUDIT_FORMAT
    assert [file["worst"] for file in found["files"]] == ["error", None]
    (finding,) = found["files"][0]["findings"]
    assert (finding["code"], finding["num_rows"], len(finding["rows"])) == ("wrong-results", 21, 21)
    assert Audit.model_validate(found).worst is Severity.ERROR
    schema = json.loads((DOCS / "reference" / "audit.schema.json").read_text())
    assert set(schema["properties"]) == set(found)
    assert set(schema["$defs"]["Finding"]["properties"]) == set(finding)


UNREAD = "| Policy | median (ns) |\n|---|---|\n| noop | 33 |\n| more | 34 |\n"


@pytest.mark.parametrize("options", [(), ("--json",), ("--fail-on", "never")])
def test_a_file_of_which_most_was_left_out_is_not_passed(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = tmp_path / "a.md"
    path.write_text("| size | time (us) |\n|---|---|\n| 8 | 1.5 |\n\n" + UNREAD)
    result = invoke(path, *options)
    assert result.exit_code == 2
    assert (
        "most of its rows could not be read: 2 rows: a table without timings of collectives (line 7)" in result.stderr
    )
    assert "1 of 3 rows read, in these nothing wrong was found" in " ".join(result.stdout.split())
    path.write_text("| size | time (us) |\n|---|---|\n| 8 | 1.5 |\n| 16 | 1.6 |\n\n" + UNREAD)
    assert invoke(path, *options).exit_code == 0


def test_an_error_goes_before_what_was_left_out(tmp_path: Path, wrong: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(wrong.read_text() + "\n" + UNREAD.replace("| more | 34 |\n", "| more | 34 |\n" * 30))
    assert invoke(path).exit_code == 3


def test_one_file_twice_is_two_files(clean: Path) -> None:
    names = [file["file"] for file in json.loads(invoke("--json", clean, clean).stdout)["files"]]
    assert names == [str(clean), f"{clean} (2)"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the files"),
        (("no-such-file.log",), "can't read no-such-file.log"),
        (("--claims", "claims.toml", "a.log"), "--claims judges"),
        ((str(EXAMPLE), "--gpu", "Quantum 9000", "--ranks", "8"), "Quantum 9000"),
        ((str(EXAMPLE), "--system", "quantum.9000xlarge"), "--system: the hardware catalogue has no 'quantum.9000xl"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize("system", ["p5.48xlarge", "DGX A100", "aws", "InfiniBand NDR"])
def test_systems_clouds_and_fabrics_are_known(clean: Path, system: str) -> None:
    assert invoke(clean, "--system", system).exit_code == 0


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_file_that_is_not_there_does_not_hide_the_others(clean: Path, options: tuple[str, ...]) -> None:
    result = invoke("nosuch.log", clean, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("ringtree: can't read nosuch.log: ")
    assert str(clean) in "".join(result.stdout.split())


def test_a_system_alone_gives_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "no-gpu.log"
    path.write_text(as_text(make_table()).replace("NVIDIA H100 80GB HBM3", ""))
    assert "limit-not-checked" in invoke(path).stdout
    assert "limit-not-checked" not in invoke(path, "--system", "p5.48xlarge").stdout


RANKING = 'kind = "ranking", column = "tree_us", row = {size = "64 KB"}'
RING = '{sentence = "30", says = [{kind = "steps", algorithm = "ring", ranks = 16, count = 30}]}'


def write_claims(folder: Path, *claims: str) -> Path:
    (folder / "t.csv").write_text("size,ring_us,tree_us\n65536,30,50\n")
    path = folder / "claims.toml"
    path.write_text(f"claims = [{', '.join(claims)}]")
    return path


def on(table: str, says: str = RANKING) -> str:
    return f'{{sentence = "Tree is faster", table = "{table}", says = [{{{says}}}]}}'


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (on("missing.csv"), "can't read missing.csv: "),
        (on("../t.csv"), "can't read ../t.csv: "),
        (on("."), "can't read .: "),
        (on("t.csv", RANKING.replace("tree_us", "fork_us")), "t.csv has no column 'fork_us'"),
        (on("t.csv", RANKING.replace("size", "bytes")), "t.csv has no column 'bytes'"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",), ("--fail-on", "never")])
def test_a_table_of_claims_that_is_not_there_is_a_mistake(
    tmp_path: Path, claim: str, said: str, options: tuple[str, ...]
) -> None:
    result = invoke("--claims", write_claims(tmp_path, on("t.csv"), claim, RING), *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    # What can be judged still is.
    if "--json" in options:
        found = json.loads(result.stdout)
        assert [one["verdict"] for one in found["judgements"]] == ["falls", "can't be told", "holds"]
        assert Judgements.model_validate(found).missing
    else:
        assert "3 claims: 1 holds, 1 falls, 1 undecided" in result.stdout


def test_claims_whose_tables_are_there_are_no_mistake(tmp_path: Path) -> None:
    result = invoke("--claims", write_claims(tmp_path, on("t.csv")))
    assert (result.exit_code, result.stderr) == (3, "")
    assert invoke("--claims", write_claims(tmp_path, RING)).exit_code == 0


def test_text_of_a_log_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    table = with_sides(make_table(), lambda row, one: one._replace(wrong=Printed("17")))
    nasty = "\x1b]0;owned\x07\x1b[31m[bold]red[/bold]\u202e"
    path = tmp_path / "nasty\x1b[2J.log"
    path.write_text(as_text(table).replace("NVIDIA H100 80GB HBM3", nasty).replace("node-1", nasty))
    result = invoke(path)
    assert result.exit_code == 3
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "\x1b" not in invoke("--json", path).stdout


def test_many_findings_of_a_kind_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "many.log"
    tables = [with_sides(make_table(), lambda row, one: one._replace(wrong=Printed("1"))) for _ in range(30)]
    for number, table in enumerate(tables):
        table.rows = [row for row in table.rows if row.size_bytes == 1 << (10 + number % 20)]
    path.write_text("".join(as_text(table) for table in tables))
    text = invoke(path).stdout
    assert text.count("#wrong: 1 at") == SHOWN
    assert "(and 10 more like this)" in invoke("--json", path).stdout


def test_the_page_shows_what_its_example_prints() -> None:
    page = (DOCS / "audit.md").read_text()
    (block,) = re.findall(r"^```console\n\$ ringtree audit docs/audit-example.log\n(.*?)^```", page, re.M | re.S)
    result = subprocess.run(
        [sys.executable, "-m", "ringtree", "audit", "docs/audit-example.log"], capture_output=True, text=True, cwd=ROOT
    )
    assert result.returncode == 3
    assert " ".join(block.split()) == " ".join(result.stdout.split())
