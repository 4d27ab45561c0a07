"""The arms that exist, by name.

For: turning the name of an arm into an Arm, saying what exists or what is missing. Not for: running anything.

Names: an algorithm of the engine or "auto", with options as in "ring/ll128" (engine_name.py); "gloo";
"send-recv:<algorithm>"; "textbook-shm:<algorithm>" and its like (textbook.py); any of them slowed on purpose, as in
"gloo+10%". What imports torch is imported only when such an arm is made, so that everything else works without it.
"""

from __future__ import annotations

import importlib.util

import ringtree
from ringtree.backends.arm import Arm
from ringtree.backends.engine import SEND_RECV as SEND_TO_NEXT
from ringtree.backends.engine import EngineArm
from ringtree.backends.engine_name import AUTO, parse_engine_name
from ringtree.backends.slowed import SlowedArm, split_slowed
from ringtree.backends.textbook import PREFIXES as TEXTBOOK
from ringtree.backends.textbook import TextbookArm, split_textbook
from ringtree.errors import UsageError

GLOO = "gloo"
SEND_RECV = "send-recv:"
_OPS = ("sum", "prod", "min", "max")
HOW_TO_GET_TORCH = "PyTorch is not installed: run `make torch` in a clone, or install torch as its install page says"


def arm_names(collective: str) -> list[str]:
    """Returns the names of all arms for `collective`, none of them slowed and the engine's without options."""
    algorithms = list(ringtree.algorithms.names(collective))
    names = [*algorithms, AUTO]
    if collective == "all_reduce":
        names += [GLOO, *(prefix + algorithm for prefix in (SEND_RECV, *TEXTBOOK) for algorithm in algorithms)]
    return names


def check_arm(name: str, collective: str) -> None:
    """Raises UsageError, with the list of what exists, if there is no such arm for `collective`."""
    plain = split_slowed(name)[0]
    if plain in arm_names(collective):
        return
    known = (*ringtree.algorithms.names(collective, several_hosts=True), AUTO)
    if collective != SEND_TO_NEXT and plain.partition("/")[0] in known:
        parse_engine_name(plain, collective)
        return
    engine = ", ".join((*ringtree.algorithms.names(collective), AUTO))
    others = ", ".join((GLOO, *(f"{prefix}<algorithm>" for prefix in (SEND_RECV, *TEXTBOOK))))
    others = f", {others}" if collective == "all_reduce" else ""
    raise UsageError(f"unknown arm {name!r} for {collective}; there are: {engine}{others}")


def arm_ops(name: str) -> tuple[str, ...]:
    """Returns the ops that an arm reduces with; torch.distributed's Gloo has neither avg nor premul_sum."""
    return _OPS if needs_torch(name) else (*_OPS, "avg", "premul_sum")


def needs_torch(name: str) -> bool:
    """True if the arm can't run without PyTorch."""
    plain = split_slowed(name)[0]
    return plain == GLOO or plain.startswith(SEND_RECV)


def has_out_of_place(name: str) -> bool:
    """False if the arm, bound out of place, copies and then runs in place."""
    return split_slowed(name)[0] != GLOO


def runs_emulated(name: str) -> bool:
    """True if the arm can run over emulated links, which are the engine's own."""
    return not needs_torch(name) and split_textbook(split_slowed(name)[0]) is None


def runs_on_hosts(name: str) -> bool:
    """True if the arm's ranks may be on several hosts."""
    plain = split_slowed(name)[0]
    if split_textbook(plain) is not None:
        return False
    engine = not needs_torch(name)
    return not (engine and {"ll", "ll128", "shared"} & set(plain.split("/")[1:]))


def why_unavailable(name: str) -> str | None:
    """Returns why an existing arm can't run here, and how to change that; None if it can."""
    if needs_torch(name) and importlib.util.find_spec("torch") is None:
        return HOW_TO_GET_TORCH
    return None


def make_arm(name: str) -> Arm:
    """Makes an arm whose name was checked."""
    plain, share = split_slowed(name)
    arm = _make_plain(plain)
    return SlowedArm(name, arm, share) if share else arm


def _make_plain(name: str) -> Arm:
    if name == GLOO:
        from ringtree.backends.gloo import GlooArm

        return GlooArm()
    if name.startswith(SEND_RECV):
        from ringtree.backends.send_recv import SendRecvArm

        return SendRecvArm(name.removeprefix(SEND_RECV))
    textbook = split_textbook(name)
    return EngineArm(name) if textbook is None else TextbookArm(*textbook)
