"""Which communicator a line belongs to.

For: finding the communicator of a thread, of a pointer, of a process. Not for: what a line says of it (the readers of
lines), records (documents.py).

Only some lines name a communicator: "comm 0x5581 rank 0 nranks 8 … commId 0xabc - Init START". The pointer is the
process's own; commId (since 2.16) is the same on all ranks. What a thread writes while it makes a communicator belongs
to that one; what it writes later belongs to the one of its process that it can only be, or to none that is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ringtree.logs.nccl_info.facts import Budget, Facts

MAX_MEMBERS = 1 << 16  # ranks of all communicators of a file
MAX_GROUPS = 2000
MAX_PROCESSES = 1 << 16
_MAX_VARIABLES = 200  # of one process

Key = tuple[object, ...]  # what the ranks of a communicator have in common

JOINED_BY_SIZE = "ranks with the same number of ranks, none twice, since no commId is printed"
JOINED_BY_ORDER = "each process's communicators in the order in which they appear, since no line says which rank it is"


@dataclass(eq=False)
class Group:
    """A communicator: its ranks as far as they were seen, and what was said of it."""

    facts: Facts
    num_ranks: int | None
    comm_id: str | None = None
    joined_by: str | None = None
    created_by: str | None = None
    parent: Group | None = None
    color: int | None = None
    version: str | None = None
    members: list[Member] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Member:
    """One rank of a communicator in its process. `group` None: its lines did not name it yet."""

    process: Process
    facts: Facts
    group: Group | None = None
    rank: int | None = None
    num_ranks: int | None = None
    address: str = ""
    device: int | None = None
    bus_id: str | None = None
    local_rank: int | None = None
    state: str = "seen"
    init_seconds: float | None = None
    num_calls: int = 0
    last_op_count: int | None = None


@dataclass
class Process:
    """A process that writes. `said`: network, plugins; `loose`: lines that fit several of its communicators or none;
    `num_changes`: of its communicators, so that what was found once need not be looked for again."""

    host: str
    pid: int
    job: str
    members: list[Member] = field(default_factory=list)
    by_address: dict[str, Member] = field(default_factory=dict)
    num_anonymous: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    loose: Facts | None = None
    num_changes: int = 0

    def set_variable(self, name: str, value: str) -> None:
        """Keeps a variable that NCCL says it read."""
        if len(self.environment) < _MAX_VARIABLES:
            self.environment[name] = value


@dataclass(slots=True, eq=False)
class Thread:
    """A thread that writes: `current` is the communicator that it made last; `table`, `call` and `input` are what its
    last lines began; `found`: what its connections and its decisions were found to belong to."""

    process: Process
    device: int | None = None
    prefix_length: int = 0
    current: Member | None = None
    table: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    call: tuple[str, Member] | None = None
    input: tuple[str, str, int] | None = None
    found: dict[bool, tuple[int, Facts]] = field(default_factory=dict)


class Communicators:
    """All of a file. What exceeds the limits is gathered in `overflow`."""

    def __init__(self) -> None:
        self.budget = Budget()
        self.groups: list[Group] = []
        self.overflow = Group(Facts(self.budget), None)
        self.num_members = 0
        self.num_left_out = 0
        self._groups_of: dict[Key, list[Group]] = {}
        self._next: dict[tuple[Key, int | None], int] = {}

    def member_of_thread(self, thread: Thread, line: int) -> Member:
        """Returns what the thread is making: a communicator that is not complete, or one that is not named yet."""
        member = thread.current
        if member is None or member.state not in ("seen", "started"):
            member = self._new(thread.process, line)
            thread.current = member
        return member

    def facts_of_connection(self, thread: Thread, line: int) -> Facts:
        """Returns where a connection belongs: connections are also made later, by threads of their own."""
        if thread.current is not None:
            return thread.current.facts
        if thread.process.num_changes == 0:
            return self.member_of_thread(thread, line).facts
        return self._only_one(thread, line, as_rank_0=False)

    def facts_of_decision(self, thread: Thread, function: str, line: int) -> Facts:
        """Returns where a decision belongs. Only rank 0 prints them; before one may stand the call itself."""
        if thread.input is not None and (member := thread.process.by_address.get(thread.input[0])) is not None:
            return member.facts
        if thread.call is not None and thread.call[0] == function:
            return thread.call[1].facts
        return self._only_one(thread, line, as_rank_0=True)

    def _only_one(self, thread: Thread, line: int, *, as_rank_0: bool) -> Facts:
        """Returns the facts of the only communicator of the process that it can be, or of none."""
        process = thread.process
        found = thread.found.get(as_rank_0)
        if found is not None and found[0] == process.num_changes:
            return found[1]
        members = [
            member for member in process.members if (member.rank == 0 if as_rank_0 else member.group is not None)
        ]
        if len(members) > 1:
            members = [member for member in members if member.device == thread.device]
        facts = members[0].facts if len(members) == 1 else self.loose(process, line)
        thread.found[as_rank_0] = (process.num_changes, facts)
        return facts

    def loose(self, process: Process, line: int) -> Facts:
        """Returns where lines of a process go that name no communicator."""
        if process.loose is None:
            process.loose = Facts(self.budget, first_line=line)
        return process.loose

    def named(self, thread: Thread, address: str, rank: int, num_ranks: int, state: str | None, line: int) -> Member:
        """Returns the rank that a line names, now in `state` (None: no change). A pointer of one that ended may have
        become another."""
        process = thread.process
        member = process.by_address.get(address)
        if member is not None and (member.rank not in (None, rank) or _is_another(member.state, state)):
            member = None
        if member is None:
            current = thread.current
            if current is not None and current.group is None and not current.address:
                member = current
            else:
                member = self._new(process, line)
            member.address = address
            process.by_address[address] = member
        member.rank, member.num_ranks = rank, num_ranks
        member.state = state or (member.state if member.state != "seen" else "started")
        thread.current = member
        return member

    def called(self, process: Process, address: str, num_ranks: int | None, line: int) -> Member:
        """Returns the rank whose communicator a call names, which no other line may have named."""
        member = process.by_address.get(address)
        if member is None:
            member = self._new(process, line)
            member.address, member.num_ranks = address, num_ranks
            process.by_address[address] = member
        if member.group is None:
            turn = process.num_anonymous
            process.num_anonymous += 1
            self.place(member, ("called", num_ranks, turn), None, JOINED_BY_ORDER)
        return member

    def place(self, member: Member, key: Key, comm_id: str | None, joined_by: str | None) -> Group | None:
        """Puts a rank into the first communicator of this key in which there is room for it."""
        if member.group is not None:
            return member.group
        groups = self._groups_of.setdefault(key, [])
        place = (key, member.rank)
        index = self._next.get(place, 0) if member.rank is not None else 0
        if index >= len(groups):
            if len(self.groups) >= MAX_GROUPS:
                self.num_left_out += 1
                self._enter(member, self.overflow)
                return None
            groups.append(Group(Facts(self.budget), member.num_ranks))
            self.groups.append(groups[-1])
            index = len(groups) - 1
        self._next[place] = index + 1
        group = groups[index]
        group.comm_id, group.joined_by = comm_id, joined_by
        group.members.append(member)
        self._enter(member, group)
        group.version = group.version or member.process.version
        return group

    def finish(self, processes: list[Process]) -> Group | None:
        """Returns what belongs to no communicator that is known, as if it were one; None if there is nothing."""
        rest = self.overflow
        for process in processes:
            for member in process.members:
                if member.group is None:
                    self._enter(member, rest)
            if process.loose is not None:
                rest.facts.merge(process.loose)
            rest.version = rest.version or process.version
        return rest if rest.facts.num_lines or self.num_left_out else None

    def _enter(self, member: Member, group: Group) -> None:
        group.facts.merge(member.facts)
        member.group, member.facts = group, group.facts
        member.process.num_changes += 1

    def _new(self, process: Process, line: int) -> Member:
        member = Member(process, Facts(self.budget, first_line=line))
        if self.num_members < MAX_MEMBERS:
            self.num_members += 1
            process.members.append(member)
        else:
            self.num_left_out += 1
            member.group, member.facts = self.overflow, self.overflow.facts
        return member


def _is_another(before: str, now: str | None) -> bool:
    if now == "started":
        return before != "seen"
    return now == "complete" and before not in ("seen", "started")
