"""`ringtree tune` on several hosts, and `auto` there by the profile that it writes.

For: the command on hosts that are network namespaces, and the question `ringtree which` about such. Not for: choosing
(test_tune_rules.py), or the engine's rules (tests/core/engine/test_profile.cpp).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forked_ringtree import fork_on
from hosts_support import Hosts, why_no_hosts
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.comm.profile_format import read_profile
from ringtree.tune.candidates import first_candidates
from ringtree.tune.measured import CHECK, Chosen
from ringtree.tune.state import read_state, state_of
from ringtree.tune.world import World

needs_hosts = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")


def with_fewer_sizes(place: Path, copy: Path) -> Path:
    """A profile of the same rules, with sizes of 16 KB and 64 KB: a check measures two in between, not eleven
    from 8 bytes on, each with every algorithm in five launches."""
    profile = read_profile(place)
    (table,) = profile.tables
    sizes = [table.sizes[-1].model_copy(update={"size_bytes": size}) for size in (16 << 10, 64 << 10)]
    copy.write_text(
        profile.model_copy(update={"tables": [table.model_copy(update={"sizes": sizes})]}).model_dump_json()
    )
    return copy


@needs_hosts
def test_tunes_for_hosts_and_auto_follows(tmp_path: Path) -> None:
    place = tmp_path / "profile.json"
    with Hosts(2) as hosts:
        tuned = fork_on(hosts, "tune", "--sizes", "8,64K", "--budget", "3s", "-o", str(place), "--json")
        assert [rank.returncode for rank in tuned] == [0, 0], tuned[0].stderr
        assert json.loads(tuned[0].stdout)["tables"]
        assert not tuned[1].stdout, "one rank speaks"
        (table,) = read_profile(place).tables
        assert (table.collective, table.num_ranks, table.num_hosts, table.shared_buffers) == ("all_reduce", 2, 2, False)
        assert all(rule.configuration.protocol == "simple" for rule in table.rules)
        assert [size.size_bytes for size in table.sizes if size.size_bytes in (8, 64 << 10)] == [8, 64 << 10]

        few = with_fewer_sizes(place, tmp_path / "few.json")
        checked = fork_on(hosts, "tune", "--check", "--budget", "3s", "-o", str(few), "--json")
        assert [rank.returncode for rank in checked] == [0, 0], checked[0].stderr
    stored = read_state(state_of(few, CHECK))
    assert stored is not None
    chosen = [line.reason for line in stored.lines if isinstance(line, Chosen)]
    assert chosen
    assert all("measured profile" in reason for reason in chosen), "auto takes the rules for these hosts"
    rule = table.rules[0].configuration.algorithm
    question = ["which", "--hosts", "2x1", "--size", "8", "--profile", str(place), "--json"]
    answer = json.loads(CliRunner().invoke(app, question).stdout)
    assert (answer["source"], answer["algorithm"], answer["hosts"]) == ("profile", rule, [0, 1])
    assert answer["notes"] == []
    with_links = CliRunner().invoke(app, [*question, "--alpha", "15us", "--bandwidth", "1Gbit/s"])
    assert "--alpha and --bandwidth are ignored" in json.loads(with_links.stdout)["notes"][0]
    elsewhere = CliRunner().invoke(app, ["which", "--ranks", "2", "--size", "8", "--profile", str(place), "--json"])
    assert json.loads(elsewhere.stdout)["source"] == "model", "rules for hosts say nothing of ranks on one"


@needs_hosts
def test_what_cannot_be_tuned_on_hosts_is_refused(tmp_path: Path) -> None:
    place = str(tmp_path / "profile.json")
    with Hosts(2) as hosts:
        for options, said in [
            (["--ranks", "3"], "--ranks must be a multiple of 2, not 3"),
            (["--buffers", "shared"], "shared buffers are tuned on one host"),
            (["--resume"], "there is no interrupted tuning"),
        ]:
            ranks = fork_on(hosts, "tune", "-o", place, *options)
            assert ranks[0].returncode == 2
            assert said in ranks[0].stderr.replace("\n", " ")
            assert ranks[1].returncode == 0, "the others are sent home"


def test_candidates_of_hosts_are_what_runs_there() -> None:
    def names(num_ranks: int, num_hosts: int) -> set[str]:
        world = World(num_ranks=num_ranks, num_hosts=num_hosts)
        found = first_candidates("all_reduce", world)
        assert num_hosts == 1 or {one.protocol for one in found} == {"simple"}
        return {one.algorithm for one in found}

    assert "hierarchical_ring" in names(4, 2)
    assert not any(name.startswith("hierarchical") for name in names(4, 1))
    assert "ring" in names(3, 3)


def test_which_knows_hosts() -> None:
    def ask(*options: str) -> tuple[int, str]:
        asked = CliRunner().invoke(app, ["which", "--size", "64M", *options])
        return asked.exit_code, asked.output

    code, text = ask("--hosts", "2x4")
    assert code == 0, text
    assert "8 ranks on 2 hosts" in text
    assert "hierarchical_ring" in text
    assert ask("--hosts", "3,2,1")[0] == 0
    assert ask("--hosts", "2x4", "--ranks", "8")[0] == 2
    assert ask()[0] == 2


def test_which_takes_links_where_there_are_some() -> None:
    def ask(*options: str) -> tuple[int, str]:
        asked = CliRunner().invoke(app, ["which", "--size", "64K", *options])
        return asked.exit_code, " ".join(asked.output.split())

    slow, fast = (ask("--hosts", "4x1", "--alpha", "15us", "--bandwidth", rate) for rate in ("1Gbit/s", "10Gbit/s"))
    assert "links of 15 us and 0.125 GB/s" in slow[1], slow
    assert "links of 15 us and 1.25 GB/s" in fast[1], fast
    assert ask("--hosts", "4x1", "--alpha", "15us")[0] == 2
    for nowhere in (("--hosts", "1x4"), ("--ranks", "4")):
        code, text = ask(*nowhere, "--alpha", "15us", "--bandwidth", "1Gbit/s")
        assert code == 2
        assert "describe links between hosts" in text
