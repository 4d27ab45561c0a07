"""Writes what files say as one JSON object, a table at a time.

For: `ringtree import --json`, in the memory of the largest table. Not for: the shape of the object (export_schema.py).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from typing import TextIO

from ringtree.logs.export_schema import IMPORT_FORMAT, DocumentRecord, SkippedRecord, TableRecord
from ringtree.logs.importing import Imported
from ringtree.logs.records import Item, Table
from ringtree.results import Record

_IN_MEMORY = 1 << 24


class JsonExport:
    """`with JsonExport(out) as export: export.begin(name); …export.emit(item)…; export.end(imported)` for each file.

    Tables go out as they come; documents, which may come between them, wait in a temporary file for the file's end.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._num_files = 0
        self._num_tables = 0
        self._num_documents = 0
        self._documents = tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8")  # noqa: SIM115 — until the end
        self._formats: dict[str, None] = {}

    def __enter__(self) -> JsonExport:
        self._out.write(f'{{"format": {json.dumps(IMPORT_FORMAT)}, "files": [')
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._documents.close()
        if kind is None:
            self._out.write("\n]}\n")

    def begin(self, name: str) -> None:
        """Begins a file."""
        self._documents.seek(0)
        self._documents.truncate()
        self._num_tables = self._num_documents = 0
        self._formats = {}
        self._out.write(f'{"," if self._num_files else ""}\n{{"file": {json.dumps(name)}, "tables": [')
        self._num_files += 1

    def emit(self, item: Item) -> None:
        """Takes an item of the file."""
        self._formats.setdefault(item.format)
        if isinstance(item, Table):
            self._out.write(f"{',' if self._num_tables else ''}\n{_json(TableRecord, item)}")
            self._num_tables += 1
        else:
            self._documents.write(f"{',' if self._num_documents else ''}\n{_json(DocumentRecord, item)}")
            self._num_documents += 1

    def end(self, imported: Imported | None, error: str | None = None, stored: str | None = None) -> None:
        """Ends the file: with what else came of it, or with why it could not be read."""
        out = self._out
        out.write('], "documents": [')
        self._documents.seek(0)
        shutil.copyfileobj(self._documents, out)
        imported = imported or Imported("")
        skipped = [SkippedRecord.model_validate(each, from_attributes=True) for each in imported.skipped]
        rest = {
            "formats": list(self._formats),
            "skipped": [each.model_dump() for each in skipped],
            "num_lines": imported.num_lines,
            "num_bytes": imported.num_bytes,
            "stored": stored,
            "error": error,
        }
        out.write(f"], {json.dumps(rest)[1:]}")


def _json(record: type[Record], item: Item) -> str:
    return record.model_validate(item, from_attributes=True).model_dump_json()
