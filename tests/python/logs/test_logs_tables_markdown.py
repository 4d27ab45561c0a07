"""Markdown tables of timings, and of other things."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs import OUT_OF_PLACE
from ringtree.logs.lines import clean
from ringtree.logs.reading import NOT_RECOGNISED
from ringtree.logs.tables.choose import NO_NUMBER, NO_TIMINGS, OTHER_TABLE


def test_units_in_cells_and_the_sentence_above() -> None:
    table = only(
        read_text(
            """
            Environment:
            - software: torch=2.7.0, cuda=12.8, nccl=(2, 26, 2)
            - hardware: _CudaDeviceProperties(name='NVIDIA H100 80GB HBM3', major=9)

            The average bandwidth of all_reduce over 4 ranks (5 warmups / 20 trials):

            | payload |    busbw   |    algbw   |
            | ------: | ---------: | ---------: |
            |   32KiB |   1.50GBps |   1.00GBps |
            |    1GiB | 300.75GBps | 200.50GBps |
            """
        )
    )
    assert (table.collective, table.num_ranks, table.library_version) == ("all_reduce", 4, "2.26.2")
    assert table.devices == ["NVIDIA H100 80GB HBM3"]
    assert (table.settings["warmup"], table.settings["iterations"], table.settings["torch"]) == ("5", "20", "2.7.0")
    assert sizes(table) == [32768, 1 << 30]
    assert texts(table, "busbw") == ["1.50", "300.75"]
    assert side(table.rows[1]).algbw == ("200.50", 1e9)
    assert "size unit" not in inferred(table)


def test_old_versions_print_gibibytes() -> None:
    table = only(
        read_text(
            """
            The average bandwidth of all_reduce over 4 ranks (5 warmups / 20 trials):

            | payload |    busbw   |    algbw   |
            | ------: | ---------: | ---------: |
            |    32KB |   1.50GBps |   1.00GBps |
            """
        )
    )
    assert side(table.rows[0]).busbw == ("1.50", float(1 << 30))
    assert inferred(table)["unit of GBps"] == "2^30 bytes/s"


def test_a_table_without_bars_around_it() -> None:
    """ "1MB | 45us" is a row, and "nccl-1 | 1024" a service of docker compose that printed a number."""
    table = only(
        read_text(
            """
            All-reduce on 16 GPUs

            size | time
            --- | ---
            1MB | 45us
            64MB | 640us
            """
        )
    )
    assert sizes(table) == [1 << 20, 64 << 20]
    three = only(
        read_text(
            """
            size | ring time | note
            --- | --- | ---
            64KB | 30us | 3 runs
            abc | 45 | x
            1MB | 45us | 3 runs
            """
        )
    )
    assert sizes(three) == [64 << 10, 1 << 20]
    assert clean(1, "nccl-1  | 1024 256 float").text.split() == ["1024", "256", "float"]
    assert clean(1, "ring | 45 us").job == clean(1, "abc | 45 12 | x").job == ""


def test_a_column_for_each_algorithm() -> None:
    ring, tree = read_text(
        """
        ## All-reduce on 8 GPUs (busbw GB/s)

        | Size | Ring | Tree | gain |
        |------|------|------|------|
        | 1M   | 10.5 | **21.0** | 2.0x |
        | 16M  | 20   | ---  | n/a  |
        """
    ).tables
    assert (ring.algorithm, tree.algorithm) == ("ring", "tree")
    assert (ring.collective, ring.num_ranks) == ("all_reduce", 8)
    assert texts(ring, "busbw") == ["10.5", "20"]
    assert texts(tree, "busbw") == ["21.0"]
    assert sizes(tree) == [1 << 20]
    assert texts(tree, "gain") == ["2.0"]
    assert inferred(ring)["measure"] == "busbw"


def test_a_column_for_each_number_of_nodes() -> None:
    one, four = read_text(
        """
        | payload |   1 node   |  4 nodes   | ratio |
        | ------: | ---------: | ---------: | ----: |
        |   32KiB |   1.25GBps |   0.25GBps |  5.0x |
        """
    ).tables
    assert [(table.num_hosts, table.settings["arm"]) for table in (one, four)] == [(1, "1 node"), (4, "4 nodes")]


def test_a_sentence_above_a_table_is_prose() -> None:
    table = only(
        read_text(
            "Here we compare what all-reduce reached on 8 GPUs with what was advertised by its maker, "
            "as a share of the rate on the wire, so:\n"
            "\n| size | time (us) |\n|---|---|\n| 8 | 1.5 |\n"
        )
    )
    assert (table.collective, table.num_ranks, table.inferences[0].what) == (None, None, "size unit")


def test_a_heading_explains_only_tables_without_measures() -> None:
    table = only(read_text("## Bandwidth\n\n| size | busbw (GB/s) | spec |\n|---|---|---|\n| 1M | 10.5 | 450 |\n"))
    assert texts(table, "busbw") == ["10.5"]
    assert texts(table, "spec") == ["450"]


def test_a_rate_of_which_nobody_says_what_it_is() -> None:
    table = only(read_text("| Size | Bandwidth |\n|---|---|\n| 1 MB | 10.5 GB/s |\n"))
    one = side(table.rows[0])
    assert (one.algbw, one.busbw) == (None, None)
    assert dict(one.others)["bw"] == ("10.5", 1e9)
    assert [note.because for note in table.inferences if note.what == "Bandwidth"] == ["not stated which bandwidth"]


def test_numbers_of_which_nobody_says_anything() -> None:
    tables = read_text("## Sweep\n\n| Size | Default | LL |\n|---|---|---|\n| 1M | 50.5 | 18.0 |\n").tables
    assert [table.protocol for table in tables] == [None, "ll"]
    assert dict(side(tables[1].rows[0]).others)["LL"] == ("18.0", 1.0)
    assert inferred(tables[1])["LL"] == "a number without unit"


def test_times_with_a_spread_out_of_place() -> None:
    table = only(
        read_text(
            """
            ### Broadcast: out-of-place time

            | Size | Ring time (us) | faster? |
            | --- | --- | --- |
            | 1KB | 98.50±45.25 | No |
            """
        )
    )
    one = side(table.rows[0])
    assert (one.place, one.time) == (OUT_OF_PLACE, ("98.50", 1e-6))
    assert dict(one.others)["± time"] == ("45.25", 1e-6)
    assert table.settings["columns not read"] == "faster?"


def test_rows_for_other_collectives_and_algorithms() -> None:
    first, second = read_text(
        """
        | collective                | algo | busbw     | % of 450GBps |
        | :------------------------ | :--- | --------: | -----------: |
        | all-reduce, `NCCL_X_Y=1`  | NVLS | 470.5GBps |         105% |
        | all-gather                | Ring | 360.5GBps |          80% |
        """
    ).tables
    assert (first.collective, first.algorithm, first.environment) == ("all_reduce", "nvls", {"NCCL_X_Y": "1"})
    assert (second.collective, second.algorithm) == ("all_gather", "ring")
    assert dict(side(first.rows[0]).others)["% of 450GBps"] == ("105", 0.01)


def test_sizes_as_columns() -> None:
    one, two = read_text(
        """
        #### Channels (Ring mode, busbw GB/s)

        | nch | 4M   | 16M   |
        |-----|------|-------|
        | 1   | 6.5  | 18.5  |
        | 2   | 12.5 | -     |
        """
    ).tables
    assert (one.settings, two.settings) == ({"nch": "1"}, {"nch": "2"})
    assert (one.algorithm, sizes(one), texts(one, "busbw")) == ("ring", [4 << 20, 16 << 20], ["6.5", "18.5"])
    assert sizes(two) == [4 << 20]


def test_statistics_as_rows() -> None:
    default, other = read_text(
        """
        #### AllGather 128MB, 8 GPUs (busbw GB/s)

        | metric | Default | Mine   | diff |
        |--------|---------|--------|------|
        | Mean   | 565.5   | 565.25 | 0%   |
        | Std    | 0.75    | 0.5    | -    |
        | CV     | 0.13%   | 0.09%  | -    |
        """
    ).tables
    assert (default.collective, default.num_ranks, sizes(default)) == ("all_gather", 8, [128 << 20])
    assert texts(default, "busbw") == ["565.5"]
    assert dict(side(other.rows[0]).others) == {"std": ("0.5", 1e9), "cv": ("0.09", 0.01)}


def test_what_is_no_timing_is_skipped_with_the_reason() -> None:
    imported = read_text(
        """
        | Size | Algo | Stable? |
        |------|------|---------|
        | 1KB  | RING | Yes     |

        | Policy | avg (ns) |
        |--------|----------|
        | noop   | 33       |

        | Size | busbw (GB/s) |
        |------|--------------|
        | 1M   | 10.5         |
        | 2M+  | the same     |
        """
    )
    assert len(only(imported).rows) == 1
    assert skipped(imported) == {OTHER_TABLE: 1, NO_TIMINGS: 1, NO_NUMBER: 1}


def test_pipes_that_are_no_table() -> None:
    imported = read_text("a | b\nc | d\n| x |\nplain\n")
    assert skipped(imported) == {NOT_RECOGNISED: 4}


def test_two_tables_one_after_the_other_and_frames() -> None:
    text = (
        "| size | time (us) |\n|---|---|\n| 8 | 1.5 |\n"
        "| size | time (ms) |\n|---|---|\n| 8 | 2.5 |\n"
        "+------+-----------+\n| size | time (us) |\n+======+===========+\n| 8    | 3.5       |\n"
        "+------+-----------+\n| 16   | 4.5       |\n+------+-----------+\n"
    )
    tables = read_text(text).tables
    assert [texts(table, "time") for table in tables] == [["1.5"], ["2.5"], ["3.5", "4.5"]]
    assert side(tables[1].rows[0]).time == ("2.5", 1e-3)


def test_marks_of_torchrun_and_quotes() -> None:
    text = "".join(f"[default0]:{line}\n" for line in ("| size | time (us) |", "|---|---|", "| 8 | 1.5 |"))
    assert texts(only(read_text(text)), "time") == ["1.5"]
    assert texts(only(read_text("> | size | time (us) |\n> |---|---|\n> | 8 | 1.5 |\n")), "time") == ["1.5"]


@pytest.mark.parametrize("row", ["| 8 |", "| 8 | 1.5 | more |", "8 | 1.5"])
def test_rows_of_other_lengths(row: str) -> None:
    tables = read_text(f"| size | time (us) |\n|---|---|\n| 4 | 0.5 |\n{row}\n").tables
    assert texts(tables[0], "time") == (["0.5"] if row == "| 8 |" else ["0.5", "1.5"])


def test_several_collectives_of_one_benchmark() -> None:
    reduce, gather = read_text(
        """
        The average bandwidth and the per-call latency of 2 collectives over 8 ranks (at least 5 warmups / 20 trials):

        | payload | all_reduce busbw | all_reduce median | all_gather busbw | all_gather median |
        | ------: | ---------------: | ----------------: | ---------------: | ----------------: |
        |      8B |                  |              20.5 |                  |              18.5 |
        |   32KiB |             1.25 |              30.5 |             1.50 |              28.5 |
        """
    ).tables
    assert (reduce.collective, gather.collective, reduce.num_ranks) == ("all_reduce", "all_gather", 8)
    assert texts(reduce, "time") == ["20.5", "30.5"]
    assert texts(gather, "busbw") == [None, "1.50"]


def test_a_cell_may_hold_two_quantities() -> None:
    ring, nccl = read_text(
        """
        | Size | Own ring | NCCL | Speedup |
        |-----:|---------:|-----:|--------:|
        | 4KB  | 1.75 ms  | -    | -       |
        | 64MB | 7.25 ms (~18 GB/s) | **1.25 ms** / 104 GB/s | 5.8x |
        """
    ).tables
    assert (texts(ring, "time"), texts(ring, "bw")) == (["1.75", "7.25"], [None, "18"])
    assert (texts(nccl, "time"), texts(nccl, "bw")) == (["1.25"], ["104"])
    assert (ring.columns["bw"], texts(ring, "Speedup")) == ("Own ring", [None, "5.8"])


def test_a_second_quantity_is_what_the_heading_says() -> None:
    table = only(read_text("### Results (busbw)\n\n| Size | NCCL |\n|---|---|\n| 1MB | 2 ms (18 GB/s) |\n"))
    assert (side(table.rows[0]).time, side(table.rows[0]).busbw) == (("2", 1e-3), ("18", 1e9))


def test_approximate_figures_are_read_and_less_exact() -> None:
    table = only(read_text("| Size | busbw |\n|---|---|\n| 1MB | ~9 GB/s |\n| 2MB | 9 GB/s |\n| 4MB | ≈400 GB/s |\n"))
    about, exact, large = (side(row).busbw for row in table.rows)
    assert about == exact == ("9", 1e9)
    assert about is not None
    assert exact is not None
    assert large is not None
    assert (about.resolution, exact.resolution, large.resolution) == (2e9, 1e9, 40e9)


@pytest.mark.parametrize(
    "titles",
    [
        "Default Avg | Default BW | NVLSTree Avg | NVLSTree BW",
        "default time | Default bandwidth | NVLSTree | NVLSTree BW",
    ],
)
def test_columns_of_one_setting_are_one_table(titles: str) -> None:
    row = "| 1MB | 2.5 ms | 5.5 GB/s | 0.5 ms | 18.5 GB/s |"
    default, other = read_text(f"| Size | {titles} |\n|---|---|---|---|---|\n{row}\n").tables
    assert [texts(one, "time") + texts(one, "bw") for one in (default, other)] == [["2.5", "5.5"], ["0.5", "18.5"]]
    assert (default.algorithm, other.algorithm) == (None, "nvlstree")


@pytest.mark.parametrize(
    "code",
    [
        "```python\n# Phase 2: AllGather\n```",
        "```shell\n~~~\n# Phase 2: AllGather\n```",
        "````\n```\n# Phase 2: AllGather\n````",
        "```pip install nothing```\n\n```python\n# Phase 2: AllGather\n```",
        "   ```\n   # Phase 2: AllGather\n   ```",
        "    # Phase 2: AllGather",
        "```\n# Phase 2 | AllGather |\n```",
    ],
)
def test_a_comment_of_code_is_no_heading(code: str) -> None:
    imported = read_text(f"# All-reduce\n\n{code}\n\n| size | time (us) |\n|---|---|\n| 8 | 1.5 |\n")
    assert (only(imported).collective, only(imported).title) == ("all_reduce", "All-reduce")


def test_ranks_of_a_heading_are_not_those_of_rows_with_other_hosts() -> None:
    rows = "| mine | 1G | 5.5 |\n| theirs (3 nodes) | 1G | 4.5 |\n"
    mine, theirs = read_text(f"## On 16 GPUs\n\n| what | size | algbw |\n|---|---|---|\n{rows}").tables
    assert (mine.num_ranks, mine.num_hosts) == (16, None)
    assert (theirs.num_ranks, theirs.num_hosts) == (None, 3)


def test_a_first_column_of_sizes_whatever_it_is_called() -> None:
    ring, tree = read_text("| our host | ring (GB/s) | tree (GB/s) |\n|---|---|---|\n| 1 MB | 6 | 9 +/- 2 |\n").tables
    assert (sizes(ring), texts(tree, "bw"), texts(tree, "± bw")) == ([1 << 20], ["9"], ["2"])
