"""The ports that `ibstat` and `ibstatus` list, also a few lines of them.

For: which ports are up, at which rate. Not for: what a rate gives (ringtree.hardware).
"""

from __future__ import annotations

import re
from typing import Any

from ringtree.logs.lines import Line
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document, Format, Shape

FORMAT = Format("ibstat")

_CA = re.compile(r"CA '([\w.:-]{1,60})'")
_PORT = re.compile(r"Port (\d{1,4}):")
_STATUS = re.compile(r"Infiniband device '([\w.:-]{1,60})' port (\d{1,4}) status:")
_FIELD = re.compile(r"([A-Za-z][A-Za-z_ ]{1,24}):\s*(.{0,80})")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,3})?(?!\d)")
_OF_DEVICE = ("ca type", "number of ports", "firmware version", "hardware version", "node guid", "system image guid")
_OF_PORT = ("base lid", "lmc", "sm lid", "capability mask", "port guid", "default gid", "sm_lid", "base_lid")
_FIELDS = {
    "state": "state",
    "physical state": "physical_state",
    "phys state": "physical_state",
    "rate": "rate_gbit_per_second",
    "link layer": "link_layer",
    "link_layer": "link_layer",
}
_NOTHING = dict.fromkeys(_FIELDS.values())
_MAX_PORTS = 10_000


class IbPort(Shape):
    """A port of `ibstat`. `rate_gbit_per_second` is the nominal rate of the whole port."""

    device: str | None
    port: int
    state: str | None
    physical_state: str | None
    rate_gbit_per_second: float | None
    link_layer: str | None
    line: int


class IbPorts(Shape):
    """`ibstat`, whole or in pieces."""

    ports: list[IbPort]
    num_active: int


class IbPortsReader:
    """A LineReader; a document for each run of such lines."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._ports: list[dict[str, Any]] = []  # an IbPort as it is read, line by line
        self._device: str | None = None
        self._in_port = False
        self._first = self._last = 0

    def feed(self, line: Line) -> bool:
        """Takes a device, a port, and what is said of them."""
        text = line.text.strip()
        taken = self._begins(text, line.number) or (self._first > 0 and self._goes_on(text))
        if taken:
            self._first = self._first or line.number
            self._last = line.number
        elif self._first:
            self.finish()
        return taken

    def finish(self) -> None:
        """Emits the ports, if there are any."""
        if self._ports:
            ports = [IbPort(**port) for port in self._ports]
            shape = IbPorts(ports=ports, num_active=sum((port.state or "").lower() == "active" for port in ports))
            title = f"{len(ports)} ports"
            self._sink.emit(Document(FORMAT, "ib_ports", self._first, shape.plain(), title, last_line=self._last))
        self._ports, self._device, self._in_port, self._first = [], None, False, 0

    def _begins(self, text: str, number: int) -> bool:
        if text.startswith("CA '") and (found := _CA.fullmatch(text)) is not None:
            self._device, self._in_port = found.group(1), False
            return True
        if text.startswith("Port ") and (found := _PORT.fullmatch(text)) is not None:
            return self._add(self._device, found.group(1), number)
        if text.startswith("Infiniband device") and (found := _STATUS.fullmatch(text)) is not None:
            return self._add(found.group(1), found.group(2), number)
        return False

    def _add(self, device: str | None, port: str, number: int) -> bool:
        if len(self._ports) >= _MAX_PORTS:
            self.finish()
        self._ports.append({"device": device, "port": int(port), "line": number, **_NOTHING})
        self._in_port = True
        return True

    def _goes_on(self, text: str) -> bool:
        found = _FIELD.fullmatch(text)
        if found is None:
            return text == "--"  # between the hits of grep
        name, value = found.group(1).lower(), found.group(2).strip()
        if not self._in_port:
            return name in _OF_DEVICE
        if name not in _FIELDS:
            return name in _OF_PORT or name in _OF_DEVICE
        said: str | float | None = value.rpartition(": ")[2] or None  # ibstatus: "4: ACTIVE"
        if name == "rate":
            rate = _NUMBER.match(value)
            said = float(rate.group()) if rate is not None else None
        self._ports[-1][_FIELDS[name]] = said
        return True
