"""Which algorithm and protocol the environment asked NCCL for.

For: NCCL_ALGO and NCCL_PROTO, as far as they leave one choice. Not for: how they are read (ringtree.nccl.grammar), what
NCCL made of it: a collective that has no such algorithm falls back or fails, by release (ringtree.audit).
"""

from __future__ import annotations

from typing import get_args

from ringtree.logs.records import Table
from ringtree.nccl import Variable, read


def forced(table: Table, variable: Variable) -> str | None:
    """Returns the one algorithm or protocol that the variable leaves, in small letters; None if none or several."""
    setting = table.environment.get(variable)
    left = () if setting is None else read(variable, setting, table.collective, table.library_version).left
    return left[0].lower() if len(left) == 1 else None


def add_forced(table: Table) -> None:
    """Sets the table's algorithm and protocol to those that its environment asked for."""
    for variable, field_name in zip(get_args(Variable), ("algorithm", "protocol"), strict=True):
        value = forced(table, variable)
        if value is not None:
            setattr(table, field_name, value)
            table.infer(field_name, value, f"{variable}={table.environment[variable]} was set; what ran is not printed")
