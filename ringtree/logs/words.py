"""Other people's names of collectives, algorithms, protocols, libraries and element types.

For: ringtree's word for what a source calls something. Not for: judging whether they fit together (ringtree.audit).
"""

from __future__ import annotations

import re

# In the order in which they are looked for: the longer name before one that it contains.
_COLLECTIVES = (
    ("all_reduce", r"all[\s_-]?reduce"),
    ("reduce_scatter", r"reduce[\s_-]?scatter(?:[\s_-]?(?:block|base|tensor|v))?"),
    ("all_gather", r"all[\s_-]?gather(?:[\s_-]?(?:base|into[\s_-]tensor|v))?"),
    ("all_to_all", r"all[\s_-]?to[\s_-]?all(?:[\s_-]?(?:single|v|w))?"),
    ("broadcast", r"broadcast|bcast"),
    ("send_recv", r"send[\s_-]?recv|send/recv"),
    ("barrier", r"barrier"),
    ("gather", r"gather(?:[\s_-]?v)?"),
    ("scatter", r"scatter(?:[\s_-]?v)?"),
    ("reduce", r"reduce"),
)
_COLLECTIVE = re.compile(
    "(?<![a-z])i?(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in _COLLECTIVES) + ")(?![a-z])"
)

# NCCL's words and those that people use for them, in ringtree's spelling.
_ALGORITHMS = {
    "ring": "ring",
    "tree": "tree",
    "nvls": "nvls",
    "nvlstree": "nvlstree",
    "collnet": "collnet",
    "collnetdirect": "collnetdirect",
    "collnetchain": "collnetchain",
    "pat": "pat",
    "allpair": "allpair",
    "allpairs": "allpair",
}
_PROTOCOLS = {"simple": "simple", "ll": "ll", "ll128": "ll128"}
_LIBRARIES = {word: word for word in ("nccl", "rccl", "gloo", "mpi", "oneccl", "mscclpp", "msccl", "nvshmem", "ucc")}
_WITHOUT = frozenset(("off", "no", "without", "disabled", "not", "disable"))

_ELEMENT_BYTES = {
    1: "int8 uint8 char byte bool fp8 float8 fp8_e4m3 fp8_e5m2 f8e4m3 f8e5m2 float8_e4m3fn mpi_char mpi_byte",
    2: "half float16 fp16 bf16 bfloat16 int16 short uint16",
    4: "float float32 fp32 int int32 uint32 mpi_float mpi_int",
    8: "double float64 fp64 int64 uint64 long mpi_double",
}
_BYTES_OF = {word: size for size, words in _ELEMENT_BYTES.items() for word in words.split()}

_WORD = re.compile(r"[a-z]+\d*|\d+")


def collective_in(text: str) -> str | None:
    """Returns the collective that a text names, if it names exactly one."""
    found = {match.lastgroup for match in _COLLECTIVE.finditer(text.lower())}
    return found.pop() if len(found) == 1 else None


def words_of(text: str) -> list[str]:
    """Returns the text's words in small letters; letters and the digits after them are one word (ll128)."""
    return _WORD.findall(text.lower())


def algorithm_in(text: str) -> str | None:
    """Returns the algorithm that a text names, if it names exactly one and not as being switched off."""
    return _one(text, _ALGORITHMS)


def protocol_in(text: str) -> str | None:
    """Returns the protocol that a text names, if it names exactly one."""
    return _one(text, _PROTOCOLS)


def library_in(text: str) -> str | None:
    """Returns the library that a text names, if it names exactly one."""
    return _one(text, _LIBRARIES)


def element_bytes(dtype: str) -> int | None:
    """Returns the bytes of an element; None for a type that is not known."""
    return _BYTES_OF.get(dtype.strip().lower())


def _one(text: str, names: dict[str, str]) -> str | None:
    words = words_of(text)
    if not _WITHOUT.isdisjoint(words):
        return None
    found = {names[word] for word in words if word in names}
    return found.pop() if len(found) == 1 else None
