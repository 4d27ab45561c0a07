"""The ladder as data: which arm is which rung, and what can be taken away from the top alone.

For: names, titles and the reasons why something is not measured. Not for: measuring (session.py) or arithmetic
(ladder.py).

A rung is the arm below it with one thing changed. The *top* is the last: the engine's own choice, with shared buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ringtree.units import format_size

SIMPLE = "simple"
TOP = "auto/shared"
SLOT_BYTES = 64 << 10  # the most that travels at once (core/schedule/layout.h)

START, NATIVE, MEMORY, WAITING, FUSED, SLICES, CHANNELS, PROTOCOL, ALGORITHM, STREAMING, BUFFERS = (
    "start",
    "native",
    "memory",
    "waiting",
    "fused",
    "slices",
    "channels",
    "protocol",
    "algorithm",
    "streaming",
    "buffers",
)


@dataclass(frozen=True)
class Rung:
    """One rung, or the top with one thing taken away. `arm`: None if nothing is measured, and `why` says why. `aside`:
    the next rung does not stand on it."""

    key: str
    title: str
    arm: str | None
    why: str | None = None
    aside: bool = False


def rungs(algorithm: str, protocol: str, num_ranks: int, num_cores: int, has_torch: bool) -> list[Rung]:
    """Returns the ladder of one size, from the bottom.

    `algorithm`: with which it starts; `protocol`: the fastest of it at this size; `num_cores`: that ranks may use.
    """
    cores = f"{num_ranks} ranks, {num_cores} cores"
    no_torch = None if has_torch else "PyTorch is not installed"
    shared = None if num_cores >= num_ranks else f"not measurable: ranks share cores ({cores}), so who waits sleeps"
    turns = f"not measurable: no two cores a rank ({cores}), so channels would take turns"
    fastest = f"no change: {SIMPLE} is the fastest at this size (pilot)" if protocol == SIMPLE else None
    return [
        _unless(no_torch, START, f"{algorithm} in Python over TCP", f"send-recv:{algorithm}"),
        Rung(NATIVE, "Python → native code", f"textbook-tcp:{algorithm}"),
        Rung(MEMORY, "TCP → shared memory", f"textbook-shm:{algorithm}"),
        _unless(shared, WAITING, "asleep → spinning", f"textbook-spin:{algorithm}"),
        Rung(FUSED, "separate folds → fused", f"textbook-fused:{algorithm}"),
        Rung(SLICES, "whole chunks → slices in slots", f"{algorithm}/{SIMPLE}"),
        _unless(
            None if num_cores >= 2 * num_ranks else turns,
            *(CHANNELS, "one channel → two", f"{algorithm}/{SIMPLE}/2ch"),
            aside=True,
        ),
        _unless(fastest, PROTOCOL, f"{SIMPLE} → the fastest protocol", f"{algorithm}/{protocol}"),
        Rung(ALGORITHM, f"{algorithm} → auto's choice", "auto"),
        Rung(BUFFERS, "private buffers → shared ones", TOP),
    ]


def takings(algorithm: str, size_bytes: int, top: Mapping[str, Any] | None) -> list[Rung]:
    """Returns what is taken away from the top at one size, in the order of the rungs.

    `top`: what the top executed there (`last_call()`); None: not known, then all is taken away that can be at any size.
    """
    why_slices, why_protocol, why_algorithm, why_streaming = _why_not(algorithm, size_bytes, top)
    found = [
        Rung(NATIVE, "in Python", None, "an interpreter in Python has neither the engine's memory nor its slots"),
        Rung(MEMORY, "over TCP", None, "the engine has no links over TCP"),
        Rung(WAITING, "asleep", None, "how the engine waits follows from the number of cores"),
        Rung(FUSED, "separate folds", f"{TOP}/unfused"),
        _unless(why_slices, SLICES, "slices of a whole slot", f"{TOP}/{SLOT_BYTES >> 10}K"),
        Rung(CHANNELS, "fewer channels", None, "the top has one channel"),
        _unless(why_protocol, PROTOCOL, f"the protocol {SIMPLE}", f"{TOP}/{SIMPLE}"),
        _unless(why_algorithm, ALGORITHM, algorithm, f"{algorithm}/shared/as-auto"),
        _unless(why_streaming, STREAMING, "output through the caches", f"{TOP}/ordinary"),
        Rung(BUFFERS, "private buffers", "auto/for-shared"),
    ]
    return [taking for taking in found if taking.key != STREAMING or taking.arm is not None]


def arms_of(ladders: Iterable[Sequence[Rung]]) -> list[str]:
    """Returns the arms that all sizes together need, from the bottom, each once."""
    names = [rung.arm for of_size in ladders for rung in of_size]
    return list(dict.fromkeys(name for name in names if name is not None))


def _unless(why: str | None, key: str, title: str, arm: str, aside: bool = False) -> Rung:
    return Rung(key, title, arm if why is None else None, why, aside)


def _why_not(
    algorithm: str, size_bytes: int, top: Mapping[str, Any] | None
) -> tuple[str | None, str | None, str | None, str | None]:
    """Why slices, protocol, algorithm and streaming can't be taken away from what the top executed; None: they can."""
    if top is None:
        return None, None, None, None
    chunk = -(-size_bytes // int(top["num_chunks"]))
    slices = None
    if chunk <= int(top["slice_bytes"]):
        slices = f"a chunk ({format_size(chunk)}) is one slice"
    elif int(top["slice_bytes"]) >= SLOT_BYTES:
        slices = f"slices are whole slots already ({format_size(SLOT_BYTES)}, the most that a slot carries)"
    return (
        slices,
        f"auto runs {SIMPLE}" if top["protocol"] == SIMPLE else None,
        f"auto runs {algorithm}" if top["algorithm"] == algorithm else None,
        None if top["streaming"] else "auto writes through the caches",
    )
