"""`ringtree tune`, `which` and `support`: what they print, and mistakes as one line and exit code 2.

For: the commands around a made-up machine. Not for: real ranks (test_tune_launch.py).
"""

from __future__ import annotations

import importlib
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke
from profile_support import SMALL, make_profile
from tune_support import SUPPORT, MadeUpMachine, configuration

import ringtree
from ringtree.comm.profile import own_cores
from ringtree.comm.profile_format import ProfileRule, ProfileTable, read_profile, this_machine
from ringtree.tune.measured import TuneLaunch, TuneRequest
from ringtree.tune.state import read_state
from ringtree.tune.tuning import run

COMMAND = importlib.import_module("ringtree.cli.tune")  # ringtree.cli.tune is the command's function
QUICK = ("tune", "--ranks", "2", "--sizes", "8:16K:4", "--buffers", "private", "--budget", "2s")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No profile of the user's own is seen or touched; an engine with made-up algorithms."""
    monkeypatch.delenv("RINGTREE_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("ringtree.tune.candidates.support", lambda: SUPPORT)
    # by import_module: ringtree.cli has a command of this name
    monkeypatch.setattr(import_module("ringtree.cli.support"), "support_of", lambda: SUPPORT)
    return tmp_path / "ringtree" / "profile.json"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> MadeUpMachine:
    made_up = MadeUpMachine(auto=lambda *cell: configuration("quick/ll"))
    monkeypatch.setattr(COMMAND, "run", lambda *arguments: run(*arguments[:4], made_up))
    return made_up


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tune", "--ranks", "1"), "2..256"),
        (("tune", "--ranks", "many"), "for example 4"),
        (("tune", "--sizes", "6"), "multiple of 4"),
        (("tune", "--sizes", "8:"), "invalid size"),
        (("tune", "--sizes", "32T"), "does not fit"),
        (("tune", "--budget", "10"), "invalid duration"),
        (("tune", "--budget", "10ms"), "is too short"),
        (("tune", "--collectives", "all_reduce,scan"), "'scan' can't be tuned"),
        (("tune", "--buffers", "shared,common"), "'common' are not buffers; choose from: private, shared"),
        (("tune", "--buffers", "shared", "--collectives", "broadcast"), "tuned only for all_reduce"),
        (("tune", "--resume", "--buffers", "shared"), "leave --buffers out"),
        (("tune", "--resume", "--fresh"), "choose one"),
        (("tune", "--resume", "--seed", "1"), "leave --seed out"),
        (("tune", "--resume"), "no interrupted tuning"),
        (("tune", "--check"), "can't read the profile"),
        (("tune", "--check", "--sizes", "8"), "leave --collectives and --sizes out"),
        (("which", "--size", "1M", "--ranks", "0"), "1..1024"),
        (("which", "--size", "0", "--ranks", "2"), "at least one byte"),
        (("which", "--size", "much", "--ranks", "2"), "invalid size"),
        (("which", "--size", "8", "--ranks", "2", "--collective", "scan"), "no algorithm runs 'scan'"),
        (("which", "--size", "8", "--ranks", "2", "--profile", "none.json"), "can't read the profile none.json"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    assert_refused(invoke(*arguments), said)


def test_a_tuning_writes_the_profile_and_says_where(machine: MadeUpMachine, place: Path) -> None:
    result = invoke(*QUICK)
    assert result.exit_code == 0
    profile = read_profile(place)
    assert [(table.collective, table.num_ranks) for table in profile.tables] == [("all_reduce", 2)]
    assert profile.machine == this_machine()
    assert re.search(r"^all_reduce, 2 ranks, .*, private buffers$", result.stdout, re.MULTILINE)
    assert "shared buffers" not in result.stdout
    assert re.search(r"^ *\S+ KB +quick/ll ", result.stdout, re.MULTILINE)
    assert str(place) in result.stderr
    machine.num_rounds = 0
    assert invoke(*QUICK, "--json").stdout == place.read_text()
    assert machine.num_rounds, "a finished tuning is begun anew"


def test_both_kinds_of_buffers_are_tuned_and_checked(machine: MadeUpMachine, place: Path) -> None:
    result = invoke(*QUICK, "--buffers", "private,shared")
    assert result.exit_code == 0
    assert [table.shared_buffers for table in read_profile(place).tables] == [False, True]
    titles = re.findall(r"^all_reduce, 2 ranks, .*, (\w+) buffers$", result.stdout, re.MULTILINE)
    assert titles == ["private", "shared"]
    check = ("tune", "--check", "--budget", "2s", "--fresh")
    rows = json.loads(invoke(*check, "--json").stdout)["rows"]
    small, large = [24, 84, 96, 324, 384], [1284, 1536, 5124, 6144]
    assert [row["size_bytes"] for row in rows if not row["shared_buffers"]] == [*small, *large]
    assert [row["size_bytes"] for row in rows if row["shared_buffers"]] == large
    printed = invoke(*check, "--buffers", "shared").stdout
    assert re.search(r"^ *all_reduce +2 +shared +24 B ", printed, re.MULTILINE), "nobody else measures it"
    assert not re.search(r"^ *all_reduce +2 +private ", printed, re.MULTILINE)


def test_output_names_another_place(machine: MadeUpMachine, place: Path, tmp_path: Path) -> None:
    other = tmp_path / "not" / "there" / "yet.json"
    assert invoke(*QUICK, "-o", str(other)).exit_code == 0
    assert read_profile(other).tables
    assert not place.exists()


def test_an_interrupted_tuning_says_how_to_go_on(machine: MadeUpMachine, place: Path) -> None:
    machine.stop_after = 30
    result = invoke(*QUICK)
    assert result.exit_code == 130
    assert (
        result.stderr.strip()
        .splitlines()[-1]
        .endswith(f"30 rounds stored in {place}.tuning; repeat the command to continue")
    )
    assert not place.exists()
    machine.stop_after = None
    result = invoke("tune", "--resume")
    assert result.exit_code == 0
    assert "continuing the tuning of" in result.stderr
    assert read_profile(place).tables[0].sizes[0].size_bytes == 8


def test_what_was_left_out_is_said_but_not_what_was_slow(
    machine: MadeUpMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ringtree.tune.measured import Dropped

    class Refusing(MadeUpMachine):
        def __call__(self, request: TuneRequest, launch: TuneLaunch, first: int, on_measured: object) -> None:
            for label, reason in (("poor/ll", "its result was wrong"), ("poor/simple", "4 times as long as the best")):
                on_measured(  # type: ignore[operator]
                    Dropped(launch=launch.number, collective="all_reduce", size_bytes=8, label=label, reason=reason)
                )
            super().__call__(request, launch, first, on_measured)  # type: ignore[arg-type]

    refusing = Refusing()
    monkeypatch.setattr(COMMAND, "run", lambda *arguments: run(*arguments[:4], refusing))
    lines = [line for line in invoke(*QUICK).stderr.splitlines() if line.startswith("left out")]
    assert lines == ["left out: poor/ll at 1 size: its result was wrong"]


def test_a_check_prints_regrets(machine: MadeUpMachine, place: Path) -> None:
    assert invoke(*QUICK).exit_code == 0
    result = invoke("tune", "--check", "--budget", "2s")
    assert result.exit_code == 0
    assert re.search(r"^mean regret \S+, (within|above) 3 %$", result.stdout, re.MULTILINE)
    assert re.search(r"^worst regret \S+, (within|above) 10 %$", result.stdout, re.MULTILINE)
    record = json.loads(invoke("tune", "--check", "--budget", "2s", "--json").stdout)
    assert record["format"] == "ringtree.regret/1"
    assert record["profile"] == str(place)
    sizes = [row["size_bytes"] for row in record["rows"]]
    assert sizes == [24, 84, 96, 324, 384, 1284, 1536, 5124, 6144]
    assert record["worst"] == max(row["regret"] for row in record["rows"])
    stored = read_state(place.with_name("profile.json.check"))
    assert stored is not None
    assert stored.header.request.purpose == "check"


def test_a_check_needs_this_machines_profile(place: Path) -> None:
    place.parent.mkdir()
    machine = this_machine().model_copy(update={"cpu_model": "other"})
    place.write_text(make_profile(machine=machine).model_dump_json())
    result = invoke("tune", "--check")
    assert (result.exit_code, "measured on 'other'" in result.stderr) == (2, True)


def write_two_sizes(place: Path) -> None:
    """A profile for 2 ranks with measurements at 64 KB and 256 KB, and a rule for each."""
    fast, late = configuration("quick/ll"), configuration("wide/simple")
    times = {64 << 10: {"quick/ll": 4e-6, "wide/simple": 5e-6}, 256 << 10: {"quick/ll": 16e-6, "wide/simple": 10e-6}}
    sizes = [
        {
            "size_bytes": size,
            "num_rounds": {"near": 5, "far": 5},
            "num_dropped": 3,
            "candidates": [
                {
                    "configuration": configuration(label),
                    "seconds": {"near": taken / 2, "far": taken},
                    "ratio": taken / min(of.values()),
                }
                for label, taken in of.items()
            ],
        }
        for size, of in times.items()
    ]
    rules = [ProfileRule(until_bytes=128 << 10, configuration=fast), ProfileRule(until_bytes=None, configuration=late)]
    table = ProfileTable.model_validate(
        {"collective": "all_reduce", "num_ranks": 2, "own_cores": own_cores(2), "rules": rules, "sizes": sizes}
    )
    place.parent.mkdir(exist_ok=True)
    place.write_text(make_profile(tables=[table]).model_dump_json())


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("64K", "profile: quick/ll 4.00 µs; next best wide/simple 5.00 µs (+25%); measured 2026-11-21 at 64 KB"),
        ("8", "profile: quick/ll 4.00 µs; next best wide/simple 5.00 µs (+25%); measured 2026-11-21 at 64 KB"),
        (
            "128K",
            "profile: quick/ll 8.00 µs; not surely or not lastingly faster wide/simple 7.07 µs (-12%); "
            "measured 2026-11-21 at 64 KB and 256 KB",
        ),
        ("1G", "profile: wide/simple 10.0 µs; next best quick/ll 16.0 µs (+60%); measured 2026-11-21 at 256 KB"),
    ],
)
def test_which_says_what_the_profile_chose_and_why(place: Path, size: str, said: str) -> None:
    write_two_sizes(place)
    result = invoke("which", "--size", size, "--ranks", "2")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1] == said
    record = json.loads(invoke("which", "--size", size, "--ranks", "2", "--json").stdout)
    assert (record["format"], record["source"], record["reason"]) == ("ringtree.choice/1", "profile", said)
    assert record["configuration"]["algorithm"] == record["algorithm"] == said.split()[1].split("/")[0]


def test_a_rule_without_a_measurement_of_its_own_says_so(place: Path) -> None:
    write_two_sizes(place)
    profile = read_profile(place)
    alone = profile.tables[0].model_copy(update={"rules": [ProfileRule(until_bytes=None, configuration=SMALL)]})
    place.write_text(profile.model_copy(update={"tables": [alone]}).model_dump_json())
    said = invoke("which", "--size", "64K", "--ranks", "2").stdout
    assert "profile: one_shot/ll128 by the rule of its neighbours; measured" in said


def test_which_falls_back_to_the_model_and_says_why(place: Path) -> None:
    result = invoke("which", "--size", "1M", "--ranks", "2")
    assert result.exit_code == 0
    assert "there is no profile" in result.stdout
    assert "model" in result.stdout
    write_two_sizes(place)
    assert "has no rules for all_reduce with 3 ranks" in invoke("which", "--size", "1M", "--ranks", "3").stdout
    assert (
        "has no rules for broadcast with 2 ranks"
        in invoke("which", "--size", "1M", "--ranks", "2", "--collective", "broadcast").stdout
    )
    place.write_text(make_profile(machine=this_machine().model_copy(update={"num_cores": 999})).model_dump_json())
    assert "is not used: it was measured with 999 cores" in invoke("which", "--size", "8", "--ranks", "2").stdout
    record = json.loads(invoke("which", "--size", "1M", "--ranks", "4", "--json").stdout)
    assert record["source"] == "model"
    assert [one["label"] for one in record["alternatives"] if one["chosen"]] == [record["algorithm"]]
    seconds = [one["seconds"] for one in record["alternatives"]]
    assert seconds == sorted(seconds)
    assert len(seconds) == len(ringtree.algorithms.names())


def test_which_says_whether_the_rules_are_for_shared_buffers(place: Path) -> None:
    asked = ("which", "--size", "1G", "--ranks", "2", "--shared-buffers")
    assert "there is no profile" in invoke(*asked).stdout
    write_two_sizes(place)
    result = invoke(*asked)
    assert result.exit_code == 0
    assert re.search(r"^all_reduce of 1 GB on 2 ranks, .*, shared buffers: wide/simple$", result.stdout, re.MULTILINE)
    fallback = (
        r"profile\.json has no rules for all_reduce with 2 ranks, .*, shared buffers: those for private .* count$"
    )
    assert re.search(fallback, result.stdout, re.MULTILINE)
    record = json.loads(invoke(*asked, "--json").stdout)
    assert (record["shared_buffers"], record["source"], len(record["notes"])) == (True, "profile", 1)
    profile = read_profile(place)
    rules = [ProfileRule(until_bytes=None, configuration=configuration("quick/ll"))]
    shared = profile.tables[0].model_copy(update={"shared_buffers": True, "rules": rules})
    place.write_text(profile.model_copy(update={"tables": [*profile.tables, shared]}).model_dump_json())
    record = json.loads(invoke(*asked, "--json").stdout)
    assert (record["configuration"]["algorithm"], record["notes"]) == ("quick", [])
    record = json.loads(invoke(*asked[:-1], "--json").stdout)
    assert (record["configuration"]["algorithm"], record["shared_buffers"]) == ("wide", False)
    said = invoke("which", "--size", "8", "--ranks", "3", "--shared-buffers").stdout
    assert re.search(r"has no rules for all_reduce with 3 ranks, .*, shared buffers$", said, re.MULTILINE)


def test_support_shows_the_matrix_and_each_reason_once() -> None:
    result = invoke("support")
    assert result.exit_code == 0
    words = [line.split() for line in result.stdout.splitlines()]
    assert ["all_reduce", "quick", "yes", "yes"] in words
    assert ["wide", "yes", "(1)"] in words
    assert words.count(["(1)", "wide", "has", "no", "ll"]) == 1
    record = json.loads(invoke("support", "--json").stdout)
    assert record["format"] == "ringtree.support/1"
    assert len(record["cells"]) == len(SUPPORT)
    empty = [cell for cell in record["cells"] if not cell["runs"]]
    assert {(cell["algorithm"], cell["protocol"], cell["reason"]) for cell in empty} == {
        ("wide", "ll", "wide has no ll")
    }


def test_help_lists_the_commands() -> None:
    text = invoke("--help").stdout
    assert all(command in text for command in ("tune", "which", "support"))
    assert "8:64M" in invoke("tune", "--help").stdout
