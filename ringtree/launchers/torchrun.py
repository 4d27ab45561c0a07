"""torchrun (PyTorch's elastic launcher): RANK and WORLD_SIZE beside TORCHELASTIC_RUN_ID.

For: reading its variables. Not for: its store (ringtree.comm.torchrun), or RANK and WORLD_SIZE that something else set
(by_hand.py).
"""

from __future__ import annotations

from dataclasses import replace

from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what torchrun says, None if this process is not one of its ranks."""
    environment = surroundings.environment
    found = Finding("torchrun", environment)
    if not found.has("TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE"):
        return None
    found.number("rank", "RANK")
    found.number("world_size", "WORLD_SIZE")
    found.number("local_rank", "LOCAL_RANK")
    found.number("local_size", "LOCAL_WORLD_SIZE")
    found.number("host_rank", "GROUP_RANK")
    found.text("job", "TORCHELASTIC_RUN_ID")
    found.text("attempt", "TORCHELASTIC_RESTART_COUNT")
    return replace(found.identity(), serves_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True")
