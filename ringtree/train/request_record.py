"""What a person asks of a training, before any of it is checked.

For: the fields. Not for: checks and defaults (request.py, own_script.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# How built-in models are trained, as a plan names it.
OF_MODELS = ("strategy", "sharding", "precision", "experts", "checkpointing", "accumulate", "batch", "sequence")


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
    strategy: str | None = None
    sharding: str | None = None
    precision: str | None = None
    experts: str | None = None
    checkpointing: bool = False
    accumulate: int | None = None
    batch: int | None = None
    sequence: int | None = None
    tokens: str | None = None
    apart: bool = False
    budget: str | None = None
    price: str | None = None
    command: tuple[str, ...] = ()
    metric: str | None = None
    dry_run: bool = False  # nothing will run, so arms that this machine lacks are planned too
    agents: list[int] | None = None  # the host of each process that a launcher has started; each has as many ranks

    def said(self, *names: str) -> dict[str, Any]:
        """Returns those of the fields that were asked for."""
        asked = {name: getattr(self, name) for name in names}
        return {name: value for name, value in asked.items() if value is not None and value is not False}
