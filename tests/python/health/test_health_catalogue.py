"""The catalogue of what real systems reached: sound, made from its sources, and sick of none of its own logs.

For: ringtree/health/catalogue, tools/reached.py. The figures are made anew from the collected logs where they are; each
of those is held against the catalogue without it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from logs_support import shared_data

from ringtree.audit import Setup
from ringtree.errors import UsageError
from ringtree.hardware import load_catalogue
from ringtree.health import Question, Verdict, entries, health_of
from ringtree.health.entries import Reached, load_reached
from ringtree.health.judging import bands_of, sizes_of, spreads
from ringtree.logs import read_file

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
from reached import curves, times_us

CATALOGUE = load_reached()
BY_LOG = list(dict.fromkeys((one.source, one.system, one.gpu, one.hosts, one.ranks) for one in CATALOGUE))


def logs() -> dict[str, Path]:
    """The collected logs by their source; skips where there are none."""
    found = {}
    for path in sorted((shared_data() / "logs").glob("*.txt")):
        stated = re.search(r"^# source: (\S+)", path.read_text(errors="replace")[:2000], re.MULTILINE)
        if stated:
            found[stated.group(1)] = path
    return found


def test_every_entry_names_what_the_hardware_catalogue_has_and_its_source() -> None:
    known = load_catalogue()
    for one in CATALOGUE:
        assert one.gpu in known.systems[one.system].gpus
        assert one.source.startswith("https://")
        assert one.links.are_known
        assert one.links.hosts * one.links.ranks_per_host == one.ranks


def test_times_never_beat_the_limit_by_more_than_a_cable() -> None:
    for one in CATALOGUE:
        links = one.links
        most = (links.inside or 0) + (links.between or 0)
        for size, time in one.times_us.items():
            assert size / time * 1e6 < 1.05 * most * one.ranks


def test_nothing_stands_there_twice() -> None:
    """A site has one log of a kind of machine: many would be taken for many sites."""
    keys = Counter(("/".join(one.source.split("/")[2:5]), one.links, one.collective, one.dtype) for one in CATALOGUE)
    assert [key for key, number in keys.items() if number > 1] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [("ranks = 3", "same number of ranks"), ("times_us = { 2048 = 1, 1024 = 2 }", "ascending"), ("tool = 1", "string")],
)
def test_a_broken_entry_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, said: str) -> None:
    values = {"system": '"p5.48xlarge"', "gpu": '"H100 SXM5 80GB"', "hosts": "2", "ranks": "16", "tool": '"t"'}
    values |= {"collective": '"all_reduce"', "source": '"https://a"', "accessed": "2026-11-22"}
    values |= {"times_us": "{ 1024 = 1, 2048 = 2 }"}
    name, _, value = change.partition(" = ")
    values[name] = value
    text = "".join(f"{key} = {text}\n" for key, text in values.items())
    (tmp_path / "own.toml").write_text(f"[[machine]]\n[[machine.reached]]\n{text}")
    monkeypatch.setattr(entries, "FOLDER", tmp_path)
    load_reached.cache_clear()
    with pytest.raises(UsageError, match=said):
        load_reached()
    load_reached.cache_clear()


@pytest.mark.parametrize(("source", "system", "gpu", "hosts", "ranks"), BY_LOG)
def test_the_figures_are_those_of_the_logs(source: str, system: str, gpu: str, hosts: int, ranks: int) -> None:
    path = logs().get(source)
    if path is None:
        pytest.skip("the log is not among the collected ones")
    made = {curve.collective: times_us(curve) for _, curve in curves(path, Setup(gpu, system, hosts, ranks))}
    mine = [one for one in CATALOGUE if (one.source, one.ranks) == (source, ranks)]
    assert {one.collective for one in mine} == set(made)
    for one in mine:
        assert one.times_us == {size: made[one.collective][size] for size in one.times_us}


def left_out(one: Reached) -> list[Reached]:
    return [other for other in CATALOGUE if other.source != one.source]


@pytest.mark.parametrize("index", range(len(CATALOGUE)))
def test_no_entry_is_sick_by_the_others(index: int) -> None:
    one = CATALOGUE[index]
    rest = left_out(one)
    alike = [other for other in rest if (other.links, other.collective) == (one.links, one.collective)]
    bands = bands_of(sizes_of(one.curve, alike, None), spreads(rest), None)
    assert [(band.band, band.share, band.enough) for band in bands if band.verdict is not Verdict.AS_FAST] == []


@pytest.mark.parametrize(("source", "system", "gpu", "hosts", "ranks"), BY_LOG)
def test_no_log_of_the_catalogue_is_called_sick(source: str, system: str, gpu: str, hosts: int, ranks: int) -> None:
    path = logs().get(source)
    if path is None:
        pytest.skip("the log is not among the collected ones")
    rest = [one for one in CATALOGUE if one.source != source]
    stated = any(table.num_ranks == ranks for table in read_file(path).tables)
    report = health_of([path], Question(Setup(gpu, system, hosts, None if stated else ranks), entries=rest))
    mine = [one for one in report.files[0].tables if one.num_ranks == ranks]
    assert {one.verdict for one in mine} <= {Verdict.AS_FAST, Verdict.UNKNOWN}, [one.because for one in mine]


def test_a_run_over_sockets_is_far_below_the_same_run_over_the_fabric() -> None:
    path = next(path for path in logs().values() if path.name.startswith("042-"))
    (table,) = health_of([path], Question(Setup(system="Polaris"))).files[0].tables
    assert table.verdict is Verdict.FAR_BELOW


def test_two_tools_on_one_host_differ_by_the_time_of_a_call() -> None:
    folder = shared_data() / "published"
    setup = Setup(gpu="H100 SXM5 80GB", num_hosts=1, num_ranks=4)
    report = health_of([folder / "h100x4-nccl-tests.txt", folder / "h100x4-all-reduce-bench.md"], Question(setup))
    (tools,) = report.tools
    assert any("the second tool adds" in one for one in tools.differences)
