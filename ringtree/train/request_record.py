"""What a person asks of a training, before any of it is checked.

For: the fields. Not for: checks and defaults (request.py, own_script.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainRequest:
    """What was asked for; None: not said, take the default."""

    models: str | None = None
    scale: str | None = None
    arms: str | None = None
    ranks: str | None = None
    launches: int | None = None
    seed: int | None = None
    reference: str | None = None
    margin: str | None = None
    strategy: str = "ddp"
    sharding: str | None = None
    precision: str = "float32"
    experts: str = "replicated"
    checkpointing: bool = False
    accumulate: int = 1
    batch: int = 1
    sequence: int = 512
    tokens: str | None = None
    apart: bool = False
    budget: str | None = None
    price: str | None = None
    command: tuple[str, ...] = ()
    metric: str | None = None
    dry_run: bool = False  # nothing will run, so arms that this machine lacks are planned too
    agents: list[int] | None = None  # the host of each process that a launcher has started; each has as many ranks
