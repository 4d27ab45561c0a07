"""The profile's file: read strictly, refused on another machine, found where it should be.

For: ringtree.profile. Not for: the engine's parser (tests/core/engine/test_profile.cpp) or how a profile is found.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from profile_support import LARGE, SMALL, make_profile, make_table

from ringtree.comm.profile import default_path, load
from ringtree.comm.profile_format import (
    Profile,
    ProfileRule,
    read_profile,
    this_machine,
    why_not_here,
    with_tables_kept,
)
from ringtree.errors import UsageError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home: nothing of the user's own is seen."""
    monkeypatch.delenv("RINGTREE_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "ringtree" / "profile.json"
    file.parent.mkdir(parents=True)
    return file


def test_rules_are_written_as_the_engine_reads_them() -> None:
    shared = make_table(shared_buffers=True, rules=[ProfileRule(until_bytes=None, configuration=LARGE)])
    other = make_table(own_cores=False, num_ranks=4, rules=[ProfileRule(until_bytes=None, configuration=SMALL)])
    assert make_profile(tables=[make_table(), shared, other]).rules_text() == (
        "all_reduce 2 own private 4096 one_shot ll128 0 ordinary 1\n"
        "all_reduce 2 own private rest two_shot simple 32768 streaming 2\n"
        "all_reduce 2 own shared rest two_shot simple 32768 streaming 2\n"
        "all_reduce 4 shared private rest one_shot ll128 0 ordinary 1\n"
    )


def test_the_rule_of_a_size_is_the_engines() -> None:
    table = make_table()
    found = [table.rule_for(size).configuration for size in (1, 4096, 4097, 1 << 40)]
    assert found == [SMALL, SMALL, LARGE, LARGE]


def test_rules_for_private_buffers_count_where_there_are_none_for_shared_ones() -> None:
    both = make_profile(tables=[make_table(), make_table(shared_buffers=True), make_table(num_ranks=4)])

    def shared_buffers(num_ranks: int, asked: bool, own_cores: bool = True, of: Profile = both) -> bool | None:
        table = of.table("all_reduce", num_ranks, own_cores, asked)
        return None if table is None else table.shared_buffers

    assert [shared_buffers(2, asked) for asked in (False, True)] == [False, True]
    assert [shared_buffers(4, asked) for asked in (False, True)] == [False, False]
    assert [shared_buffers(2, asked, own_cores=False) for asked in (False, True)] == [None, None]
    assert both.table("broadcast", 2, True, True) is None
    # Not the other way round: what peers read in place says nothing about what they can't.
    assert shared_buffers(2, False, of=make_profile(tables=[make_table(shared_buffers=True)])) is None


def test_a_new_profile_keeps_what_it_did_not_measure_anew() -> None:
    first = make_profile(created_utc="2026-01-01T00:00:00Z", tables=[make_table(), make_table(collective="broadcast")])
    second = make_profile(created_utc="2026-02-02T00:00:00Z", tables=[make_table(shared_buffers=True)])
    third = make_profile(created_utc="2026-03-03T00:00:00Z", tables=[make_table()])
    together = with_tables_kept(third, with_tables_kept(second, first))
    assert [(table.collective, table.shared_buffers, table.measured_utc) for table in together.tables] == [
        ("all_reduce", False, None),
        ("all_reduce", True, "2026-02-02T00:00:00Z"),
        ("broadcast", False, "2026-01-01T00:00:00Z"),
    ]
    elsewhere = first.model_copy(update={"machine": first.machine.model_copy(update={"num_cores": 999})})
    assert with_tables_kept(third, elsewhere) == third
    assert with_tables_kept(third, first.model_copy(update={"dtype": "float64"})) == third


def test_labels_say_what_differs_from_the_plain_configuration() -> None:
    assert SMALL.label == "one_shot/ll128"
    assert LARGE.label == "two_shot/simple/32K/streaming/2ch"
    assert LARGE.model_copy(update={"slice_bytes": 16448}).label == "two_shot/simple/16448B/streaming/2ch"


def test_a_profile_comes_back_from_its_file(place: Path) -> None:
    profile = make_profile()
    place.write_text(profile.model_dump_json(indent=1))
    assert read_profile(place) == profile
    assert default_path() == place
    loaded = load(None)
    assert (loaded.rules, loaded.path, loaded.warning) == (profile.rules_text(), place, None)


def test_no_profile_is_no_error_and_no_warning(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (load(None).rules, load(None).warning) == ("", None)
    place.write_text(make_profile().model_dump_json())
    assert load("").rules == ""
    monkeypatch.setenv("RINGTREE_PROFILE", "")
    assert load(None).rules == ""


def test_the_variable_names_another_place(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGTREE_PROFILE", str(tmp_path / "other.json"))
    with pytest.raises(UsageError, match=r"can't read the profile .*other\.json"):
        load(None)
    (tmp_path / "other.json").write_text(make_profile().model_dump_json())
    assert load(None).path == tmp_path / "other.json"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("cpu_model", "other", "measured on 'other', this is"), ("num_cores", 4711, "measured with 4711 cores")],
)
def test_another_machines_profile_is_not_used(place: Path, field: str, value: object, said: str) -> None:
    machine = this_machine().model_copy(update={field: value})
    place.write_text(make_profile(machine=machine).model_dump_json())
    for path in (None, place):
        loaded = load(path)
        assert loaded.rules == ""
        assert loaded.warning is not None
        assert said in loaded.warning
        assert "\n" not in loaded.warning


def test_another_host_or_kernel_is_no_other_machine() -> None:
    here = this_machine()
    assert why_not_here(here.model_copy(update={"host": "x", "kernel": "0"}), here) is None


def damaged() -> list[tuple[str, str]]:
    good = json.loads(make_profile().model_dump_json())
    table = good["tables"][0]
    rules = table["rules"]

    def with_table(**changes: object) -> str:
        return json.dumps({**good, "tables": [{**table, **changes}]})

    return [
        ("{", "not valid JSON"),
        ("[]", "format None"),
        (json.dumps({**good, "format": "ringtree.profile/1"}), "reads ringtree.profile/2: run `ringtree tune` again"),
        (json.dumps({**good, "more": 1}), "more: Extra inputs"),
        (with_table(rules=[]), "rules"),
        (with_table(rules=rules[:1]), "only the last is open-ended"),
        (with_table(rules=[rules[1], rules[1]]), "only the last is open-ended"),
        (with_table(rules=[rules[0], rules[0], rules[1]]), "rules ascend"),
        (with_table(rules=[{**rules[1], "configuration": {**rules[1]["configuration"], "algorithm": "auto"}}]), "auto"),
        (
            with_table(rules=[{**rules[1], "configuration": {**rules[1]["configuration"], "protocol": "a b"}}]),
            "pattern",
        ),
    ]


@pytest.mark.parametrize(("text", "said"), damaged())
def test_a_damaged_profile_is_refused_by_name(place: Path, text: str, said: str) -> None:
    place.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_profile(place)
    assert str(place) in str(caught.value)
    assert said in str(caught.value)
    with pytest.raises(UsageError):
        load(place)
    # What nobody asked for must not keep a program from starting, but is not passed over in silence.
    found = load(None)
    assert found.rules == ""
    assert found.warning is not None
