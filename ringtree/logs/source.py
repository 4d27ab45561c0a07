"""A stream that can be looked at before it is read.

For: choosing a reader by how a file begins, also where the file is a pipe; files that gzip packed, and UTF-16, which
PowerShell's ">" writes. Not for: what stands in it.
"""

from __future__ import annotations

import codecs
import io
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO

_IN_MEMORY = 1 << 24
_BLOCK = 1 << 20
MAX_UNPACKED = 1 << 31  # a small file may unpack to a terabyte; traces of a profiler come to a gigabyte
CUT, DAMAGED = "packed: only the first 2 GiB were unpacked", "packed: what gzip wrote breaks off or is damaged"
_GZIP = b"\x1f\x8b\x08"
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
        if ahead.startswith(_GZIP):
            self._stream = self._spooled(self._unpacked(ahead))
        elif self._stream.seekable():
            self._stream.seek(0)
        else:
            self._stream = self._spooled(_blocks(ahead, self._stream))
        if ahead.startswith((_GZIP, *_UTF16)):
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

    def _unpacked(self, ahead: bytes) -> Iterator[bytes]:
        """What gzip packed, all of its members, up to MAX_UNPACKED bytes."""
        unpacker, room, is_open = zlib.decompressobj(wbits=31), MAX_UNPACKED, False
        try:
            for packed in _blocks(ahead, self._stream):
                block, is_full = packed, False
                while block or is_full:
                    if not is_open and not block.startswith(_GZIP[: len(block)]):
                        return  # padding behind the last member
                    most = min(room, _BLOCK)
                    plain = unpacker.decompress(block, most)
                    yield plain
                    room -= len(plain)
                    if room == 0:
                        self.problem = CUT
                        return
                    is_open, is_full = not unpacker.eof, len(plain) == most and not unpacker.eof
                    block = unpacker.unused_data or unpacker.unconsumed_tail
                    if unpacker.eof:
                        unpacker = zlib.decompressobj(wbits=31)
        except zlib.error:
            is_open = True
        self.problem = DAMAGED if is_open else ""


def _blocks(ahead: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield ahead
    while block := stream.read(_BLOCK):
        yield block


def _as_utf8(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
