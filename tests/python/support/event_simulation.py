"""A slow, obvious simulation of a schedule on a network: the reference of core/simulate, with no code in common.

For: small random cases. Not for: anything large: each step of time looks at every lane and fills all links anew.

`steps[rank][lane]`: dictionaries of chunks (bytes by pass), recv and send (connections), folds, copies, and waits for
(lane, step, by slice, previous pass).
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

NEAR = 1e-12  # seconds: the core counts picoseconds


def fair_shares(active: dict[Any, tuple[Any, ...]], rates: list[float]) -> dict[Any, float]:
    """Returns max-min fair rates; `active`: the links and the cap of each, and, if not 1, what it counts on them."""
    counts = {one: dict(zip(way[0], way[2] if len(way) > 2 else [1.0] * len(way[0]), strict=True))
              for one, way in active.items()}  # fmt: skip
    share = dict.fromkeys(active, 0.0)
    left, rising = list(rates), set(active)
    while rising:
        users = [sum(counts[one].get(link, 0) for one in rising) for link in range(len(rates))]
        rise = min(active[one][1] - share[one] for one in rising)
        rise = min([rise, *(left[link] / users[link] for link in range(len(rates)) if users[link])])
        left = [rest - rise * user for rest, user in zip(left, users, strict=True)]
        for one in sorted(rising):
            share[one] += rise
            full = any(left[link] <= 1e-9 * rates[link] for link in active[one][0])
            if full or share[one] >= active[one][1] * (1 - 1e-9):
                rising.discard(one)
    return share


class EventSimulation:
    """`lanes[key]`: steps in order; `route[connection]`: as fair_shares() takes it, and `reads[connection]`, of what a
    core reads after it has arrived; `latency[connection]`; `rates` of links; `efficiency`: data's share of what is on
    the wire."""

    def __init__(
        self, lanes: Any, route: Any, reads: Any, latency: Any, rates: Any, passes: int, slice_bytes: int, slots: int,
        efficiency: float,
    ):  # fmt: skip
        self.efficiency = efficiency
        self.lanes, self.route, self.latency, self.rates = lanes, route, latency, rates
        self.reads = reads
        self.passes, self.slice_bytes, self.slots = passes, slice_bytes, slots
        self.place = dict.fromkeys(lanes, (0, 0, 0))  # pass, step, slice to do next
        self.busy: dict[Any, float] = {}  # until when; for ever while it reads
        self.reading: dict[Any, tuple[Any, float]] = {}  # connection -> its lane, bytes that are not read
        self.sent: dict[Any, list[float]] = defaultdict(list)  # bytes of each message
        self.crossed: dict[Any, list[float]] = defaultdict(list)  # when each arrives
        self.read: dict[Any, int] = defaultdict(int)
        self.read_at: dict[Any, list[float]] = defaultdict(list)  # when a core had read each
        self.left: dict[Any, float] = {}  # bytes of the message that crosses
        self.finished: dict[Any, float] = dict.fromkeys(lanes, 0.0)
        self.ends: dict[Any, list[float]] = defaultdict(list)  # of each slice, by lane

    def slices(self, step: Any, number: int) -> int:
        return max(1, math.ceil(float(step["bytes"][number]) / self.slice_bytes))

    def skip_empty(self, key: Any) -> None:
        """A step without bytes has nothing to do after the first pass."""
        number, at, piece = self.place[key]
        steps = self.lanes[key]
        if piece >= self.slices(steps[at], number):
            at, piece = at + 1, 0
        while True:
            if at == len(steps):
                number, at = number + 1, 0
            if number == self.passes or number == 0 or steps[at]["bytes"][number] > 0:
                break
            at += 1
        self.place[key] = (number, at, piece)

    def may_begin(self, key: Any, now: float) -> bool:
        number, at, piece = self.place[key]
        if key in self.busy or number == self.passes:
            return False
        step = self.lanes[key][at]
        for link in step["recv"]:
            if len(self.crossed[link]) <= self.read[link] or self.crossed[link][self.read[link]] > now + NEAR / 2:
                return False
        if any(len(self.sent[link]) - self.read[link] >= self.slots for link in step["send"]):
            return False
        for lane, wanted, by_slice, previous in step["waits"]:
            if previous and number == 0:
                continue
            there = self.place[(key[0], key[1], lane)]
            if by_slice and there[:2] == (number - previous, wanted):
                if there[2] <= piece:
                    return False
            elif there[:2] <= (number - previous, wanted):
                return False
        return True

    def work(self, key: Any) -> tuple[float, float]:
        """Returns the bytes of the next slice and the seconds that its lane is busy with it."""
        number, at, piece = self.place[key]
        step = self.lanes[key][at]
        size = min(self.slice_bytes, step["bytes"][number] - piece * self.slice_bytes)
        return size, size * step["seconds_per_byte"]

    def run(self) -> dict[Any, float]:
        """Returns when each lane has finished."""
        now = 0.0
        while True:
            moved = True
            while moved:  # all that happens at this time
                moved = False
                for key in self.lanes:
                    if key in self.busy and self.busy[key] <= now + NEAR / 2:
                        moved = True
                        self.finish_slice(key, now)
                    if self.may_begin(key, now):
                        moved = True
                        self.begin_slice(key, now)
                for link, (key, left) in list(self.reading.items()):
                    if left <= 1e-7:
                        del self.reading[link]
                        self.read_at[link].append(now)
                        moved = True
                        if all(other != key for other, _ in self.reading.values()):
                            self.busy[key] = now + self.work(key)[1]
                for link in list(self.sent):
                    if link in self.left and self.left[link] <= 1e-7:
                        del self.left[link]
                        self.crossed[link].append(now + self.latency[link])
                        moved = True
                    if link not in self.left and len(self.crossed[link]) < len(self.sent[link]):
                        self.left[link] = self.sent[link][len(self.crossed[link])]
                        moved = True
            ways = {("cross", link): self.route[link] for link in self.left}
            ways |= {("read", link): self.reads[link] for link in self.reading}
            shares = fair_shares(ways, self.rates)
            arrivals = [times[self.read[link]] for link, times in self.crossed.items() if len(times) > self.read[link]]
            ends = [now + left / shares["cross", link] for link, left in self.left.items()]
            ends += [now + left / shares["read", link] for link, (_, left) in self.reading.items()]
            later = [time for time in (*self.busy.values(), *arrivals, *ends) if now + NEAR / 2 < time < math.inf]
            if not later:
                assert all(place[0] == self.passes for place in self.place.values()), "waits for ever"
                return self.finished
            passed = min(later) - now
            for link in self.left:
                self.left[link] -= shares["cross", link] * passed
            for link, (key, left) in self.reading.items():
                self.reading[link] = key, left - shares["read", link] * passed
            now = min(later)

    def begin_slice(self, key: Any, now: float) -> None:
        """It reads its messages where a core does that, then folds or copies."""
        at = self.place[key][1]
        messages = [link for link in self.lanes[key][at]["recv"] if link in self.reads]
        for link in messages:
            self.reading[link] = key, self.sent[link][self.read[link]]
        self.busy[key] = math.inf if messages else now + self.work(key)[1]

    def finish_slice(self, key: Any, now: float) -> None:
        del self.busy[key]
        number, at, piece = self.place[key]
        step, size = self.lanes[key][at], self.work(key)[0]
        for link in step["recv"]:
            self.read[link] += 1
        for link in step["send"]:
            self.sent[link].append(math.ceil(size / self.efficiency - 1e-9))
        self.place[key] = (number, at, piece + 1)
        self.skip_empty(key)
        self.finished[key] = now
        self.ends[key].append(now)


def waits_of(steps: Any) -> list[list[tuple[int, int, bool, bool]]]:
    """Returns what each step of a rank waits for in other lanes: (lane, step of the rank, by slice, previous pass), by
    the rule of core/schedule/dependencies.cpp: conflicts on a place, in order, as if in place; scratch also in the pass
    behind."""
    waits: list[list[tuple[int, int, bool, bool]]] = [[] for _ in steps]
    written: dict[Any, Any] = {}
    read: dict[Any, list[Any]] = defaultdict(list)
    for number in (0, 1):
        for index, step in enumerate(steps):
            found: dict[int, tuple[int, bool, bool]] = {}

            def wait_for(earlier: Any, place: Any, step: Any = step, number: int = number, found: Any = found) -> None:
                first = steps[earlier[0]] if earlier else step
                if first.lane == step.lane or (number == 1 and earlier[1] == 1):
                    return
                slots = [one[1] for one in (first.src, first.dst) if one and one[0] == "scratch"]
                same = first.chunks == step.chunks and (
                    place[0] != "scratch" or all(slot == place[1] for slot in slots)
                )
                same = same and (earlier[1] == number or len(step.chunks) == 1)
                wait = earlier[0], same, earlier[1] < number
                kept = found.get(first.lane, wait)
                if wait[0] == kept[0]:
                    found[first.lane] = wait[0], wait[1] and kept[1], kept[2]
                elif wait[0] > kept[0]:
                    found[first.lane] = wait

            for place, writes in ((step.src, False), (step.dst, True)):
                if not place or (number == 1 and place[0] != "scratch"):
                    continue
                for i, chunk in enumerate(step.chunks):
                    key = ("scratch", place[1] + i) if place[0] == "scratch" else ("data", chunk)
                    wait_for(written.get(key), place)
                    if writes:
                        for earlier in read.pop(key, []):
                            wait_for(earlier, place)
                        written[key] = index, number
                    else:
                        read[key].append((index, number))
            here = {lane for lane, _, _, previous in waits[index] if not previous}
            waits[index] += [(lane, *wait) for lane, wait in sorted(found.items()) if number == 0 or lane not in here]
    return waits
