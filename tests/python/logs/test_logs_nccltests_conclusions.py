"""What a table says of its run, what is concluded where it says nothing, and what is not concluded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nccltests_support import FOOTER, concluded, modern_header, modern_row, only_table, read_text

from ringtree.logs.nccltests.conclude import FORMAT as NCCL_TESTS
from ringtree.logs.nccltests.deduce import forced
from ringtree.logs.nccltests.ranks import factor, possible_ranks, ranks_of_counts
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Printed, Row, Side, Table
from ringtree.logs.words import (
    collective_of_file,
    collective_of_program,
    collective_of_title,
)
from ringtree.nccl.releases import version_of_code

HEADING = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
SETTINGS = "# nThread {} nGpus {} minBytes 8 maxBytes 8 step: 2(factor) iters: 20 validation: 1 graph: 0\n"


def measured(size: int, seconds: float, times: float, wrong: str = "0") -> str:
    """Returns the figures of a measurement in nccl-tests' format. `times`: busbw / algbw."""
    rate = size / seconds / 1e9
    return f"  {seconds * 1e6:7.2f}  {rate:6.2f}  {rate * times:6.2f}  {wrong:>6s}"


def rows(
    times: float, *, op: str = "sum", root: int = -1, blocks: int = 1, in_place: str = "0", sizes: int = 12
) -> str:
    """Returns rows of a collective with the factor `times`, whose sizes are `blocks` times count."""
    text = ""
    for power in range(sizes):
        size = 1024 << (2 * power)
        line = f"{size:12d}  {size // 4 // blocks:12d}     float  {op:>6s}  {root:6d}"
        seconds = 5e-6 + size / 40e9
        text += line + measured(size, seconds, times) + measured(size, 1.1 * seconds, times, in_place) + "\n"
    return text


@pytest.mark.parametrize("num_ranks", [2, 3, 4, 8, 16, 24, 64, 144, 512])
def test_ranks_from_the_factor_of_all_reduce(num_ranks: int) -> None:
    table = only_table(HEADING + rows(2 * (num_ranks - 1) / num_ranks, sizes=16))
    assert table.collective == "all_reduce"
    found = concluded(table, "num_ranks") or ""
    if table.num_ranks is not None:
        assert table.num_ranks == num_ranks
        assert found == str(num_ranks)
    else:
        low, _, high = found.partition(" to ")
        assert int(low) <= num_ranks <= int(high)
    assert (table.num_ranks is not None) == (num_ranks <= 144)


def test_a_factor_of_few_digits_gives_a_range_and_no_number() -> None:
    table = only_table(HEADING + rows(2 * 31 / 32, sizes=2))
    assert table.num_ranks is None
    assert " to " in (concluded(table, "num_ranks") or "")
    table = only_table(HEADING + rows(2 * 99999 / 100000, sizes=6))
    assert table.num_ranks is None
    assert (concluded(table, "num_ranks") or "").endswith("or more")


def test_rows_of_different_numbers_of_ranks_tell_none() -> None:
    table = only_table(HEADING + rows(1.75, sizes=16) + rows(1.5, sizes=18).splitlines()[-1] + "\n", "all_reduce.log")
    assert table.num_ranks is None
    assert concluded(table, "num_ranks") == "unknown"


@given(st.integers(2, 3000), st.floats(1e-6, 1e-1), st.integers(10, 34), st.sampled_from([1.0, 2.0]))
def test_the_true_number_of_ranks_is_never_excluded(num_ranks: int, seconds: float, power: int, scale: float) -> None:
    size = 1 << power
    rate = size / seconds / 1e9
    texts = (f"{seconds * 1e6:.2f}", f"{rate:.2f}", f"{rate * scale * (num_ranks - 1) / num_ranks:.2f}")
    units = (MICROSECONDS, GB_PER_SECOND, GB_PER_SECOND)
    side = Side("", *(Printed(text, unit) for text, unit in zip(texts, units, strict=True)))
    found = factor([Row(1, size, (side,))])
    collective = "all_reduce" if scale == 2 else "all_gather"
    if found is None or float(texts[1]) == 0:
        return
    possible = possible_ranks(collective, found, 1)
    assert possible is not None
    assert possible[0] <= num_ranks <= (possible[1] or num_ranks)


def test_ranks_from_the_counts_of_blocks() -> None:
    for op, collective in (("none", "all_gather"), ("sum", "reduce_scatter")):
        table = only_table(HEADING + rows(15 / 16, op=op, blocks=16))
        assert (table.collective, table.num_ranks) == (collective, 16)
        assert "16 times" in next(each.because for each in table.inferences if each.what == "num_ranks")


def test_a_process_has_as_many_ranks_as_it_has_threads_and_gpus() -> None:
    # Of the numbers that the factor allows only 32 is a multiple of 8.
    few = HEADING + rows(2 * 31 / 32, sizes=8).splitlines()[2] + "\n"
    assert only_table(few).num_ranks is None
    assert only_table(SETTINGS.format(1, 8) + few).num_ranks == 32
    table = only_table(SETTINGS.format(2, 4) + HEADING + rows(1.0, op="none", root=0), "broadcast.log")
    assert table.num_ranks == 8
    assert "if there was one process" in next(each.because for each in table.inferences if each.what == "num_ranks")


def test_the_time_of_the_processor_is_not_what_rates_are_computed_from() -> None:
    text = HEADING.replace("   time", "cputime") + rows(1.75, sizes=16)
    assert only_table(text).num_ranks == 8
    # Each time halved: with them no factor would fit.
    halved = [Row(1, 1 << 30, (Side("", Printed("13000.0", 1e-6), Printed("41.30", 1e9), Printed("72.27", 1e9)),))] * 2
    found = factor(halved, with_times=False)
    assert found is not None
    assert found.low <= 1.75 <= found.high


def test_one_rank() -> None:
    table = only_table(HEADING + rows(0.0), "all_reduce.log")
    assert table.num_ranks == 1


def test_lines_of_ranks_count_and_figures_that_disagree_are_said() -> None:
    table = only_table(modern_header(4) + rows(1.75, sizes=14) + FOOTER)
    assert table.num_ranks == 4
    assert concluded(table, "num_ranks") is None
    assert concluded(table, "ranks of the figures") == "8"
    assert concluded(only_table(modern_header(8) + rows(1.75, sizes=14)), "ranks of the figures") is None


def test_lines_of_ranks_that_somebody_left_out() -> None:
    lines = modern_header(16, gpus=1).splitlines(keepends=True)
    shown = [line for line in lines if "Rank" not in line or " Rank  0 " in line or " Rank  1 " in line]
    cut = shown.index(next(line for line in shown if " Rank  1 " in line)) + 1
    text = "".join([*shown[:cut], "...\n", *shown[cut:]]) + rows(2 * 15 / 16, sizes=14)
    table = only_table(text)
    assert table.num_ranks == 16
    assert concluded(table, "num_ranks") == "16"
    assert table.num_hosts is None or table.hosts == ["node-a"]
    ends = [line for line in lines if "Rank" not in line or " Rank  0 " in line or " Rank 15 " in line]
    table = only_table("".join(ends) + rows(2 * 15 / 16, sizes=3))
    assert table.num_ranks == 16
    assert concluded(table, "num_ranks") == "16"


@pytest.mark.parametrize(
    ("kind", "collective"),
    [
        ({"times": 1.75}, "all_reduce"),
        ({"times": 1.0, "root": 0}, "reduce"),
        ({"times": 1.0, "op": "none", "root": 3, "ranks": 8}, "broadcast"),
        ({"times": 0.875, "op": "none", "blocks": 8}, "all_gather"),
        ({"times": 0.875, "op": "none", "blocks": 8, "in_place": "N/A"}, "all_to_all"),
        ({"times": 0.875, "blocks": 8}, "reduce_scatter"),
        ({"times": 1.0, "in_place": "N/A", "ranks": 8}, "send_recv"),
    ],
)
def test_a_collective_that_the_rows_give_away(kind: dict[str, object], collective: str) -> None:
    ranks = kind.pop("ranks", None)
    header = (
        modern_header(8).split("# Collective")[0] + "\n".join(modern_header(8).splitlines()[2:]) + "\n"
        if ranks
        else HEADING
    )
    table = only_table(header + rows(**kind))  # type: ignore[arg-type] # as the parameters say
    assert table.collective == collective
    assert concluded(table, "collective") == collective


def test_a_collective_that_the_rows_do_not_give_away() -> None:
    table = only_table(HEADING + rows(0.875, op="none", root=0, blocks=8))
    assert table.collective is None
    assert concluded(table, "collective") == "unknown"
    assert "gather or scatter" in table.inferences[-2].because or any(
        "gather or scatter" in each.because for each in table.inferences
    )


def test_names_tell_the_collective_unless_the_rows_are_none_of_that() -> None:
    text = HEADING + rows(0.875, op="none", root=0, blocks=8)
    assert only_table(text, "runs/scatter-8.log").collective == "scatter"
    assert only_table("## Gather on 8 GPUs\n" + text).collective == "gather"
    assert only_table("$ mpirun -np 8 ./build/gather_perf -b 8\n" + text).collective == "gather"
    table = only_table(text, "all_reduce.log")
    assert table.collective is None
    assert concluded(table, "collective") == "not all_reduce"


def test_a_program_that_is_named_needs_no_conclusion() -> None:
    for program, collective in (("all_reduce_perf", "all_reduce"), ("/opt/x/alltoall_perf_mpi", "all_to_all")):
        table = only_table(modern_header(program=program) + modern_row(1024))
        assert table.collective == collective
        assert concluded(table, "collective") is None


def test_a_command_counts_for_the_run_behind_it_only() -> None:
    command = "$ NCCL_ALGO=Tree mpirun -np 4 ./build/all_gather_perf -b 8\n"
    text = command + SETTINGS.format(1, 1) + HEADING + rows(1.0, op="none", root=0) + FOOTER
    text += SETTINGS.format(1, 1) + HEADING + rows(1.75) + FOOTER
    first, second = read_text(text).tables
    assert first.settings["command"].endswith("all_gather_perf -b 8")
    assert "command" not in second.settings


@pytest.mark.parametrize(
    ("code", "version"),
    [(22403, "2.24.3"), (23007, "2.30.7"), (20903, "2.9.3"), (2708, "2.7.8"), (2406, "2.4.6"), (0, None)],
)
def test_versions_from_numbers(code: int, version: str | None) -> None:
    assert version_of_code(code) == version


def test_versions() -> None:
    table = only_table(modern_header() + modern_row(1024))
    assert (table.tool, table.tool_version) == ("nccl-tests", "2.17.8")
    assert (table.library, table.library_version) == ("nccl", "2.24.3")
    assert table.settings["nccl-headers"] == table.settings["nccl-library"] == "22403"
    printed = only_table(modern_header() + "NCCL version 2.27.3+cuda12.9\n" + modern_row(1024))
    assert printed.library_version == "2.27.3"
    assert printed.settings["nccl-library"] == "22403"


def test_versions_of_rccl() -> None:
    text = (
        "# Collective test starting: all_gather_perf\n"
        + SETTINGS.format(1, 1)
        + "#\nrccl-tests: Version develop:db6ea5a\n"
        "# Using devices\n#  Rank  0 Group  0 Pid 1 on a device  0 [0002:00:00] AMD Instinct MI300X\n"
        "RCCL version : 2.21.5-HEAD:eef7b29\nHIP version  : 6.3.42131-fa1d09cbd\nHostname     : a\n"
        + HEADING
        + modern_row(1024)
    )
    table = only_table(text)
    assert (table.tool, table.tool_version, table.library, table.library_version) == (
        "rccl-tests",
        "develop:db6ea5a",
        "rccl",
        "2.21.5",
    )
    assert table.settings["HIP version"] == "6.3.42131-fa1d09cbd"
    assert table.devices == ["AMD Instinct MI300X"]
    newer = "# rccl-tests version 2.18.0-abc rccl-headers=22707 rccl-library=22707\n" + text.partition("\n")[2]
    assert only_table(newer.replace("RCCL version : 2.21.5-HEAD:eef7b29\n", "")).library_version == "2.27.7"


def test_a_version_that_an_earlier_run_printed_is_said_to_be_old() -> None:
    run = SETTINGS.format(1, 2) + HEADING + modern_row(1024) + FOOTER
    first, second = read_text("NCCL version 2.20.3+cuda12.2\n" + run + run).tables
    assert first.library_version == second.library_version == "2.20.3"
    assert concluded(first, "library_version") is None
    assert concluded(second, "library_version") == "2.20.3"


def test_settings() -> None:
    table = only_table(
        modern_header() + "#\n# Reducing maxBytes to 26549638485 due to memory limitation\n"
        "# Blocking Enabled: wait for completion and barrier after each collective \n"
        + modern_row(1024)
        + "# GPU memory usage     : NCCL init 3.00 GB | Total  3.00 GB\n# error: unhandled cuda error\n"
    )
    assert {
        name: table.settings[name] for name in ("nThread", "nGpus", "minBytes", "step", "warmup iters", "agg iters")
    } == {
        "nThread": "1",
        "nGpus": "2",
        "minBytes": "1024",
        "step": "2(factor)",
        "warmup iters": "1",
        "agg iters": "1",
    }
    assert table.settings["Reducing maxBytes"] == "26549638485"
    assert table.settings["Blocking Enabled"].startswith("wait for completion")
    assert table.settings["error"] == "unhandled cuda error"
    assert table.settings["processes"] == "1"


def test_totals() -> None:
    table = only_table(
        modern_header() + modern_row(1024) + "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 1.5 OK\n"
    )
    assert (table.num_out_of_bounds, table.out_of_bounds_okay, table.complete) == (3, False, True)
    assert table.average_busbw == Printed("1.5", GB_PER_SECOND)
    assert table.settings["Avg bus bandwidth"] == "OK"
    old = only_table(modern_header() + modern_row(1024) + " Out of bounds values : 0 OK\n Avg bus bandwidth    : nan\n")
    assert (old.num_out_of_bounds, old.out_of_bounds_okay, old.average_busbw) == (0, True, None)


@pytest.mark.parametrize(
    ("value", "collective", "version", "algorithm"),
    [
        ("Ring", "all_reduce", None, "ring"),
        ("TREE", "all_reduce", "2.20.3", "tree"),
        ("Ring,Tree", "all_reduce", None, None),
        ("^Tree", "all_reduce", None, None),
        ("ring;allreduce:tree", "all_reduce", None, "tree"),
        ("ring;allreduce:tree", "all_gather", "2.27.3", "ring"),
        ("ring;allreduce:tree", "all_reduce", "2.20.3", None),
        ("ring;allreduce:tree", None, None, None),
        ("ring;allreduce:tree,nvls", "all_reduce", None, None),
        ("allreduce:NVLSTree", "all_reduce", None, "nvlstree"),
        ("allreduce:NVLSTree", "broadcast", None, None),
        ("tree;ring", "all_reduce", None, None),
        ("Ring", "all_to_all", None, None),
        ("", "all_reduce", None, None),
    ],
)
def test_what_the_environment_forces(
    value: str, collective: str | None, version: str | None, algorithm: str | None
) -> None:
    table = Table(NCCL_TESTS, 1, collective=collective, library_version=version, environment={"NCCL_ALGO": value})
    assert forced(table, "NCCL_ALGO") == algorithm


def test_the_environment_of_a_command_ends_with_it() -> None:
    run = modern_header() + modern_row(1024) + FOOTER
    text = (
        "export NCCL_PROTO=Simple\n"
        f"mpirun -np 2 \\\n  -x NCCL_ALGO=Tree \\\n  ./all_reduce_perf -b 8\n{run}"
        f"./all_reduce_perf -b 8\n{run}"
        f"node-a:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n{run}"
    )
    tables = read_text(text).tables
    assert [table.algorithm for table in tables] == ["tree", None, "ring"]
    assert [table.protocol for table in tables] == ["simple"] * 3
    assert tables[0].environment["NCCL_ALGO"] == "Tree"
    assert "NCCL_ALGO" not in tables[1].environment
    assert all(concluded(table, "protocol") == "simple" for table in tables)


def test_names() -> None:
    assert collective_of_program("mpirun -np 8 ./build/reduce_scatter_perf -b 8 -f 2") == "reduce_scatter"
    assert collective_of_program("# Collective test starting: unheard_of_perf") is None
    assert collective_of_title("NCCL AllReduce on 8 GPUs") == "all_reduce"
    assert collective_of_title("All-to-all against all-gather") is None
    assert collective_of_file("all-reduce-runs/042-bcast-2.txt") == "broadcast"
    assert collective_of_file("-") is None


def test_counts_that_contradict_each_other_tell_nothing() -> None:
    assert ranks_of_counts([Row(1, 64, (), 8, "float"), Row(2, 64, (), 16, "float")]) is None
    assert ranks_of_counts([Row(1, 0, (), 0, "float"), Row(2, 64, (), 8, "float")]) == 2
    assert ranks_of_counts([Row(1, 64, (), 8, "unheard")]) is None


def test_headings_give_titles_and_headers_do_not() -> None:
    table = only_table(
        "# Results of May\n\n## Ring, two nodes\n\n```\n" + modern_header() + modern_row(1024) + FOOTER + "```\n"
    )
    assert table.title == "Ring, two nodes"
    assert isinstance(table, Table)
