"""A large JSON file, one part after the other.

For: traces of gigabytes, in the memory of their largest event. Not for: JSON that fits into memory; values deeper than
Python's parser goes.

json.JSONDecoder.raw_decode takes one value off the beginning of a text; what is here feeds it text. A library for this
(ijson) was looked at: it gives a token at a time, or values through a C library that is not everywhere.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Container, Iterator
from typing import IO, Any

_BLOCK = 1 << 18
_MAX_VALUE = 1 << 23  # characters of one value
_BLANK = " \t\r\n"
_NUMBER = "0123456789+-.eE"
_NEAR = 64  # an error that is nearer to the end of what was read may be for want of more


class MalformedError(Exception):
    """No JSON from here on: one line that says where."""


class _Text:
    """The part of a file's text that is being looked at."""

    def __init__(self, stream: IO[bytes], decoder: json.JSONDecoder | None = None) -> None:
        # What can be had, not all that is asked for: of a compressed file that is cut, the last part would be lost.
        self._read = getattr(stream, "read1", stream.read)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._json = decoder or json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    def next(self) -> str:
        """Returns the next character that is not a blank, "" at the end; it is not taken."""
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
                # A number at the end of what was read may go on: of "1.5e3" first "1" comes, then "1.", then "1.5e".
                if self._text[end : end + _NEAR].strip(_NUMBER) or not self._more():
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
        block: bytes = self._read(max(_BLOCK, at_least))
        self._ended = not block
        text = self._decoder.decode(block, final=self._ended)
        self._before += self._at
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(text) or not self._ended


def members(
    stream: IO[bytes], arrays: Container[str], decoder: json.JSONDecoder | None = None
) -> Iterator[tuple[str, Any]]:
    """Yields (key, value) of the object that a file is; of the arrays named, (key, element) for each element.

    A file that is an array gives ("", element). `decoder`: another than the usual one, as for numbers as printed.
    Raises MalformedError, after having yielded what came before.
    """
    text = _Text(stream, decoder)
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
            raise MalformedError("a key that is not a string")
        text.take(":")
        if key in arrays and text.next() == "[":
            for element in _elements(text):
                yield key, element
        else:
            yield key, text.value()
        if text.next() == "}":
            return
        text.take(",")


def give_members(
    stream: IO[bytes],
    arrays: Container[str],
    take: Callable[[str, Any], None],
    decoder: json.JSONDecoder | None = None,
) -> str:
    """Gives `take` each of `members`. Returns why these are not all, empty if they are."""
    try:
        for key, value in members(stream, arrays, decoder):
            take(key, value)
    except MalformedError as error:
        return str(error)
    return ""


def integer(value: object) -> int | None:
    """Returns a whole number of 64 bits, also one that is written as a string; None for anything else."""
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.removeprefix("-").isdecimal():
        value = int(value)
    return value if type(value) is int and abs(value) < 1 << 63 else None


def text(value: object, most: int = 200) -> str | None:
    """Returns the beginning of a string; None for anything else."""
    return value[:most] if isinstance(value, str) else None


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
