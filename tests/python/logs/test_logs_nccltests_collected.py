"""Every row of nccl-tests in the collected logs is read, and read right.

The reference is a count of lines that look like rows, by a rule that knows nothing of headings, marks or versions; and
rows that somebody read in the files and typed here.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from logs_support import log_index, shared_data
from nccltests_support import printed

from ringtree.logs import Imported, read_file

_MARKS = re.compile(r"\[\d+,\d+\]<stdout>:|\[0\](?=\s)")
_ROW = re.compile(r"\b\d+ +\d+ +(?:float|double|half|int8|uint8|int32|bfloat16)\b")
_WORD = re.compile(r"[a-z]+|-1|N/A", re.IGNORECASE)

# Lines that look like a row and are none, or the other way round, with the reason.
EXCEPTIONS = {("060", 337): "its figures stand 62 lines below, in line 399: NCCL wrote in between"}

# File, line, size, count, then time, algbw, busbw and wrong as printed, out of place and in place.
READ_BY_EYE = """\
006 56   1048576 262144          4.56 229.85 0.00 0        0.10 10810 0.00 0
006 82   1048576 262144          149.57 7.01 0.00 0        0.11 9799.8 0.00 0
022 77   1048576 262144          921.4 1.14 1.99 0         912.3 1.15 2.01 0
060 337  2097152 524288          87.18 24.05 42.10 0       85.11 24.64 43.12 0
025 195  67108864 16777216       8713.1 7.70 15.16 2752    8708.4 7.71 15.17 1216
053 23   33554432 4194304        182.87 183.49 321.10 0    182.88 183.48 321.08 0
053 58   33554432 524288         123.44 271.83 237.85 0    120.61 278.20 243.43 0
053 93   33554432 524288         111.83 300.05 262.55 0    111.63 300.58 263.01 0
053 137  17179869184 268435456   43193.3 397.74 348.03 0   43289.4 396.86 347.25 N/A
053 165  134217728 16777216      825.74 162.54 162.54 0    831.51 161.42 161.42 N/A
065 148  189792256 47448064      17157.1 11.06 11.06 0     17127.8 11.08 11.08 0
065 231  1060110336 265027584    101328 10.46 10.46 0      98287.2 10.79 10.79 0
065 232  1070596096 267649024    96963.0 11.04 11.04 0     81329.6 13.16 13.16 0
068 161  1073741824 268435456    74608.4 14.39 14.39 0     72278.6 14.86 14.86 0
068 172  6840909824 1710227456   475129 14.40 14.40 0      472367 14.48 14.48 0
068 183  12608077824 3152019456  873963 14.43 14.43 0      874970 14.41 14.41 0
071 2924 8 2                     65.43 0.00 0.00 0         64.78 0.00 0.00 0
071 2948 134217728 33554432      876.9 153.06 286.99 0     876.0 153.21 287.28 0
071 2955 17179869184 4294967296  66154 259.69 486.93 0     66064 260.05 487.59 0
073 20   0 0                     35.20 0.00 0.00 N/A       34.05 0.00 0.00 N/A
073 45   33554432 8388608        374.3 89.65 156.89 N/A    372.8 90.00 157.50 N/A
073 53   8589934592 2147483648   63896 134.44 235.26 N/A   63959 134.30 235.03 N/A
074 25   32 1                    35.03 0.00 0.00 N/A       34.15 0.00 0.00 N/A
074 46   67108864 2097152        379.7 176.74 154.65 N/A   367.6 182.57 159.75 N/A
079 6    128 32                  15.03 0.01 0.01 1e-07     15.01 0.01 0.01 1e-07
079 24   33554432 8388608        379.5 88.41 154.71 2e-07  379.4 88.44 154.77 2e-07
082 4    1048576 512             764.4 1.37 1.37 0e+00     11.74 89.29 89.12 1e+00
082 14   1073741824 524288       57037 18.83 18.79 0e+00   10.47 102518.69 102318.46 1e+00
082 16   4294967296 2097152      214405 20.03 19.99 0e+00  9.30 461714.22 460812.44 1e+00
083 215  8 2                     146.7 0.00 0.00 2e-07     159.1 0.00 0.00 1e-07
083 235  8388608 2097152         4615.5 1.82 3.41 5e-07    4614.6 1.82 3.41 5e-07
085 8    8 2                     2193.5 0.00 0.00 2e-07    132.2 0.00 0.00 2e-07
085 23   262144 65536            637.5 0.41 0.77 5e-07     252.6 1.04 1.95 5e-07
085 36   2147483648 536870912    175667 12.22 22.92 5e-07  176189 12.19 22.85 5e-07
087 18   536870912 134217728     2984.6 179.88 356.01 0    2979.7 180.18 356.60 0
087 22   8589934592 2147483648   43980 195.31 386.56 0     44094 194.81 385.56 0
089 9    536870912 134217728     2156.8 248.92 493.94 0    2093.7 256.42 508.83 0
089 14   17179869184 4294967296  42067 408.40 810.41 0     41557 413.41 820.36 0
091 37   524288 131072           170.3 3.08 5.39 0         349.6 1.50 2.62 0
091 45   134217728 33554432      1916.4 70.04 122.57 0     1907.8 70.35 123.11 0
095 6    1024 16                 54.07 0.02 0.02 0         55.80 0.02 0.02 0
095 29   8589934592 134217728    24489 350.77 328.85 0     23991 358.05 335.67 0
099 6    8 2                     69.12 0.00 0.00 0         72.43 0.00 0.00 0
099 37   17179869184 4294967296  66132 259.78 487.09 0     66109 259.87 487.26 0
101 9    32 8                    22.25 0.00 0.00 0         13.34 0.00 0.00 0
101 38   17179869184 4294967296  62239 276.03 483.05 0     62200 276.20 483.35 0
103 31   1073741824 268435456    4478.8 239.74 449.51 0    4463.7 240.55 451.03 0
103 35   17179869184 4294967296  68359 251.32 471.22 0     68427 251.07 470.75 0
104 37   67108864 16777216       16801 3.99 3.99 0         16818 3.99 3.99 0
104 56   0 0                     0.33 0.00 0.00 0          0.36 0.00 0.00 0
104 83   1073741824 134217728    141614 7.58 3.79 0        139719 7.69 3.84 0
104 115  1048576 262144          113.8 9.22 9.22 0         288.1 3.64 3.64 0
104 149  2048 512                9.94 0.21 0.21 0          10.12 0.20 0.20 0
107 59   1073741824 268435456    71024 15.12 15.12 0       70967 15.13 15.13 0
107 66   16106127360 4026531840  1073140 15.01 15.01 0     1071660 15.03 15.03 0
110 122  114294784 14286848      9739.1 11.74 5.87 0       10000 11.43 5.71 0
137 38   128 4                   18.06 0.01 0.01 0         39.56 0.00 0.00 0
140 46   32768 1024              19.14 1.71 1.50 0         28.25 1.16 1.01 0
177 6    0 0                     0.02 0.00 0.00 0          0.01 0.00 0.00 0
177 9    17179869184 4294967296  18285.0 939.58 936.93 0   18292.6 939.19 936.54 0
178 23   1073741824 268435456    10887.4 98.62 184.92 0    10867.5 98.80 185.26 0
180 7    8 2                     187.7 0.00 0.00 0         186.7 0.00 0.00 0
180 37   8589934592 2147483648   204078 42.09 78.92 0      204089 42.09 78.92 0
183 452  32768 8192              199.95 0.16 0.16 0        817.03 0.04 0.04 0
183 464  134217728 33554432      35329.1 3.80 3.80 0       35027.7 3.83 3.83 0
189 27   4 1                     33.50 0.00 0.00 0e+00     32.56 0.00 0.00 4e-07
189 50   33554432 8388608        1887.3 17.78 33.34 5e-07  1885.6 17.80 33.37 5e-07
191 64   8388608 2097152         567.1 14.79 28.66 1e-06   581.9 14.42 27.93 1e-06
209 15   4 1                     17.24 0.00 0.00 1e-07     12.09 0.00 0.00 0e+00
214 27   4 1                     7.79 0.00 0.00 0e+00      7.45 0.00 0.00 0e+00
214 50   33554432 8388608        1251.3 26.82 26.82 0e+00  1248.5 26.88 26.88 0e+00
230 5    1048576 262144          1626.5 0.64 1.24 0        2302.3 0.46 0.87 0
230 11   67108864 16777216       24410 2.75 5.27 0         24425 2.75 5.27 0
231 4    32768 4096              13.39 1.22 1.22 0e+00     11.85 1.38 1.38 0e+00
231 16   134217728 16777216      3298.6 20.34 20.34 0e+00  3070.3 21.86 21.86 0e+00
233 7    1024 256                5.45 0.19 0.33 0          5.35 0.19 0.33 0
235 12   1048576 262144          2.059 0.51 0.51 N/A       3.314 0.32 0.32 N/A
235 16   16777216 4194304        17.616 0.95 0.95 N/A      17.165 0.98 0.98 N/A
237 15   1024 256                320.9 0.00 0.01 7e-07     320.4 0.00 0.01 7e-07
239 13   8 2                     6.21 0.00 0.00 0          6.23 0.00 0.00 0
239 24   16384 4096              10.78 1.52 1.52 0         10.51 1.56 1.56 0
241 6    130023432 32505858      2584.7 50.31 96.42 0      2587.1 50.26 96.33 0
243 15   256 64                  5.99 0.04 0.04 0          5.83 0.04 0.04 0
""".splitlines()

# What index.csv says of the files, where this reader can know it: collective, ranks, of each table.
RUNS = {
    "001": [("all_reduce", 1)] * 8,
    "021": [("all_reduce", 4)],
    "034": [("all_reduce", 2160)],
    "045": [("all_to_all", 8)],
    "050": [(name, 80) for name in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv")],
    "074": [("all_gather", 8)],
    "082": [("all_to_all", 512)],
    "085": [("all_reduce", 16)],
    "087": [("all_reduce", 96)],  # the manifest says 64, the factor 1.9792 says otherwise
    "101": [("all_reduce", 8)],
    "110": [("all_gather", 2)],
    "112": [(None, 1)],
    "177": [(None, None)],
    "180": [("all_reduce", 16)],
    "214": [("broadcast", 16)],
    "230": [("all_reduce", 24)],
    "231": [("all_gather", 2)],
    "235": [("all_reduce", 2)],
    "237": [("all_reduce", None)],
    "241": [("all_reduce", 24)],
}


@cache
def imported(number: str) -> Imported:
    (path,) = (shared_data() / "logs").glob(f"{number}-*.txt")
    return read_file(path)


def numbers() -> list[str]:
    """Returns the collected files that may hold rows of nccl-tests: all text but tables and traces."""
    return [
        row["file"][:3] for row in log_index() if not row["kind"].startswith(("csv", "json", "nccl_topo", "nvidia-smi"))
    ]


def looks_like_a_row(line: str) -> bool:
    """A size, a count and a type, then nothing but figures, at least three."""
    line = _MARKS.sub(" ", line)
    head = _ROW.search(line)
    if head is None or "|" in line[head.end() :].rstrip(" |"):
        return False
    figures = [
        word for word in _WORD.sub(" ", line[head.end() :]).replace("|", " ").split() if re.search(r"\d\.\d", word)
    ]
    return len(figures) >= 3


def test_every_row_is_read() -> None:
    missing, unexpected, total = [], [], 0
    for number in numbers():
        (path,) = (shared_data() / "logs").glob(f"{number}-*.txt")
        lines = path.read_text(errors="replace").split("\n")
        expected = {index for index, line in enumerate(lines, 1) if looks_like_a_row(line)}
        rows = [row.line for table in imported(number).tables if table.format == "nccl-tests" for row in table.rows]
        assert len(rows) == len(set(rows)), number
        total += len(rows)
        missing += [(number, line) for line in sorted(expected - set(rows))]
        unexpected += [(number, line) for line in sorted(set(rows) - expected)]
    assert (missing, unexpected) == ([], list(EXCEPTIONS))
    assert total > 3700


def test_placeholders_are_not_read() -> None:
    assert not imported("097").tables
    assert {each.reason: each.num_lines for each in imported("097").skipped} == {"figures replaced by placeholders": 6}


def test_rows_that_break_off_are_said() -> None:
    half = "a row that breaks off: only its whole measurements were read"
    for number, line in (("146", 57), ("233", 13), ("243", 16)):
        (skipped,) = (each for each in imported(number).skipped if each.reason == half)
        assert [at for at, _ in skipped.examples] == [line]
        (row,) = (row for table in imported(number).tables for row in table.rows if row.line == line)
        assert len(row.sides) == 1


@pytest.mark.parametrize("expected", READ_BY_EYE, ids=lambda line: " ".join(line.split()[:2]))
def test_rows_that_were_read_by_eye(expected: str) -> None:
    number, line, size, count, *figures = expected.split()
    (row,) = (row for table in imported(number).tables for row in table.rows if row.line == int(line))
    assert (row.size_bytes, row.count) == (int(size), int(count))
    assert [side.place for side in row.sides] == ["out_of_place", "in_place"]
    read = [text if text is not None else "N/A" for side in row.sides for text in printed(side)]
    assert read == figures


@pytest.mark.parametrize("number", RUNS)
def test_collectives_and_ranks(number: str) -> None:
    assert [(table.collective, table.num_ranks) for table in imported(number).tables] == RUNS[number]


def test_what_was_forced_in_each_of_many_runs() -> None:
    # The file has Markdown tables of the same runs, which another reader takes.
    tables = [table for table in imported("183").tables if table.format == "nccl-tests"]
    assert [(table.algorithm, table.protocol) for table in tables[:4]] == [
        (None, None),
        (None, None),
        (None, "simple"),
        (None, "ll"),
    ]
    assert ("tree", "simple") in [(table.algorithm, table.protocol) for table in tables]
    assert tables[2].title == "exp1-broadcast-simple-rep1"
    assert imported("107").tables[0].algorithm == "ring"
    assert imported("243").tables[0].algorithm == "nvls"


def test_versions_as_the_index_has_them() -> None:
    versions = {row["file"][:3]: row["nccl_version"] for row in log_index()}
    for number in ("001", "008", "050", "060", "065", "071", "083", "107", "178", "235"):
        for table in imported(number).tables:
            assert table.library_version is not None
            assert versions[number].startswith(table.library_version), number
