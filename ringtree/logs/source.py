"""A stream that can be looked at before it is read.

For: choosing a reader by how a file begins, also where the file is a pipe. Not for: what stands in it.
"""

from __future__ import annotations

import io
import tempfile
from typing import IO, BinaryIO

_IN_MEMORY = 1 << 24
_BLOCK = 1 << 20


class Source:
    """Bytes of a file or pipe; counts what was read. The stream stays the caller's."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.num_bytes = 0

    def head(self, size: int) -> bytes:
        """Returns up to `size` bytes from the beginning, which remain to be read."""
        ahead = b""
        while len(ahead) < size and (block := self._stream.read(size - len(ahead))):
            ahead += block
        if self._stream.seekable():
            self._stream.seek(0)
        else:
            self._stream = self._copied(ahead)
        return ahead

    def seekable(self) -> BinaryIO:
        """Returns the stream from its beginning, once `head` was called, and counts all its bytes."""
        self.num_bytes = self._stream.seek(0, io.SEEK_END)
        self._stream.seek(0)
        return self._stream

    def _copied(self, ahead: bytes) -> BinaryIO:
        copy: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 — lives as long as this
        copy.write(ahead)
        while block := self._stream.read(_BLOCK):
            copy.write(block)
        copy.seek(0)
        return copy  # type: ignore[return-value] # it has what BinaryIO has
