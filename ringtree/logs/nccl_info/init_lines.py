"""What NCCL writes while it makes a communicator: ranks, rings, trees, connections, graphs, the model's table.

For: taking these lines apart. Not for: putting rings and trees together (channels.py), which communicator a line
belongs to (communicators.py).

A line may be cut anywhere, by NCCL (1,023 characters, 127 for orders), by a terminal or by another process that wrote
into it: what is not whole is not taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringtree.logs.nccl_info.communicators import JOINED_BY_SIZE, Communicators, Group, Member, Thread
from ringtree.logs.nccl_info.facts import NEIGHBOURS, PLACES, Facts
from ringtree.nccl.names import COLLECTIVES, TUNED

_N = r"(-?\d{1,9})"
_COMM = re.compile(
    r"(?:(\w{1,60}) )?comm (0x[0-9a-f]{1,16}) rank (\d{1,9}) nranks (\d{1,9})(?: cudaDev (\d{1,9}))?(?: nvmlDev \d+)?"
    r"(?: busId ([0-9a-f]{1,16}))?(?: parent (0x[0-9a-f]{1,16}|\(nil\)))?(?: (?:splitCount|childCount) (\d{1,9}))?"
    r"(?: color (-?\d{1,10}) key -?\d{1,10})?(?: commId (0x[0-9a-f]{1,16}))? ?- "
    r"(Init START|Init COMPLETE|Destroy COMPLETE|Abort COMPLETE)"
)
_PLACE = re.compile(
    r"comm (0x[0-9a-f]{1,16}) rank (\d{1,9}) nRanks (\d{1,9}) nNodes (\d{1,9}) localRanks \d{1,9} localRank (\d{1,9})"
    r" MNNVL (\d)"
)
_STATES = {
    "Init START": "started",
    "Init COMPLETE": "complete",
    "Destroy COMPLETE": "destroyed",
    "Abort COMPLETE": "aborted",
}
_TIMINGS = re.compile(r"Init timings.*?: rank (\d{1,9}) nranks (\d{1,9}) total (\d{1,9}\.\d{1,9})")
_ORDER = re.compile(r"Channel (\d{1,9})(?:/\d{1,9})? ?: ([ \d]*)(\.\.\.|\.*$)?")
_NEIGHBOURS = re.compile(rf"Ring (\d{{1,9}}) : {_N} -> {_N} -> {_N}(?!\d)")
_DOWN = r"(?P<one>-?\d{1,9})/(?P<two>-?\d{1,9})/(?P<three>-?\d{1,9})"
_TREES = (
    # From 2.8 on; 2.5 to 2.7 print the tree once more with the direction turned, behind a bar.
    re.compile(rf"\[(?P<channel>\d{{1,9}})\] {_DOWN}->(?P<rank>-?\d{{1,9}})->(?P<parent>-?\d{{1,9}})(?=\s|\||$)"),
    # 2.4
    re.compile(rf"\[(?P<channel>\d{{1,9}})\] (?P<parent>-?\d{{1,9}})->(?P<rank>-?\d{{1,9}})->{_DOWN}(?=\s|$)"),
    # One on a line.
    re.compile(rf"^Tree (?P<channel>\d{{1,9}}) : (?P<parent>-?\d{{1,9}}) -> (?P<rank>-?\d{{1,9}}) -> {_DOWN}(?=\s|$)"),
)
_LONGEST = 1015  # NCCL writes 1,023 characters, in older releases with its prefix: what ends there may have lost digits
_CHANNEL_COUNTS = re.compile(r"(\d{1,9}) (coll|collnet|nvls|p2p) channels( per peer)?")
_SYSTEM = re.compile(r"=== System : max(?:Bw|Width) (\d{1,9}\.\d{1,9}) total(?:Bw|Width) (\d{1,9}\.\d{1,9})")
_COST = re.compile(r"\s*(\d{1,12}\.\d{1,3})/\s*(\d{1,12}\.\d{1,3})\s*")
_MAX_COSTS = 1000
_MATRIX_ROW = re.compile(rf"\b(?:Function|{'|'.join(TUNED)}) \|[^|]{{1,400}}\|[^|]{{1,400}}$")


class InitLines:
    """Readers of these lines, by the first word of the message."""

    def __init__(self, communicators: Communicators) -> None:
        self._communicators = communicators
        self._matrix: tuple[Facts, list[str]] | None = None
        self.handlers: dict[str, Callable[[Thread, str, int], bool]] = {
            "Channel": self._channel,
            "Ring": self._ring,
            "Trees": self._trees,
            "Tree": self._trees,
            "CollNet": self._collnet,
            "Coll": self._collnet,
            "Pattern": self._pattern,
            "===": self._system,
            "comm": self.communicator,
            "[Rank": self.communicator,
            "ncclCommInitRank": self.communicator,
            "ncclCommSplit": self.communicator,
            "Init": self._timings,
            "Latency/AlgBw": self._table_head,
            "Enabled": self._enabled,
            "Connected": self._statement,
            "NVLS": self._statement,
            "MNNVL": self._statement,
            "SHARP": self._statement,
            "CollNetDirect": self._statement,
        }

    def communicator(self, thread: Thread, message: str, number: int) -> bool:
        """Takes the lines that name a communicator."""
        found = _COMM.search(message)
        if found is None:
            return self._place(thread, message, number)
        function, address, rank, num_ranks, device, bus_id, parent, child, color, comm_id, event = found.groups()
        state = _STATES[event]
        member = self._communicators.named(thread, address, int(rank), int(num_ranks), state, number)
        member.bus_id = bus_id or member.bus_id
        member.device = member.device if device is None else int(device)
        group = self._group(member, parent, child, color, comm_id)
        if group is not None:
            group.created_by = group.created_by or function
        self._seen(member.facts, number)
        return True

    def _group(
        self, member: Member, parent: str | None, child: str | None, color: str | None, comm_id: str | None
    ) -> Group | None:
        place = self._communicators.place
        if member.group is not None:
            return member.group
        above = member.process.by_address.get(parent) if parent is not None else None
        if above is not None and above.group is not None and color is not None:
            group = place(member, ("split", id(above.group), child, color), None, None)
            if group is not None:
                group.parent, group.color = above.group, int(color)
            return group
        if comm_id is not None and parent is None:
            return place(member, ("id", comm_id, member.num_ranks), comm_id, None)
        if member.state == "started" and parent is None:
            return None  # its end says more, or nothing more
        return place(member, ("size", member.num_ranks), None, JOINED_BY_SIZE)

    def _place(self, thread: Thread, message: str, number: int) -> bool:
        found = _PLACE.search(message)
        if found is None:
            return False
        address, rank, num_ranks, num_hosts, local_rank, mnnvl = found.groups()
        member = self._communicators.named(thread, address, int(rank), int(num_ranks), None, number)
        member.local_rank = int(local_rank)
        member.facts.num_hosts = int(num_hosts)
        if mnnvl != "0":
            member.facts.count(member.facts.statements, f"MNNVL {mnnvl}", "statements")
        self._seen(member.facts, number)
        return True

    def _timings(self, thread: Thread, message: str, number: int) -> bool:
        found = _TIMINGS.match(message)
        member = thread.current
        if found is not None and member is not None and member.rank == int(found.group(1)):
            member.init_seconds = float(found.group(3))
            self._seen(member.facts, number)
        return True

    def _channel(self, thread: Thread, message: str, number: int) -> bool:
        if self._connection(thread, message, number):
            return True
        found = _ORDER.match(message)
        if found is None or "->" in message:
            return True
        facts = self._making(thread, number)
        ranks = found.group(2).split()
        if any(len(rank) > 9 for rank in ranks):
            return True
        # The three dots stand over the last digits, so a number that touches them may have lost some.
        cut = found.group(3) == "..." or found.end() < len(message.rstrip())
        if cut and ranks and found.group(2)[-1] != " ":
            ranks.pop()
        facts.keep_order(int(found.group(1)), tuple(map(int, ranks)), cut)
        return True

    def _connection(self, thread: Thread, message: str, number: int) -> bool:
        via = message.find(" via ")
        if via < 0:
            return False
        facts = self._communicators.facts_of_connection(thread, number)
        before = message[:via]
        direction = "send" if before.endswith("[send]") else "receive" if before.endswith("[receive]") else ""
        facts.count_key(facts.transports, (direction, message[via + 5 : via + 200]), "connections")
        self._seen(facts, number)
        return True

    def _ring(self, thread: Thread, message: str, number: int) -> bool:
        if self._connection(thread, message, number):  # up to 2.7 its line begins like this
            return True
        found = _NEIGHBOURS.match(message)
        if found is not None:
            channel, previous, rank, following = map(int, found.groups())
            self._making(thread, number).keep_place(NEIGHBOURS, channel, rank, (previous, following))
        return True

    def _trees(self, thread: Thread, message: str, number: int) -> bool:
        places = [found for pattern in _TREES for found in pattern.finditer(message)]
        if not places and message.startswith("Tree "):
            return True
        facts = self._making(thread, number)
        long = thread.prefix_length + len(message) >= _LONGEST
        for found in places:
            if not (long and found.end() == len(message)):
                channel, rank, parent, *down = map(int, found.group("channel", "rank", "parent", "one", "two", "three"))
                children = tuple(sorted(child for child in down if child >= 0))
                facts.keep_place(PLACES, channel, rank, (parent, children))
        return True

    def _collnet(self, thread: Thread, message: str, number: int) -> bool:
        return self._connection(thread, message, number) or self._statement(thread, message, number)

    def _pattern(self, thread: Thread, message: str, number: int) -> bool:
        facts = self._making(thread, number)
        facts.count(facts.graphs, message.rstrip(), "graphs")
        return True

    def _system(self, thread: Thread, message: str, number: int) -> bool:
        found = _SYSTEM.match(message)
        if found is not None:
            self._making(thread, number).system = (float(found.group(1)), float(found.group(2)))
        return True

    def channel_counts(self, thread: Thread, message: str, number: int) -> None:
        """Takes "16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 16 p2p channels per peer"."""
        counts = _CHANNEL_COUNTS.findall(message)
        if counts:
            facts = self._making(thread, number)
            for num, what, per_peer in counts:
                facts.channels[f"{what}_per_peer" if per_peer else what] = int(num)

    def indented(self, thread: Thread, message: str, number: int) -> None:
        """Takes rows of the model's table, most of which begin with blanks."""
        text = message.lstrip()
        if text.startswith("Latency/AlgBw"):
            self._table_head(thread, text, number)
        elif text.startswith("Algorithm"):
            algorithms = tuple(cell.strip()[:20] for cell in text.split("|")[1:-1])
            thread.table = (tuple(name for name in algorithms[:20] for _ in range(3)), ())
        elif text.startswith("Protocol"):
            protocols = tuple(cell.strip()[:20] for cell in text.split("|")[1:-1])
            thread.table = (thread.table[0], protocols[: len(thread.table[0])])
        elif text.startswith(TUNED):
            self._table_row(thread, text, number)

    def _table_head(self, thread: Thread, message: str, number: int) -> bool:
        """Up to 2.13 all algorithms stand side by side: "Latency/AlgBw |    Tree/    LL |    Tree/ LL128 | …"."""
        pairs = [cell.split("/") for cell in message.split("|")[1:] if cell.count("/") == 1][:60]
        thread.table = (
            tuple(algorithm.strip()[:20] for algorithm, _ in pairs),
            tuple(protocol.strip()[:20] for _, protocol in pairs),
        )
        return True

    def _table_row(self, thread: Thread, message: str, number: int) -> None:
        function, bar, cells = message.partition("|")
        function = function.strip()
        algorithms, protocols = thread.table
        if not bar or function not in TUNED or not protocols:
            return
        facts = self._making(thread, number)
        for algorithm, protocol, cell in zip(algorithms, protocols, cells.split("|"), strict=False):
            found = _COST.fullmatch(cell)
            if found is not None and len(facts.costs) < _MAX_COSTS:
                facts.costs[function, algorithm, protocol] = (float(found.group(1)), float(found.group(2)))

    def _enabled(self, thread: Thread, message: str, number: int) -> bool:
        if message.startswith("Enabled NCCL Func/Proto/Algo Matrix"):
            self._matrix = (self._making(thread, number), [])
        return True

    def matrix_row(self, text: str) -> bool:
        """Takes a row of the matrix of what NCCL_ALGO and NCCL_PROTO leave, which has no prefix of NCCL's."""
        found = _MATRIX_ROW.search(text) if self._matrix is not None else None
        if self._matrix is None or found is None:
            return False
        facts, names = self._matrix
        cells = found.group().replace("|", " ").split()
        if cells[:1] == ["Function"] and not names:
            names.extend(cells[1:20])
            return True
        if not cells or cells[0] not in COLLECTIVES or len(cells) != len(names) + 1:
            return False
        if all(cell.isdigit() and len(cell) < 5 for cell in cells[1:]):
            facts.enabled[cells[0]] = dict(zip(names, map(int, cells[1:]), strict=True))
            return True
        return False

    def _statement(self, thread: Thread, message: str, number: int) -> bool:
        facts = self._communicators.facts_of_connection(thread, number)
        if message.startswith("Connected"):
            text = message.strip()
        else:
            text = re.sub(r"0x[0-9a-f]+|\b\d+\b", "#", message.strip()[:200])
        facts.count(facts.statements, text, "statements")
        self._seen(facts, number)
        return True

    def _making(self, thread: Thread, number: int) -> Facts:
        facts = self._communicators.member_of_thread(thread, number).facts
        self._seen(facts, number)
        return facts

    def _seen(self, facts: Facts, number: int) -> None:
        facts.num_lines += 1
        facts.last_line = number
