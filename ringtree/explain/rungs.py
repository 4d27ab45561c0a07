"""The ladder as data: which arm is which rung, and what can be taken away from the top alone.

For: names, titles and the reasons why something is not measured. Not for: measuring (session.py) or arithmetic
(ladder.py).

A rung is the arm below it with one thing changed. The *top* is the last: the engine's own choice, with shared buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ringtree.lab.units import format_size

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
    """One rung. `arm`: None if nothing is measured, and `why` says why. `aside`: the next rung does not stand on it."""

    key: str
    title: str
    arm: str | None
    why: str | None = None
    aside: bool = False


@dataclass(frozen=True)
class Taking:
    """The top with one thing taken away; `arm` and `why` as of a rung."""

    key: str
    title: str
    arm: str | None
    why: str | None = None


def rungs(algorithm: str, protocol: str, num_ranks: int, num_cores: int, has_torch: bool) -> list[Rung]:
    """Returns the ladder of one size, from the bottom.

    `algorithm`: with which it starts; `protocol`: the fastest of it at this size; `num_cores`: that ranks may use.
    """
    start = f"send-recv:{algorithm}" if has_torch else None
    own_cores, two_channels = num_cores >= num_ranks, num_cores >= 2 * num_ranks
    cores = f"{num_ranks} ranks, {num_cores} cores"
    return [
        Rung(START, f"{algorithm} in Python over TCP", start, None if has_torch else "PyTorch is not installed"),
        Rung(NATIVE, "Python → native code", f"textbook-tcp:{algorithm}"),
        Rung(MEMORY, "TCP → shared memory", f"textbook-shm:{algorithm}"),
        Rung(
            WAITING,
            "asleep → spinning",
            f"textbook-spin:{algorithm}" if own_cores else None,
            None if own_cores else f"not measurable: ranks share cores ({cores}), so who waits sleeps",
        ),
        Rung(FUSED, "separate folds → fused", f"textbook-fused:{algorithm}"),
        Rung(SLICES, "whole chunks → slices in slots", f"{algorithm}/{SIMPLE}"),
        Rung(
            CHANNELS,
            "one channel → two",
            f"{algorithm}/{SIMPLE}/2ch" if two_channels else None,
            None if two_channels else f"not measurable: no two cores a rank ({cores}), so channels would take turns",
            aside=True,
        ),
        Rung(
            PROTOCOL,
            f"{SIMPLE} → the fastest protocol",
            f"{algorithm}/{protocol}" if protocol != SIMPLE else None,
            None if protocol != SIMPLE else f"no change: {SIMPLE} is the fastest at this size (pilot)",
        ),
        Rung(ALGORITHM, f"{algorithm} → auto's choice", "auto"),
        Rung(BUFFERS, "private buffers → shared ones", TOP),
    ]


def takings(algorithm: str, size_bytes: int, top: Mapping[str, Any] | None) -> list[Taking]:
    """Returns what is taken away from the top at one size, in the order of the rungs.

    `top`: what the top executed there (`last_call()`); None: not known, then all is taken away that can be at any size.
    """
    why_slices, why_protocol, why_algorithm, why_streaming = _why_not(algorithm, size_bytes, top)
    found = [
        Taking(NATIVE, "in Python", None, "an interpreter in Python has neither the engine's memory nor its slots"),
        Taking(MEMORY, "over TCP", None, "the engine has no links over TCP"),
        Taking(WAITING, "asleep", None, "how the engine waits follows from the number of cores"),
        Taking(FUSED, "separate folds", f"{TOP}/unfused"),
        _taking(SLICES, "slices of a whole slot", f"{TOP}/{SLOT_BYTES >> 10}K", why_slices),
        Taking(CHANNELS, "fewer channels", None, "the top has one channel"),
        _taking(PROTOCOL, f"the protocol {SIMPLE}", f"{TOP}/{SIMPLE}", why_protocol),
        _taking(ALGORITHM, algorithm, f"{algorithm}/shared/as-auto", why_algorithm),
        _taking(STREAMING, "output through the caches", f"{TOP}/ordinary", why_streaming),
        Taking(BUFFERS, "private buffers", "auto/for-shared"),
    ]
    return [taking for taking in found if taking.key != STREAMING or taking.arm is not None]


def arms_of(ladders: Sequence[Sequence[Rung]], taken: Sequence[Sequence[Taking]]) -> list[str]:
    """Returns the arms that all sizes together need, from the bottom, each once."""
    names = [rung.arm for of_size in ladders for rung in of_size]
    names += [taking.arm for of_size in taken for taking in of_size]
    return list(dict.fromkeys(name for name in names if name is not None))


def _taking(key: str, title: str, arm: str, why: str | None) -> Taking:
    return Taking(key, title, arm if why is None else None, why)


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
