"""Lines by which a program, its launcher or NCCL says that a run failed.

For: telling them among lines that no reader takes, and among NCCL's warnings. Not for: why it failed.

NCCL also warns of what does no harm, such as a plugin that is not there or a variable that it ignores. Only what makes
the call fail counts. Words in prose are none: each pattern has what stands around them where a program prints them.
"""

from __future__ import annotations

import re

FAILED = "says that a run failed"
# After such a warning the call returns an error (NCCL's checks.h; completions of net_ib).
_WARNING = re.compile(
    r"\b(?:Cuda|CUDA|HIP) failure\b|\bGot completion\b.{0,200}\bwith (?:error\b|status=)|"
    r"\b[Uu]nhandled (?:system|cuda|hip) error\b"
)
_LINE = re.compile(
    # nccl-tests and rccl-tests, common.h: "node-1: Test NCCL failure common.cu:401 'unhandled …", " .. pid 7: Test …"
    r"\bTest (?:(?:NCCL|RCCL|CUDA|HIP) )?failure \S{1,300}:\d|"
    # What ncclGetErrorString gives, as programs print it.
    r"\bunhandled (?:system|cuda|hip) error(?= \(run with NCCL_DEBUG| / |, NCCL version|')|"
    # Of a shell ("1234 Segmentation fault  (core dumped)"), Open MPI and UCX ("Signal: …", "signal 11 (…"), Slurm.
    r"(?:^\s*|[:(]\s*|\s\d{1,9}\s+)Segmentation fault(?=\s*$|\s*[(:)])"
)


def says_failed(text: str) -> bool:
    """Whether a line of a log says that a run failed."""
    if "NCCL WARN" in text:
        return warns_of_failure(text)
    return ("ailure" in text or "fault" in text or "error" in text) and _LINE.search(text) is not None


def warns_of_failure(text: str) -> bool:
    """Whether the text of an NCCL warning says that a call failed."""
    return _WARNING.search(text) is not None
