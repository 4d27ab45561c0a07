"""The ladders that there are: one entry each.

For: what differs between ladders, as data. Not for: their rungs (a file each), or running one (ladder_run.py). A ladder
is added by its file and its entry here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ringtree.arms import common_boundary
from ringtree.comm.communicator import protocols as engine_protocols
from ringtree.errors import UsageError
from ringtree.explain import native_ladder, nccl_ladder, python_ladder
from ringtree.explain.rungs import Rung
from ringtree.results import Boundary, Plan

_FLOOR = "max(hand-off, max(1, ranks / copying cores) × size / copy rate of a core), all probed in this run"


@dataclass(frozen=True)
class LadderKind:
    """One ladder. `preset`: as its plans are stored; `top`: its last arm; `head`: of the engine's arms in it, whose
    protocols the pilot chooses from (`protocols`); `begins`: the arm that tells with which algorithm it started."""

    name: str
    about: str
    preset: str
    top: str
    rungs: Callable[[str, str, int, int], list[Rung]]
    takings: Callable[[str, int, Mapping[str, Any] | None], list[Rung]]
    begins: re.Pattern[str]
    head: str = ""
    protocols: tuple[str, ...] = ()
    algorithms: tuple[str, ...] | None = None  # with which it can start; None: any
    floor: str = _FLOOR

    def protocol_arm(self, algorithm: str, protocol: str) -> str:
        """Returns the arm of the engine that runs the algorithm with a protocol."""
        return f"{self.head}{algorithm}/{protocol}"

    def pilot_arms(self, algorithm: str) -> list[str]:
        """Returns the arms of the pilot."""
        return [*(self.protocol_arm(algorithm, protocol) for protocol in self.protocols), self.top]

    def check_algorithm(self, algorithm: str) -> None:
        """Raises UsageError if the ladder can't start with it."""
        if self.algorithms is not None and algorithm not in self.algorithms:
            raise UsageError(f"the ladder {self.name} starts with {' or '.join(self.algorithms)}, not {algorithm}")

    def boundary(self, algorithm: str) -> Boundary:
        """Returns the boundary that all its arms cross, whatever is installed here. Raises UsageError for names that
        there are not."""
        labels = [rung.arm for rung in self.rungs(algorithm, python_ladder.SIMPLE, 2, 2) if rung.arm is not None]
        return common_boundary(label.partition("@")[0] for label in labels)


KINDS = (
    LadderKind(
        "python",
        "from a ring in Python to auto",
        "explain",
        python_ladder.TOP,
        python_ladder.rungs,
        python_ladder.takings,
        re.compile(r"textbook-tcp:(\w+)"),
        protocols=tuple(engine_protocols()),
    ),
    LadderKind(
        "native",
        "called from C: from naive to auto, with MPI and oneCCL for comparison",
        "explain-native",
        native_ladder.TOP,
        native_ladder.rungs,
        native_ladder.takings,
        re.compile(rf"{native_ladder.HEAD}(\w+)/simple"),
        head=native_ladder.HEAD,
        protocols=tuple(engine_protocols()),
    ),
    LadderKind(
        "nccl",
        "on GPUs: from a ring in Python to NCCL's best",
        "explain-nccl",
        nccl_ladder.TOP,
        nccl_ladder.rungs,
        nccl_ladder.takings,
        re.compile(r"send-recv:(\w+)"),
        algorithms=(nccl_ladder.RING,),
        floor="not known on GPUs",
    ),
)
DEFAULT = KINDS[0].name


def kind_named(name: str) -> LadderKind:
    """Returns the ladder of that name. Raises UsageError."""
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is None:
        told = ", ".join(f"{kind.name} ({kind.about})" for kind in KINDS)
        raise UsageError(f"unknown ladder {name!r}; choose from: {told}")
    return found


def kind_of(plan: Plan) -> tuple[LadderKind, str]:
    """Returns the ladder of a stored plan, and the algorithm with which it started. UsageError for another study's."""
    kind = next((kind for kind in KINDS if kind.preset == plan.preset), None)
    names = [*(arm.name for arm in plan.arms), *(label.partition("@")[0] for label in plan.left_out)]
    found = [match[1] for name in names if kind is not None and (match := kind.begins.fullmatch(name))]
    if kind is None or not found:
        raise UsageError("this run is not a ladder: `ringtree show` prints it, `ringtree explain` measures one")
    return kind, found[-1]
