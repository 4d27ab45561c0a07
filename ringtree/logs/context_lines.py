"""What lines say that every reader may want: headings, echoed environment, the library's version.

For: filling Context from lines; such a line still goes to the readers. Not for: tables.
"""

from __future__ import annotations

import re

from ringtree.logs.lines import Line
from ringtree.logs.reading import Context

_MAX_VARIABLES, _MAX_HEADING, _MAX_COMMAND = 1000, 200, 1000

_HEADING = re.compile(r"#{1,6} +(\S.*)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)")
_VERSION = re.compile(r"\b(NCCL|RCCL) version[ :]+v?(\d+\.\d+(?:\.\d+)?)")
FAMILIES = "NCCL|RCCL|TORCH_NCCL|MSCCL|MSCCLPP|FI|UCX|OMPI_MCA|MPICH|CUDA|HIP"
_VARIABLE = re.compile(
    rf"(?<![\w.])((?:{FAMILIES})_[A-Z0-9_]+)(?:=| set by environment to )('[^']*'|\"[^\"]*\"|[^\s'\"`]+)"
)
_COMMAND = re.compile(r"\b(?:\w+_perf|osu_\w+|IMB-\w+|ib_(?:write|read|send)_\w+)\b")
_LAUNCHER = re.compile(r"\b(?:mpirun|mpiexec|orterun|srun|torchrun)(?=\s)")
# A variable that stands alone holds for all that follows; one beside a command only for that.
_ALONE = re.compile(r"\s*(?:[+$#]+\s+)?(?:export\s+|declare\s+-x\s+)?'?\w+=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)'?\s*")
_NO_COMMAND = "# Collective test"


def observe(context: Context, line: Line) -> None:
    """Updates the context with what the line says; cheap for the many lines that say nothing."""
    text = line.text
    if ("```" in text or "~~~" in text) and (fence := _FENCE.fullmatch(text)) is not None:
        if not context.fence:
            context.fence = fence.group(1)
        elif fence.group(1).startswith(context.fence) and not fence.group(2).strip():
            context.fence = ""
    if text.startswith("#") and not context.fence and (found := _HEADING.match(text)) is not None:
        context.heading = found.group(1).rstrip(" #")[:_MAX_HEADING]
    if "CCL version" in text and (found := _VERSION.search(text)) is not None:
        context.library, context.library_version = found.group(1).lower(), found.group(2)
    if "_" in text or "run " in text:
        _observe_words(context, text)
    elif context.continues:
        context.continues = text.endswith("\\")


def _observe_words(context: Context, text: str) -> None:
    # To look for these parts takes a tenth of the time that the pattern does.
    may_be = "_perf" in text or "osu_" in text or "IMB-" in text or "ib_" in text
    is_command = may_be and _COMMAND.search(text) is not None and not text.lstrip().startswith(_NO_COMMAND)
    if is_command:
        context.command = text.strip()[:_MAX_COMMAND]
    is_command = is_command or ("run " in text and _LAUNCHER.search(text) is not None)
    if is_command and not context.continues:
        forget_command(context)
    if "=" in text or "set by environment" in text:
        alone = _ALONE.fullmatch(text) is not None
        for name, value in _VARIABLE.findall(text):
            if len(context.environment) < _MAX_VARIABLES:
                context.environment[name] = value.strip("'\"").rstrip(".,;" if "(" in value else ".,;)]")
                (context.of_command.discard if alone else context.of_command.add)(name)
    context.continues = (is_command or context.continues) and text.endswith("\\")


def forget_command(context: Context) -> None:
    """Drops the variables that only held for the command before."""
    for name in context.of_command:
        context.environment.pop(name, None)
    context.of_command.clear()
