"""Which readers there are, in the order in which they are asked.

For: adding a reader: one line here. Not for: what they do.
"""

from __future__ import annotations

from ringtree.logs.nccltests import NcclTestsReader
from ringtree.logs.reading import FileReader, LineReaderFactory

FILE_READERS: tuple[FileReader, ...] = ()
LINE_READERS: tuple[LineReaderFactory, ...] = (NcclTestsReader,)
