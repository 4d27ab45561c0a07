"""Intel MPI Benchmarks, as they print."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.imb import NO_ROW, NO_TIME

HEAD = """
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#----------------------------------------------------------------
# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   MPI_FLOAT
# MPI_Op                         :   MPI_SUM
#
"""

ALLREDUCE = """
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
# ( 12 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.06         0.05
         1024         1000         5.10         5.30         5.20
      4194304 out-of-mem.; needed X=   1.2 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)

# All processes entering MPI_Finalize
"""


def test_a_collective() -> None:
    imported = read_text(HEAD + ALLREDUCE)
    table = only(imported)
    assert (table.collective, table.num_ranks, table.tool_version) == ("all_reduce", 4, "2021.3")
    assert sizes(table) == [0, 1024]
    times = [["0.05", "5.20"], ["0.05", "5.10"], ["0.06", "5.30"]]
    assert [texts(table, name) for name in ("time", "min", "max")] == times
    assert texts(table, "repetitions") == ["1000", "1000"]
    assert table.columns["time"] == "t_avg[usec]"
    assert [(row.dtype, row.op) for row in table.rows] == [("MPI_FLOAT", "MPI_SUM")] * 2
    assert skipped(imported)[NO_TIME] == 1


@pytest.mark.parametrize(("printed", "unit"), [("10485.76", 1e6), ("10000.00", float(1 << 20))])
def test_what_a_mbyte_is_is_computed(printed: str, unit: float) -> None:
    table = only(
        read_text(
            f"""
            # Benchmarking PingPong
            # #processes = 2
            #---------------------------------------------------
                   #bytes #repetitions      t[usec]   Mbytes/sec
                        0         1000         0.25         0.00
                  1048576           40       100.00     {printed}
            """
        )
    )
    assert table.collective == "send_recv"
    assert dict(side(table.rows[1]).others)["bandwidth"] == (printed, unit)
    assert inferred(table)["unit of Mbytes/sec"] == ("10^6 bytes/s" if unit == 1e6 else "2^20 bytes/s")


def test_several_groups() -> None:
    table = only(
        read_text(
            """
            #-----------------------------------------------------------------------------
            # Benchmarking Multi-Sendrecv
            # ( 2 groups of 2 processes each running simultaneous )
            # Group  0:     0    1
            #
            # Group  1:     2    3
            #-----------------------------------------------------------------------------
                   Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
                        0            4         1000         0.36         0.36         0.36        22.22
                        1         4096         1000        20.36        20.36        20.36       402.36
            """
        )
    )
    assert table.num_ranks == 2
    assert table.settings["groups at once"] == "2"
    assert texts(table, "group") == ["0", "1"]
    assert dict(side(table.rows[1]).others)["bandwidth"].unit == 1e6


def test_overlap_defects_and_barriers() -> None:
    overlap, barrier = read_text(
        """
        # Benchmarking Iallreduce
        # #processes = 2
        #-----------------------------------------------------------------------------------------
               #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]      defects
                   64         1000         3.03         1.49         1.58         2.53         0.00
        #---------------------------------------------------
        # Benchmarking Barrier
        # #processes = 4
        #---------------------------------------------------
         #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
                 1000         1.55         1.60         1.58
        """
    ).tables
    assert texts(overlap, "time") == ["1.49"]
    wrong = side(overlap.rows[0]).wrong
    assert wrong is not None
    assert wrong.text == "0.00"
    assert overlap.columns["wrong"] == "defects"
    assert overlap.settings["blocking"] == "no"
    assert (barrier.collective, sizes(barrier), texts(barrier, "time")) == ("barrier", [None], ["1.58"])


def test_several_numbers_of_processes() -> None:
    text = HEAD + ALLREDUCE + ALLREDUCE.replace("processes = 4", "processes = 8")
    assert [table.num_ranks for table in read_text(text).tables] == [4, 8]


def test_marks_before_each_line() -> None:
    text = "".join(f"[1,0]<stdout>:{line}\n" for line in (HEAD + ALLREDUCE).splitlines())
    assert texts(only(read_text(text)), "time") == ["0.05", "5.20"]


def test_an_end_before_the_first_row() -> None:
    imported = read_text("# Benchmarking Allreduce\n# #processes = 4\n#---\n  #bytes #repetitions  t[usec]\nKilled\n")
    assert not imported.tables
    assert skipped(imported)[NO_ROW] == 1
