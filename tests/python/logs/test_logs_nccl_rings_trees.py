"""Rings and trees put together from lines, held against slow and obvious ways to do the same."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nccl_info_support import all_ranks, communicator, line, start

from ringtree.logs.nccl_info.channels import disagreement, from_neighbours, from_order, incompleteness

Neighbours = dict[int, tuple[int, int]]
Places = dict[int, tuple[int, tuple[int, ...]]]


def is_ring_slowly(ring: Neighbours, num_ranks: int) -> bool:
    """Whether some order of all ranks gives exactly these neighbours: by trying all orders."""
    for order in permutations(range(num_ranks)):
        places = {rank: (order[at - 1], order[(at + 1) % num_ranks]) for at, rank in enumerate(order)}
        if places == ring:
            return True
    return False


def is_tree_slowly(places: Places, num_ranks: int) -> bool:
    """Whether all ranks are there, each names its parent's and children's edges, and all lead up to one root."""
    if set(places) != set(range(num_ranks)):
        return False
    up = {(rank, parent) for rank, (parent, _) in places.items() if parent >= 0}
    down = [(child, rank) for rank, (_, children) in places.items() for child in children]
    if len(down) != len(set(down)) or up != set(down):
        return False
    roots = set()
    for rank in places:
        for _ in range(num_ranks):
            parent = places[rank][0]
            rank = parent if parent >= 0 else rank
        roots.add(rank if places[rank][0] < 0 else None)
    return len(roots) == 1 and None not in roots


@given(
    st.permutations(range(6)).map(list),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), max_size=3),
)
def test_neighbours_make_a_ring_exactly_if_some_order_does(
    order: list[int], changes: list[tuple[int, int, int]]
) -> None:
    ring = {rank: (order[at - 1], order[(at + 1) % 6]) for at, rank in enumerate(order)}
    for rank, previous, following in changes:
        ring[rank] = (previous, following)
    found = from_neighbours(0, ring, 6)
    assert found.complete == is_ring_slowly(ring, 6)
    assert found.complete == (found.problem is None)
    if not changes:
        assert found.order == order[order.index(0) :] + order[: order.index(0)]


@given(
    st.lists(st.integers(-1, 5), min_size=6, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=2),
)
def test_places_make_a_tree_exactly_if_all_edges_agree_and_lead_to_one_root(
    parents: list[int], extra: list[tuple[int, int]]
) -> None:
    children: dict[int, list[int]] = {rank: [] for rank in range(6)}
    for rank, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(rank)
    for rank, child in extra:
        children[rank].append(child)
    places = {rank: (parent, tuple(children[rank])) for rank, parent in enumerate(parents)}
    problem = disagreement(places) or incompleteness(places, 6)
    assert (problem is None) == is_tree_slowly(places, 6)


def test_a_tree_that_is_one() -> None:
    places: Places = {0: (-1, (1, 4)), 1: (0, (2,)), 2: (1, ()), 4: (0, ()), 3: (2, ())}
    assert disagreement(places) == "rank 3 names 2 as its parent, which does not name it"
    places[2] = (1, (3,))
    assert disagreement(places) is None
    assert incompleteness(places, 5) is None
    assert is_tree_slowly(places, 5)


@pytest.mark.parametrize(
    ("ring", "num_ranks", "problem"),
    [
        ({0: (2, 1), 1: (0, 2), 2: (1, 0)}, 3, None),
        ({0: (2, 1), 1: (0, 2)}, 3, "rank 2, which follows 1, says nothing"),
        ({0: (2, 1), 1: (0, 2), 2: (1, 0)}, 4, "only 3 of 4 ranks say their place"),
        ({0: (1, 1), 1: (0, 0), 2: (3, 3), 3: (2, 2)}, 4, "closes after 2 of 4 ranks"),
        ({0: (2, 1), 1: (2, 2), 2: (1, 0)}, 3, "rank 0 names 1 as the next one, which names 2 before it"),
        ({0: (0, 0)}, None, "the number of ranks is not known"),
    ],
)
def test_why_neighbours_are_no_ring(ring: Neighbours, num_ranks: int | None, problem: str | None) -> None:
    assert from_neighbours(0, ring, num_ranks).problem == problem


@pytest.mark.parametrize(
    ("order", "cut", "num_ranks", "problem"),
    [
        ([0, 2, 1], False, 3, None),
        ([0, 2], False, 3, "only 2 of 3 ranks are printed"),
        ([0, 2, 2], False, 3, "rank 2 twice"),
        ([0, 3, 1], False, 3, "rank 3 of 3"),
        ([0, 1], True, 2, "cut"),
        (list(range(20)), False, None, "20 ranks, the most that NCCL printed before 2.24"),
        ([0, 1], False, None, "the number of ranks is not known"),
    ],
)
def test_why_a_printed_order_is_no_ring(
    order: list[int], cut: bool, num_ranks: int | None, problem: str | None
) -> None:
    ring = from_order(0, order, cut, num_ranks)
    assert (ring.problem, ring.complete) == (problem, problem is None)


@pytest.mark.parametrize(
    ("places", "num_ranks", "problem"),
    [
        ({0: (-1, (1,)), 1: (0, ())}, 3, "only 2 of 3 ranks say their place"),
        ({0: (-1, (1,)), 1: (5, ())}, 2, "rank 0 names 1 as its child, which names 5 as its parent"),
        ({0: (-1, ()), 1: (-1, ())}, 2, "2 roots"),
        ({0: (-1, ()), 1: (2, (2,)), 2: (1, (1,))}, 3, "only 1 of 3 ranks are reached from the root"),
        ({0: (1, (1,)), 1: (0, (0,))}, 2, "0 roots"),
        ({0: (-1, (7,)), 1: (7, ())}, 2, "rank 0 names 7, which says nothing"),
        ({0: (-1, (1, 1)), 1: (0, ())}, 2, "rank 0 names a rank twice, or itself"),
    ],
)
def test_why_places_are_no_tree(places: Places, num_ranks: int, problem: str) -> None:
    assert (disagreement(places) or incompleteness(places, num_ranks)) == problem


def test_orders_of_more_than_20_ranks_are_never_taken_for_whole() -> None:
    text = start(0, 24) + line(0, "Channel 00/16 :" + "".join(f" {rank:3d}" for rank in range(20)))
    (ring,) = communicator(text)["rings"]
    assert (len(ring["order"]), ring["complete"]) == (20, False)
    assert ring["problem"] == "only 20 of 24 ranks are printed"


def test_dots_end_an_order_and_the_number_that_they_touch_may_have_lost_digits() -> None:
    text = start(0, 3) + line(0, "Channel 00/02 : 0 1 2...") + line(0, "Channel 01/02 : 0 1 2 ...")
    touched, apart = communicator(text)["rings"]
    assert touched["order"] == [0, 1]
    assert apart["order"] == [0, 1, 2]
    assert (apart["complete"], apart["problem"]) == (False, "cut")


def test_neighbours_of_all_ranks_complete_an_order_that_was_cut() -> None:
    text = "".join(start(rank, 24) for rank in range(24))
    text += line(0, "Channel 00/01 :" + "".join(f" {rank:3d}" for rank in range(20)))
    text += all_ranks(24, "Ring 00 : {previous} -> {rank} -> {following}")
    (ring,) = communicator(text)["rings"]
    assert (ring["source"], ring["complete"], ring["order"]) == ("neighbours", True, list(range(24)))


def test_an_order_that_contradicts_the_neighbours_is_told() -> None:
    text = "".join(start(rank, 3) for rank in range(3)) + line(0, "Channel 00/01 : 0 2 1")
    text += all_ranks(3, "Ring 00 : {previous} -> {rank} -> {following}")
    (ring,) = communicator(text)["rings"]
    assert (ring["complete"], ring["problem"]) == (False, "the order that is printed and the ranks' own places differ")


def test_lines_that_differ_are_told() -> None:
    text = start(0, 2) + line(0, "Channel 00/01 : 0 1") + line(0, "Channel 00/01 : 1 0")
    text += line(0, "Trees [0] 1/-1/-1->0->-1") + line(0, "Trees [0] -1/-1/-1->0->1")
    data = communicator(text)
    assert data["rings"][0]["problem"] == "two lines differ in the order of this channel"
    assert data["trees"][0]["problem"] == "two lines differ in a rank's place"
    assert not data["trees"][0]["complete"]


def test_a_trees_line_that_was_cut_gives_what_is_whole() -> None:
    entries = " ".join(f"[{channel}] -1/-1/-1->0->1" for channel in range(60))
    cut = "Trees " + entries[: entries.index(" [51]")]  # of whose last number nobody knows whether it was 12
    assert len(cut) > 1000
    trees = communicator(start(0, 2) + line(0, cut))["trees"]
    assert len(trees) == cut.count("->0->1") - 1
    short = communicator(start(0, 2) + line(0, "Trees [0] -1/-1/-1->0->1 [1] -1/-1/-1->0-"))["trees"]
    assert [tree["channel"] for tree in short] == [0]


def test_trees_of_the_graph_subsystem_say_the_same() -> None:
    text = start(0, 2) + start(1, 2) + line(0, "Tree 0 : -1 -> 0 -> 1/-1/-1") + line(1, "Tree 0 : 0 -> 1 -> -1/-1/-1")
    text += line(0, "Trees [0] 1/-1/-1->0->-1")
    (tree,) = communicator(text)["trees"]
    assert (tree["complete"], tree["roots"], tree["depth"]) == (True, [0], 1)
