"""NCCL's versions as people, programs and nccl.h write them.

For: ringtree.nccl.releases. Not for: what a release can do.
"""

from __future__ import annotations

import pytest

from ringtree.nccl.releases import release, version


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.23.4", (2, 23, 4)),
        ("2.21", (2, 21, 0)),
        (" v2.21.5-1+cuda12.4 ", (2, 21, 5)),
        ("2.21.5-HEAD:eef7b29", (2, 21, 5)),
        ("22403", (2, 24, 3)),
        ("2708", (2, 7, 8)),
        ("0", None),
        ("123", None),
        ("develop", None),
        ("", None),
        (None, None),
    ],
)
def test_versions(text: str | None, numbers: tuple[int, int, int] | None) -> None:
    assert version(text) == numbers
    assert release(text) == (None if numbers is None else numbers[:2])
