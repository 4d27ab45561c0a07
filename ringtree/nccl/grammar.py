"""What NCCL_ALGO and NCCL_PROTO leave to a collective, as each release reads them.

For: whoever meets one of the two in a log or is about to set it. Not for: what NCCL does where nothing is left
(support.py), other variables.

Words count in any case, spaces are part of them (`ring, tree` has the word ` tree`, which is none), and "^" in front of
a list takes its words away. What else holds:

up to 2.23   One list, for every collective. Words that the release does not know are passed over, so `tree;ring` and
             `allreduce:tree` are one unknown word each, and leave nothing.
from 2.24    Lists with ";" between them, each for the collective in front of its ":"; only the first may stand for all,
             and a later one replaces what came before. `tree;ring`, an unknown word and an unknown collective are
             refused: no communicator can be made (ncclInvalidUsage). What follows a second ":" is not looked at.
from 2.31    The same. But NCCL_ALGO=allreduce:tree together with an NCCL_PROTO for all collectives leaves the others
             nothing (branch dev of 2026-06, src/tuning/cost_model.cc; vllm-project/vllm pull request 58179): write
             `ring,tree;allreduce:tree`.

Source: NVIDIA/nccl, parseList in src/graph/tuning.cc: one text in v2.5.6-1 to v2.23.4-1, one meaning in v2.24.3-1 to
v2.30.7-1; names in src/init.cc. The parsers of v2.23.4-1 and v2.30.7-1, compiled, agreed with this one on 160,000
random settings (2026-11-23).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ringtree.nccl.names import COLLECTIVES, PROTOCOLS, TUNED, algorithms_of
from ringtree.nccl.releases import release

Variable = Literal["NCCL_ALGO", "NCCL_PROTO"]

_LISTS_BY_COLLECTIVE = (2, 24)  # the first release that has them; a version that is not known is read like it
_FUNCTIONS = {word.lower(): COLLECTIVES[word] for word in TUNED}


class Reading(NamedTuple):
    """What a setting means to a release."""

    left: tuple[str, ...]  # what the collective may use, in the variable's spelling; empty if NCCL refuses the setting
    passed_over: tuple[str, ...] = ()  # words that the release does not know and says nothing about
    refusal: str | None = None  # why no communicator can be made; None: it can


def read(variable: Variable, setting: str, collective: str | None, version: str | None = None) -> Reading:
    """Reads the variable's value. `version`: "2.21.5"; None, or no version of NCCL: not known, read as from 2.24 on,
    where a plain list of known words means what it meant before. `collective`: None: not known, so lists by collective
    take nothing away.
    """
    at = release(version) or _LISTS_BY_COLLECTIVE
    known = PROTOCOLS if variable == "NCCL_PROTO" else algorithms_of(at)
    by_collective = at >= _LISTS_BY_COLLECTIVE
    reading = _lists(setting, collective, known) if by_collective else Reading(*_list(setting, known))
    return reading if collective in (None, *_FUNCTIONS.values()) else reading._replace(left=())


def _lists(setting: str, collective: str | None, known: tuple[str, ...]) -> Reading:
    left, depends = known, False
    for number, item in enumerate(setting.split(";")):
        if not item:
            continue
        function, *lists = [part for part in item.split(":") if part] or [""]
        if not lists and number > 0:
            return Reading((), refusal=f"{item!r} names no collective, and only the first list may do without")
        if lists and function.lower() not in _FUNCTIONS:
            return Reading((), refusal=f"{function!r} is not one of {', '.join(_FUNCTIONS)}")
        chosen, unknown = _list(lists[0] if lists else function, known)
        if unknown:
            return Reading((), refusal=f"{unknown[0]!r} is not one of {', '.join(known)}")
        depends = depends or (bool(lists) and collective is None)
        if not lists or _FUNCTIONS[function.lower()] == collective:
            left = chosen
    return Reading(known if depends else left)


def _list(text: str, known: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(What a list leaves, words that are unknown.)"""
    words = {word.lower(): word for word in text.removeprefix("^").split(",") if word}
    chosen = tuple(name for name in known if (name.lower() in words) != text.startswith("^"))
    return chosen, tuple(word for low, word in words.items() if low not in {name.lower() for name in known})
