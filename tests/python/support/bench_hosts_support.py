"""Helpers of the tests of tools/bench/hosts: hosts without namespaces, and parts whose times are known.

For: the tests of bench.hosts. Not for: assertions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.hosts.worlds import World, make_plan
from bench.parts import NATIVE
from comparison_support import near_then_far, placed_run

from ringtree.results import StoredRun

NATIVE_ARMS = ("engine", "openmpi4", "openmpi5")


@dataclass
class PaperHosts:
    """Addresses and names as bench.hosts.network.Hosts has them, and nothing behind them."""

    count: int
    ranks_per_host: int
    secret_file: Path = Path("secret")
    num_stores: int = 0

    @property
    def num_ranks(self) -> int:
        return self.count * self.ranks_per_host

    def host_of(self, rank: int) -> int:
        return rank // self.ranks_per_host

    def address(self, host: int) -> str:
        return f"10.77.0.{10 + host}"

    def store(self) -> str:
        self.num_stores += 1
        return f"tcp://{self.address(0)}:{29500 + self.num_stores}"

    def namespace(self, host: int) -> str:
        return f"/proc/1/fd/{host}"

    def environment(self) -> dict[str, str]:
        return {"RINGTREE_SECRET_FILE": str(self.secret_file)}

    def run(self, host: int, *command: str) -> str:
        raise AssertionError(f"nothing can be run on host {host}: {command}")


def made_up_part(world: World, seconds: Callable[[int, int, str, int], float], launches: int = 8) -> StoredRun:
    """A part whose visits took `seconds(launch, size, arm, round)`; four rounds of a launch are near, three far."""
    plan = make_plan(world, 60.0, launches, 1, NATIVE_ARMS if world.kind == NATIVE else ())
    stored = placed_run(plan, seconds, near_then_far)
    return replace(stored, run=stored.run.model_copy(update={"run_id": world.name}))
