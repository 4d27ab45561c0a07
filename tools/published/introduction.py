"""The beginning of the page: words and the four formulas, with numbers counted in ringtree's schedules.

For: readers who have never seen a bus bandwidth. Not for: the published tables.
"""

from __future__ import annotations

from published.figures import FORMULAS
from published.markdown import paragraphs, table
from ringtree.audit.claims import counting
from ringtree.stats.bandwidth import bus_factor

WORDS = """
An **all-reduce** adds up one vector from each of n processes and gives the sum to all of them. A process that takes
part is a **rank**, usually one GPU; **n** is the number of ranks, **S** the bytes of one vector. Training needs it
for gradients, and the question of this page is always the same: so many bytes took so long – is that fast, and why
not faster?

**1. algbw = S / t.** The *algorithm bandwidth* is the size divided by the time of the call, 1 GB = 10⁹ bytes. It says
how long you wait, and nothing about the links: with the same links it falls as ranks are added.

**2. busbw = algbw · 2(n−1)/n.** The *bus bandwidth* says how fast links must have been. Without help of a switch each
rank has to send (n−1)/n of a vector so that everything can be added up somewhere, and as much again so that everybody
has the sum: 2(n−1)/n · S. Divide what a rank must send by the time, and you have the rate of its link *in one
direction*, if the algorithm sends no more than it must. Other collectives have other factors, (n−1)/n for
reduce-scatter and all-gather.

**3. A ring sends 2(n−1)/n · S and takes 2(n−1) steps.** The vector is cut into n chunks; each rank passes chunks on
to the next, first adding (reduce-scatter, n−1 steps), then copying (all-gather, n−1 steps). A **step** is a message
that waits for the one before. With a latency α for a message and B bytes/s for a link, t = 2(n−1) · α + 2(n−1)/n ·
S/B. No algorithm sends less: rings win large sizes. The steps grow with n: rings lose small ones.

**4. A tree takes 2·log₂ n steps and sends 2 · S.** Sums go up the levels of a binary tree and come down again. In a
*double* tree, two trees each carry half of the vector, and who is inside in one is a leaf in the other; the busiest
rank then sends 2 · S. Data stream through, so t is about 2·log₂ n · α + 2 · S/B: far fewer steps, slightly more
bytes.

Counted in ringtree's own schedules, which are [proved right](algorithms.md), not taken from formulas:
"""

TRAPS = """
**NVLS** is the exception to formula 2. Newer switches between GPUs add up on the way: each rank sends its vector
once, S instead of almost 2 · S. busbw is computed as if nothing had added up, so it may exceed the rate of the link.
**NVLSTree** does so inside each node and a tree between nodes.

Four things go wrong again and again, and each happens below. A rate is called algbw and is a busbw, or neither. Both
directions of a link are added up (a GPU of "900 GB/s" sends 450 and receives 450), and a one-way rate is held against
the sum. Sizes are powers of 1024 and rates of 1000, 7 % apart at a GB. And one run is compared with one run: how far
two runs of the *same* thing differ, nobody looked.
"""


def introduction() -> str:
    """Words, formulas, the table, and what goes wrong."""
    rows = []
    for n in (2, 4, 8, 16, 24, 64):
        ring = counting.hops("all_reduce", "ring", n), counting.share("all_reduce", "ring", n)
        tree = counting.hops("all_reduce", "double_tree", n), counting.share("all_reduce", "double_tree", n)
        factor = bus_factor("all_reduce", n)
        rows.append([str(n), f"{factor:.4g}", str(ring[0]), f"{ring[1]:.4g} · S", str(tree[0]), f"{tree[1]:.4g} · S"])
    headings = [
        "n",
        "busbw / algbw",
        "ring: steps",
        "ring: a rank sends",
        "double tree: steps",
        "double tree: a rank sends",
    ]
    return "\n\n".join([paragraphs(WORDS), table(headings, rows, words=0), FORMULAS.markdown, paragraphs(TRAPS)])
