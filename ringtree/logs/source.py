"""What a file or pipe holds, as a stream that can be looked at before it is read.

For: choosing a reader by how a file begins, also where the file is a pipe; files that were packed, and UTF-16, which
PowerShell's ">" writes. Not for: what stands in it.
"""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from ringtree.logs.unpacking import BLOCK, is_packed, unpacked

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
            copy.writelines(blocks)
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
