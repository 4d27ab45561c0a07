"""ringtree: collective algorithms as data; every number with a pedigree.

comm = ringtree.init()
comm.all_reduce(array)
"""

from ringtree._core import ThreadStore
from ringtree.comm.communicator import Choice, Communicator, init, protocols, support
from ringtree.comm.group import Group, group
from ringtree.comm.rank_threads import run
from ringtree.comm.rank_trace import RankTrace, TracedCall
from ringtree.comm.shared import empty
from ringtree.comm.work import Work
from ringtree.errors import (
    DeadlineError,
    MismatchError,
    PeerError,
    RingtreeError,
    ScheduleError,
    UsageError,
    VerificationError,
)
from ringtree.schedules import algorithms, model
from ringtree.schedules.builder import INPUT, OUTPUT, Chunks, ProgramBuilder
from ringtree.schedules.emulation import Emulation
from ringtree.schedules.format import from_json, to_json
from ringtree.schedules.schedule import Schedule, Step, build, schedule, verify, verify_report
from ringtree.version import __version__

__all__ = [
    "INPUT",
    "OUTPUT",
    "Choice",
    "Chunks",
    "Communicator",
    "DeadlineError",
    "Emulation",
    "Group",
    "MismatchError",
    "PeerError",
    "ProgramBuilder",
    "RankTrace",
    "RingtreeError",
    "Schedule",
    "ScheduleError",
    "Step",
    "ThreadStore",
    "TracedCall",
    "UsageError",
    "VerificationError",
    "Work",
    "__version__",
    "algorithms",
    "build",
    "empty",
    "from_json",
    "group",
    "init",
    "model",
    "protocols",
    "run",
    "schedule",
    "support",
    "to_json",
    "verify",
    "verify_report",
]
