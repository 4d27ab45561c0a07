"""What a kind of arm is: how its arms are named, what they can run, what they need, where they run, how one is made.

For: the one record that is asked about an arm. Not for: which kinds there are (registry.py), or what the arms of one do
(engine.py, gloo.py, send_recv.py, textbook.py: a file a kind).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ringtree._core import dtypes
from ringtree.arms.arm import Arm
from ringtree.arms.program import Native
from ringtree.results import Boundary
from ringtree.schedules import algorithms as builtin

ALGORITHM = "<algorithm>"  # stands in `written` for each of the collective's algorithms
DTYPES = tuple(name for name, _ in dtypes())
OPS = ("sum", "prod", "min", "max", "avg", "premul_sum", "band", "bor", "bxor", "land", "lor", "lxor")
HOW_TO_GET_TORCH = "PyTorch is not installed: run `make torch` in a clone, or install torch as its install page says"


@dataclass(frozen=True)
class Wish:
    """An arm as it is to run: what a kind can judge before anything starts. `environment`: the arm's own variables;
    `on_gpu`: whether it runs beside arms on GPUs, and so on one itself."""

    name: str
    environment: Mapping[str, str]
    collective: str
    num_ranks: int
    several_hosts: bool
    on_gpu: bool = False


@dataclass(frozen=True)
class ArmKind:
    """One kind of arm. Functions of a name get one whose head is among `heads`, slowed or not.

    The name up to its first ":", "/" or "+" is its head, and belongs to one kind. `accepts(name, collective)` is true
    if there is such an arm for one of `collectives`; where it can say better than by a list what is wrong, it raises
    UsageError.
    """

    name: str  # as stored with a run
    heads: frozenset[str]
    written: tuple[str, ...]  # how its arms are written, as help and errors list them
    accepts: Callable[[str, str], bool]
    make: Callable[[str], Arm]
    collectives: tuple[str, ...]
    boundaries: tuple[Boundary, ...]  # by which its arms can be called
    dtypes: tuple[str, ...] = DTYPES
    ops: tuple[str, ...] = OPS
    lacks: Callable[[], str | None] = lambda: None  # why no arm of it can run here and how to change that, in one line
    refuses: Callable[[Wish], str | None] = lambda wish: None  # why this one can't, where `lacks` has no reason
    environment: Callable[[str], dict[str, str]] = lambda name: {}  # variables that an arm's name means
    # Of the variables that an arm would be given those that do nothing here, with the reason, as far as it is known.
    without_effect: Callable[[Mapping[str, str]], dict[str, str]] = lambda environment: {}
    process: Literal["rank", "own"] = "rank"  # own: native processes only, which the lab's rank processes can't be
    # How a native process hosts an arm, None where it can't; without a collective only whether it can.
    native: Callable[[str, str | None], Native | None] = lambda name, collective: None
    device: Literal["cpu", "cuda"] = "cpu"
    several_hosts: Callable[[str], bool] = lambda name: True
    threads: bool = False  # several ranks may be threads of one process
    emulated: bool = False  # runs over emulated links
    shared_buffers: bool = False  # reads peers' shared buffers in place
    registered_buffers: bool = False  # has arms with buffers that its library was told of: +registered, +symmetric
    in_place_only: tuple[str, ...] = ()  # collectives that, bound out of place, it copies for and then runs in place
    start_seconds: float = 0.0  # of a rank, until an arm can be called, beyond what the boundary takes
    library: bool = False  # what people use; others are compared with it unless another reference is named
    rivals: bool = False  # its arms are choices of one library, so it counts where they change places
    whose: str = ""  # whose its arms are, where their names don't tell


def names_algorithm(name: str, collective: str) -> bool:
    """Returns whether what follows the colon is an algorithm for `collective`."""
    return name.partition(":")[2] in builtin.names(collective)


def lacks_torch() -> str | None:
    """As `ArmKind.lacks`, of what is called through PyTorch."""
    return None if importlib.util.find_spec("torch") is not None else HOW_TO_GET_TORCH
