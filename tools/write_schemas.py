"""Writes the JSON schemas of what ringtree stores and prints into docs/reference.

    python tools/write_schemas.py          # rewrite them
    python tools/write_schemas.py --check  # exit 1 if a file differs from the records

For: people and programs that read run.json, launches.jsonl, profile.json and `--json` without ringtree, or write
claims. Not for: checking records (pydantic does, when they are read).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from generated import write_or_check
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from ringtree.audit import AUDIT_FORMAT, Audit
from ringtree.audit.claims import CLAIMS_FORMAT, JUDGEMENTS_FORMAT, ClaimsFile, Judgements
from ringtree.comm.profile_format import FORMAT as PROFILE_FORMAT
from ringtree.comm.profile_format import Profile
from ringtree.doctor import FORMAT as DOCTOR_FORMAT
from ringtree.doctor import DoctorReport
from ringtree.explain.ladder_record import LADDER_FORMAT, Ladder
from ringtree.health import FORMAT as HEALTH_FORMAT
from ringtree.health import HealthReport
from ringtree.joblog.records import LINE
from ringtree.joblog.reports import (
    REPLAY_FORMAT,
    TRACE_FORMAT,
    WORTH_FORMAT,
    ReplayReport,
    TraceReport,
    WorthReport,
)
from ringtree.joblog.writing import FORMAT as JOB_TRACE_FORMAT
from ringtree.judge.comparison import SUMMARY_FORMAT, Comparison
from ringtree.judge.runs import FORMAT as RUNS_FORMAT
from ringtree.judge.runs import RunsComparison
from ringtree.judge.training_records import TRAINING_FORMAT, TrainingSummary
from ringtree.logs.export_schema import IMPORT_FORMAT, ImportRecord
from ringtree.logs.kinds import KINDS
from ringtree.results import FORMAT, Launch, Run
from ringtree.show.tuning import REGRET_FORMAT, RegretReport
from ringtree.tune.library.tuned import FORMAT as LIBRARY_RULES_FORMAT
from ringtree.tune.library.tuned import LibraryRules
from ringtree.tune.which import CHOICE_FORMAT, Explanation

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def schemas() -> dict[str, str]:
    """The text of each schema by the name of its file."""
    return {
        "run.schema.json": _schema(Run, FORMAT, "run.json"),
        "launch.schema.json": _schema(Launch, f"{FORMAT}#launch", "a line of launches.jsonl"),
        "comparison.schema.json": _schema(Comparison, SUMMARY_FORMAT, "ringtree compare --json, ringtree show --json"),
        "training.schema.json": _schema(TrainingSummary, TRAINING_FORMAT, "ringtree train --json"),
        "audit.schema.json": _schema(Audit, AUDIT_FORMAT, "ringtree audit --json"),
        "health.schema.json": _schema(HealthReport, HEALTH_FORMAT, "ringtree health --json"),
        "doctor.schema.json": _schema(DoctorReport, DOCTOR_FORMAT, "ringtree doctor --json"),
        "claims.schema.json": _schema(ClaimsFile, CLAIMS_FORMAT, "claims for ringtree audit --claims", "validation"),
        "judgements.schema.json": _schema(Judgements, JUDGEMENTS_FORMAT, "ringtree audit --claims --json"),
        "ladder.schema.json": _schema(Ladder, LADDER_FORMAT, "ringtree explain --json"),
        "profile.schema.json": _schema(Profile, PROFILE_FORMAT, "profile.json, ringtree tune --json"),
        "library-rules.schema.json": _schema(LibraryRules, LIBRARY_RULES_FORMAT, "ringtree tune --arms --json"),
        "choice.schema.json": _schema(Explanation, CHOICE_FORMAT, "ringtree which --json"),
        "compare-runs.schema.json": _schema(RunsComparison, RUNS_FORMAT, "ringtree compare-runs --json"),
        "import.schema.json": _schema(ImportRecord, IMPORT_FORMAT, "ringtree import --json"),
        "regret.schema.json": _schema(RegretReport, REGRET_FORMAT, "ringtree tune --check --json"),
        "documents.schema.json": _documents(),
        "job-trace.schema.json": _job_trace(),
        "trace.schema.json": _schema(TraceReport, TRACE_FORMAT, "ringtree trace --json"),
        "worth.schema.json": _schema(WorthReport, WORTH_FORMAT, "ringtree worth --json"),
        "replay.schema.json": _schema(ReplayReport, REPLAY_FORMAT, "ringtree replay --json"),
    }


def _documents() -> str:
    """What logs say that is not a table: the shape of `data`, by `kind`."""
    shapes, schema = models_json_schema([(shape, "serialization") for shape in KINDS.values()])
    schema["anyOf"] = [
        {"properties": {"kind": {"const": kind}, "data": shapes[shape, "serialization"]}, "required": ["kind", "data"]}
        for kind, shape in KINDS.items()
    ]
    title = "a document of ringtree.logs"
    return (
        json.dumps(
            {"$schema": DIALECT, "$id": "ringtree.documents/1", **schema, "title": title}, indent=1, sort_keys=True
        )
        + "\n"
    )


def _job_trace() -> str:
    """A line of a rank's file, by its `kind`."""
    schema = {"$schema": DIALECT, "$id": JOB_TRACE_FORMAT, **LINE.json_schema(), "title": "a line of rank-*.jsonl"}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def _schema(record: type[BaseModel], identity: str, title: str, mode: JsonSchemaMode = "serialization") -> str:
    """`mode`: validation for what people write, where fields with a default may be left out."""
    schema = record.model_json_schema(mode=mode)
    wrong: dict[str, Any] | None = schema.get("$defs", {}).get("WrongElement")
    if wrong is not None:
        # JSON has no NaN, and an element that is wrong may well be one: it is written as a string.
        for name in ("expected", "found"):
            wrong["properties"][name] = {"title": wrong["properties"][name]["title"], **NUMBER}
    return json.dumps({"$schema": DIALECT, "$id": identity, **schema, "title": title}, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    files = {REFERENCE / name: text for name, text in schemas().items()}
    sys.exit(write_or_check(sys.argv[1:], files, "python tools/write_schemas.py"))
