"""Text from files, made harmless for a terminal.

For: labels, messages and paths of stored runs, which anybody may have written. Not for: JSON, which escapes by itself.
"""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    r"""Returns `text` on one line with every control or unassigned character written as its escape, as in "\x1b"."""
    return "".join(char if _is_harmless(char) else char.encode("unicode_escape").decode() for char in text)


def _is_harmless(char: str) -> bool:
    # Cc and Cf: control and formatting (escape sequences, right-to-left overrides); Cs: halves of pairs; Zl, Zp: lines.
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
