"""What the name of an engine's arm asks for: `auto`, `ring`, `ring/ll128`, `two_shot/simple/32K/streaming`, `ring/2ch`,
`ring:3+double_tree`.

For: the algorithm and what stands behind its slashes. Not for: running it (engine.py). The words are those of a
profile's configurations (ringtree.profile_format), and these:

    shared      buffers that peers read in place, and a communicator whose auto chooses for such
    for-shared  such a communicator, with private buffers
    ordinary    the output is written through the caches, whatever auto would do
    as-auto     what is not said is as auto would have it for its own algorithm at that size
    unfused     receiving, folding and sending are steps of their own (unfused.py)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ringtree.comm.communicator import protocols
from ringtree.errors import UsageError
from ringtree.schedules import algorithms

AUTO = "auto"
SHARED, FOR_SHARED, STREAMING, ORDINARY, AS_AUTO, UNFUSED = WORDS = (
    "shared",
    "for-shared",
    "streaming",
    "ordinary",
    "as-auto",
    "unfused",
)
_SLICE = re.compile(r"([1-9][0-9]{0,7})([KB])")
_CHANNELS = re.compile(r"([1-9][0-9]?)ch")


@dataclass(frozen=True)
class EngineName:
    """One configuration of the engine; None, 0 and False: not said."""

    algorithm: str
    protocol: str | None = None
    slice_bytes: int = 0
    channels: int = 1
    words: frozenset[str] = field(default_factory=frozenset)

    @property
    def streaming(self) -> bool | None:
        """Whether the output is written around the caches; None: not said."""
        return True if STREAMING in self.words else False if ORDINARY in self.words else None


def parse_engine_name(text: str, collective: str | None) -> EngineName:
    """Returns what `text` asks for. Raises UsageError if there is no such algorithm for `collective` (None: of any
    name) or no such option."""
    algorithm, *options = text.split("/")
    if collective is not None and algorithm != AUTO and not algorithms.is_known(algorithm, collective):
        raise UsageError(f"no algorithm {algorithm!r} for {collective}")
    name = EngineName(algorithm)
    for option in options:
        name = _with(name, option, text)
    for one, other in ((STREAMING, ORDINARY), (SHARED, FOR_SHARED)):
        if {one, other} <= name.words:
            raise UsageError(f"{text!r} asks for both {one} and {other}: use one of them")
    return name


def _with(name: EngineName, option: str, text: str) -> EngineName:
    slices, channels = _SLICE.fullmatch(option), _CHANNELS.fullmatch(option)
    if option in protocols():
        return replace(name, protocol=option)
    if slices is not None:
        return replace(name, slice_bytes=int(slices[1]) * (1024 if slices[2] == "K" else 1))
    if channels is not None:
        return replace(name, channels=int(channels[1]))
    if option in WORDS:
        return replace(name, words=name.words | {option})
    known = ", ".join((*protocols(), "32K", "2ch", *WORDS))
    raise UsageError(f"{text!r} has an unknown option {option!r}; there are for example: {known}")
