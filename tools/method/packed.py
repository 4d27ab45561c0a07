"""Arrays with a JSON header in one compressed .npz file: how all measurements of docs/method-data are stored.

For: files of a few hundred kilobytes that NumPy alone reads (`numpy.load(file)["header"]` is the JSON text). Not for:
what the arrays mean (bank.py, emulated.py).

Writing the same content gives the same bytes: the archive holds no time of day, and members are in order of names.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree.results.files import write_whole


def write_packed(file: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Writes `arrays` as they are (dtype included) and `header` as JSON; the file appears whole or not at all."""
    if "header" in arrays:
        raise ValueError("`header` is the JSON text's own name")
    file.parent.mkdir(parents=True, exist_ok=True)
    out, text = io.BytesIO(), np.array(json.dumps(header, sort_keys=True))
    members: dict[str, Any] = {name: arrays[name] for name in sorted(arrays)}
    np.savez_compressed(out, header=text, **members)
    write_whole(file, out.getvalue())


def read_packed(file: Path, expected: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays. Raises ValueError for a file of another kind or format."""
    with np.load(file, allow_pickle=False) as archive:
        if "header" not in archive:
            raise ValueError(f"{file.name} has no header: not written by the method's tools")
        header = json.loads(str(archive["header"]))
        if header.get("format") != expected:
            raise ValueError(f"{file.name} has format {header.get('format')!r}; expected {expected}")
        return header, {name: archive[name] for name in archive.files if name != "header"}


def with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    """What stands in a header as fields of a record: JSON's lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def sha256(file: Path) -> str:
    """Names the content of a file on the page."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
