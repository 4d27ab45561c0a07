"""Claims of our own, true and false, for every kind of ringtree.audit.claims.

For: that each kind holds, falls and is undecided by arithmetic. Not for: the published ones
(test_audit_claims_published.py), the form and what it is read from (test_audit_claims_form.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from claims_said import FALLS, HOLDS, OPEN, Said, read_said, said_so

from ringtree.audit.claims.kinds import Kind

CLAIMS = [
    said
    for name in ("claims_of_algorithms.txt", "claims_of_tables.txt")
    for said in read_said(Path(__file__).with_name(name))
]


@pytest.mark.parametrize("said", CLAIMS, ids=[f"{one.says}, {one.table}{one.claim}" for one in CLAIMS])
def test_claim(said: Said, tmp_path: Path) -> None:
    found = said_so(tmp_path, said.says, table=said.table, claim=said.claim)
    assert found.verdict is said.verdict, found
    assert said.shows.lower() in f"{found.reason} {found.arithmetic}".lower(), found
    if found.verdict is OPEN:
        assert found.settles, found


def test_every_kind_falls_or_is_open_by_nature() -> None:
    union, _ = get_args(Kind)
    kinds = {get_args(one.model_fields["kind"].annotation)[0] for one in get_args(union)}
    assert len(CLAIMS) == len(set(CLAIMS)) > 150
    tried = {(one.says.split('"')[1], one.verdict) for one in CLAIMS}
    assert {kind for kind, _ in tried} == kinds
    assert {kind for kind in kinds if (kind, FALLS) not in tried} == {"cause", "choice"}


def test_a_claim_is_as_good_as_its_worst_part(tmp_path: Path) -> None:
    ring, half = ('kind = "steps", algorithm = "ring", ranks = 8, count = ' + count for count in ("14", "7"))
    cause = 'kind = "cause", cause = "alone"'
    assert said_so(tmp_path, ring).verdict is HOLDS
    assert said_so(tmp_path, ring, cause).verdict is OPEN
    found = said_so(tmp_path, ring, cause, half)
    assert found.verdict is FALLS
    assert found.reason.startswith("Ring of 8 ranks takes 14 steps, not 7")


def test_the_trees_steps_are_not_charged_to_the_ring_that_is_named_beside_it(tmp_path: Path) -> None:
    """ "2·log2(N) steps, much fewer than the ring's 2(N-1)"."""
    tree, ring = 'algorithm = "tree", count = "2·log2(N)"', 'algorithm = "ring", count = "2(N-1)"'
    found = said_so(tmp_path, f'kind = "steps", {tree}', f'kind = "steps", {ring}')
    assert found.verdict is HOLDS
    assert [part.verdict for part in found.parts] == [HOLDS, HOLDS]


def test_a_row_of_another_table_can_be_compared(tmp_path: Path) -> None:
    """160 GB/s against 100: both are algbw, one value each."""
    found = said_so(
        tmp_path,
        'kind = "ratio", value = "60%", new = {column = "algbw_GBps", row = {size = "200 MB"}}, '
        'old = {table = "algbw.csv", column = "algbw_GBps", row = {size = "100 MB"}}',
        table="algbw.csv",
    )
    assert (found.verdict, "1.6" in found.arithmetic) == (OPEN, True)
