"""Versions and hardware that can't go together, and versions that disagree with each other.

For: a GPU with a library from before it, headers of one release with the library of another. Not for: algorithms that a
release does not have (unsupported_algorithm.py).

Each date is that of the library's own release note or makefile. A library without code for a GPU can still run there by
way of PTX, compiled on the spot, but without the rates and channel counts that were tuned for it; so it is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.audit.material import Subject
from ringtree.audit.records import Finding, Severity
from ringtree.audit.rule import Rule, TableCheck

OLDER_THAN_GPU = Rule(
    code="library-older-than-gpu",
    severity=Severity.WARNING,
    title="the library is older than its support for this GPU",
    means="The NCCL version that the log prints was released without code for the GPU that it names. Either the log "
    "was put together from two runs, or the library ran code compiled from another generation's, untuned.",
    settles="the library that the process had loaded: the line NCCL version with NCCL_DEBUG=VERSION on that machine",
    example="NVIDIA GB300 with NCCL 2.21.5; first release with code for it: 2.25.1 (NCCL 2.25.1 (2025-01-27): Add "
    "Blackwell/SM100 support)",
)
HEADERS_DIFFER = Rule(
    code="headers-differ",
    severity=Severity.INFO,
    title="built with the headers of one release, run with the library of another",
    means="nccl-tests prints both. What runs is the library; options that only one of them knows are ignored.",
    settles="nothing needs to be: quote the version of the library",
    example="nccl-headers=22803 nccl-library=22707",
)
OTHER_VERSION = Rule(
    code="versions-differ",
    severity=Severity.INFO,
    title="two versions of the library are named",
    means="The log prints one version and its title, path or settings name another. What ran is what the library "
    "itself printed.",
    settles="the line that the library printed",
    example="printed: NCCL 2.28.3, nccl-library=22707",
)

Version = tuple[int, int, int]

# (names of GPUs, first release with code for them, where that is said)
FIRST_RELEASE: tuple[tuple[re.Pattern[str], Version, str], ...] = (
    (
        re.compile(r"\b(?:G?B[123]00|RTX PRO 6000 Blackwell|RTX 50[5-9]0)\b", re.I),
        (2, 25, 1),
        "NCCL 2.25.1 (2025-01-27): Add Blackwell/SM100 support",
    ),
    (re.compile(r"\b(?:G?H[12]00|H800|H20)\b", re.I), (2, 15, 1), "NCCL 2.15.1: Add support for H100 (sm90)"),
    (re.compile(r"\bA(?:100|800|30)\b", re.I), (2, 7, 3), "NCCL 2.7.3: Add support for A100 GPU"),
)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str | None) -> Version | None:
    """Returns (2, 23, 4) for "2.23.4" and "2.23.4-1+cuda12"; (2, 21, 0) for "2.21"; None for anything else."""
    found = _VERSION.match(text or "")
    return None if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def coded_version(text: str | None) -> Version | None:
    """Returns (2, 24, 3) for "22403", the number in nccl.h: from 2.9 on two digits each, before that one."""
    if text is None or not text.isdecimal() or int(text) < 1000:
        return None
    code = int(text)
    if code < 10_000:
        return code // 1000, code // 100 % 10, code % 100
    return code // 10_000, code // 100 % 100, code % 100


def check(subject: Subject) -> Iterator[Finding]:
    """Yields what does not go together."""
    table = subject.table
    headers = table.settings.get("nccl-headers")
    library = table.settings.get("nccl-library")
    if headers is not None and library is not None and headers != library:
        yield HEADERS_DIFFER.found(subject, f"nccl-headers={headers} nccl-library={library}")
    version = parse_version(table.library_version)
    if version is None or (table.library or "nccl").lower() != "nccl":
        return
    whole = len((table.library_version or "").split(".")) > 2
    coded = coded_version(library)
    if coded is not None and whole and coded != version:
        yield OTHER_VERSION.found(subject, f"printed: NCCL {table.library_version}, nccl-library={library}")
    for device in list(dict.fromkeys(table.devices)) or [subject.setup.gpu or ""]:
        for names, first, source in FIRST_RELEASE:
            # "2.21" without a third number may be any release of it.
            if names.search(device) and (version if whole else (*version[:2], 99)) < first:
                yield OLDER_THAN_GPU.found(
                    subject,
                    f"{device} with NCCL {table.library_version}; first release with code for it: "
                    f"{'.'.join(map(str, first))} ({source})",
                )
                return


CHECK = TableCheck((OLDER_THAN_GPU, HEADERS_DIFFER, OTHER_VERSION), check)
