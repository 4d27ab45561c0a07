"""Wrong elements are found whatever the footer says of them: that it is fine, that it is not, nothing.

For: ringtree.audit.checks.wrong_results. Not for: errors as distances from the result (test_audit_rules.py).
"""

from __future__ import annotations

import pytest
from audit_support import codes, make_table, with_sides

from ringtree.logs.records import Printed


@pytest.mark.parametrize(("count", "okay"), [(None, None), (0, True), (3, False)])
@pytest.mark.parametrize("wrong", ["0", "3"])
def test_wrong_elements_are_found_with_any_footer(wrong: str, count: int | None, okay: bool | None) -> None:
    table = with_sides(make_table(), lambda _, side: side._replace(wrong=Printed(wrong)))
    table.num_out_of_bounds, table.out_of_bounds_okay = count, okay
    assert ("wrong-results" in codes(table)) == (wrong != "0" or okay is False)
