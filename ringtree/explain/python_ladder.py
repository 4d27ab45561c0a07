"""The ladder from a ring in Python to the engine's best, called from Python.

For: its rungs, and what can be taken away from its top. Not for: the other ladders (native_ladder.py, nccl_ladder.py).

The *top* is the last rung: the engine's own choice, with shared buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringtree.explain.rungs import (
    ALGORITHM,
    BUFFERS,
    CHANNELS,
    NATIVE,
    PROTOCOL,
    START,
    STREAMING,
    WAITING,
    Rung,
    unless,
)
from ringtree.units import format_size

SIMPLE = "simple"
TOP = "auto/shared"
SLOT_BYTES = 64 << 10  # the most that travels at once (core/schedule/layout.h)
MEMORY, FUSED, SLICES = "memory", "fused", "slices"


def rungs(algorithm: str, protocol: str, num_ranks: int, num_cores: int) -> list[Rung]:
    """Returns the ladder of one size, from the bottom.

    `algorithm`: with which it starts; `protocol`: the fastest of it at this size; `num_cores`: that ranks may use.
    """
    cores = f"{num_ranks} ranks, {num_cores} cores"
    shared = None if num_cores >= num_ranks else f"not measurable: ranks share cores ({cores}), so who waits sleeps"
    turns = f"not measurable: no two cores a rank ({cores}), so channels would take turns"
    return [
        Rung(START, f"{algorithm} in Python over TCP", f"send-recv:{algorithm}"),
        Rung(NATIVE, "Python → native code", f"textbook-tcp:{algorithm}"),
        Rung(MEMORY, "TCP → shared memory", f"textbook-shm:{algorithm}"),
        unless(shared, WAITING, "asleep → spinning", f"textbook-spin:{algorithm}"),
        Rung(FUSED, "separate folds → fused", f"textbook-fused:{algorithm}"),
        Rung(SLICES, "whole chunks → slices in slots", f"{algorithm}/{SIMPLE}"),
        unless(
            None if num_cores >= 2 * num_ranks else turns,
            *(CHANNELS, "one channel → two", f"{algorithm}/{SIMPLE}/2ch"),
            aside=True,
        ),
        fastest(algorithm, protocol, ""),
        Rung(ALGORITHM, f"{algorithm} → auto's choice", "auto"),
        Rung(BUFFERS, "private buffers → shared ones", TOP),
    ]


def fastest(algorithm: str, protocol: str, head: str) -> Rung:
    """Returns the rung with the protocol that the pilot chose; `head`: of an engine's arm."""
    same = f"no change: {SIMPLE} is the fastest at this size (pilot)" if protocol == SIMPLE else None
    return unless(same, PROTOCOL, f"{SIMPLE} → the fastest protocol", f"{head}{algorithm}/{protocol}")


def takings(algorithm: str, size_bytes: int, top: Mapping[str, Any] | None) -> list[Rung]:
    """Returns what is taken away from the top at one size, in the order of the rungs.

    `top`: what the top executed there (`last_call()`); None: not known, then all is taken away that can be at any size.
    """
    why_algorithm = None if top is None or top["algorithm"] != algorithm else f"auto runs {algorithm}"
    return [
        Rung(NATIVE, "in Python", None, "an interpreter in Python has neither the engine's memory nor its slots"),
        Rung(MEMORY, "over TCP", None, "the engine has no links over TCP"),
        Rung(WAITING, "asleep", None, "how the engine waits follows from the number of cores"),
        Rung(FUSED, "separate folds", f"{TOP}/unfused"),
        unless(_why_not_slices(size_bytes, top), SLICES, "slices of a whole slot", f"{TOP}/{SLOT_BYTES >> 10}K"),
        Rung(CHANNELS, "fewer channels", None, "the top has one channel"),
        without_protocol(TOP, top),
        unless(why_algorithm, ALGORITHM, algorithm, f"{algorithm}/shared/as-auto"),
        *without_streaming(TOP, top),
        Rung(BUFFERS, "private buffers", "auto/for-shared"),
    ]


def without_protocol(arm: str, top: Mapping[str, Any] | None) -> Rung:
    """Returns the top with the plain protocol, unless that is what it runs."""
    same = None if top is None or top["protocol"] != SIMPLE else f"auto runs {SIMPLE}"
    return unless(same, PROTOCOL, f"the protocol {SIMPLE}", f"{arm}/{SIMPLE}")


def without_streaming(arm: str, top: Mapping[str, Any] | None) -> list[Rung]:
    """Returns the top with its output through the caches, if it writes around them. No rung has this key."""
    streams = top is None or bool(top["streaming"])
    return [Rung(STREAMING, "output through the caches", f"{arm}/ordinary")] if streams else []


def _why_not_slices(size_bytes: int, top: Mapping[str, Any] | None) -> str | None:
    """Why slices can't be taken away from what the top executed; None: they can."""
    if top is None:
        return None
    chunk, slice_bytes = -(-size_bytes // int(top["num_chunks"])), int(top["slice_bytes"])
    if chunk <= slice_bytes:
        return f"a chunk ({format_size(chunk)}) is one slice"
    if slice_bytes >= SLOT_BYTES:
        return f"slices are whole slots already ({format_size(SLOT_BYTES)}, the most that a slot carries)"
    return None
