"""All checks, one line each.

For: adding a check; what an audit runs and what docs/audit.md lists. Not for: what they do.
"""

from __future__ import annotations

from ringtree.audit.checks import (
    arms,
    bandwidth_column,
    bus_column,
    counts,
    empty,
    footer_average,
    forced_plan,
    in_place_all_to_all,
    limits,
    not_checked,
    one_rank,
    other_algorithm,
    repeated,
    row_arithmetic,
    rows_missing,
    run_failed,
    scaling,
    sides,
    stated_machine,
    throughput_column,
    training,
    unsupported_algorithm,
    versions,
    warm_up,
    wrong_results,
)
from ringtree.audit.rule import Check, Rule

CHECKS: tuple[Check, ...] = (
    empty.CHECK,
    run_failed.CHECK,
    wrong_results.CHECK,
    one_rank.CHECK,
    bandwidth_column.CHECK,
    bus_column.CHECK,
    row_arithmetic.CHECK,
    throughput_column.CHECK,
    limits.CHECK,
    counts.CHECK,
    footer_average.CHECK,
    repeated.TABLE_CHECK,
    repeated.FILES_CHECK,
    in_place_all_to_all.CHECK,
    sides.CHECK,
    forced_plan.CHECK,
    unsupported_algorithm.CHECK,
    other_algorithm.CHECK,
    versions.CHECK,
    warm_up.CHECK,
    arms.CHECK,
    scaling.CHECK,
    training.CHECK,
    rows_missing.CHECK,
    rows_missing.DOTS_CHECK,
    not_checked.CHECK,
    limits.BY_TOPOLOGY_CHECK,
    limits.KNOWN_CHECK,
    stated_machine.CHECK,
)

RULES: dict[str, Rule] = {rule.code: rule for check in CHECKS for rule in check.rules}
