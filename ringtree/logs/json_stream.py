"""A large JSON file, one part after the other.

For: traces of gigabytes, in the memory of their largest event. Not for: JSON that fits into memory; values deeper than
Python's parser goes.

json.JSONDecoder.raw_decode takes one value off the beginning of a text; what is here feeds it text. A library for this
(ijson) was looked at: it gives a token at a time, or values through a C library that is not everywhere.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Container, Iterator
from typing import IO, Any

_BLOCK = 1 << 18
_MAX_VALUE = 1 << 23  # characters of one value
_BLANK = " \t\r\n"
_NEAR = 64  # an error that is nearer to the end of what was read may be for want of more


class MalformedError(Exception):
    """No JSON from here on: one line that says where."""


class _Text:
    """The part of a file's text that is being looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    def next(self) -> str:
        """Returns the next character that is no blank, "" at the end; it is not taken."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, character: str) -> None:
        """Takes a character that must come next. Raises MalformedError."""
        if self.next() != character:
            raise MalformedError(f"character {self._before + self._at}: {character!r} is missing")
        self._at += 1

    def value(self) -> Any:
        """Takes a value. Raises MalformedError for what is none, is cut, or is too large."""
        self.next()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                self._need(error)
            except (ValueError, RecursionError) as error:
                raise self._malformed(str(error) or "nested too deeply") from error
            else:
                # A number at the very end may go on.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value

    def _need(self, error: json.JSONDecodeError) -> None:
        """Reads more, if that may help."""
        size = len(self._text) - self._at
        string_open = error.msg.startswith(("Unterminated string", "Invalid \\"))
        if len(self._text) - error.pos > _NEAR and not string_open:
            raise self._malformed(error.msg) from error
        if size > _MAX_VALUE or not self._more(size):
            raise self._malformed("a value that is cut or too large") from error

    def _malformed(self, why: str) -> MalformedError:
        return MalformedError(f"character {self._before + self._at}: {why}")

    def _more(self, at_least: int = 0) -> bool:
        """Reads on; False at the end. What was taken is forgotten."""
        if self._ended:
            return False
        block = self._stream.read(max(_BLOCK, at_least))
        self._ended = not block
        text = self._decoder.decode(block, final=self._ended)
        self._before += self._at
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(text) or not self._ended


def members(stream: IO[bytes], arrays: Container[str]) -> Iterator[tuple[str, Any]]:
    """Yields (key, value) of the object that a file is; of the arrays named, (key, element) for each element.

    A file that is an array gives ("", element). Raises MalformedError, after having yielded what came before.
    """
    text = _Text(stream)
    first = text.next()
    if first == "[":
        yield from (("", element) for element in _elements(text))
        return
    text.take("{")
    if text.next() == "}":
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise MalformedError("a key that is no string")
        text.take(":")
        if key in arrays and text.next() == "[":
            for element in _elements(text):
                yield key, element
        else:
            yield key, text.value()
        if text.next() == "}":
            return
        text.take(",")


def _elements(text: _Text) -> Iterator[Any]:
    text.take("[")
    if text.next() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.next() == "]":
            text.take("]")
            return
        text.take(",")
