"""What was concluded from the published tables, judged by hand first, then by ringtree.audit.claims.

For: the verdict and the decisive number of each claim of docs/published/claims.toml. Not for: other claims
(test_audit_claims.py).
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest
from logs_support import shared_data

from ringtree.audit.claims import Judgement, Verdict, judge_file, read_claims

PUBLISHED = Path(__file__).parents[3] / "docs" / "published"
HOLDS, FALLS, OPEN = Verdict.HOLDS, Verdict.FALLS, Verdict.OPEN


class Expected(NamedTuple):
    """`shows`: what reason or arithmetic must mention, so that a verdict is not right by accident."""

    table: str
    verdict: Verdict
    shows: tuple[str, ...]


# In the order of claims.toml; derived with pencil and paper from the tables before there was any code.
EXPECTED = [
    # 257/140 = 1.836, so "83 %" is good arithmetic. But 8 GiB / 115 ms = 74.7 GB/s is what algbw means; 140 is that
    # times 1.875 = 2·15/16: a busbw. Like with like is 257/74.7 = 482/140 = 3.44 times. And between the two lie
    # another program and its settings, so "by tuning alone" was not measured either.
    Expected("h100x16-ring-vs-nccl", FALLS, ("busbw", "74.7", "1.875")),
    # A ring sends busbw over its links; on two nodes each of the 8 ports carries 482/8 = 60.25 GB/s each way, more
    # than a port of 50 GB/s can: no ring did that. What must cross is the vector, once each way: 257/8 = 32.1 GB/s = 64
    # %. 49 = 392/8 belongs to the three nodes of the next row.
    Expected("h100x16-nccl-tests-summary", FALLS, ("60.2", "32.1")),
    # 2·(16-1) = 30; 4 levels up and 4 down = 8. (NCCL's own tree is a chain inside a node: 2·(7+1) = 16 on 2 × 8.)
    Expected("h100x16-ring-vs-nccl", HOLDS, ("30", "8")),
    # 15 · 120 µs = 1.8 ms is the time in the table, but an all-reduce of 16 ranks needs 30 steps, so 60 µs each.
    Expected("h100x16-ring-vs-nccl", FALLS, ("30", "60")),
    # 74322/68691 = 1.082: the arithmetic holds. One run a cell has no spread to hold 8.2 % against; and FSDP's
    # collectives have no tree, so both cells ran the same thing: 8.2 % is what the noise can be.
    Expected("finetune-h100-1to8nodes", OPEN, ("1.082", "one run")),
    # At 4 nodes the default's 68691 is below Tree's 74322 and Ring's 72170.
    Expected("finetune-h100-1to8nodes", FALLS, ("68691", "74322")),
    # 118384/(8·19106) = 77.45 %, 24482/(8·3339) = 91.65 %.
    Expected("finetune-h100-1to8nodes", HOLDS, ("77.5", "91.7")),
    # FULL_SHARD gathers parameters and scatters gradients: all_gather and reduce_scatter, for which NCCL has no Tree.
    Expected("finetune-h100-1to8nodes", FALLS, ("all_gather", "reduce_scatter", "2.24")),
    # 1 GiB / 28.18 ms = 38.1 GB/s, and 571.6 is 15 times that: (n-1)·size/time. busbw is 71.44 there; on 8 nodes
    # it is 46.69.
    Expected("h100-tcpx-default-vs-nvlstree", FALLS, ("(n-1)", "71.44", "46.69")),
    # 1493.8/566.9 = 2.635, but the same 512 MB took 14.21 ms on 2 nodes and 22.64 ms on 8: the factor n-1 grew from
    # 15 to 63.
    Expected("h100-tcpx-default-vs-nvlstree", FALLS, ("2.635", "14.21", "22.64")),
    # Both change places between 32 and 64 MB (by interpolation at 56 and 42 MB), from one value a cell: no interval.
    Expected("h100-tcpx-default-vs-nvlstree", OPEN, ("32", "64")),
    # 864/175 = 4.937, but a GPU with 300 GB/s of NVLink each way can't have any all-reduce above 300·8/14 = 171 GB/s
    # algbw.
    Expected("a100x8-ring-vs-tree", FALLS, ("4.937", "171")),
    # The ring sends 2(N-1)/N·S: reduce-scatter and all-gather. S/time tends to half of the link's rate, never above it
    # (N > 2).
    Expected("a100x8-ring-vs-tree", FALLS, ("2(n-1)/n",)),
    # 7 are the reduce-scatter; the all-reduce has 14.
    Expected("a100x8-ring-vs-tree", FALLS, ("14",)),
    # 28 GB need at least 2·7/8·28/300 = 163 ms. (160 ms printed from 28 GB rounded may just be that; 32 ms can't.)
    Expected("a100x8-ring-vs-tree", FALLS, ("163", "32 ms")),
    # 237.26 and 355.89 are in the table; 355.89/900 = 39.5 %. But 900 GB/s is both directions: of 450 GB/s it is 79 %.
    Expected("h100x4-nccl-tests", FALLS, ("450", "79")),
    # 4/8 = 50 %, 120/128 = 93.75 % stand. "A hop" depends on the link, which is not named: NCCL's own constants are
    # 0.6/1.9/3.4 µs on NVLink, 1.0/2.5/5.7 on PCIe, 2.7/4.0/14 on a network.
    Expected("protocols", OPEN, ("93.75", "NVLink")),
    # 8·512 KiB = 4 MiB, 8·32 = 256, 8·600 = 4800: the products are right. NCCL's LL buffer is 8·512·8·16 B = 512 KiB,
    # slots of 64 KiB, half of them flags.
    Expected("protocols", FALLS, ("512 KiB", "64 KiB")),
    # As calls of one rank's program: a send, k-2 + 1 reducing ones, k-2 forwarding ones, a receive = 2k-1. As messages
    # that wait for each other, which is what costs time, 2(k-1).
    Expected("protocols", HOLDS, ("2(n-1)",)),
    # NCCL takes the least of modelled times, which depend on nodes, GPUs and links. On one node of 8 Hopper GPUs its
    # model has Ring LL at 15.0 µs below Tree LL at 15.2.
    Expected("selection", OPEN, ("15.0", "15.2")),
    # A ring through H hosts crosses H times, whatever the GPUs: 2 of 16 = 12.5 %, 3 of 24 = 12.5 %.
    Expected("h100x16-nccl-tests-summary", FALLS, ("3 of 24",)),
    # 2·15/16 = 1.875.
    Expected("h100x16-ring-vs-nccl", HOLDS, ("1.875",)),
    # 8 experts · 3·4096·14336 · 32 layers = 45.10e9 of 46.70e9: 3.4 % are outside. (27.6 % are active for a token.)
    # FULL_SHARD moves all parameters, whichever expert they belong to.
    Expected("finetune-h100-1to8nodes", FALLS, ("3.4",)),
    # 25 > 15 and 30 > 18 in the table, which says neither of which machine, nor how often.
    Expected("pcie-typical", OPEN, ("25", "15")),
    # Ring is ahead at 2 MB (56 against 12) and at 8 MB (236 against 53) in the same table.
    Expected("a100x8-ring-vs-tree", FALLS, ("56", "12")),
    # 80-90 % of what (450 or 900), measured as what (algbw, busbw, and NVLS may exceed a link's rate as busbw)?
    Expected("h100x4-nccl-tests", OPEN, ("450", "NVLS")),
]


@pytest.fixture(scope="module")
def shipped() -> tuple[Judgement, ...]:
    found = judge_file(PUBLISHED / "claims.toml")
    assert found.missing == ()
    return found.judgements


@pytest.mark.parametrize("index", range(len(EXPECTED)))
def test_shipped_claims(index: int, shipped: tuple[Judgement, ...]) -> None:
    expected, one = EXPECTED[index], shipped[index]
    assert one.table.rpartition(".")[0] == expected.table
    assert one.verdict is expected.verdict, one
    said = f"{one.reason} {one.arithmetic}"
    assert [word for word in expected.shows if word not in said] == [], one
    if one.verdict is OPEN:
        assert one.settles, one


def test_every_claim_has_an_expectation(shipped: tuple[Judgement, ...]) -> None:
    assert len(shipped) == len(EXPECTED)


def test_sentences_are_not_the_authors_own() -> None:
    """As many claims about the same tables in the same order, and none in their words."""
    with open(shared_data() / "published" / "claims.csv", newline="", encoding="utf-8") as file:
        theirs = list(csv.DictReader(file))
    ours = read_claims(PUBLISHED / "claims.toml").claims
    assert [one.table.rpartition(".")[0] for one in ours] == [row["table"].rpartition(".")[0] for row in theirs]
    assert {one.sentence for one in ours} & {row["claim"] for row in theirs} == set()
