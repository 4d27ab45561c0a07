"""core/simulate against the slow simulation of event_simulation.py, on small random schedules and networks.

For: slices, passes, slots, dependencies and shares together, to each slice and message. Not for: closed forms
(tests/core/simulate).
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from core_memory import ALL_CORES, CoreWork, folds_of, seconds_per_byte
from event_simulation import EventSimulation, fair_shares, waits_of
from random_schedule import RandomSchedule

import ringtree
from ringtree.errors import UsageError
from ringtree.schedules.algorithms import switch_table
from ringtree.simulate.run import TICKS_PER_SECOND, SimulatedCall, Simulator

GRAIN, EVEN_GRAIN, LEAST, SLOT = 64, 1024, 8192, 65536
MOST = 1_000_000


def cut(longest: int, widest: int, slots: int, slot_data: int) -> tuple[int, int, int]:
    """Returns slice bytes, pass bytes and passes, as core/schedule/layout.h says."""

    def parts(total: int, number: int, grain: int) -> int:
        return -(-total // (number * grain)) * grain

    per_step = slots // 2
    least = parts(max(LEAST, -(-widest * GRAIN // per_step)), 1, GRAIN)
    most = min(max(least, parts(longest * widest, min(max(longest * widest // least, 1), per_step), GRAIN)), slot_data)
    of_pass = per_step * most // widest // GRAIN * GRAIN
    passes = max(1, -(-longest // of_pass))
    if passes > 1:
        of_pass = min(of_pass, parts(longest, passes, EVEN_GRAIN))
        passes = -(-longest // of_pass)
    step = min(longest, of_pass) * widest
    pieces = -(-step // most)
    return min(most, parts(step, pieces, EVEN_GRAIN)) if pieces > 1 else most, of_pass, passes


def draw_memory(draw: random.Random, ranks: int, links: int) -> Any:
    """Returns cores that some links stand for in two of three networks, with a table of up to three rates in half."""
    levels = draw.choice([0, 0, 0, 1, 2, 3])
    has_cores = levels > 0 or draw.random() < 1 / 3
    return SimpleNamespace(
        core_rate=draw.choice([0.8, 2, 9]) * 1e9 if has_cores else 0.0,
        bytes=np.array(sorted(draw.sample([3e3, 2e4, 1e5, 4e5, 2e6], levels))),
        rate=np.array([draw.choice([1, 4, 30]) * 1e9 for _ in range(levels)]),
        link_core=np.array([draw.randint(-2, ranks - 1) for _ in range(links)] if has_cores else [], dtype=np.int32),
    )


def draw_network(draw: random.Random, ranks: int, pairs: tuple[list[int], list[int]]) -> Any:
    """Returns up to six links with routes of up to three of them, and what its cores take in half of the cases."""
    links = draw.randint(1, 6)
    routes = [draw.sample(range(links), draw.randint(0, min(3, links))) for _ in pairs[0]]
    return SimpleNamespace(
        link_rate=np.array([draw.choice([0.5, 1, 1, 2, 3.7]) * 1e9 for _ in range(links)]),
        link_latency=np.array([draw.choice([0, 1e-6, 2.3e-6, 40e-6]) for _ in range(links)]),
        pair_src=np.array(pairs[0], dtype=np.int32),
        pair_dst=np.array(pairs[1], dtype=np.int32),
        route_offsets=np.cumsum([0, *map(len, routes)]),
        route_links=np.array([link for route in routes for link in route], dtype=np.int32),
        rank_copy_rate=np.array([draw.choice([0.3, 1, 1, 5]) * 1e9 for _ in range(ranks)]),
        rank_reduce_rate=np.array([draw.choice([0.7, 4, 4]) * 1e9 for _ in range(ranks)]),
        launch_cost=0.0,
        routes=routes,
        memory=draw_memory(draw, ranks, links),
    )


def parts_of(schedule: Any, count: int, channels: int) -> list[list[int]]:
    """Returns the bytes of each chunk on each channel: as equal as can be, the longer ones first."""
    return [
        [4 * (length // channels + (channel < length % channels)) for _, length in schedule.layout(count)]
        for channel in range(channels)
    ]


def ways_of(link: Any, ids: list[int], network: Any, work: CoreWork | None) -> tuple[Any, Any]:
    """Returns what a message takes to cross, and then to be read, as fair_shares() takes it: reading takes the cores of
    its receiver alone, which crossing does not."""
    stands_for = dict(enumerate(network.memory.link_core))
    core = {one: int(stands_for.get(one, -1)) for one in ids}
    rates = network.rank_copy_rate[list(link[:2])]
    read = [one for one in ids if core[one] in (link[1], ALL_CORES)]
    cross = [one for one in ids if core[one] != link[1]]
    counts = {
        way: [work.on_link(way, link, core[one]) if work else 1.0 for one in of]
        for way, of in (("out", cross), ("in", read))
    }
    return (cross, rates[0] if read else min(rates), counts["out"]), (read, rates[1], counts["in"])


def read_by_core(ends: tuple[int, int], network: Any, pair: dict[tuple[int, int], int]) -> bool:
    """Returns whether a core of the receiver's is on the route."""
    core = network.memory.link_core
    return len(core) > 0 and any(core[one] in (ends[1], ALL_CORES) for one in network.routes[pair[ends]])


def reference(schedule: Any, count: int, network: Any, protocol: Any, channels: int = 1) -> EventSimulation:
    """Returns the simulation of a call, which has run."""
    parts = parts_of(schedule, count, channels)
    slot_data = int(SLOT * protocol.efficiency / GRAIN) * GRAIN
    piece, of_pass, passes = cut(max(map(max, parts)), schedule.widest, protocol.slots, slot_data)
    work = None
    if len(network.memory.link_core):
        work = CoreWork(
            schedule, parts, piece * protocol.slots, network.memory, protocol.efficiency, network.rank_reduce_rate
        )
    lanes: dict[Any, Any] = {}
    pair = {ends: i for i, ends in enumerate(zip(network.pair_src, network.pair_dst, strict=True))}
    route: dict[Any, Any] = {}
    reads: dict[Any, Any] = {}
    latency = {}
    for channel, rank in itertools.product(range(channels), range(schedule.num_ranks + len(schedule.switches))):
        steps, chunks = schedule.program(rank), parts[channel]
        if not steps:  # of a switch that nobody needs
            continue
        place: list[int] = []
        for step, waits in zip(steps, waits_of(steps), strict=True):
            lane = lanes.setdefault((rank, channel, step.lane), [])
            place.append(len(lane))
            own = [peer for peer, _ in step.recv if not read_by_core((peer, rank), network, pair)]
            folds = folds_of(step) * (len(own) / len(step.recv) if step.recv else 1)
            per_byte = folds / network.rank_reduce_rate[rank]
            if step.verb == "copy":
                per_byte = max(1 / network.rank_copy_rate[rank], work.copy_seconds(rank) if work else 0)
            if step.verb == "reduce" and work:
                per_byte += work.copy_seconds(rank)
            sends = [(rank, reader, step.send_tag, channel) for reader in step.send_to]
            for link in sends:
                ids = network.routes[pair[link[:2]]]
                route[link], reads[link] = ways_of(link, ids, network, work)
                latency[link] = protocol.step_latency + sum(network.link_latency[ids])
            lane.append(
                {
                    "bytes": [
                        sum(max(0, min(of_pass, chunks[chunk] - number * of_pass)) for chunk in step.chunks)
                        for number in range(passes)
                    ],
                    "recv": [(peer, rank, tag, channel) for peer, tag in step.recv],
                    "send": sends,
                    "seconds_per_byte": per_byte,
                    "waits": waits,
                }
            )
        for lane in range(1 + max(step.lane for step in steps)):
            for one in lanes[rank, channel, lane]:
                one["waits"] = [(of, place[at], by_slice, before) for of, at, by_slice, before in one["waits"]]
    reads = {link: way for link, way in reads.items() if way[0]}
    simulation = EventSimulation(
        lanes, route, reads, latency, list(network.link_rate), passes, piece, protocol.slots, protocol.efficiency
    )
    simulation.run()
    return simulation


Times = dict[Any, list[float]]


def recorded(schedule: Any, found: SimulatedCall) -> tuple[Times, Times, Times]:
    """Returns the ends of slices by lane, and by connection, as the reference calls them, when messages arrived and
    when they had been read."""
    assert found.recording is not None
    ends, arrivals, reads = defaultdict(list), defaultdict(list), defaultdict(list)
    slices = found.recording.slices
    for one in slices:
        ends[int(one["rank"]), int(one["channel"]), int(one["lane"])].append(float(one["end"]) / TICKS_PER_SECOND)
    for one in found.recording.messages:
        sender = slices[one["sent_by"]]
        tag = schedule.program(int(sender["rank"]))[sender["step"]].send_tag
        link = int(one["source"]), int(one["target"]), tag, int(one["channel"])
        arrivals[link].append(float(one["arrival"]) / TICKS_PER_SECOND)
        reads[link].append(float(one["read"]) / TICKS_PER_SECOND)
    return ends, arrivals, reads


def expect_same(found: dict[Any, list[float]], expected: dict[Any, list[float]], seed: int) -> None:
    assert set(found) == {key for key, times in expected.items() if times}, seed
    for key, times in found.items():
        assert times == pytest.approx(expected[key], rel=1e-6, abs=1e-10), (seed, key)


def expect_as_slow(schedule: Any, found: SimulatedCall, slow: EventSimulation, seed: int) -> None:
    expected = [
        max(time for key, time in slow.finished.items() if key[0] == rank) for rank in range(schedule.num_ranks)
    ]
    assert found.per_rank_seconds == pytest.approx(expected, rel=1e-6, abs=1e-10), seed
    ends, arrivals, reads = recorded(schedule, found)
    expect_same(ends, slow.ends, seed)
    expect_same(arrivals, slow.crossed, seed)
    expect_same({link: times for link, times in reads.items() if link in slow.reads}, slow.read_at, seed)
    assert all(not any(times) for link, times in reads.items() if link not in slow.reads), seed


def expect_as_long(schedule: Any, draw: random.Random, counts: list[int], seed: int) -> None:
    """Draws a network, a protocol, a size and channels, and simulates a call both ways."""
    simulator = Simulator(schedule)
    network = draw_network(draw, schedule.num_ranks + len(schedule.switches), simulator.pairs())
    slots = draw.choice([2, 4, 8])
    latency, count, channels = draw.choice([0, 1e-6]), draw.choice(counts), draw.choice([1, 1, 2, 3])
    efficiency = draw.choice([1.0, 0.9375, 0.5])
    protocol = SimpleNamespace(step_latency=latency, efficiency=efficiency, slot_bytes=SLOT, slots=slots)
    found = simulator.run(network, protocol, count=count, item_size=4, channels=channels, record=MOST)
    expect_as_slow(schedule, found, reference(schedule, count, network, protocol, channels), seed)
    assert sum(found.limit.values()) == pytest.approx(found.seconds, rel=1e-9), seed


@pytest.mark.parametrize("part", range(5))
def test_random_schedules_take_as_long(part: int) -> None:
    for seed in range(100 * part, 100 * part + 100):
        schedule = RandomSchedule(seed).schedule()
        expect_as_long(schedule, random.Random(seed), [1, 900, 5000, 30000, 70000], seed)


@pytest.mark.parametrize("part", range(2))
def test_switches_that_add_up_take_as_long(part: int) -> None:
    """Every algorithm of the switches' table, up to six ranks on up to three switches; links and rates are drawn for
    switches, too."""
    for seed in range(1000 + 30 * part, 1000 + 30 * part + 30):
        draw = random.Random(seed)
        ranks = draw.randint(2, 6)
        where = sorted(draw.choices(range(3), k=ranks))
        hosts = [sorted(set(where)).index(one) for one in where]
        fitting = [row for row in switch_table() if hosts[-1] == 0 or row.for_several_hosts]
        row = draw.choice(fitting)
        schedule = ringtree.schedule(draw.choice(row.collectives), row.name, ranks, hosts=hosts)
        expect_as_long(schedule, draw, [1, 900, 5000, 30000], seed)


MIXES = ["ring+double_tree", "ring:2+double_tree", "tree+halving_doubling", "one_shot+two_shot:2+chain"]


@pytest.mark.parametrize("name", MIXES)
def test_mixes_take_as_long(name: str) -> None:
    for seed in range(2000, 2015):
        draw = random.Random(f"{name} {seed}")
        schedule = ringtree.schedule("all_reduce", name, draw.choice([2, 3, 4, 6]))
        expect_as_long(schedule, draw, [1, 900, 5000, 30000], seed)


def test_shares_by_hand() -> None:
    """Of 12 three get 4 each; where one is held to 2 the others get 5; 3 over a link of 6 leave it half."""
    assert fair_shares({"a": ([0], 99), "b": ([0], 99), "c": ([0], 99)}, [12]) == {"a": 4, "b": 4, "c": 4}
    assert fair_shares({"a": ([0], 2), "b": ([0], 99), "c": ([0], 99)}, [12]) == {"a": 2, "b": 5, "c": 5}
    assert fair_shares({"a": ([0, 1], 99), "b": ([0], 99)}, [12, 3]) == {"a": 3, "b": 9}


def test_what_messages_count_by_hand() -> None:
    """Of 12, one that counts double and one that counts single get 4 each."""
    assert fair_shares({"a": ([0], 99, [2.0]), "b": ([0], 99)}, [12]) == {"a": 4, "b": 4}
    assert fair_shares({"a": ([0, 1], 99, [0.5, 1.0]), "b": ([0], 99)}, [12, 3]) == {"a": 3, "b": 10.5}


def test_a_rate_between_two_sizes_by_hand() -> None:
    memory = SimpleNamespace(bytes=[1e3, 1e5], rate=[4.0, 1.0])
    seconds = [seconds_per_byte(memory, size) for size in (0, 1e3, 1e4, 1e5, 1e9)]
    assert seconds == pytest.approx([0.25, 0.25, 0.625, 1, 1])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bytes": [2e3, 1e3]}, r"memory\.bytes\[1\] is 1000\.0*: sizes must be above 0 and ascending"),
        ({"rate": [1e9]}, "2 sizes of memory, but 1 rates"),
        ({"rate": [1e9, 0]}, r"memory\.rate\[1\] is 0\.0*: rates must be above 0"),
        ({"core_rate": 0.0}, r"memory\.core_rate is 0\.0*: it is above 0 and finite; leave `memory` out if .*"),
        ({"core_rate": math.inf}, r"memory\.core_rate is inf: it is above 0 and finite; leave `memory` out if .*"),
        ({"link_core": [0]}, r"\d link rates, but memory\.link_core has 1 entries"),
        ({"link_core": None}, r"memory\.link_core: no rank 99"),
    ],
)
def test_memory_that_can_not_be_is_one_line(changes: dict[str, Any], said: str) -> None:
    drawn = RandomSchedule(1)
    simulator = Simulator(drawn.schedule())
    draw = random.Random(3)
    network = draw_network(draw, 8, simulator.pairs())
    while len(network.link_rate) < 2:
        network = draw_network(draw, 8, simulator.pairs())
    good: dict[str, Any] = {"core_rate": 1e9, "bytes": [1e3, 2e3], "rate": [1e9, 1e9]}
    good["link_core"] = [0] * len(network.link_rate)
    wrong = [99] * len(network.link_rate) if changes.get("link_core", 0) is None else changes.get("link_core")
    made = {**good, **changes, **({} if wrong is None else {"link_core": wrong})}
    arrays = {key: np.array(value) for key, value in made.items() if key != "core_rate"}
    network.memory = SimpleNamespace(core_rate=made["core_rate"], **arrays)
    protocol = SimpleNamespace(step_latency=0, efficiency=1.0, slot_bytes=SLOT, slots=8)
    with pytest.raises(UsageError, match=rf"^network: {said}$"):
        simulator.run(network, protocol, count=1, item_size=4)


def test_missing_route_is_one_line() -> None:
    simulator = Simulator(RandomSchedule(1).schedule())
    network = draw_network(random.Random(1), 8, ([], []))
    protocol = SimpleNamespace(step_latency=0, efficiency=1.0, slot_bytes=SLOT, slots=8)
    with pytest.raises(UsageError, match=r"^network: no route \d -> \d, which random needs$"):
        simulator.run(network, protocol, count=1, item_size=4)
