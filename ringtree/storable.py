"""Text as it may be stored and shown to others: without what looks like a secret, and as JSON takes it.

For: commands and settings in records, traces and pages. Not for: which settings are stored at all
(ringtree.measure.environment).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = ("AUTH", "CRED", "KEY", "PASS", "PWD", "SECRET", "TOKEN")
_URL_WITH_CREDENTIALS = re.compile(r"://[^/\s]*@")
_SECRET_SETTING = re.compile(rf"([A-Za-z0-9_-]*(?:{'|'.join(_WORDS)})[A-Za-z0-9_-]*=)[^\s,]+", re.IGNORECASE)


def is_secret(name: str, value: str) -> bool:
    """Says whether name or value of a variable looks like a secret."""
    return any(word in name.upper() for word in _WORDS) or _URL_WITH_CREDENTIALS.search(value) is not None


def without_secrets(text: str) -> str:
    """Returns `text` with what looks like a secret (TOKEN=…, credentials in a URL) replaced by ***."""
    return _URL_WITH_CREDENTIALS.sub("://***@", _SECRET_SETTING.sub(r"\1***", text))


def printable(text: str) -> str:
    """Bytes that are no UTF-8 reach us as lone surrogates, which JSON refuses."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def storable_command(words: Iterable[str]) -> list[str]:
    """Returns a command's words as they may be stored."""
    return [printable(without_secrets(word)) for word in words]
