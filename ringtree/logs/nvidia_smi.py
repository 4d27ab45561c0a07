"""What `nvidia-smi` prints without options, and `nvidia-smi -L`: the GPUs of a host.

For: their names, and the versions beside them. Not for: how they are joined (topology_matrix.py), rates
(ringtree.hardware).

The table of the first cuts names: "NVIDIA A100-SXM...". They are kept as they stand there.
"""

from __future__ import annotations

import re

from pydantic import Field

from ringtree.logs.lines import Line
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document, Format, Shape

FORMAT = Format("nvidia-smi")

_TITLE = re.compile(r"\|\s*NVIDIA-SMI (\S{1,40})\s+Driver Version: (\S{1,40})(?:\s+CUDA Version: (\S{1,20}))?")
_ROW = re.compile(r"\|\s*(\d{1,4})\s{1,4}([A-Za-z][\w .+/-]{2,60}?)\s+(?:On|Off|N/A|TCC|WDDM)\s*\|")
_LISTED = re.compile(r"GPU (\d{1,4}): ([^()]{3,80}?) \(UUID: [\w-]{1,80}\)")
_MAX_GPUS = 1024


class NvidiaGpus(Shape):
    """The GPUs that `nvidia-smi` names, one for each row; a name may be cut ("NVIDIA A100-SXM...")."""

    devices: list[str]
    driver: str | None
    cuda: str | None = Field(description="the newest version of CUDA that the driver has")


class NvidiaSmiReader:
    """A LineReader; the document comes when other lines follow."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._first = self._last = 0
        self._in_frame = False
        self._driver: str | None = None
        self._cuda: str | None = None
        self._devices: list[str] = []

    def feed(self, line: Line) -> bool:
        """Takes the framed table as a whole, and the lines of -L."""
        text = line.text.strip()
        taken = self._title(text) or self._listed(text) or (self._in_frame and text.startswith(("|", "+")))
        if taken:
            self._first, self._last = self._first or line.number, line.number
            row = _ROW.match(text) if self._in_frame else None
            if row is not None and len(self._devices) < _MAX_GPUS:
                self._devices.append(row.group(2))
        elif self._first:
            self.finish()
        return taken

    def finish(self) -> None:
        """Emits what was gathered."""
        if self._devices:
            data = NvidiaGpus(devices=self._devices, driver=self._driver, cuda=self._cuda).plain()
            self._sink.emit(Document(FORMAT, "nvidia_gpus", self._first, data, last_line=self._last))
        self._first, self._in_frame, self._driver, self._cuda, self._devices = 0, False, None, None, []

    def _title(self, text: str) -> bool:
        found = _TITLE.match(text) if "NVIDIA-SMI" in text else None
        if found is None:
            return False
        self.finish()
        self._in_frame, self._driver, self._cuda = True, found.group(2), found.group(3)
        return True

    def _listed(self, text: str) -> bool:
        found = _LISTED.fullmatch(text) if text.startswith("GPU ") else None
        if found is not None and len(self._devices) < _MAX_GPUS:
            self._devices.append(found.group(2))
        return found is not None
