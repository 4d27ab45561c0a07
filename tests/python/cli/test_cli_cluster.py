"""`ringtree cluster list`, `show` and `from`: what they print, and mistakes.

For: options and exit codes. Not for: clusters themselves (tests/python/simulate).
"""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from ringtree.cli import app
from ringtree.simulate.cluster import load_cluster, parse_cluster_text


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["cluster", *arguments], env={"COLUMNS": "200"})


def test_the_list_has_names_and_other_names() -> None:
    lines = invoke("list").stdout.splitlines()
    (line,) = [line for line in lines if line.split()[:1] == ["dgx-1-v100"]]
    assert "8 × V100 SXM2 16GB" in line
    assert "dgx-v100" in line
    rows = json.loads(invoke("list", "--json").stdout)["clusters"]
    assert "dgx-h100" in {row["name"] for row in rows}


def test_a_drawing_and_the_source_of_every_constant() -> None:
    result = invoke("show", "dgx-h100", "--what-if", "rail 7 down")
    assert result.exit_code == 0
    text = result.stdout
    assert "switch    └──────────────0───────────────┘  371 GB/s, 3.40 µs a port, each way" in text
    assert "what if: rail 7 down" in text
    for key, one in load_cluster("dgx-h100").constants():
        (line,) = [line for line in text.splitlines() if line.split()[:1] == [key]]
        assert one.source in line
    every = [one for _, one in load_cluster("dgx-h100").constants()]
    assert f"{sum(one.source == 'assumed' for one in every)} of {len(every)} constants are assumed" in text


def test_a_mesh_is_a_matrix_of_links() -> None:
    lines = [line.split() for line in invoke("show", "dgx-v100").stdout.splitlines()]
    assert ["3", "2", "1", "2", "·", "·", "·", "·", "1"] in lines


def test_toml_and_json_are_the_description() -> None:
    assert parse_cluster_text(invoke("show", "cpu-2", "--toml").stdout, "shown") == load_cluster("cpu-2")
    assert json.loads(invoke("show", "cpu-2", "--json").stdout)["name"] == "cpu-2"


def test_from_a_log_to_a_file_that_show_draws(tmp_path: Path) -> None:
    log, file = tmp_path / "topo.txt", tmp_path / "ours.toml"
    log.write_text("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV2\t0-3\nGPU1\tNV2\t X \t0-3\n", encoding="utf-8")
    result = invoke("from", str(log), "-o", str(file))
    assert result.exit_code == 0
    assert "found: a matrix of 2 GPUs and 0 network ports" in result.stderr
    assert "not found: network ports: hosts are not joined" in result.stderr
    assert invoke("show", str(file)).exit_code == 0
    assert parse_cluster_text(invoke("from", str(log)).stdout, "printed").host.ranks == 2


def test_mistakes_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("name = 1\n", encoding="utf-8")
    for arguments, words in (
        (("show", "dgx-h10"), "near it are dgx-h100"),
        (("show", str(bad)), "bad.toml: key name"),
        (("show", "cpu-2", "--toml", "--json"), "choose --toml or --json"),
        (("show", "cpu-2", "--what-if", "x"), "is not understood"),
        (("from", str(bad)), "has none of"),
    ):
        result = invoke(*arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.count("\n") == 1
        assert words in result.stderr
