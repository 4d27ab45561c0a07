"""The main of a rank process: read the specification, stay tied to the starter, run, say how it ended.

For: the beginning and the end of a rank process. Not for: what ranks do (rank_process.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from pydantic import BaseModel

from ringtree.measure.framing import read_json, write_report
from ringtree.measure.lifeline import tie_to_lab
from ringtree.measure.messages import DoneReport, FailureReport, RankSpec

ReportTo = Callable[[BaseModel], None]


def rank_main(arguments: list[str], run: Callable[[RankSpec, ReportTo], None]) -> int:
    """Runs `run(spec, report)`; returns the exit code. `arguments`: the descriptors of specification and reports, and
    of commands where there are any.

    `report` may be called from any thread. A failure is reported in one line; details go to standard error.
    """
    spec_from, report_to = (int(argument) for argument in arguments[:2])
    spec = RankSpec.model_validate_json(read_json(spec_from))
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
