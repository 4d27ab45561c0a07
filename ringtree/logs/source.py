"""What a file or pipe holds, as a stream that can be looked at before it is read.

For: choosing a reader by how a file begins, also where the file is a pipe; what gzip, bzip2 or xz packed, with a bound
on what a small file may become, and UTF-16, which PowerShell's ">" writes. Not for: what stands in it, archives of many
files.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, Protocol

BLOCK = 1 << 20
MAX_UNPACKED = 1 << 31  # a small file may unpack to a terabyte; traces of a profiler come to a gigabyte
CUT, DAMAGED = "packed: only the first 2 GiB were unpacked", "packed: what was packed breaks off or is damaged"
_XZ_MEMORY = 1 << 27  # `xz -9` needs half of it
_AHEAD = 16  # bytes that tell whether it is packed or UTF-16
_IN_MEMORY = 1 << 24
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@contextmanager
def seekable(stream: BinaryIO, on_problem: Callable[[str], None]) -> Iterator[BinaryIO]:
    """Yields the stream or a copy, unpacked, text in UTF-8, from its beginning. The stream stays the caller's.
    `on_problem`: why not all of it is there."""
    with ExitStack() as copies:

        def copied(blocks: Iterator[bytes]) -> BinaryIO:
            copy = copies.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
            for block in blocks:  # writelines would keep all of them in memory
                copy.write(block)
            return copy  # type: ignore[return-value] # it has what BinaryIO has

        ahead = b""
        while len(ahead) < _AHEAD and (block := stream.read(_AHEAD - len(ahead))):
            ahead += block
        if is_packed(ahead):
            stream = copied(unpacked(_blocks(ahead, stream), on_problem))
        elif not stream.seekable():
            stream = copied(_blocks(ahead, stream))
        stream.seek(0)
        encoding = _UTF16.get(mark := stream.read(2))
        if encoding is not None and mark + stream.read(2) != codecs.BOM_UTF32_LE:
            stream.seek(2)
            stream = copied(_as_utf8(_blocks(b"", stream), encoding))
        stream.seek(0)
        yield stream


def _blocks(ahead: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield ahead
    while block := stream.read(BLOCK):
        yield block


def _as_utf8(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


class _Unpacker(Protocol):
    """As in bz2 and lzma: one member of a packed file."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """zlib's, which gives back what it did not take."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        plain = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.eof, self.unused_data = self._zlib.eof, self._zlib.unused_data
        self.needs_input = not self.eof and len(plain) < max_length
        return plain


_BZIP2, _BZIP2_BLOCK = b"BZh", b"1AY&SY"
_MAKERS: dict[bytes, Callable[[], _Unpacker]] = {
    b"\x1f\x8b\x08": _Gunzip,
    _BZIP2: bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY),
}


def is_packed(head: bytes) -> bool:
    """Says whether a file that begins so was packed by one of the three."""
    return _kind(head) is not None


def unpacked(blocks: Iterable[bytes], on_problem: Callable[[str], None]) -> Iterator[bytes]:
    """Yields what was packed, all members, up to MAX_UNPACKED bytes. `on_problem`: why not all of it."""
    room, kind, unpacker = MAX_UNPACKED, b"", None
    try:
        for block in blocks:
            while block or (unpacker is not None and not unpacker.needs_input):
                if unpacker is None:
                    kind = kind or _kind(block) or b""
                    if not block.startswith(kind[: len(block)]):
                        return  # padding behind the last member
                    unpacker = _MAKERS[kind]()
                plain = unpacker.decompress(block, min(room, BLOCK))
                yield plain
                room -= len(plain)
                if room == 0:
                    return on_problem(CUT)
                block = b""
                if unpacker.eof:
                    block, unpacker = unpacker.unused_data, None
    except (zlib.error, lzma.LZMAError, OSError, EOFError):
        return on_problem(DAMAGED)
    if unpacker is not None:
        on_problem(DAMAGED)


def _kind(head: bytes) -> bytes | None:
    if head.startswith(_BZIP2) and head[4:10] != _BZIP2_BLOCK:  # text may begin with these three letters
        return None
    return next((magic for magic in _MAKERS if head.startswith(magic)), None)
