"""Which process of a job speaks for its host where rank 0 can't, and when the silent ones may end.

The first of them to come, rank 0 apart, listens on an abstract Unix socket with the job's name; the others connect to
it and say their rank. When it finds that something must be said it asks the lowest of them to do so. Who says it sends
so over its connections, which close when it has ended. So the others know that it was said, and when they may end
themselves: mpirun ends all with the first. One that ended without a word has said nothing, and another takes its place.

An earlier job may have the same name, where a launcher gives no job id, and still have processes. So a word has its
time: one said before this process was started, or long before it failed, is that job's. And no job has a rank twice: of
those that are connected, in the order of their starts, the first one whose rank was there before begins another job.

For: processes of one host that have not met, perhaps as rank 0 is missing. Not for: what is said, and whether rank 0
can say it (who_speaks.py). Nothing is left behind: the kernel drops the name with its process.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

from ringtree.measure.join_limits import FIRST_WORD

_SAID, _ASKED = b"s", b"a"
_WHO = struct.Struct("!Id")  # what a member says of itself: its rank, and when it was started
_TIME = struct.Struct("!d")  # follows _SAID: seconds of the clock that counts from boot
_BACKLOG = 4096  # connections lie there until this process has something to say; old kernels take 128
_MEET_SECONDS = 1.0  # to find a place where others come and go at this moment
_SOCKET_SECONDS = 1.0  # for what the other end's kernel has taken already, unless more have come than may lie there
_PAUSE = 0.01
WORD_SECONDS = 30.0  # of processes that fail for one reason some find it later, by what they try before they give up
_LOOK_AGAIN = 0.1  # whether an earlier job has ended, or there is room for one more connection, or a free descriptor
_open: list[HostSpeaker] = []  # keeps the connections until the process ends, unless it closes them


class _Who(NamedTuple):
    rank: int
    started: float  # seconds since boot


class HostSpeaker:
    """One process of the job. `key`: the same in all of them on this host, and in no other job that runs; `started`:
    when, in seconds since boot; None: when the operating system says. Nothing raises: where sockets fail, a process is
    alone and speaks."""

    def __init__(self, key: str, rank: int, started: float | None = None) -> None:
        self._name, self._rank = f"\0ringtree-{os.geteuid()}-{key}-speaker", rank
        self._listener: socket.socket | None = None
        self._holder: socket.socket | None = None  # to the process that listens
        self._members: dict[socket.socket, _Who] = {}  # from those that do not
        self._found_no_room = False  # for one more connection to the process that listens
        self._has_no_descriptor = False  # for one that has come: it stays in the queue, and the listener ready
        self._took_over = False  # the place of one that ended; others may be about to come here from there
        self._is_asked = False  # to speak
        self._started = _start_of_this_process() if started is None else started
        self._failed: float | None = None
        self._said: float | None = None  # by this process or another
        _open.append(self)

    def join(self, needs_room: bool = False) -> None:
        """Takes a place, which rank 0 does only to speak: the others can tell better that it has died. One that finds
        no room takes it when it has something to hear, as then the process that listens makes some; `needs_room`: waits
        for it."""
        until = time.monotonic() + _MEET_SECONDS
        while not (self._listener or self._holder or self._listen() or self._connect()):
            if time.monotonic() > until or (self._waits_for_room and not needs_room):
                return
            time.sleep(_PAUSE)

    def note_failure(self) -> None:
        """From now on this process has something to say, or to hear; hears() and speaks() note it, too."""
        if self._failed is None:
            self._failed = _now()

    def speaks(self, patience: float = 0.0) -> bool:
        """Returns whether this process is to say it, and lets the others know; waits `patience` seconds for rank 0 to
        do so, and FIRST_WORD for the process that listens, or for a lower one, which have most likely the same to
        say."""
        if self.hears(patience, more_of_another=FIRST_WORD, until_asked=True):
            return False
        if self._ask_a_lower_one() and self.hears(FIRST_WORD):
            return False
        self.announce()
        return True

    def hears(self, seconds: float, more_of_another: float = 0.0, until_asked: bool = False) -> bool:
        """Returns whether another process says it, once that has ended, or the time is up; `more_of_another`: seconds
        more while another one listens; `until_asked`: not after this one was asked to speak."""
        self.note_failure()
        start = time.monotonic()
        while True:
            if self._waits_for_room:
                self.join()
            more = more_of_another if self._holder or self._waits_for_room else 0.0
            if self._took_over and not self._holder:
                more = min(more_of_another, _MEET_SECONDS)
            left = start + seconds + more - time.monotonic()
            heard = self._look(max(min(left, _LOOK_AGAIN) if self._waits_for_room else left, 0.0))
            if heard is not None:
                self._say_it(but=heard)
                self._stay(FIRST_WORD, end=heard)
                return True
            if left <= 0 or (until_asked and self._is_asked):
                return False

    def announce(self, num_others: int = 0, linger: float = 0.0) -> None:
        """Lets the others know that this process says it; waits `linger` seconds for `num_others` who come late."""
        self.join(needs_room=True)
        self._said = _now()
        self._say_it()
        self._stay(linger, num_others=num_others)

    def close(self) -> None:
        """All have met: the place is free."""
        for one in (self._listener, self._holder, *self._members):
            if one is not None:
                one.close()
        self._listener = self._holder = None
        self._members.clear()
        _open.remove(self)

    @property
    def _waits_for_room(self) -> bool:
        return self._found_no_room and not (self._listener or self._holder)

    def _listen(self) -> bool:
        def prepare(own: socket.socket) -> None:
            own.bind(self._name)
            own.listen(_BACKLOG)
            own.setblocking(False)

        self._listener = _made(prepare)
        return self._listener is not None

    def _connect(self) -> bool:
        def prepare(own: socket.socket) -> None:
            own.settimeout(_SOCKET_SECONDS)
            try:
                own.connect(self._name)
            except BlockingIOError:
                self._found_no_room = True
                raise
            _require_our_user(own)
            own.sendall(_WHO.pack(self._rank, self._started))

        self._found_no_room = False
        self._holder = _made(prepare)
        return self._holder is not None

    def _admit(self) -> None:
        """Takes those that have come."""
        self._has_no_descriptor = False
        while self._listener:
            try:
                member = self._listener.accept()[0]
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:
                self._has_no_descriptor = True
                return
            try:
                member.settimeout(_SOCKET_SECONDS)
                _require_our_user(member)
                self._members[member] = _who_is(member)
            except OSError:
                member.close()

    def _look(self, seconds: float) -> socket.socket | None:
        """Returns the connection over which it was heard, within `seconds`; None, perhaps sooner: none."""
        self._admit()
        for ready in self._ready((self._listener, self._holder, *self._members), seconds):
            if ready is self._listener:
                continue
            said = _received(ready)
            if said == _ASKED:
                self._is_asked = True
            elif said != _SAID:
                self._forget(ready)
            elif (ready is self._holder or ready in self._own_members()) and self._is_in_time(
                moment := _time_of(ready)
            ):
                self._said = moment
                return ready
            else:
                time.sleep(_LOOK_AGAIN)
                self._forget(ready)
        return None

    def _ready(self, places: Iterable[socket.socket | None], seconds: float) -> list[socket.socket]:
        """Returns those of the places at which there is something, within `seconds`, perhaps sooner none."""
        if self._has_no_descriptor:
            places, seconds = [one for one in places if one is not self._listener], min(seconds, _LOOK_AGAIN)
        there = [one for one in places if one is not None]
        found = wait(there, seconds)
        return [one for one in there if one in found]

    def _own_members(self) -> list[socket.socket]:
        """Returns the connections from those of this process's job."""
        mine = _Who(self._rank, self._started)
        group: dict[int, _Who] = {}  # by rank
        own: list[socket.socket] = []
        for who, place in sorted([(mine, None), *((who, place) for place, who in self._members.items())], key=_start):
            if group.get(who.rank, who) != who:
                if mine in group.values():
                    break
                group, own = {}, []
            group[who.rank] = who
            if place is not None:
                own.append(place)
        return own

    def _is_in_time(self, said: float) -> bool:
        failed = _now() if self._failed is None else self._failed
        return said >= max(self._started, failed - WORD_SECONDS)

    def _forget(self, ended: socket.socket) -> None:
        ended.close()
        if ended is self._holder:
            self._holder = None
            self.join()
            self._took_over = self._listener is not None
        else:
            del self._members[ended]

    def _ask_a_lower_one(self) -> bool:
        lowest = min(self._own_members(), key=lambda member: self._members[member].rank, default=None)
        if lowest is None or self._members[lowest].rank > self._rank:
            return False
        return _sent(lowest, _ASKED)

    def _say_it(self, but: socket.socket | None = None) -> None:
        self._admit()
        word = _SAID + _TIME.pack(_now() if self._said is None else self._said)
        for other in (self._holder, *self._own_members()):
            if other is not None and other is not but:
                _sent(other, word)

    def _stay(self, seconds: float, end: socket.socket | None = None, num_others: int | None = None) -> None:
        """Tells those that come within `seconds`, until who says it has ended at `end`, or until there are
        `num_others`."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and len(self._own_members()) != num_others:
            ready = self._ready((self._listener, end), left)
            if self._listener in ready or self._has_no_descriptor:
                self._say_it(but=end)
            if end is not None and end in ready and not _received(end):
                return


def _made(prepare: Callable[[socket.socket], None]) -> socket.socket | None:
    """Returns a socket after `prepare`; None if the operating system refuses either."""
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
        own = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        prepare(own)
        stack.pop_all()  # it stays open
        return own
    return None


def _require_our_user(connection: socket.socket) -> None:
    """Raises PermissionError if another user's process is at the other end: it may have taken the name."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    if struct.unpack("3i", credentials)[1] != os.geteuid():
        raise PermissionError


def _who_is(member: socket.socket) -> _Who:
    """Raises OSError if it has ended before it said it."""
    text = member.recv(_WHO.size, socket.MSG_WAITALL)
    if len(text) < _WHO.size:
        raise ConnectionError
    return _Who(*_WHO.unpack(text))


def _start(one: tuple[_Who, socket.socket | None]) -> float:
    return one[0].started


def _time_of(word: socket.socket) -> float:
    """Returns when it was said; of one that is cut off: long ago."""
    try:
        text = word.recv(_TIME.size, socket.MSG_WAITALL)
    except OSError:
        text = b""
    return float(_TIME.unpack(text)[0]) if len(text) == _TIME.size else 0.0


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _start_of_this_process() -> float:
    """Returns 0 where the operating system does not tell: then no word is too early."""
    try:
        after_name = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return int(after_name.split()[19]) / os.sysconf("SC_CLK_TCK")  # field 22 of proc_pid_stat(5)
    except (OSError, ValueError, IndexError):
        return 0.0


def _received(connection: socket.socket) -> bytes:
    """A byte of one that is ready; none: it has ended."""
    try:
        return connection.recv(1)
    except OSError:
        return b""


def _sent(connection: socket.socket, what: bytes) -> bool:
    try:
        return connection.send(what) > 0
    except OSError:  # it has ended
        return False
