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
from ringtree.launch import run
from ringtree.schedule import Schedule, Step, build, schedule, verify, verify_report
from ringtree.schedule_format import from_json, to_json
from ringtree.shared import empty

__version__ = "0.1.0"

__all__ = [
    "INPUT",
    "OUTPUT",
    "Choice",
    "Chunks",
    "Communicator",
    "DeadlineError",
    "Emulation",
    "MismatchError",
    "PeerError",
    "ProgramBuilder",
    "RingtreeError",
    "Schedule",
    "ScheduleError",
    "Step",
    "ThreadStore",
    "UsageError",
    "VerificationError",
    "__version__",
    "algorithms",
    "build",
    "empty",
    "from_json",
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
