"""RESULT: the record of raw samples with their provenance, and its store.

For: everything that reads or writes measurements. Not for: computing on them (ringtree.stats) or taking them
(ringtree.judge).
"""

from ringtree.results.graded import Graded
from ringtree.results.listing import RunListing, find_run, list_run, list_runs, num_planned
from ringtree.results.observation import Observation, Origin, Printed, SizeMeans
from ringtree.results.reading import StoredRun, read_run
from ringtree.results.record import Record
from ringtree.results.records import (
    FORMAT,
    ON_GPU,
    ArmPlan,
    Boundary,
    Cell,
    CopyRate,
    EmulatedCluster,
    Factor,
    FactorialDesign,
    Launch,
    Launcher,
    MachineLimits,
    Plan,
    Preflight,
    Provenance,
    Run,
    SimulatedCluster,
    SizePlan,
    Visit,
    WarmUp,
    WrongElement,
)
from ringtree.results.store import RunWriter, StoreError, new_run_id
from ringtree.results.training import (
    NOT_KNOWN,
    CalledCollective,
    RecordedCall,
    RecordedStep,
    TrainedCell,
    TrainedModel,
    TrainedSteps,
    TrainingPlan,
)
from ringtree.results.writer_lock import writer_of

__all__ = [
    "FORMAT",
    "NOT_KNOWN",
    "ON_GPU",
    "ArmPlan",
    "Boundary",
    "CalledCollective",
    "Cell",
    "CopyRate",
    "EmulatedCluster",
    "Factor",
    "FactorialDesign",
    "Graded",
    "Launch",
    "Launcher",
    "MachineLimits",
    "Observation",
    "Origin",
    "Plan",
    "Preflight",
    "Printed",
    "Provenance",
    "Record",
    "RecordedCall",
    "RecordedStep",
    "Run",
    "RunListing",
    "RunWriter",
    "SimulatedCluster",
    "SizeMeans",
    "SizePlan",
    "StoreError",
    "StoredRun",
    "TrainedCell",
    "TrainedModel",
    "TrainedSteps",
    "TrainingPlan",
    "Visit",
    "WarmUp",
    "WrongElement",
    "find_run",
    "list_run",
    "list_runs",
    "new_run_id",
    "num_planned",
    "read_run",
    "writer_of",
]
