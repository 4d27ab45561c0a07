"""OSU Micro-Benchmarks, as their programs print."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.osu import NO_ROW
from ringtree.results import SizeMeans


def test_a_collective_in_full() -> None:
    table = only(
        read_text(
            """
            # OSU MPI-CUDA Allreduce Latency Test v5.7
            # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
            4                      21.50             20.25             23.75        1000
            33554432            41000.25          40100.50          42000.75         100
            """
        )
    )
    assert (table.collective, table.tool, table.tool_version, table.library) == (
        "all_reduce",
        "OSU Micro-Benchmarks",
        "5.7",
        "mpi",
    )
    assert table.num_ranks is None
    assert table.settings == {"buffers": "CUDA"}
    assert sizes(table) == [4, 33554432]
    assert texts(table, "time") == ["21.50", "41000.25"]
    assert texts(table, "min") == ["20.25", "40100.50"]
    assert texts(table, "max") == ["23.75", "42000.75"]
    assert texts(table, "iterations") == ["1000", "100"]
    assert table.columns["time"] == "Avg Latency(us)"
    time = side(table.rows[0]).time
    assert time is not None
    assert time.value == pytest.approx(21.5e-6)
    assert table.out_of_bounds_okay is None


def test_a_log_that_breaks_off_in_pass_has_not_failed() -> None:
    text = """
        # OSU MPI Allreduce Latency Test v7.4
        # Size       Avg Latency(us)        Validation
        4                       1.25              Pass
        8                       1.35              Pa"""
    table = only(read_text(text))
    assert table.out_of_bounds_okay is True
    assert len(table.rows) == 2


def test_short_with_validation_and_percentiles() -> None:
    table = only(
        read_text(
            """
            $ mpirun -np 8 ./osu_allgather -c -z50,99
            # OSU MPI-ROCM Allgather Latency Test v7.4
            # Datatype: MPI_CHAR.
            # Size       Avg Latency(us)        Validation     P50 Tail Lat(us)     P99 Tail Lat(us)
            1                       1.25              Pass                 1.20                 2.40
            2                       1.35              Fail                 1.30                 2.50
            """
        )
    )
    assert table.num_ranks == 8
    assert inferred(table)["num_ranks"] == "8"
    assert texts(table, "P99 Tail Lat") == ["2.40", "2.50"]
    assert [row.dtype for row in table.rows] == ["MPI_CHAR", "MPI_CHAR"]
    assert table.out_of_bounds_okay is False
    assert table.settings["validation"] == "Fail at 2"
    assert table.size_means is SizeMeans.ONE_BLOCK
    assert table.settings["buffers"] == "ROCM"


def test_non_blocking_measures_communication() -> None:
    table = only(
        read_text(
            """
            # OSU MPI Non-blocking Allreduce Latency Test v6.2
            # Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

            # Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
            4                      5.39              2.60              2.51             12.50
            """
        )
    )
    assert table.collective == "all_reduce"
    assert table.settings["blocking"] == "no"
    assert texts(table, "time") == ["2.51"]
    assert dict(side(table.rows[0]).others)["Overlap"].value == pytest.approx(0.125)
    assert texts(table, "Overall") == ["5.39"]


def test_between_two() -> None:
    bandwidth, latency, both = read_text(
        """
        # OSU MPI Bandwidth Test v7.5
        # Size      Bandwidth (MB/s)        Validation
        1                       1.05              Pass
        # OSU MPI Latency Test v7.5
        # Size          Latency (us)
        0                       1.91
        # OSU MPI Multiple Bandwidth / Message Rate Test v5.7
        # [ pairs: 4 ] [ window size: 64 ]
        # Size                  MB/s        Messages/s
        1                      15.13       15130000.11
        """
    ).tables
    assert [table.collective for table in (bandwidth, latency, both)] == ["send_recv"] * 3
    assert [table.num_ranks for table in (bandwidth, latency, both)] == [2, 2, 8]
    assert dict(side(bandwidth.rows[0]).others)["bandwidth"].value == pytest.approx(1.05e6)
    assert bandwidth.out_of_bounds_okay is True
    assert texts(latency, "time") == ["1.91"]
    assert texts(both, "Messages/s") == ["15130000.11"]


def test_a_barrier_has_no_size() -> None:
    table = only(
        read_text(
            """
            # OSU MPI Barrier Latency Test v5.9
            # Avg Latency(us)
                         3.45
            """
        )
    )
    assert table.collective == "barrier"
    assert sizes(table) == [None]
    assert texts(table, "time") == ["3.45"]


def test_nccl_and_one_sided() -> None:
    nccl, put = read_text(
        """
        # OSU NCCL Allreduce Latency Test v5.9
        # Size       Avg Latency(us)
        4                      11.91
        # OSU MPI_Put Latency Test v5.7
        # Window creation: MPI_Win_allocate
        # Synchronization: MPI_Win_flush
        # Size          Latency (us)
        1                       1.91
        """
    ).tables
    assert (nccl.library, nccl.collective) == ("nccl", "all_reduce")
    assert put.collective is None
    assert put.settings["synchronization"] == "MPI_Win_flush"


def test_a_crash_before_the_first_row_is_no_silence() -> None:
    imported = read_text(
        """
        $ srun -n4 osu_iallreduce -d cuda
        # OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.5
        # Datatype: MPI_INT.
        # Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
        [node3:4711] *** Process received signal ***
        srun: error: node3: task 0: Segmentation fault
        """
    )
    assert not imported.tables
    assert skipped(imported)[NO_ROW] == 1


def test_marks_colours_and_warnings_between_rows() -> None:
    text = (
        "[1,0]<stdout>:# OSU MPI Allreduce Latency Test v5.9\n"
        "[1,0]<stdout>:# Size       Avg Latency(us)\n"
        "[1,0]<stderr>:UCX  WARN  something\n"
        "\x1b[32m[1,0]<stdout>:4                      12.25\x1b[0m\n"
        "node07: # OSU MPI Allreduce Latency Test v5.9\n"
        "node07: # Size       Avg Latency(us)\n"
        "node07: 8                      13.25\n"
    )
    first, second = read_text(text).tables
    assert texts(first, "time") == ["12.25"]
    assert texts(second, "time") == ["13.25"]
    indented = only(read_text("x\n\n    # OSU MPI Latency Test v7.5\n    # Size  Latency (us)\n    1   1.25\n"))
    assert texts(indented, "time") == ["1.25"]


def test_two_jobs_in_one_file() -> None:
    text = "".join(
        f"{rank}: {line}\n"
        for line in ("# OSU MPI Allreduce Latency Test v5.9", "# Size       Avg Latency(us)", "4     1.5", "8     2.5")
        for rank in (0, 1)
    )
    tables = read_text(text).tables
    assert [table.job for table in tables] == ["0:", "1:"]
    assert [sizes(table) for table in tables] == [[4, 8], [4, 8]]


def test_rows_that_do_not_fit_are_left() -> None:
    table = only(
        read_text(
            """
            # OSU MPI Allreduce Latency Test v5.9
            # Size       Avg Latency(us)   Min Latency(us)
            4                      12.25             11.75
            8                      12.25
            16                     nan               11.75
            -4                     12.25             11.75
            """
        )
    )
    assert sizes(table) == [4]


def test_a_command_of_another_program_says_nothing() -> None:
    table = only(
        read_text(
            """
            $ mpirun -np 8 ./osu_bcast
            # OSU MPI Allreduce Latency Test v5.9
            # Size       Avg Latency(us)
            4                      12.25
            """
        )
    )
    assert table.num_ranks is None
