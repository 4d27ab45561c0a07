"""Tuning a library's switches on made-up times: choices, ranges, formats, what the validation keeps, what is printed.

For: ringtree.tune.library and `ringtree tune --arms`, without any process. Not for: whether a library reads what was
written (test_tune_library_taken.py).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_support import assert_refused, invoke
from comparison_support import noise
from lab_support import make_cell, make_launch, make_run

from ringtree.arms import mpi_libraries
from ringtree.errors import RingtreeError
from ringtree.results import Plan, StoredRun
from ringtree.tune.library import check, tuning
from ringtree.tune.library.choosing import chosen, named_failures
from ringtree.tune.library.formats import INVALID, deployed, invalid
from ringtree.tune.library.rules import DEFAULT, SizeRange, all_ranges, ranges
from ringtree.tune.library.switches import SWITCHES
from ringtree.tune.library.tuned import LibraryRules
from ringtree.tune.library.tuning import LibraryAsked, screening_plan, tune_library, validation_plan

# sqrt(8 · 1024) = 90.5 and sqrt(1024 · 65536) = 8192: where choices change between measured sizes.
CHOICES = {8: DEFAULT, 1024: "ring", 65536: "rabenseifner", 1 << 20: DEFAULT}
RULES = [
    SizeRange(first=91, last=8192, switch="ring"),
    SizeRange(first=8193, last=262144, switch="rabenseifner"),  # sqrt(65536 · 2^20) = 2^18
]
Seconds = Callable[[str, int], float]
THERE = SimpleNamespace(version="4.0.2", toolchain=SimpleNamespace(version="MPI 4.0.2"))


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library is there, in a version."""
    monkeypatch.setattr(mpi_libraries.MpiProgram, "lacks", lambda self: None)
    monkeypatch.setattr(mpi_libraries.MpiProgram, "found", lambda self: THERE)


def made_up(plan: Plan, seconds: Seconds, wrong: str = "") -> StoredRun:
    """A run of `plan` with times of half a per cent of noise; the arm `wrong` fails everywhere."""
    launches = [
        make_launch(
            launch,
            [
                make_cell(
                    arm.label,
                    size.size_bytes,
                    seconds(arm.label, size.size_bytes) * noise(launch, arm.label, size.size_bytes),
                    plan.num_ranks,
                    **({"error": "no such switch", "verified": False} if arm.label == wrong else {}),
                )
                for size in plan.sizes
                for arm in plan.arms
            ],
        )
        for launch in range(plan.num_launches)
    ]
    return StoredRun(Path("runs/made-up"), make_run(plan), launches, [])


def asked(arm: str = "openmpi", sizes: str = "1K,64K,1M", file: Path | None = None) -> LibraryAsked:
    return LibraryAsked(arm=arm, num_ranks=2, sizes=sizes, budget=60.0, seed=3, file=file)


def test_ranges_change_between_sizes_and_end_at_the_last() -> None:
    assert ranges(CHOICES) == RULES
    assert all_ranges(RULES) == [(0, DEFAULT), (91, "ring"), (8193, "rabenseifner"), (262145, DEFAULT)]
    assert ranges({8: "ring"}) == [SizeRange(first=8, last=8, switch="ring")]
    assert ranges({8: DEFAULT, 64: DEFAULT}) == ranges({}) == []
    apart = ranges({8: "ring", 1024: DEFAULT, 65536: "ring"})
    assert [(one.first, one.last) for one in apart] == [(8, 90), (8193, 65536)]
    assert [first for first, switch in all_ranges(apart) if switch == DEFAULT] == [0, 91, 65537]


def test_open_mpis_file_holds_for_its_ranks_alone() -> None:
    made = deployed("openmpi", RULES, 2, Path("/x/rules.conf"))
    numbers = [line.split("#")[0].split() for line in made.text.splitlines()]
    assert numbers[:2] == [["1"], ["2"]], "one collective, all_reduce"
    assert numbers[2:] == [
        *(["3"], ["0"], ["1"], ["0", "0", "0", "0"]),
        *(
            ["2"],
            ["4"],
            ["0", "0", "0", "0"],
            ["91", "4", "0", "0"],
            ["8193", "6", "0", "0"],
            ["262145", "0", "0", "0"],
        ),
        *(["3"], ["1"], ["0", "0", "0", "0"]),
    ]
    assert made.environment == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": "/x/rules.conf",
    }
    broken = [line.split("#")[0].split() for line in invalid(made.text).splitlines()]
    assert [words for words in broken if str(INVALID) in words] == [
        ["91", "99", "0", "0"],
        ["8193", "99", "0", "0"],
    ]
    assert len(broken) == len(numbers)


def test_variables_of_the_other_libraries() -> None:
    by_number = [SizeRange(first=8, last=90, switch="1"), SizeRange(first=91, last=4096, switch="8")]
    intel = deployed("impi", by_number, 4, Path("/x"))
    assert intel.environment == {"I_MPI_ADJUST_ALLREDUCE": "1:8-90@4-4;8:91-4096@4-4"}
    assert intel.text == "export I_MPI_ADJUST_ALLREDUCE='1:8-90@4-4;8:91-4096@4-4'\n"
    # The oneccl arm's own choice is direct up to 16 KB, which must not change where no rule is.
    ccl = deployed("oneccl", RULES, 2, Path("/x"))
    assert ccl.environment == {"CCL_ALLREDUCE": "direct:0-90;ring:91-8192;rabenseifner:8193-262144"}
    one = [SizeRange(first=8, last=90, switch="recursive_doubling")]
    assert deployed("mpich", one, 2, Path("/x")).environment == {
        "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "recursive_doubling",
    }
    for library in SWITCHES:
        assert deployed(library, [], 2, Path("/x")).environment == {}


def test_the_fastest_is_chosen_where_it_gains_and_a_failed_switch_is_named() -> None:
    plan = screening_plan(asked())

    def seconds(label: str, size: int) -> float:
        gain = {"openmpi:ring": 0.5 if size > 4096 else 1.5, "openmpi:basic_linear": 0.3}.get(label, 1.2)
        return 1e-6 * (1.0 if label == "openmpi" else gain)

    run = made_up(plan, seconds, wrong="openmpi:basic_linear")
    assert chosen(run, "openmpi", by_size=True) == {1024: DEFAULT, 65536: "ring", 1 << 20: "ring"}
    assert named_failures(run) == {"openmpi:basic_linear": "no such switch"}
    assert chosen(made_up(plan, seconds, wrong="openmpi"), "openmpi", by_size=True) == {}


def test_one_choice_for_all_sizes_goes_by_the_sum() -> None:
    plan = screening_plan(asked("mpich"))
    by_size = {1024: 0.5, 65536: 1.1, 1 << 20: 1.1}  # 0.5 · 1.1 · 1.1 < 1
    run = made_up(plan, lambda label, size: 1e-6 * (by_size[size] if label == "mpich:recursive_doubling" else 1.0))
    assert set(chosen(run, "mpich", by_size=False).values()) == {"recursive_doubling"}
    turned = made_up(plan, lambda label, size: 1e-6 * (1 / by_size[size] if ":" in label else 1.0))
    assert set(chosen(turned, "mpich", by_size=False).values()) == {DEFAULT}


@pytest.mark.parametrize(
    ("arm", "gains", "kept"),
    [
        ("openmpi", {1024: 0.5, 65536: 1.0, 1 << 20: 1.5}, {1024}),
        ("openmpi", {1024: 1.0, 65536: 1.0, 1 << 20: 1.0}, set()),
        ("mpich", {1024: 0.5, 65536: 1.0, 1 << 20: 1.5}, set()),  # all sizes or none, and one is slower
        ("mpich", {1024: 0.5, 65536: 1.0, 1 << 20: 1.0}, {1024, 65536, 1 << 20}),
    ],
)
def test_what_is_not_shown_to_be_faster_goes_back(arm: str, gains: dict[int, float], kept: set[int]) -> None:
    plan = validation_plan(asked(arm), deployed(arm, [], 2, Path("/x")))
    comparison = tuning.summarise(made_up(plan, lambda label, size: 1e-6 * (gains[size] if "rules" in label else 1.0)))
    held = tuning.held(dict.fromkeys(gains, "ring"), comparison, f"{arm}+rules", by_size=arm == "openmpi")
    assert {size for size, switch in held.items() if switch != DEFAULT} == kept


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Seconds], list[Plan]]:
    """Replaces runs by made-up ones in which calls take so long; returns the plans that were run."""

    def with_times(seconds: Seconds) -> list[Plan]:
        plans: list[Plan] = []

        def run(plan: Plan, runs: Path, on_progress: object) -> StoredRun:
            plans.append(plan)
            folder = tmp_path / f"run{len(plans)}"
            folder.mkdir()
            stored = made_up(plan, seconds)
            return StoredRun(folder, stored.run, stored.launches, [])

        monkeypatch.setattr(tuning, "run_comparison", run)
        monkeypatch.setattr(tuning, "how_taken", lambda *what: "seen")
        return plans

    return with_times


@contextlib.contextmanager
def quiet(plan: Plan) -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(on_progress=None)


def test_a_tuning_screens_validates_in_fresh_processes_and_writes_what_won(
    lab: Callable[[Seconds], list[Plan]], tmp_path: Path
) -> None:
    file = tmp_path / "rules.conf"

    def seconds(label: str, size: int) -> float:
        fast = label in ("openmpi:ring", "openmpi+rules") and size == 65536
        return 1e-6 * (0.5 if fast else 1.0 if label in ("openmpi", "openmpi+rules") else 1.3)

    plans = lab(seconds)
    found = tune_library(asked(file=file), tmp_path, quiet)
    screening, validation = plans
    assert [arm.label for arm in screening.arms] == ["openmpi", *(f"openmpi:{one}" for one in SWITCHES["openmpi"])]
    assert (screening.purpose, validation.purpose) == ("pilot", "comparison")
    assert [arm.label for arm in validation.arms] == ["openmpi", "openmpi+rules"]
    deployed_file = validation.arms[1].environment["OMPI_MCA_coll_tuned_dynamic_rules_filename"]
    assert Path(deployed_file).parent == tmp_path / "run1", "the candidate lies beside its screening"
    assert found.rules == [SizeRange(first=8193, last=262144, switch="ring")]
    assert (found.taken, found.file) == ("seen", str(file))
    assert file.read_text() == Path(deployed_file).read_text()
    assert found.environment["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == str(file)
    (won,) = [one for one in found.sizes if one.kept]
    assert won.gain is not None
    assert won.gain.ratio == pytest.approx(0.5, rel=0.02)
    assert won.gain.low is not None
    assert LibraryRules.model_validate_json(found.model_dump_json()) == found


def test_where_nothing_wins_nothing_is_written(lab: Callable[[Seconds], list[Plan]], tmp_path: Path) -> None:
    file = tmp_path / "rules.conf"
    file.write_text("mine\n")
    plans = lab(lambda label, size: 1e-6 * (0.8 if label == "openmpi:ring" else 1.0))  # it does not hold in place
    found = tune_library(asked(file=file), tmp_path, quiet)
    assert (len(plans), found.rules, found.file, found.environment) == (2, [], None, {})
    assert file.read_text() == "mine\n"
    again = lab(lambda label, size: 1e-6 * (1.0 if label == "openmpi" else 1.3))
    (tmp_path / "run1").rename(tmp_path / "before1")
    assert tune_library(asked(file=file), tmp_path, quiet).validation is None
    assert len(again) == 1, "nothing to validate"


def test_rules_that_are_not_taken_end_the_tuning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = deployed("openmpi", RULES, 2, tmp_path / "rules.conf")
    plan = validation_plan(asked(), made)
    monkeypatch.setattr(check, "error_with", lambda *what: "this library has no such variable")
    with pytest.raises(RingtreeError, match="openmpi fails with its rules: this library has no such variable"):
        check.how_taken("openmpi", "openmpi", plan, CHOICES, made)
    monkeypatch.setattr(check, "error_with", lambda *what: None)
    with pytest.raises(RingtreeError, match="ignores its rules"):
        check.how_taken("openmpi", "openmpi", plan, CHOICES, made)
    assert check.how_taken("impi", "impi", plan, CHOICES, made) == "it does not report its variables"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--arms", "gloo"), "can't tune 'gloo': name openmpi, mpich, impi, oneccl"),
        (("--arms", "openmpi:ring"), "can't tune 'openmpi:ring'"),
        (("--arms", "mpi"), "can't tune 'mpi'"),
        (("--arms", "openmpi", "--check"), "--check applies only to ringtree's own profile"),
        (("--arms", "openmpi", "--buffers", "shared"), "--buffers applies only to ringtree's own profile"),
        (("--arms", "openmpi", "--collectives", "broadcast"), "--arms tunes all_reduce"),
        (("--arms", "openmpi", "--ranks", "2,4"), "one number of ranks at a time, 2 or more, not 2,4"),
        (("--arms", "openmpi", "--ranks", "1"), "2 or more, not 1"),
        (("--arms", "openmpi", "--budget", "soon"), "invalid duration"),
        (("--arms", "openmpi", "--sizes", "3"), "multiple of 4"),
        (("--arms", "openmpi,mpich", "-o", "x.conf"), "-o names the file of one library"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    assert_refused(invoke("tune", *arguments, "--runs", str(tmp_path)), said)


def test_a_library_that_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_libraries.MpiProgram, "lacks", lambda self: f"{self.name} is not here: get it")
    assert_refused(invoke("tune", "--arms", "impi", "--runs", str(tmp_path)), "impi is not here: get it")


def test_people_see_sizes_and_what_to_deploy(
    lab: Callable[[Seconds], list[Plan]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lab(lambda label, size: 1e-6 * (0.5 if label in ("impi:8", "impi+rules") else 1.0))
    options = ("--ranks", "2", "--sizes", "1K,64K", "--budget", "10s", "--seed", "3", "--runs", str(tmp_path))
    result = invoke("tune", "--arms", "impi", *options)
    assert result.exit_code == 0, result.output
    assert "rules: 1 KB–64 KB 8; elsewhere its own choice" in result.stdout
    assert "▲ 2.0× (" in result.stdout
    assert "taken: seen" in result.stdout
    assert "export I_MPI_ADJUST_ALLREDUCE='8:1024-65536@2-2'" in result.stdout
    assert (tmp_path / "ringtree-impi.env").read_text() == "export I_MPI_ADJUST_ALLREDUCE='8:1024-65536@2-2'\n"
    for folder in ("run1", "run2"):
        (tmp_path / folder).rename(tmp_path / f"old-{folder}")
    lab(lambda label, size: 1e-6 * (1.0 if label == "impi" else 1.3))
    nothing = invoke("tune", "--arms", "impi", *options)
    assert "impi: no switch is shown to beat its own choice: nothing to deploy" in nothing.stdout
    (tmp_path / "run1").rename(tmp_path / "older")
    printed = invoke("tune", "--arms", "impi", *options, "--json")
    assert json.loads(printed.stdout)["format"] == "ringtree.library-rules/1"
