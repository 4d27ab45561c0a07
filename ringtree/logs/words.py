"""Other people's names of collectives, algorithms, protocols, libraries and element types.

For: ringtree's word for what a table, a command, the name of a file or PyTorch calls something. Not for: NCCL's own
words (ringtree.nccl.names), judging whether they fit together (ringtree.audit).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from ringtree.nccl.names import ALGORITHMS, PROTOCOLS
from ringtree.nccl.nccl_tests import PROGRAMS

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
_PROGRAM = re.compile(r"(?<![A-Za-z0-9])([a-z_]+?)_perf(?:_\w+)?\b")
# What people call collectives in the names of files and in headings; longer ones first.
_TITLES = (
    ("all_to_all_v", r"all[-_ ]?to[-_ ]?all[-_ ]?v"),
    ("all_to_all", r"all[-_ ]?(?:to|2)[-_ ]?all"),
    ("all_reduce", r"all[-_ ]?reduce"),
    ("all_gather", r"all[-_ ]?gather"),
    ("reduce_scatter", r"reduce[-_ ]?scatter"),
    ("send_recv", r"send[-_ ]?recv"),
    ("broadcast", r"broadcast|bcast"),
    ("hypercube", r"hypercube"),
    ("reduce", r"reduce"),
    ("gather", r"gather"),
    ("scatter", r"scatter"),
)
_TITLE = re.compile("|".join(f"({pattern})" for _, pattern in _TITLES), re.IGNORECASE)
_TORCH_SPELLED = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
}
_OF_TORCH = re.compile(
    r"(?:allreduce(?=barrier))?"
    r"(allreduce|allgather|reducescatter|alltoall|broadcast|reduce|gather|scatter|send|recv|barrier)"
    r"(?:base|single|into|tensor|coalesced|sparse|oop|v|anysource)*"
)
_BACKEND = re.compile(r"(\w{1,30}):")


def collective_in(text: str) -> str | None:
    """Returns the collective that a text names, if it names exactly one."""
    found = {match.lastgroup for match in _COLLECTIVE.finditer(text.lower())}
    return found.pop() if len(found) == 1 else None


def collective_of_program(text: str) -> str | None:
    """Returns the collective of the last nccl-tests program that `text` names ("all_reduce_perf_mpi", a command)."""
    known = [name for name in _PROGRAM.findall(text) if name in PROGRAMS]
    return PROGRAMS[known[-1]] if known else None


@lru_cache(maxsize=64)  # each table of a file asks for the same
def collective_of_title(text: str) -> str | None:
    """Returns the collective that a heading or the name of a file speaks of; None if none or several."""
    found = {_TITLES[match.lastindex - 1][0] for match in _TITLE.finditer(text) if match.lastindex}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=64)
def collective_of_file(name: str) -> str | None:
    """Returns the collective that the last part of a path speaks of."""
    return collective_of_title(PurePath(name).name) if name not in ("", "-") else None


def torch_collective(word: str) -> str | None:
    """Returns ringtree's word of "_allgather_base", "nccl:all_reduce" or "nccl:send 0->1"; None if it is none."""
    words = _BACKEND.sub("", word, count=1).split() or [""]
    found = _OF_TORCH.fullmatch(words[0].replace("_", "").lower())
    return None if found is None else _TORCH_SPELLED.get(found.group(1), found.group(1))


def torch_backend(word: str) -> str | None:
    """Returns "nccl" of "nccl:all_reduce"."""
    found = _BACKEND.match(word)
    return None if found is None else found.group(1)


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
