"""What lines say that every reader may want: headings, echoed environment, the library's version.

For: filling Context from lines; such a line still goes to the readers. Not for: tables.
"""

from __future__ import annotations

import re

from ringtree.logs.lines import Line
from ringtree.logs.reading import Context

_MAX_VARIABLES, _MAX_HEADING, _MAX_COMMAND = 1000, 200, 1000

_HEADING = re.compile(r"#{1,6} +(\S.*)")
_VERSION = re.compile(r"\b(NCCL|RCCL) version[ :]+v?(\d+\.\d+(?:\.\d+)?)")
_FAMILIES = "NCCL|RCCL|TORCH_NCCL|MSCCL|MSCCLPP|FI|UCX|OMPI_MCA|MPICH|CUDA|HIP"
_VARIABLE = re.compile(
    rf"(?<![\w.])((?:{_FAMILIES})_[A-Z0-9_]+)(?:=| set by environment to )('[^']*'|\"[^\"]*\"|[^\s'\"]+)"
)
_COMMAND = re.compile(r"\b(?:\w+_perf|osu_\w+|IMB-\w+|ib_(?:write|read|send)_\w+)\b")


def observe(context: Context, line: Line) -> None:
    """Updates the context with what the line says; cheap for the many lines that say nothing."""
    text = line.text
    if text.startswith("#") and (found := _HEADING.match(text)) is not None:
        context.heading = found.group(1).rstrip(" #")[:_MAX_HEADING]
    if "CCL version" in text and (found := _VERSION.search(text)) is not None:
        context.library, context.library_version = found.group(1).lower(), found.group(2)
    if "_" in text:
        if "=" in text or "set by environment" in text:
            for name, value in _VARIABLE.findall(text):
                if len(context.environment) < _MAX_VARIABLES:
                    context.environment[name] = value.strip("'\"").rstrip(".,;`")
        if _COMMAND.search(text) is not None:
            context.command = text.strip()[:_MAX_COMMAND]
