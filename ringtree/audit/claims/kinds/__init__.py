"""The kinds of statements: every file beside this one has one, which is all that adding a kind takes.

For: finding them. Not for: what they say and how they are judged.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from ringtree.audit.claims.statement import Statement

for _file in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

if TYPE_CHECKING:
    Kind = Statement
else:
    Kind = Annotated[Union[tuple(Statement.__subclasses__())], Field(discriminator="kind")]  # noqa: UP007
