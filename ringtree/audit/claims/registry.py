"""Which forms of sentences there are, in the order in which they look at one.

For: adding a form: one line here. Not for: what they do. Earlier forms are more special: what they judged, later ones
leave alone where they ask Claim.is_taken.
"""

from __future__ import annotations

from collections.abc import Callable

from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms import (
    buffers,
    bytes_sent,
    causes,
    comparisons,
    crossings,
    crossovers,
    durations,
    efficiency,
    expectations,
    expert_shares,
    forced,
    of_peak,
    ports,
    possible_rates,
    protocols,
    rankings,
    rate_identity,
    selection,
    step_times,
    steps,
    table_values,
    time_model,
)
from ringtree.audit.claims.records import Part

Form = Callable[[Claim], list[Part]]

FORMS: tuple[Form, ...] = (
    crossings.judge,
    step_times.judge,
    steps.judge,
    bytes_sent.judge,
    time_model.judge,
    protocols.judge,
    buffers.judge,
    ports.judge,
    efficiency.judge,
    expert_shares.judge,
    forced.judge,
    selection.judge,
    crossovers.judge,
    rate_identity.judge,
    table_values.judge,
    of_peak.judge,
    comparisons.judge,
    rankings.judge,
    durations.judge,
    possible_rates.judge,
    expectations.judge,
    causes.judge,
)
