"""A stream that can be looked at before it is read.

For: choosing a reader by how a file begins, also where the file is a pipe; files that were packed, and UTF-16, which
PowerShell's ">" writes. Not for: what stands in it.
"""

from __future__ import annotations

import codecs
import io
import tempfile
from collections.abc import Iterator
from typing import IO, BinaryIO

from ringtree.logs.unpacking import BLOCK, is_packed, unpacked

_IN_MEMORY = 1 << 24
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Source:
    """Bytes of a file or pipe, as text in UTF-8 if it is text; counts what was read. The stream stays the caller's.

    `problem`: why not all of it is there, empty if it is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.num_bytes = 0
        self.problem = ""
        self._copies: list[BinaryIO] = []

    def close(self) -> None:
        """Ends the copies that were made."""
        for copy in self._copies:
            copy.close()

    def head(self, size: int) -> bytes:
        """Returns up to `size` bytes from the beginning, which remain to be read."""
        ahead = b""
        while len(ahead) < size and (block := self._stream.read(size - len(ahead))):
            ahead += block
        packed = is_packed(ahead)
        if packed:
            self._stream = self._spooled(unpacked(_blocks(ahead, self._stream), self._report))
        elif self._stream.seekable():
            self._stream.seek(0)
        else:
            self._stream = self._spooled(_blocks(ahead, self._stream))
        if packed or ahead.startswith(tuple(_UTF16)):
            ahead = self._stream.read(size)
            if ahead[:2] in _UTF16 and not ahead.startswith(b"\xff\xfe\0\0"):
                self._stream = self._spooled(_as_utf8(_blocks(ahead[2:], self._stream), _UTF16[ahead[:2]]))
                ahead = self._stream.read(size)
            self._stream.seek(0)
        return ahead

    def seekable(self) -> BinaryIO:
        """Returns the stream from its beginning, once `head` was called, and counts all its bytes."""
        self.num_bytes = self._stream.seek(0, io.SEEK_END)
        self._stream.seek(0)
        return self._stream

    def _spooled(self, blocks: Iterator[bytes]) -> BinaryIO:
        """Returns a seekable copy, at its beginning."""
        copy: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 — closed with the others
        self._copies.append(copy)  # type: ignore[arg-type] # it has what BinaryIO has
        for block in blocks:
            copy.write(block)
        copy.seek(0)
        return self._copies[-1]

    def _report(self, problem: str) -> None:
        self.problem = problem


def _blocks(ahead: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield ahead
    while block := stream.read(BLOCK):
        yield block


def _as_utf8(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
