"""Which agent is which: ranks of agents by the Ray node that each was placed on, and the variables that say so.

For: pure numbering. Not for: Ray itself (job.py). The variables are those that torch.distributed made common, which
launchers/by_hand.py reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """Where an actor is. `node`: Ray's id of its node; `address`: the node's; `host_name`: for people."""

    node: str
    address: str
    host_name: str


@dataclass(frozen=True)
class Seat:
    """An agent's place in the job. `bundle`: of the placement group."""

    bundle: int
    rank: int
    world_size: int
    local_rank: int
    local_size: int
    node_rank: int
    found: Found

    def variables(self, job: str, address: str, port: int) -> dict[str, str]:
        """Returns what the agent's environment says. `address`, `port`: where rank 0 serves the store."""
        return {
            "RANK": str(self.rank),
            "WORLD_SIZE": str(self.world_size),
            "LOCAL_RANK": str(self.local_rank),
            "LOCAL_WORLD_SIZE": str(self.local_size),
            "NODE_RANK": str(self.node_rank),
            "MASTER_ADDR": address,
            "MASTER_PORT": str(port),
            "RAY_JOB_ID": job,  # workers that Ray has started beforehand have another there
        }


def seated(found: Sequence[Found]) -> list[Seat]:
    """Returns the seats in the order of ranks, from what the actors say by bundle: nodes in the order in which they
    first appear, so that ranks of a node are neighbours."""
    bundles: dict[str, list[int]] = {}
    for bundle, one in enumerate(found):
        bundles.setdefault(one.node, []).append(bundle)
    seats: list[Seat] = []
    for node_rank, of_node in enumerate(bundles.values()):
        for local_rank, bundle in enumerate(of_node):
            seats.append(Seat(bundle, len(seats), len(found), local_rank, len(of_node), node_rank, found[bundle]))
    return seats
