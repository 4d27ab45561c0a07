"""ringtree: collective algorithms as data; every number with a pedigree.

comm = ringtree.init()
comm.all_reduce(array)
"""

from ringtree import algorithms, model
from ringtree._core import ThreadStore
from ringtree.builder import INPUT, OUTPUT, Chunks, ProgramBuilder
from ringtree.communicator import Choice, Communicator, Emulation, init, protocols, support
from ringtree.errors import (
    DeadlineError,
    MismatchError,
    PeerError,
    RingtreeError,
    ScheduleError,
    UsageError,
    VerificationError,
)
from ringtree.group import Group, group
from ringtree.launch import run
from ringtree.rank_trace import RankTrace, TracedCall
from ringtree.schedule import Schedule, Step, build, schedule, verify, verify_report
from ringtree.schedule_format import from_json, to_json
from ringtree.shared import empty
from ringtree.work import Work

__version__ = "0.1.0"

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
