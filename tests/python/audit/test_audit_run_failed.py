"""Runs that say that they failed: which lines count, in whole files. Each with what looks alike and does not count."""

from __future__ import annotations

import io

import pytest
from audit_support import as_text, make_table

from ringtree.audit import AuditRun, Finding, Setup, Severity
from ringtree.logs.failures import says_failed, warns_of_failure

FAILURES = [
    "node-1: Test NCCL failure common.cu:401 'unhandled system error (run with NCCL_DEBUG=INFO for details) / '",
    "node-1: Test CUDA failure common.cu:958 'out of memory'",
    " .. node-1 pid 77: Test failure common.cu:660",
    "Segmentation fault",
    "Segmentation fault (core dumped)",
    "./run.sh: line 3:  4242 Segmentation fault      (core dumped) ./build/all_reduce_perf -b 8",
    "[node-1:4242] Signal: Segmentation fault (11)",
    "[node-1:42:0:42] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))",
    "srun: error: node-1: task 0: Segmentation fault (core dumped)",
    "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, unhandled system error "
    "(run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3",
]
WARNINGS = [
    "Cuda failure 'out of memory'",
    "Cuda failure 2 'out of memory'",
    "HIP failure 'invalid argument'",
    "NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129",
    "NET/IB : Got completion from peer 10.0.0.2<4791> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
]
HARMLESS_WARNINGS = [
    "NET/Plugin: Could not find: libnccl-net.so",
    "NCCL_SHARP_DISABLE is deprecated, use NCCL_COLLNET_ENABLE instead",
    'Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!',
    "NUMA auto balancing enabled which can lead to variability in the RCCL performance!",
    "MSCCL++: Cannot enable MSCCL++ on this architecture",
]
HARMLESS = [
    "Test passed, no failure in common.cu",
    "The test failure rate was 0",
    "what to do about a Segmentation fault in NCCL",
    "An unhandled system error often means that a socket was closed",
    "error: 0",
    *(f"node-1:77:78 [0] NCCL WARN {text}" for text in HARMLESS_WARNINGS),
]


def found_in(text: str) -> list[Finding]:
    session = AuditRun(Setup())
    session.add_stream(io.BytesIO(text.encode()), "a.log")
    return [finding for finding in session.finish().files[0].findings if finding.code == "run-failed"]


@pytest.mark.parametrize("line", FAILURES)
def test_a_line_that_says_so_is_quoted_with_its_number(line: str) -> None:
    log = as_text(make_table())
    (finding,) = found_in(log + line + "\n")
    assert finding.severity is Severity.WARNING
    beginning = " ".join(line.split())[:40].removeprefix(".. ")
    assert finding.arithmetic.startswith(f"line {log.count(chr(10)) + 1}: ")
    assert beginning[8:] in finding.arithmetic
    assert "such lines" not in finding.arithmetic


@pytest.mark.parametrize("text", WARNINGS)
def test_a_warning_of_nccl_about_a_call_that_failed_counts(text: str) -> None:
    assert warns_of_failure(text)
    (finding,) = found_in(f"node-1:77:78 [0] transport/net_ib.cc:1295 NCCL WARN {text}\n" + as_text(make_table()))
    assert finding.arithmetic == f"line 1: NCCL WARN {text}"


@pytest.mark.parametrize("line", HARMLESS)
def test_what_does_no_harm_does_not_count(line: str) -> None:
    assert not says_failed(line)
    assert found_in(line + "\n" + as_text(make_table())) == []


def test_failures_are_counted_and_the_first_is_shown_short() -> None:
    lines = [f"node-1: Test NCCL failure common.cu:{number} '{'x' * 500}'" for number in range(1, 41)]
    (finding,) = found_in("\n".join(lines) + "\n" + as_text(make_table()))
    assert finding.arithmetic.startswith("line 1: node-1: Test NCCL failure common.cu:1 ")
    assert finding.arithmetic.endswith("… (40 such lines)")
    assert len(finding.arithmetic) < 200


def test_a_failure_behind_many_lines_that_nobody_knows_is_found() -> None:
    text = "\n".join(f"hello {number}" for number in range(1000)) + "\n" + FAILURES[0] + "\n"
    (finding,) = found_in(text)
    assert finding.arithmetic.startswith("line 1001: ")
