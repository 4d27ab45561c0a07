"""`ringtree hardware`: the list, one entry with its sources, JSON, and mistakes.

For: options and what is printed. Not for: the entries (test_hardware_catalogue.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ringtree.cli import app


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["hardware", *arguments], env={"COLUMNS": "200"})


def test_the_list_says_that_rates_are_per_direction() -> None:
    result = invoke()
    assert result.exit_code == 0
    (line,) = [line for line in result.stdout.splitlines() if line.strip().startswith("H100 SXM5 80GB")]
    assert line.split()[-5:] == ["NVLink", "4", "450", "63.02", "yes"]
    assert "All rates are per direction" in result.stdout


def test_an_entry_has_its_sources_and_says_which_nobody_has_read() -> None:
    result = invoke("NVIDIA H100 80GB HBM3")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "stated_total_both_ways_GBps 900 ml-engineering" in text
    assert "all links, per direction 450 GB/s 18 × NVLink 4" in text
    assert "(read 2026-11-22)" in text
    assert "h100-ds: NVIDIA H100 Tensor Core GPU data sheet (SXM, PCIe, NVL), 2023" in text
    assert "(known by name, not read)" in text


def test_an_ambiguous_name_shows_all_that_it_can_mean() -> None:
    result = invoke("H100")
    assert result.exit_code == 0
    assert sum(line.startswith("GPU: ") for line in result.stdout.splitlines()) == 4


def test_systems_by_any_spelling() -> None:
    assert "host_Gbps" in invoke("nd h100 v5").stdout
    assert "domain_hosts" in invoke("GB200 NVL72").stdout


def test_json() -> None:
    (entry,) = json.loads(invoke("p5.48xlarge", "--json").stdout)["entries"]
    assert (entry["kind"], entry["host_Gbps"]) == ("systems", 3200)
    (source,) = [source for source in entry["sources"] if "host_Gbps" in source["states"]]
    assert source["address"].startswith("https://")
    whole = json.loads(invoke("--json").stdout)
    assert whole["format"] == "ringtree.hardware/1"
    assert {"gpus", "links", "switches", "networks", "systems", "sources"} <= set(whole)


def test_an_unknown_name_is_one_line_and_exit_code_2() -> None:
    result = invoke("DGX")
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("ringtree: nothing in the catalogue is called 'DGX'; there are DGX-1 (P100), ")


def test_what_a_file_of_the_users_says_has_no_effect_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text(
        '[source.x]\ntitle = "[bold]t[/bold]\\u001b[31m"\naddress = "a"\npublished = "2026"\n'
        '[link."[red]l"]\nper_direction_GBps = 1\nnote = "[/]"\nsources = { x = ["per_direction_GBps"] }\n'
    )
    monkeypatch.setenv("RINGTREE_HARDWARE", str(tmp_path))
    result = invoke("[red]l")
    assert result.exit_code == 0
    assert "link: [red]l" in result.stdout
    assert "[bold]t[/bold]" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_bad_file_of_the_users_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.toml").write_text("[link.x]\nper_direction_GBps = -1\nsources = {}\n")
    monkeypatch.setenv("RINGTREE_HARDWARE", str(tmp_path))
    result = invoke()
    assert result.exit_code == 2
    assert f"{tmp_path / 'own.toml'}: link.x, key per_direction_GBps: " in result.stderr.replace("\n", "")
