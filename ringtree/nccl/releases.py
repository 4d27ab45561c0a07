"""NCCL's versions: from text and number, and the first one for a GPU.

For: "2.21.5+cuda12.4" and 22105 alike. Not for: what a release can do (names.py, grammar.py, support.py).
"""

from __future__ import annotations

import re

Version = tuple[int, int, int]

# (names of GPUs, first release with code for them, where that is said)
FIRST_FOR_GPU: tuple[tuple[re.Pattern[str], Version, str], ...] = (
    (
        re.compile(r"\b(?:G?B[123]00|RTX PRO 6000 Blackwell|RTX 50[5-9]0)\b", re.I),
        (2, 25, 1),
        "NCCL 2.25.1 (2025-01-27): Add Blackwell/SM100 support",
    ),
    (re.compile(r"\b(?:G?H[12]00|H800|H20)\b", re.I), (2, 15, 1), "NCCL 2.15.1: Add support for H100 (sm90)"),
    (re.compile(r"\bA(?:100|800|30)\b", re.I), (2, 7, 3), "NCCL 2.7.3: Add support for A100 GPU"),
)
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def version(text: str | None) -> Version | None:
    """Returns (2, 21, 5) of "2.21.5", "v2.21.5-1+cuda12.4" or the number 22105, (2, 21, 0) of "2.21"; None for what is
    no version."""
    text = (text or "").strip()
    if re.fullmatch(r"[0-9]{4,6}", text):
        text = version_of_code(int(text)) or ""
    found = _VERSION.match(text)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def release(text: str | None) -> tuple[int, int] | None:
    """Returns (2, 21) of any "2.21.5"."""
    found = version(text)
    return None if found is None else found[:2]


def version_of_code(code: int) -> str | None:
    """Returns "2.24.3" for NCCL's version number 22403, "2.7.8" for 2708: two digits each since 2.9, before that one.
    None for what is none (ringtree writes 0)."""
    if code >= 10_000:
        return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"
    return f"{code // 1000}.{code // 100 % 10}.{code % 100}" if code >= 1000 else None
