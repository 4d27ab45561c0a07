"""Form: an algorithm forced on a training or a collective changes it. "NCCL_ALGO=Tree changes the all-reduce of FSDP".

What can be changed is a collective that is used and for which NCCL has a kernel of that algorithm.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.training import Training, has_kernel, training_of
from ringtree.hardware import library_support

_SAYS = Says("forced algorithm")
_FORCE = re.compile(r"\bNCCL_ALGO\b|\bforc(?:e|es|ed|ing)\b", re.IGNORECASE)
_NAME = re.compile(r"\b(NVLSTree|NVLS_TREE|NVLS|CollNetDirect|CollNetChain|PAT|Tree|Ring)\b", re.IGNORECASE)
_EFFECT = re.compile(
    r"\b(?:chang\w+|affect\w*|effect\w*|influenc\w+|speed\w*|accelerat\w+|improv\w+|switch\w*|control\w*|select\w*|decid\w+|help\w*|applies|apply|"
    r"works?|matters?|slows?|runs?|uses?)\b",
    re.IGNORECASE,
)
_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
_NO_EFFECT = re.compile(r"\bno (?:effect|influence|impact)\b|\bnothing\b|\bignored\b|\bwithout effect\b", re.IGNORECASE)
_VERSION = re.compile(r"\bNCCL\s+v?(2\.\d+(?:\.\d+)?)")


def judge(claim: Claim) -> list[Part]:
    """One part for the sentence, if it forces an algorithm on something whose collectives are known."""
    names = list(dict.fromkeys(match[1] for match in _NAME.finditer(claim.text)))
    if not _FORCE.search(claim.text) or not names or not (_EFFECT.search(claim.text) or _NO_EFFECT.search(claim.text)):
        return []
    way = training_of(claim.text)
    named = list(dict.fromkeys(mention.name for mention in words.collectives(claim.text)))
    used = way.collectives if way is not None else tuple(named)
    if not used:
        return []
    return [_check(claim, names, way, tuple(named), used)]


def _check(claim: Claim, names: list[str], way: Training | None, named: tuple[str, ...], used: tuple[str, ...]) -> Part:
    meant = tuple(one for one in named if one in used) or (() if named else used)
    changed = {name: [one for one in meant if has_kernel(one, name)] for name in names}
    denied = bool(_NO_EFFECT.search(claim.text)) or words.denies(claim.text)
    who = way.name if way is not None else "this"
    arithmetic = f"{who}: {', '.join(used)}; NCCL's kernels: " + ", ".join(
        f"{name} for {', '.join(one for one in _COLLECTIVES if has_kernel(one, name)) or 'none of these'}"
        for name in names
    )
    missing = [one for one in named if one not in used]
    if missing and way is not None:
        reason = f"{who} uses {' and '.join(used)}, and no {missing[0]} that could be changed"
        lacking = [name for name in names if not any(has_kernel(one, name) for one in used)]
        reason += f"; of these NCCL has no {lacking[0]}: {_releases(claim, used[0], lacking[0])}" if lacking else ""
        return _SAYS.holds(reason, arithmetic) if denied else _SAYS.falls(reason, arithmetic)
    without = [name for name, collectives in changed.items() if not collectives]
    if (without and len(without) == len(names)) or (without and not denied):
        reason = (
            f"NCCL has no {without[0]} for {' and '.join(meant)}{f', which {who} uses' if way else ''}: "
            f"{_releases(claim, meant[0], without[0])}"
        )
        return _SAYS.holds(reason, arithmetic) if denied else _SAYS.falls(reason, arithmetic)
    reason = (
        f"NCCL has {' and '.join(names)} for "
        f"{' and '.join(sorted({one for kinds in changed.values() for one in kinds}))}"
    )
    return (
        _SAYS.falls(reason, arithmetic)
        if denied
        else _SAYS.holds(
            f"{reason}, so it can change which one runs (whether it is faster is another question)", arithmetic
        )
    )


def _releases(claim: Claim, collective: str, algorithm: str) -> str:
    """What happens instead, in the release that is named or in all that were read."""
    version = _VERSION.search(f"{claim.text} {claim.around.description}")
    support = library_support(collective, algorithm, nccl_version=version[1] if version else None)
    if support.outcome != "unknown" or version is None:
        return support.explanation.rpartition(": ")[2] if version else _by_release(collective, algorithm)
    return _by_release(collective, algorithm)


def _by_release(collective: str, algorithm: str) -> str:
    old, new = (library_support(collective, algorithm, nccl_version=one).outcome for one in ("2.21.5", "2.27.7"))
    said = {"falls_back": "Ring runs silently instead", "error": "the call fails", "ignored": "the setting is ignored"}
    return f"up to 2.23 {said.get(old, 'it depends')}, from 2.24 on {said.get(new, 'it depends')}"
