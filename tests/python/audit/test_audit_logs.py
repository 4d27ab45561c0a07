"""The audit on the collected logs: it finds every defect that their notes describe, and accuses no clean one.

For: ../shared/data/logs, both directions. Not for: single rules (test_audit_rules.py).
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from logs_support import log_index, shared_data

from ringtree.audit import FileReport, Setup, Severity, audit_files

# What the notes of index.csv say is wrong with a file, as codes; by the number that its name begins with. Files whose
# `clean` is "no", and others whose notes describe something that a reader of the numbers should know.
DEFECTS: dict[str, set[str]] = {
    "001": {"ranks-ran-alone"},  # nccl-tests without MPI under mpirun: 8 runs of one rank
    "003": {"ranks-ran-alone"},
    "006": {"ranks-ran-alone"},
    "024": {"wrong-results"},  # out of bounds values: FAILED
    "025": {"wrong-results"},
    "082": {"in-place-all-to-all"},  # error 1e+00 in place
    "089": {"rank-count-differs"},  # rank lines of another run
    "097": {"placeholders"},
    "137": {"sides-disagree"},  # out of place is not the plan that the file is named after
    "140": {"sides-disagree"},
    "143": {"sides-disagree"},
    "146": {"run-failed", "sides-disagree", "output-cut"},
    "150": {"sides-disagree"},
    "177": {"factor-impossible", "factor-varies", "figures-do-not-fit", "rows-missing"},
    "181": {"single-runs-compared"},
    "183": {"latency-floor", "winner-flips"},  # latency floor of 2.2 ms
    "230": {"bandwidth-collapse"},  # collapse from 64 MiB on
    "231": {"algbw-holds-other"},  # all_gather before June 2020: algbw without a rank's own part
    "249": {"throughput-holds-other"},  # throughput is 2·size/time
}
# What is worth an info in clean files: that NVLS exceeds a link, that nothing was checked, that rows are missing.
INFOS: dict[str, set[str]] = {
    "053": {"above-ring-limit"},
    "056": {"summary-only"},
    "073": {"results-not-checked"},
    "085": {"slow-first-row", "times-jump"},  # 87 µs / 577 µs
    "104": {"one-rank"},  # one of the tables was run without -g 2
    "112": {"one-rank"},
    "164": {"summary-only"},
    "235": {"results-not-checked"},
    "239": {"output-cut"},  # an excerpt
}
# Files of formats that have no reader (docs/decisions/0025).
NOT_READ = {"158", "162", "250", "252"}


def number_of(file: str) -> str:
    return file.partition("-")[0]


def reported(file: str) -> FileReport:
    (report,) = audit_files([shared_data() / "logs" / file]).files
    return report


def files() -> list[dict[str, str]]:
    try:
        return log_index()
    except pytest.skip.Exception:
        return []


ROWS = files()
needs_logs = pytest.mark.skipif(not ROWS, reason="needs the collected logs in ../shared/data (or RINGTREE_SHARED)")


@needs_logs
def test_every_defective_file_is_expected_to_show_something() -> None:
    defective = {number_of(row["file"]) for row in ROWS if row["clean"] == "no"}
    assert defective <= set(DEFECTS)
    assert not any(number_of(row["file"]) in DEFECTS for row in ROWS if row["clean"] == "yes")


@pytest.mark.parametrize("row", [row for row in ROWS if number_of(row["file"]) in DEFECTS], ids=lambda row: row["file"])
def test_a_described_defect_is_found(row: dict[str, str]) -> None:
    report = reported(row["file"])
    assert DEFECTS[number_of(row["file"])] <= {finding.code for finding in report.findings}
    assert report.worst in (Severity.WARNING, Severity.ERROR)


@pytest.mark.parametrize("row", [row for row in ROWS if number_of(row["file"]) in INFOS], ids=lambda row: row["file"])
def test_what_is_worth_knowing_is_said(row: dict[str, str]) -> None:
    report = reported(row["file"])
    assert INFOS[number_of(row["file"])] <= {finding.code for finding in report.findings}
    assert report.worst is Severity.INFO


@pytest.mark.parametrize("row", [row for row in ROWS if row["clean"] == "yes"], ids=lambda row: row["file"])
def test_a_clean_file_is_not_accused(row: dict[str, str]) -> None:
    report = reported(row["file"])
    assert [finding.code for finding in report.findings if finding.severity is not Severity.INFO] == []


@needs_logs
def test_a_clean_file_has_rows_that_were_looked_at() -> None:
    """Silence about a file that was not read would prove nothing."""
    for row in ROWS:
        if row["clean"] == "yes" and number_of(row["file"]) not in NOT_READ:
            assert reported(row["file"]).num_rows > 0, row["file"]


@needs_logs
def test_a_file_without_a_reader_is_not_called_sound() -> None:
    for row in ROWS:
        if number_of(row["file"]) in NOT_READ:
            report = reported(row["file"])
            assert (report.num_rows, report.num_documents) == (0, 0)
            # One has a table with times that no reader understands.
            assert report.verdict.startswith(("nothing to audit: no table of timings", "nothing was read; left out: "))
            assert report.mostly_left_out is report.verdict.startswith("nothing was read")
            assert report.num_skipped_lines > 0


@needs_logs
@pytest.mark.parametrize("number", sorted(DEFECTS))
def test_names_of_files_are_no_evidence(number: str, tmp_path: Path) -> None:
    file = next(row["file"] for row in ROWS if number_of(row["file"]) == number)
    text = (shared_data() / "logs" / file).read_bytes()
    # Nor are the lines that the collector put above each file.
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith((b"# source:", b"# notes:"))]
    renamed = tmp_path / "a.log"
    renamed.write_bytes(b"".join(lines))
    (report,) = audit_files([renamed]).files
    assert DEFECTS[number] <= {finding.code for finding in report.findings}


@needs_logs
def test_two_copies_of_a_log_are_found_out(tmp_path: Path) -> None:
    original = shared_data() / "logs" / next(row["file"] for row in ROWS if number_of(row["file"]) == "008")
    copy = tmp_path / "another-cluster.log"
    shutil.copy(original, copy)
    first, second = audit_files([original, copy]).files
    assert [finding.code for finding in first.findings] == []
    assert [(finding.code, finding.severity) for finding in second.findings] == [("copied-tables", Severity.ERROR)]
    link = tmp_path / "latest.log"
    link.symlink_to(copy)
    packed = tmp_path / "another-cluster.log.gz"
    packed.write_bytes(gzip.compress(copy.read_bytes()))
    for again in (link, packed, copy):
        _, second = audit_files([copy, again]).files
        assert [(finding.code, finding.severity) for finding in second.findings] == [("copied-tables", Severity.INFO)]
        assert "the same log again" in second.findings[0].arithmetic


@needs_logs
def test_a_gpu_that_is_said_gives_a_limit() -> None:
    """NVLS: a busbw of 483 GB/s over links of 450 GB/s is not an accusation; over the links of an A100 it is one."""
    (row,) = [row for row in ROWS if number_of(row["file"]) == "101"]
    path = shared_data() / "logs" / row["file"]
    for gpu, code in (("H100 SXM5 80GB", "above-ring-limit"), ("A100-SXM4-80GB", "above-limit")):
        (report,) = audit_files([path], Setup(gpu=gpu)).files
        assert [finding.code for finding in report.findings] == [code]


@needs_logs
def test_ranks_that_are_said_are_held_against_the_factor() -> None:
    """A README says 64 GPUs; busbw/algbw says 96. The log has no rank lines, so only --ranks can tell."""
    (row,) = [row for row in ROWS if number_of(row["file"]) == "087"]
    path = shared_data() / "logs" / row["file"]
    (report,) = audit_files([path], Setup(num_ranks=64)).files
    (finding,) = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    assert finding.code == "rank-count-differs"
    assert "n = 96" in finding.arithmetic
    assert audit_files([path], Setup(num_ranks=96)).worst is Severity.INFO
