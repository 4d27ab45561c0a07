"""The main of every rank process: read the specification, stay tied to the starter, run, say how it ended.

For: what is the same whatever the ranks do. Not for: what they do (rank_process.py here and its like).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from ringtree.lab.framing import read_spec, write_report
from ringtree.lab.lifeline import tie_to_lab
from ringtree.lab.messages import DoneReport, FailureReport, ProcessSpec

SpecT = TypeVar("SpecT", bound=ProcessSpec)
ReportTo = Callable[[BaseModel], None]


def rank_main(arguments: list[str], kind: type[SpecT], run: Callable[[SpecT, ReportTo], None]) -> int:
    """Runs `run(spec, report)`; returns the exit code. `arguments`: the descriptors of specification and reports.

    `report` may be called from any thread. A
    failure is reported in one line; details go to standard error.
    """
    spec_from, report_to = (int(argument) for argument in arguments)
    spec = read_spec(spec_from, kind)
    tie_to_lab(spec_from, spec.process_group)
    lock = threading.Lock()  # a report is one line, and the threads of a process share the pipe

    def report(said: BaseModel) -> None:
        with lock:
            write_report(report_to, said)

    try:
        run(spec, report)
    except Exception as raised:  # the last place that can still tell the starter
        text = f"{type(raised).__name__}: {raised}".splitlines()
        report(FailureReport(text=text[0] if text else "failed"))
        return 1
    report(DoneReport())
    return 0
