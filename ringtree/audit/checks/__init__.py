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
from ringtree.audit.rule import FileCheck, FilesCheck, Rule, TableCheck

CHECKS: tuple[TableCheck | FileCheck | FilesCheck, ...] = (
    empty.check,
    run_failed.check,
    wrong_results.check,
    one_rank.check,
    bandwidth_column.check,
    bus_column.check,
    row_arithmetic.check,
    throughput_column.check,
    limits.check,
    counts.check,
    footer_average.check,
    repeated.check_table,
    repeated.check_tables,
    in_place_all_to_all.check,
    sides.check,
    forced_plan.check,
    unsupported_algorithm.check,
    other_algorithm.check,
    versions.check,
    warm_up.check,
    arms.check,
    scaling.check,
    training.check,
    rows_missing.check,
    rows_missing.check_dots,
    not_checked.check,
    limits.check_by_topology,
    limits.check_known,
    stated_machine.check,
)

RULES: dict[str, Rule] = {rule.code: rule for check in CHECKS for rule in check.rules}
