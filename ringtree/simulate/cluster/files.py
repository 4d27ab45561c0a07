"""Descriptions of clusters as TOML files: read, checked and written.

For: what a user keeps beside a job, and edits. Not for: the shape (description.py), presets (presets.py), logs
(simulate/from_log).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.simulate.cluster.description import Cluster

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_WIDTH = 110


def read_cluster(file: Path) -> Cluster:
    """Reads a description. Raises UsageError in one line that names the file and the key."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read {file}: {getattr(error, 'strerror', None) or error}") from error
    return parse_cluster_text(text, str(file))


def parse_cluster_text(text: str, called: str) -> Cluster:
    """Returns the description that TOML `text` holds; `called`: what errors call it."""
    try:
        return Cluster.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{called}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if part not in ("switch", "mesh")) or "(the whole file)"
        raise UsageError(f"{called}: key {key}: {first['msg'].removeprefix('Value error, ')}") from None


def cluster_text(cluster: Cluster) -> str:
    """Returns a description as TOML that `parse_cluster_text` reads back to an equal one."""
    fields = cluster.model_dump(mode="json", exclude_none=True)
    return "\n".join(_table("", fields)).lstrip("\n") + "\n"


def _table(name: str, fields: dict[str, Any]) -> list[str]:
    """A table's own keys, then the tables below it."""
    own = {key: value for key, value in fields.items() if not _is_table(value)}
    lines = [] if not (name and own) else ["", f"[{name}]"]
    lines += [f"{key} = {_value(value)}" for key, value in own.items() if value != []]
    for key, value in fields.items():
        if _is_table(value):
            lines += _table(f"{name}.{key}".lstrip("."), value)
    return lines


def _is_table(value: Any) -> bool:
    """Constants, which have a value and a unit, stand in one line."""
    return isinstance(value, dict) and "unit" not in value


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        parts = [_value(one) for one in value]
        line = f"[{', '.join(parts)}]"
        return line if len(line) <= _WIDTH else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
    return json.dumps(value, ensure_ascii=False)
