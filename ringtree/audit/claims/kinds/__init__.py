"""Which kinds of statements there are: one a file.

For: adding a kind: its import and its name in `Kind`. Not for: what they say and how they are judged.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ringtree.audit.claims.kinds.cause import Cause
from ringtree.audit.claims.kinds.choice import Choice
from ringtree.audit.claims.kinds.crossings import Crossings
from ringtree.audit.claims.kinds.crossover import Crossover
from ringtree.audit.claims.kinds.effect import Effect
from ringtree.audit.claims.kinds.limit_share import LimitShare
from ringtree.audit.claims.kinds.model import Model
from ringtree.audit.claims.kinds.parameters import Parameters
from ringtree.audit.claims.kinds.ports import Ports
from ringtree.audit.claims.kinds.protocol import Protocol
from ringtree.audit.claims.kinds.ranking import Ranking
from ringtree.audit.claims.kinds.ratio import Ratio
from ringtree.audit.claims.kinds.sends import Sends
from ringtree.audit.claims.kinds.steps import Steps
from ringtree.audit.claims.kinds.transfer import Transfer
from ringtree.audit.claims.kinds.value import Value

Kind = Annotated[
    Value | Transfer | Ratio | Ranking | LimitShare | Ports | Steps | Sends | Crossings | Model
    | Protocol | Crossover | Choice | Effect | Parameters | Cause,
    Field(discriminator="kind"),
]  # fmt: skip
