"""A TCP proxy between two ranks that breaks what passes through it, on command.

For: faults that the kernel here cannot make: damaged bytes, delay, a cut in the middle of a frame, one connection of
several that resets. Not for: lost packets (hosts_support.Hosts.cut).

The caller's hello says what a connection is for (core/net/handshake_message.h); of connections for data the proxy also
knows where frames begin (core/transport/tcp_frame.h), so that a fault hits a header or a payload as asked.
"""

from __future__ import annotations

import contextlib
import queue
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

HELLO_BYTES, REPLY_BYTES, PROOF_BYTES = 64, 64, 32
HEADER_BYTES = 32
_CHUNK = 1 << 16


class Role(Enum):
    CONTROL = 1
    DATA = 2


class Fault(Enum):
    """reset: the next bytes end the connection by RST, to both. silence: nothing passes any more. header, payload: one
    bit of the next frame is changed. byte: of whatever comes next. cut: half of the next frame passes, then the
    connection ends in order. pause: nothing passes for `PAUSE_S`."""

    RESET = "reset"
    SILENCE = "silence"
    HEADER = "header"
    PAYLOAD = "payload"
    BYTE = "byte"
    CUT = "cut"
    PAUSE = "pause"


PAUSE_S = 2.0


@dataclass
class Frames:
    """Where in a stream of frames we are."""

    handshake_left: int
    header: bytearray = field(default_factory=bytearray)
    payload_left: int = 0

    def split(self, data: bytes) -> list[tuple[str, bytes]]:
        """The parts of `data`: "handshake", "header" (maybe a part of one) or "payload"."""
        parts = []
        while data:
            if self.handshake_left:
                kind, size = "handshake", min(self.handshake_left, len(data))
                self.handshake_left -= size
            elif self.payload_left:
                kind, size = "payload", min(self.payload_left, len(data))
                self.payload_left -= size
            else:
                kind, size = "header", min(HEADER_BYTES - len(self.header), len(data))
                self.header += data[:size]
                if len(self.header) == HEADER_BYTES:
                    self.payload_left = int(struct.unpack_from("<I", self.header, 16)[0])
                    self.header.clear()
            parts.append((kind, data[:size]))
            data = data[size:]
        return parts


@dataclass(eq=False)
class Way:
    """One direction of a connection. frames: None before the hello and where there are none."""

    source: socket.socket
    target: socket.socket
    connection: Connection
    frames: Frames | None
    closed: bool = False


@dataclass(eq=False)
class Connection:
    caller: socket.socket
    callee: socket.socket
    role: Role | None = None
    ways: list[Way] = field(default_factory=list)


def _flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1 :]


class Proxy:
    """Listens on 127.0.0.1 and passes connections on to where `upstream` says. A context manager with a thread."""

    def __init__(self, upstream: Callable[[], tuple[str, int]]) -> None:
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._selector = selectors.DefaultSelector()
        self._commands: queue.SimpleQueue[tuple[Role, Fault] | None] = queue.SimpleQueue()
        self._bell, self._rope = socket.socketpair()
        self._armed: tuple[Role, Fault] | None = None
        self._silent_until = 0.0
        self._applied = threading.Event()
        self.applied_at = 0.0
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def apply(self, role: Role, fault: Fault) -> float:
        """Breaks the next that passes on a connection of that role; returns when it was done."""
        self._commands.put((role, fault))
        self._rope.send(b"!")
        assert self._applied.wait(60), "nothing has passed"
        return self.applied_at

    def __enter__(self) -> Proxy:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._commands.put(None)
        self._rope.send(b"!")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Way):
                key.data.source.close()
                key.data.target.close()
        self._listener.close()
        self._selector.close()
        self._bell.close()
        self._rope.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._bell:
                    self._bell.recv(1)
                    self._armed = self._commands.get()
                    if self._armed is None:
                        return
                elif not key.data.closed:
                    self._pass_on(key.data)

    def _accept(self) -> None:
        caller, _ = self._listener.accept()
        try:
            callee = socket.create_connection(self._upstream())
        except OSError:
            caller.close()
            return
        connection = Connection(caller, callee)
        for source, target, handshake in ((caller, callee, HELLO_BYTES + PROOF_BYTES), (callee, caller, REPLY_BYTES)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            way = Way(source, target, connection, Frames(handshake))
            connection.ways.append(way)
            self._selector.register(source, selectors.EVENT_READ, way)

    def _pass_on(self, way: Way) -> None:
        connection = way.connection
        if connection.role is None and way.source is connection.caller:
            hello = way.source.recv(HELLO_BYTES, socket.MSG_PEEK)
            if len(hello) == HELLO_BYTES:
                connection.role = Role(struct.unpack_from("<H", hello, 8)[0])
        wait = self._silent_until - time.monotonic()
        if wait > 0:
            time.sleep(min(wait, 0.01))  # what comes stays with the kernel
            return
        try:
            data = way.source.recv(_CHUNK)
        except OSError:
            data = b""
        if not data:
            self._end(way)
            return
        passes = self._broken(way, data)
        try:
            if passes:
                way.target.sendall(passes)
        except OSError:
            self._end(way)

    def _end(self, way: Way) -> None:
        """Nothing more passes this way; the other end reads the end."""
        if way.closed:
            return
        way.closed = True
        self._selector.unregister(way.source)
        with contextlib.suppress(OSError):  # the other end has closed
            way.target.shutdown(socket.SHUT_WR)

    def _broken(self, way: Way, data: bytes) -> bytes:
        """What is to pass of `data`."""
        frames, role = way.frames, way.connection.role
        parts = frames.split(data) if frames is not None and role is Role.DATA else [("byte", data)]
        if self._armed is None or self._armed[0] is not role:
            return data
        fault = self._armed[1]
        wanted = {Fault.HEADER: "header", Fault.PAYLOAD: "payload", Fault.CUT: "payload"}.get(fault, "")
        hit = next((at for at, (kind, part) in enumerate(parts) if not wanted or kind == wanted), None)
        if hit is None:
            return data
        self._armed, self.applied_at = None, time.monotonic()
        before = b"".join(part for _, part in parts[:hit])
        after = b"".join(part for _, part in parts[hit + 1 :])
        passes = self._apply(fault, way, before, parts[hit][1], after)
        self._applied.set()
        return passes

    def _apply(self, fault: Fault, way: Way, before: bytes, part: bytes, after: bytes) -> bytes:
        if fault is Fault.RESET:
            for side in (way.connection.caller, way.connection.callee):
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for each in way.connection.ways:
                if not each.closed:
                    each.closed = True
                    self._selector.unregister(each.source)
            way.connection.caller.close()
            way.connection.callee.close()
            return b""
        if fault in (Fault.SILENCE, Fault.PAUSE):
            self._silent_until = time.monotonic() + (PAUSE_S if fault is Fault.PAUSE else 3600)
            return before + part + after
        if fault is Fault.CUT:
            way.target.sendall(before + part[: len(part) // 2])
            for each in way.connection.ways:
                self._end(each)
            return b""
        return before + _flip(part) + after
