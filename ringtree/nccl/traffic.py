"""What NCCL's algorithms move over each class of links: closed forms.

For: the bytes behind `limit` for Ring, Tree, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT and the point-to-point
path. Not for: which of them exist where (names.py, limits.py), times, ringtree's own algorithms.

n ranks, h hosts, r = n/h ranks on each; S is the size as nccl-tests prints it. Each share is of S, in the direction
that carries more. Where NCCL may rotate an order between channels, so that the load is spread, it is taken to be spread
evenly: the mean over ranks. That is the most favourable case, which a limit must not fall below.

Ring, all_reduce. A ring passes 2(n-1)/n of its data over each of its n hops. Of the n hops h leave a host, one from
    each, and n-h stay inside, r-1 in each. All rings together carry S, so each host sends 2(n-1)/n·S through its NICs,
    and its ranks together 2(n-1)/n·S·(r-1) inside it: 2(n-1)/n·(r-1)/r·S each. With one host no hop leaves it.
Tree, all_reduce. Inside a host NCCL's tree is a chain of r-1 hops, each with S up and S down: 2(r-1)/r·S for each rank.
    Between hosts two binary trees carry S/2 each (trees.py): to each neighbour in each tree a host sends S/2,
    whether up or down. Two hosts are neighbours in both: S. With four and more hosts the busiest has 4: 2·S.
CollNet, all_reduce. The network adds up: each host sends S once and receives S once. Inside, Direct scatters and
    gathers and Chain passes along a chain: 2(r-1)/r·S both.
NVLS, all_reduce. The switch reduces: a rank's S goes up once, and comes down once, added. S, and no algorithm can do
    with less, because all of a rank's data must leave it and all of the result must reach it. (If the switch also sends
    a rank's own part back to it, as the definition of multimem loads and stores suggests, it is (n+1)/n·S. Not counted:
    a limit must not rest on it.)
NVLSTree, all_reduce. NVLS inside, Tree's two trees between hosts.
all_gather, reduce_scatter. A rank takes in (or gives out) all blocks but its own, (n-1)/n·S. On a ring each hop passes
    that, with the same shares of hops as above. The others bring to a host only what it lacks, (h-1)/h·S, and spread it
    inside: a rank gets (r-1)/r·S from the other ranks of its host.
broadcast, reduce. A chain through all ranks, whole S over every hop.
Point to point. all_to_all: a rank sends S/n to each rank, r-1 in its host and n-r outside, so a host sends r(n-r)/n·S.
    gather, scatter: the root's n-1 blocks of S/n. send_recv: each rank sends S to the next.
"""

from __future__ import annotations

from collections.abc import Callable

from ringtree.hardware.limit_records import Traffic, traffic
from ringtree.nccl import trees


def ring(collective: str, h: int, r: int) -> list[Traffic]:
    n = h * r
    hop, words = {
        "all_reduce": (2 * (n - 1) / n, "2(n-1)/n"),
        "all_gather": ((n - 1) / n, "(n-1)/n"),
        "reduce_scatter": ((n - 1) / n, "(n-1)/n"),
        "broadcast": (1.0, "1"),
        "reduce": (1.0, "1"),
    }[collective]
    if h == 1:
        return [traffic("intra", hop, f"every rank sends {words} of the size to the next of the ring")]
    rooted = collective in ("broadcast", "reduce")
    inside = hop if rooted else hop * (r - 1) / r
    return [
        traffic("intra", inside if r > 1 else 0.0, f"{words}" if rooted else f"{words} over (r-1)/r of the hops"),
        traffic("network", hop, f"the rings leave each host once, and carry {words} of the size"),
    ]


def _trees_between(h: int) -> Traffic:
    neighbours = trees.busiest(h)
    reason = f"two trees of half the size; the busiest host has {neighbours} neighbours in them and sends each a half"
    return traffic("network", neighbours / 2, reason)


def tree(_collective: str, h: int, r: int) -> list[Traffic]:
    inside = traffic("intra", 2 * (r - 1) / r, "a chain of r-1 hops inside the host, up and down: 2(r-1)/r")
    return [inside] if h == 1 else [inside, _trees_between(h)]


def _network_adds_up(collective: str, h: int) -> Traffic:
    if collective == "all_reduce":
        return traffic("network", 1.0 if h > 1 else 0.0, "the network adds up: each host sends the size once")
    return traffic("network", (h - 1) / h, "what a host lacks of the whole: (h-1)/h")


def collnet(collective: str, h: int, r: int) -> list[Traffic]:
    parts, words = (2, "2(r-1)/r") if collective == "all_reduce" else (1, "(r-1)/r")
    return [
        traffic("intra", parts * (r - 1) / r, f"spread and collected inside the host: {words}"),
        _network_adds_up(collective, h),
    ]


def nvls(collective: str, h: int, r: int) -> list[Traffic]:
    if collective == "all_reduce":
        inside = traffic("intra", 1.0, "the switch reduces: a rank's data goes up once, the sum comes down once")
    else:
        inside = traffic("intra", (r - 1) / r, "the blocks of the host's other ranks: (r-1)/r")
    return [inside] if h == 1 else [inside, _network_adds_up(collective, h)]


def nvls_tree(collective: str, h: int, r: int) -> list[Traffic]:
    return [*nvls(collective, 1, r), _trees_between(h)]


def pat(_collective: str, h: int, r: int) -> list[Traffic]:
    n = h * r
    if h == 1:
        return [traffic("intra", (n - 1) / n, "every block but a rank's own: (n-1)/n")]
    return [
        traffic("intra", (r - 1) / r, "the blocks of the host's other ranks: (r-1)/r"),
        traffic("network", (h - 1) / h, "what a host lacks of the whole: (h-1)/h"),
    ]


def point_to_point(collective: str, h: int, r: int) -> list[Traffic]:
    n = h * r
    if collective == "send_recv":
        inside, outside, words = float(r > 1), float(h > 1), "each rank sends the size to the next"
    elif collective == "all_to_all":
        inside, outside = (r - 1) / n, r * (n - r) / n
        words = "1/n of the size from each rank to each"
    else:
        inside, outside = (r - 1) / n, (n - r) / n
        words = "the root's blocks, 1/n of the size each"
    return [
        traffic("intra", inside, words + ", those of its own host"),
        traffic("network", outside, words + ", those of the other hosts"),
    ]


FORMS: dict[str, Callable[[str, int, int], list[Traffic]]] = {
    "Ring": ring,
    "Tree": tree,
    "CollNetDirect": collnet,
    "CollNetChain": collnet,
    "NVLS": nvls,
    "NVLSTree": nvls_tree,
    "PAT": pat,
    "P2P": point_to_point,
}
