"""What lines say that every reader may want: variables as people write them."""

from __future__ import annotations

import pytest

from ringtree.logs.context_lines import observe
from ringtree.logs.lines import clean
from ringtree.logs.reading import Context


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("without InfiniBand (`NCCL_IB_DISABLE=1`) it is slow", "1"),
        ("(NCCL_IB_DISABLE=1)", "1"),
        ("set `NCCL_IB_DISABLE=1`, then start", "1"),
        ("[see NCCL_IB_DISABLE=1]", "1"),
        ("export NCCL_IB_DISABLE='1'", "1"),
        ("NCCL_IB_DISABLE=f(1)", "f(1)"),
        ("NCCL INFO NCCL_IB_DISABLE set by environment to 1.", "1"),
    ],
)
def test_variables_without_the_marks_around_them(line: str, value: str) -> None:
    context = Context("a.md")
    observe(context, clean(1, line))
    assert context.environment == {"NCCL_IB_DISABLE": value}


def test_a_comment_of_code_is_no_heading() -> None:
    context = Context("a.md")
    for number, line in enumerate(("# Results", "```", "# Phase 2: AllGather", "```")):
        observe(context, clean(number, line))
    assert (context.heading, context.fence) == ("Results", "")
