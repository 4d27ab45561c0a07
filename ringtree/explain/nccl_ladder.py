"""The ladder on GPUs of one host: from a ring in Python over NCCL's sends and receives to NCCL's default, captured into
a CUDA graph, with registered buffers.

For: its rungs, and what can be taken away from its top. Not for: CPUs (python_ladder.py, native_ladder.py).

The lower rungs are held down by NCCL's own variables, one channel and no peer-to-peer, so that each rung lifts one
thing. All calls are put on the stream from Python: one boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringtree.explain.rungs import ALGORITHM, BUFFERS, CHANNELS, NATIVE, PROTOCOL, START, Rung, unless

RING = "ring"  # the only algorithm that is NCCL's own and has every protocol on one host
TOP = "nccl+graph+registered"
ONE_CHANNEL, NO_P2P = "@NCCL_MAX_NCHANNELS=1", "@NCCL_P2P_DISABLE=1"
FORCED, SIMPLE = "@NCCL_ALGO=Ring@NCCL_PROTO=Simple", "Simple"
KERNEL, P2P, RDMA, GRAPH = "kernel", "p2p", "rdma", "graph"
_ONE_HOST = "GPUDirect RDMA is between hosts, and the ladder is of one"


def rungs(algorithm: str, protocol: str, num_ranks: int, num_cores: int) -> list[Rung]:
    """As python_ladder.rungs; of these only the algorithm counts."""
    held = f"{ONE_CHANNEL}{NO_P2P}"
    return [
        Rung(START, f"{algorithm} in Python, send by send", f"send-recv:{algorithm}{held}"),
        Rung(KERNEL, "sends from Python → one kernel of NCCL's", f"torch:nccl{FORCED}{held}"),
        Rung(NATIVE, "through PyTorch → NCCL directly", f"nccl:Ring/{SIMPLE}{held}"),
        Rung(P2P, "through the host's memory → GPU to GPU", f"nccl:Ring/{SIMPLE}{ONE_CHANNEL}"),
        Rung(RDMA, "without → with GPUDirect RDMA", None, _ONE_HOST, aside=True),
        Rung(CHANNELS, "one channel → NCCL's number", f"nccl:Ring/{SIMPLE}"),
        Rung("ll", f"{SIMPLE} → LL", "nccl:Ring/LL", aside=True),
        Rung("ll128", f"{SIMPLE} → LL128", "nccl:Ring/LL128", aside=True),
        Rung(PROTOCOL, f"{SIMPLE} → NCCL's choice of protocol", "nccl:Ring"),
        Rung(ALGORITHM, "Ring → NCCL's choice: its default", "nccl"),
        Rung("torch", "the default through PyTorch", "torch:nccl", aside=True),
        Rung(GRAPH, "calls → CUDA graphs of a call", "nccl+graph"),
        Rung("symmetric", "ordinary buffers → symmetric windows", "nccl+graph+symmetric", aside=True),
        Rung(BUFFERS, "ordinary buffers → registered ones", TOP),
    ]


def takings(algorithm: str, size_bytes: int, top: Mapping[str, Any] | None) -> list[Rung]:
    """As python_ladder.takings."""
    ran = {} if top is None else top
    simple = f"NCCL runs {SIMPLE}" if ran.get("protocol") == SIMPLE else None
    ring = "NCCL runs Ring" if ran.get("algorithm") == "Ring" else None
    return [
        Rung(P2P, "no peer-to-peer", f"{TOP}{NO_P2P}"),
        Rung(CHANNELS, "one channel", f"{TOP}{ONE_CHANNEL}"),
        unless(simple, PROTOCOL, f"the protocol {SIMPLE}", f"nccl/{SIMPLE}+graph+registered"),
        unless(ring, ALGORITHM, "Ring", "nccl:Ring+graph+registered"),
        Rung(GRAPH, "no graph", "nccl+registered"),
        Rung(BUFFERS, "ordinary buffers", "nccl+graph"),
    ]
