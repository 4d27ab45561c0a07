"""Well-formed all_reduce schedules drawn at random: every message that is sent is received, and nothing waits for ever.

For: tests that only ask when things happen. Not for: what schedules compute; these compute nonsense.

Steps are drawn one after the other for all ranks together, and a step receives only what an earlier one sent. Run in
that order no step waits, with at most two steps' messages on a link, which eight slots hold.
"""

from __future__ import annotations

import json
import random
from typing import Any

import ringtree

Link = tuple[int, int, int]  # sender, reader, tag
VERBS = {  # (messages that arrive: 0, 1 or more; whether one leaves) -> verbs
    (0, False): ("copy", "reduce"),
    (0, True): ("send", "copy_send"),
    (1, False): ("recv", "recv_reduce_copy"),
    (1, True): ("recv_send", "recv_copy_send", "recv_reduce_send", "recv_reduce_copy_send"),
    (2, False): ("recv_reduce_copy",),
    (2, True): ("recv_reduce_send", "recv_reduce_copy_send"),
}


class RandomSchedule:
    """`tree`: one lane a rank, a rank receives from one peer only, and no link carries more than two steps."""

    def __init__(self, seed: int, *, tree: bool = False) -> None:
        self.draw = random.Random(seed)
        self.tree = tree
        self.ranks = self.draw.randint(2, 6)
        self.chunks = self.draw.randint(1, 6)
        self.widest = self.draw.choice([width for width in (1, 2, 4) if width <= self.chunks])
        self.lanes = 1 if tree else self.draw.randint(1, 3)
        self.ports: list[tuple[int, int, int, list[int]]] = []  # rank, tag, lane, readers
        self.lane_of: dict[Link, int] = {}  # in which the reader receives
        self.under_way: dict[Link, list[dict[str, int]]] = {}
        self.sent: dict[Link, int] = {}
        self.programs: list[list[dict[str, Any]]] = [[] for _ in range(self.ranks)]
        self._draw_links()
        for rank in range(self.ranks):  # no lane may be without a step
            for lane in range(self.lanes):
                self._add(rank, lane, [], None)
        for _ in range(self.ranks * self.draw.randint(3, 15)):
            self._step(self.draw.randrange(self.ranks))
        for link, lane in self.lane_of.items():
            while self.under_way[link]:
                self._add(link[1], lane, [link], None)

    def schedule(self) -> ringtree.Schedule:
        """The schedule."""
        programs = [
            {"rank": rank, "scratch": 2 * self.widest, "steps": steps} for rank, steps in enumerate(self.programs)
        ]
        shape = {"ranks": self.ranks, "chunks": self.chunks, "widest": self.widest, "programs": programs}
        return ringtree.from_json(json.dumps({"name": "random", "collective": "all_reduce"} | shape))

    def _draw_links(self) -> None:
        parent = {rank: self.draw.choice([r for r in range(self.ranks) if r != rank]) for rank in range(self.ranks)}
        for rank in range(self.ranks):
            peers = [peer for peer in range(self.ranks) if (parent[peer] == rank if self.tree else peer != rank)]
            for tag in range(self.draw.randint(1, 3) if peers else 0):
                readers = self.draw.sample(peers, self.draw.randint(1, min(3, len(peers))))
                self.ports.append((rank, tag, self.draw.randrange(self.lanes), readers))
                for reader in readers:
                    link = rank, reader, tag
                    self.lane_of[link], self.under_way[link], self.sent[link] = self.draw.randrange(self.lanes), [], 0

    def _chunks(self) -> dict[str, int]:
        return {"first": self.draw.randrange(self.chunks), "count": self.draw.randint(1, self.widest)}

    def _step(self, rank: int) -> None:
        lane = self.draw.randrange(self.lanes)
        waiting = [link for link, lane_of in self.lane_of.items() if link[1] == rank and lane_of == lane]
        waiting = [link for link in waiting if self.under_way[link] and self.draw.random() < 0.7]
        waiting = [link for link in waiting if self.under_way[link][0] == self.under_way[waiting[0]][0]]
        ports = [port for port in self.ports if port[0] == rank and port[2] == lane and self._has_room(port)]
        self._add(rank, lane, waiting, self.draw.choice(ports) if ports and self.draw.random() < 0.8 else None)

    def _has_room(self, port: tuple[int, int, int, list[int]]) -> bool:
        rank, tag, _, readers = port
        links = [(rank, reader, tag) for reader in readers]
        return all(len(self.under_way[link]) < 2 and not (self.tree and self.sent[link] == 2) for link in links)

    def _add(self, rank: int, lane: int, arriving: list[Link], port: tuple[int, int, int, list[int]] | None) -> None:
        chunks = [self.under_way[link].pop(0) for link in arriving] or [self._chunks()]
        verb = self.draw.choice(VERBS[min(2, len(arriving)), port is not None])
        step: dict[str, Any] = {"verb": verb, "lane": lane, "chunks": chunks[0]}
        step["recv"] = [{"peer": sender, "tag": tag} for sender, _, tag in arriving]
        places = ["output", {"scratch": 0}, {"scratch": self.widest}]
        if not arriving or "reduce" in verb:
            step["src"] = self.draw.choice([*places, "input"])
        if "copy" in verb or verb in ("recv", "reduce"):
            step["dst"] = self.draw.choice(places)
        if port is not None:
            _, tag, _, readers = port
            step["send"] = {"to": readers, "tag": tag}
            for reader in readers:
                self.under_way[rank, reader, tag].append(chunks[0])
                self.sent[rank, reader, tag] += 1
        self.programs[rank].append(step)
