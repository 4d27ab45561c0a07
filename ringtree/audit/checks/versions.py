"""Versions and hardware that can't go together, and versions that disagree with each other.

For: a GPU with a library from before it, headers of one release with the library of another. Not for: algorithms that a
release does not have (unsupported_algorithm.py).

Each date is that of the library's own release note or makefile. A library without code for a GPU can still run there by
way of PTX, compiled on the spot, but without the rates and channel counts that were tuned for it; so it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Subject
from ringtree.audit.rule import info, of_table, warning
from ringtree.nccl.releases import FIRST_FOR_GPU
from ringtree.nccl.releases import version as version_of

OLDER_THAN_GPU = warning(
    "library-older-than-gpu",
    "the library is older than its support for this GPU",
    "the library that the process had loaded: the line NCCL version with NCCL_DEBUG=VERSION on that machine",
)
HEADERS_DIFFER = info(
    "headers-differ",
    "built with the headers of one release, run with the library of another",
    "nothing to settle; quote the version of the library",
)
OTHER_VERSION = info("versions-differ", "two versions of the library are named", "the line that the library printed")


@of_table(OLDER_THAN_GPU, HEADERS_DIFFER, OTHER_VERSION)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields what does not go together."""
    table = subject.table
    headers = table.settings.get("nccl-headers")
    library = table.settings.get("nccl-library")
    if headers is not None and library is not None and headers != library:
        yield HEADERS_DIFFER.found(subject, f"nccl-headers={headers} nccl-library={library}")
    version = version_of(table.library_version)
    if version is None or (table.library or "nccl").lower() != "nccl":
        return
    whole = len((table.library_version or "").split(".")) > 2
    coded = version_of(library)
    if coded is not None and whole and coded != version:
        yield OTHER_VERSION.found(subject, f"printed: NCCL {table.library_version}, nccl-library={library}")
    for device in list(dict.fromkeys(table.devices)) or [subject.setup.gpu or ""]:
        for names, first, source in FIRST_FOR_GPU:
            # "2.21" without a third number may be any release of it.
            if names.search(device) and (version if whole else (*version[:2], 99)) < first:
                yield OLDER_THAN_GPU.found(
                    subject,
                    f"{device} with NCCL {table.library_version}; first release with code for it: "
                    f"{'.'.join(map(str, first))} ({source})",
                )
                return
