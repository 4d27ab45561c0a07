"""Lines of NCCL_DEBUG=INFO, also in the middle of everything else that a program writes.

For: knowing which lines are NCCL's, who wrote them, and which of the readers of this folder takes each. Not for: what a
message says (init_lines.py, call_lines.py, process_lines.py), what comes of it (documents.py).

A log may hold millions of these lines, so a message is told by its first word before any pattern is tried on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringtree.logs.lines import Line
from ringtree.logs.nccl_info.call_lines import CallLines
from ringtree.logs.nccl_info.communicators import MAX_PROCESSES, Communicators, Process, Thread
from ringtree.logs.nccl_info.documents import communicator_documents
from ringtree.logs.nccl_info.init_lines import InitLines
from ringtree.logs.nccl_info.prefix import INFO, UNKNOWN, WARN, Head, known_host, parse_head, split_glued
from ringtree.logs.nccl_info.process_lines import ProcessLines, Versions
from ringtree.logs.nccl_info.warning_lines import WarningLines
from ringtree.logs.reading import Context, Sink

_MAX_THREADS = 1 << 17  # prefixes that are remembered; beyond, they are parsed again
_MAX_HOSTS = 4096
_CONNECTION = re.compile(
    r"Channel \d{1,4}(?:/\d{1,4})? ?: \d{1,9}\[\w{1,16}\] -> \d{1,9}\[\w{1,16}\].{0,40} via [A-Z]\w*/"
)
_OTHER_MARK = re.compile("NCCL (?:INFO|WARN|TRACE|CALL)")
Handler = Callable[[Thread, str, int], bool]


class NcclInfoReader:
    """A LineReader. Emits, at the end, a document for each communicator and one for all warnings."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._communicators = Communicators()
        self._versions = Versions()
        self._process = ProcessLines(self._versions)
        self._init = InitLines(self._communicators)
        self._calls = CallLines(self._communicators)
        self._warnings = WarningLines()
        self._processes: dict[tuple[str, str, int], Process] = {}
        self._threads: dict[tuple[str, str], Thread] = {}
        self._by_tid: dict[tuple[str, str, int, int], Thread] = {}
        self._hosts: dict[str, None] = {}
        self._last_head = ""
        self._handlers: dict[str, Handler] = {**self._init.handlers, **self._process.handlers, **self._calls.handlers}

    def feed(self, line: Line) -> bool:
        """Takes a line that is NCCL's, or that goes on from one."""
        text = line.text
        at = text.find(INFO)
        if at < 0:
            return self._feed_other(line)
        message = text[at + len(INFO) :]
        if " NCCL " in message:
            pieces = list(split_glued(text, self._hosts))
            if len(pieces) > 1:
                return self._feed_pieces(line, pieces)
        return self._info(line.job, text[:at], message, line.number)

    def finish(self) -> None:
        """Emits what was gathered."""
        processes = list(self._processes.values())
        for document in communicator_documents(self._communicators, processes, self._versions):
            self._sink.emit(document)
        warnings = self._warnings.document()
        if warnings is not None:
            self._sink.emit(warnings)

    def _info(self, job: str, head: str, message: str, number: int) -> bool:
        thread = self._threads.get((job, head))
        if thread is None:
            parsed = parse_head(head)
            if parsed is None:
                return False
            thread = self._thread(job, parsed)
            thread.prefix_length = len(head) + len(INFO)
            if len(self._threads) >= _MAX_THREADS:
                self._threads.clear()
            self._threads[job, head] = thread
        self._last_head = head
        word = message.partition(" ")[0]
        handler = self._handlers.get(word)
        if handler is not None and handler(thread, message, number):
            return True
        self._by_shape(thread, word, message, number)
        return True

    def _by_shape(self, thread: Thread, word: str, message: str, number: int) -> None:
        """Messages whose first word is not fixed. One that nobody knows is passed over: it is NCCL's all the same."""
        if not word or word == "ReduceScatter":  # the one row of the model's table that is not indented
            self._init.indented(thread, message, number)
        elif word.startswith("NCCL_") or word.startswith("RCCL_"):
            self._process.variable(thread, message)
        elif word[0].isdigit():
            if "channels" in message:
                self._init.channel_counts(thread, message, number)
            elif " Bytes -> " in message:
                self._calls.decision(thread, message, number)
        elif " comm 0x" in message:
            self._init.communicator(thread, message, number)
        elif " -> " in message and ":" in word:
            self._warnings.error_return(thread, word, message, number)

    def _feed_other(self, line: Line) -> bool:
        text = line.text
        if "CCL" not in text:
            if text.startswith("Channel ") and _CONNECTION.match(text) is not None:  # somebody took the prefix off
                return self._info(line.job, self._last_head, text, line.number)
            return self._init.matrix_row(line.raw)  # "AllReduce | 1" looks like a mark of docker compose
        at = text.find(WARN)
        if at >= 0:
            head = parse_head(text[:at])
            if head is None:
                return False
            self._warnings.warning(head, text[at + len(WARN) :], line.number)
            return True
        if self._versions.line(text):
            return True
        mark = _OTHER_MARK.search(text)
        before = text[: mark.start()] if mark is not None else ""
        return bool(before.strip()) and parse_head(before) is not None

    def _feed_pieces(self, line: Line, pieces: list[str]) -> bool:
        taken = False
        for piece in pieces:
            at = piece.find(INFO)
            if at >= 0:
                taken |= self._info(line.job, piece[:at], piece[at + len(INFO) :], line.number)
            elif WARN in piece:
                taken |= self._feed_other(Line(line.number, piece, line.job, piece))
        return taken

    def _thread(self, job: str, head: Head) -> Thread:
        if head.glued:
            head = head._replace(host=known_host(head.host, self._hosts))
        elif len(self._hosts) < _MAX_HOSTS:
            self._hosts[head.host] = None
        key = (job, head.host, head.pid, head.tid)
        thread = self._by_tid.get(key)
        if thread is None:
            process = self._processes.get(key[:3])
            if process is None:
                if len(self._processes) >= MAX_PROCESSES:
                    job, head = "", UNKNOWN
                process = self._processes.setdefault((job, head.host, head.pid), Process(head.host, head.pid, job))
            thread = Thread(process)
            if len(self._by_tid) < _MAX_THREADS:
                self._by_tid[key] = thread
        thread.device = head.device
        return thread
