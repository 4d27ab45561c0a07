"""What gzip, bzip2 or xz packed, as a stream of blocks.

For: logs that were packed to be kept, with a bound on what a small file may become. Not for: archives of many files.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

BLOCK = 1 << 20
MAX_UNPACKED = 1 << 31  # a small file may unpack to a terabyte; traces of a profiler come to a gigabyte
CUT, DAMAGED = "packed: only the first 2 GiB were unpacked", "packed: what was packed breaks off or is damaged"
_XZ_MEMORY = 1 << 27  # `xz -9` needs half of it


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
