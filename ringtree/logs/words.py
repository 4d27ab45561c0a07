"""Other people's names of collectives, algorithms, protocols, libraries and element types.

For: ringtree's word for what a source calls something. Not for: judging whether they fit together (ringtree.audit).
"""

from __future__ import annotations

import re
from functools import lru_cache

from ringtree.nccl.names import ALGORITHMS, PROTOCOLS

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
_ALGORITHMS = {name.lower(): name.lower() for name in (*ALGORITHMS, "CollNet", "allpair")} | {"allpairs": "allpair"}
_PROTOCOLS = {name.lower(): name.lower() for name in PROTOCOLS}
_LIBRARIES = {word: word for word in ("nccl", "rccl", "gloo", "mpi", "oneccl", "mscclpp", "msccl", "nvshmem", "ucc")}
_WITHOUT = frozenset(("off", "no", "without", "disabled", "not", "disable"))

_ELEMENT_BYTES = {
    1: "int8 uint8 char byte bool fp8 float8 fp8_e4m3 fp8_e5m2 f8e4m3 f8e5m2 float8_e4m3 float8_e4m3fn float8_e5m2 "
    "mpi_char mpi_byte",
    2: "half float16 fp16 bf16 bfloat16 int16 short uint16",
    4: "float float32 fp32 fp int int32 int32_t uint32 mpi_float mpi_int",
    8: "double float64 fp64 int64 uint64 long mpi_double",
}
_BYTES_OF = {word: size for size, words in _ELEMENT_BYTES.items() for word in words.split()}

_WORD = re.compile(r"[a-z]+\d*|\d+")
_FSDP = ("FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "NO_SHARD")


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


def training_in(text: str) -> str:
    """Returns how a training is divided over its ranks, in the words of ringtree.audit.training; empty if not said."""
    upper = text.upper().replace("-", "_")
    kind = next((f"FSDP {name}" for name in _FSDP if name in upper.replace(" ", "_")), "")
    words = words_of(text)
    if kind or "fsdp" in words:
        return kind or "FSDP"
    for stage in ("2", "3"):
        if re.search(rf"ZERO[ _]?(?:STAGE[ _]?)?{stage}\b", upper):
            return f"ZeRO-{stage}"
    return "DDP" if "ddp" in words else ""


@lru_cache(maxsize=256)
def element_bytes(dtype: str | None) -> int | None:
    """Returns the bytes of an element; None for a type that is not known."""
    return None if dtype is None else _BYTES_OF.get(dtype.strip().lower().removeprefix("torch."))


def _one(text: str, names: dict[str, str]) -> str | None:
    words = words_of(text)
    if not _WITHOUT.isdisjoint(words):
        return None
    found = {names[word] for word in words if word in names}
    return found.pop() if len(found) == 1 else None
