"""What a forced algorithm of NCCL makes of a training: it changes it, changes nothing, or ends it in an error.

For: arms as nccl:Tree, by what the training sends and what a release of NCCL has kernels for. Not for: single
collectives (arms/nccl_name.py), or whether there are GPUs (arms.py).

NCCL_ALGO holds for all that a training sends, and so for what it sends besides its steps, as DDP does when it is made.
What has no kernel of the algorithm ran as another one up to 2.23; since then it ends in an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringtree.arms.nccl_name import ALGO, HEAD, PROTO
from ringtree.nccl import Support, library_support, read
from ringtree.nccl.names import COLLECTIVES, TUNED
from ringtree.nccl.support import first_release_with_any_error

_FUNCTIONS = {COLLECTIVES[word]: word.lower() for word in TUNED}  # the collectives that NCCL_ALGO knows


def why_not(
    environment: Mapping[str, str], steps: Sequence[str], besides: Sequence[str], nccl_version: str | None
) -> str | None:
    """Why an arm with these variables is not worth a launch, in one line; None: nothing speaks against it.

    `steps`: the collectives of the training's steps; none: not known, as of a script. `besides`: what else it sends.
    `nccl_version`: None: not known, so the reason holds for some releases and says for which.
    """
    setting = environment.get(ALGO)
    asked = [one for one in dict.fromkeys((*steps, *besides)) if one in _FUNCTIONS]
    if not setting or not steps:
        return None
    refusal = next(filter(None, (read(ALGO, setting, one, nccl_version).refusal for one in asked)), None)
    if refusal is not None:
        return None if nccl_version is None else f"NCCL {nccl_version} refuses {ALGO}={setting}: {refusal}"
    found = {one: _support(one, environment, nccl_version) for one in asked}
    lacking = {one: support for one, support in found.items() if support is not None}
    if not lacking:
        return None
    name = "/".join(filter(None, (setting, environment.get(PROTO))))
    fails = [one for one, support in lacking.items() if support.outcome in ("error", "unknown")]
    running = [one for one in found if one in steps and one not in lacking]
    if running:
        return _ends(name, lacking, fails, nccl_version) + _instead(setting, running) if fails else None
    sent = f"this training sends {' and '.join(steps)}, which NCCL's {name} does not do"
    if fails and nccl_version is not None:
        return f"NCCL {nccl_version} would end in an error: {sent}"
    since = _since(lacking) if nccl_version is None else None
    return f"it would change nothing: {sent}" + ("" if since is None else f"; on {since} and later it ends in an error")


def _support(collective: str, environment: Mapping[str, str], nccl_version: str | None) -> Support | None:
    """Returns what becomes of a collective that has no kernel of what the variables leave; None: it has, or nothing is
    known of the release."""
    left = read(ALGO, environment[ALGO], collective, nccl_version).left
    protocols = read(PROTO, environment.get(PROTO, ""), collective, nccl_version).left if PROTO in environment else ()
    found = [library_support(collective, name, proto, nccl_version) for name in left for proto in protocols or (None,)]
    passes = ("runs",) if nccl_version is None else ("runs", "unknown")
    return None if not found or any(each.outcome in passes for each in found) else found[0]


def _ends(name: str, lacking: Mapping[str, Support], fails: Sequence[str], nccl_version: str | None) -> str:
    if nccl_version is not None:
        sent = f"this training also sends {' and '.join(fails)}, which NCCL's {name} does not do"
        return f"NCCL {nccl_version} would end in an error: {sent}"
    sent, since = f"this training also sends {' and '.join(lacking)}, which NCCL's {name} does not do", _since(lacking)
    if since is None:
        return f"{sent}: some releases end in an error there"
    return f"{sent}: before {since} NCCL runs another algorithm there, on {since} and later it ends in an error"


def _since(lacking: Mapping[str, Support]) -> str | None:
    """Returns the release from which on a training that sends these ends in an error, None: none is known."""
    return first_release_with_any_error((one, each.algorithm, each.protocol) for one, each in lacking.items())


def _instead(setting: str, running: Sequence[str]) -> str:
    """Says how the algorithm is forced for what has it, and for nothing else."""
    if not setting.isalnum():
        return ""  # a list, whose author knows how one is written
    lists = ";".join(f"{_FUNCTIONS[one]}:{setting.lower()}" for one in running)
    return f"; from 2.24 on {HEAD}@{ALGO}={lists} forces it for {' and '.join(running)} alone"
