"""What a setting does to a workload: "NCCL_ALGO=Tree changes the all-reduce of FSDP training".

What can be changed is a collective that is used and for which NCCL has a kernel of that algorithm.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.statement import Answer, Collective, Statement, UndecidedError
from ringtree.audit.training import collectives_of, has_kernel
from ringtree.nccl import library_support

_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
_INSTEAD = {"falls_back": "Ring runs silently instead", "error": "the call fails", "ignored": "the setting is ignored"}


class Effect(Statement):
    """An algorithm that NCCL is forced to changes a training, or some collectives."""

    kind: Literal["effect"]
    algorithms: list[str] = Field(min_length=1, description="what NCCL_ALGO is set to")
    on: list[Collective] = Field(default_factory=list, description="collectives; empty: those of the training")

    def judge(self, about: About) -> Answer:
        training = about.setup.training
        used = collectives_of(training) if training is not None else tuple(self.on)
        if not used:
            raise UndecidedError("neither collectives nor a training are named", "one of them")
        who = training or "this"
        kernels = ", ".join(
            f"{name} for {', '.join(one for one in _COLLECTIVES if has_kernel(one, name)) or 'none of these'}"
            for name in self.algorithms
        )
        shown = f"{who}: {', '.join(used)}; NCCL's kernels: {kernels}"
        missing = [one for one in self.on if one not in used]
        if missing:
            reason = f"{who} uses {' and '.join(used)}, and no {missing[0]} that could be changed"
            without = [name for name in self.algorithms if not any(has_kernel(one, name) for one in used)]
            if without:
                reason += f"; of these NCCL has no {without[0]}: {_releases(about, used[0], without[0])}"
            return self.falls(reason, shown)
        meant = tuple(self.on) or used
        changed = {name: [one for one in meant if has_kernel(one, name)] for name in self.algorithms}
        without = [name for name, collectives in changed.items() if not collectives]
        if without and not (self.denied and len(without) < len(self.algorithms)):
            where = f" for {' and '.join(meant)}" + (f", which {who} uses" if training is not None else "")
            return self.falls(f"NCCL has no {without[0]}{where}: {_releases(about, meant[0], without[0])}", shown)
        kinds = sorted({one for collectives in changed.values() for one in collectives})
        reason = f"NCCL has {' and '.join(self.algorithms)} for {' and '.join(kinds)}"
        so = "so it can change which one runs (whether it is faster is another question)"
        return self.holds(f"{reason}, {so}", shown)


def _releases(about: About, collective: str, algorithm: str) -> str:
    """What happens instead, in the release that is named or in all that were read."""
    version = about.setup.nccl
    if version is not None:
        support = library_support(collective, algorithm, nccl_version=version)
        if support.outcome != "unknown":
            return support.explanation.rpartition(": ")[2]
    old, new = (library_support(collective, algorithm, nccl_version=one).outcome for one in ("2.21.5", "2.27.7"))
    return f"up to 2.23 {_INSTEAD.get(old, 'it depends')}, from 2.24 on {_INSTEAD.get(new, 'it depends')}"
