"""The tables of `ringtree sql`: their columns, and how each is made from the stored records.

For: the one place that defines what can be asked; `ringtree sql` without a query prints it. Not for: opening or filling
the database (query.py).

All tables join on run_id; cells, visits, samples and rank_times on (run_id, launch, arm, size_bytes) too. Every time of
these tables is one call's: what was timed as a batch is divided by its number of calls.
"""

from __future__ import annotations

import json

# Of the tables that are read as they are stored: the type of each column, and what it means.
RUN_COLUMNS = {
    "run_id": ("VARCHAR", "`<utc>-<short id>`"),
    "path": ("VARCHAR", "directory of the run"),
    "created_utc": ("TIMESTAMP", "when the run was planned"),
    "purpose": ("VARCHAR", "comparison, or pilot: it decided where a comparison spends its time and is not evidence"),
    "collective": ("VARCHAR", "what was compared"),
    "op": ("VARCHAR", "reduction"),
    "dtype": ("VARCHAR", "element type"),
    "num_ranks": ("BIGINT", "ranks, a process each"),
    "arms": ("VARCHAR[]", "labels of the arms"),
    "reference": ("VARCHAR", "the arm that the others are compared with"),
    "sizes": ("BIGINT[]", "bytes"),
    "launches_planned": ("BIGINT", "launches of the whole plan"),
    "launches_stored": ("BIGINT", "launches that are stored and whole"),
    "seed": ("BIGINT", "of every order and of the data"),
    "margin": ("DOUBLE", "a difference below this share counts as none"),
    "level": ("DOUBLE", "of intervals"),
    "preset": ("VARCHAR", "null: none"),
    "emulated": ("BOOLEAN", "true: links were slowed on purpose"),
    "simulated": ("BOOLEAN", "true: no time was measured"),
    "host": ("VARCHAR", "name of the machine that planned the run"),
    "cpu_model": ("VARCHAR", "as the kernel names it"),
    "num_cpus": ("BIGINT", "cores of the machine"),
    "kernel": ("VARCHAR", "its release"),
    "git_commit": ("VARCHAR", "of ringtree's clone; null: not run from one"),
    "versions": ("JSON", "JSON: python, ringtree, numpy, torch"),
    "command": ("VARCHAR", "the command line"),
    "header": ("JSON", "JSON: all of run.json"),
}
LAUNCH_COLUMNS = {
    "run_id": ("VARCHAR", "the run"),
    "launch": ("BIGINT", "number in the order in which the plan's launches run"),
    "block": ("BIGINT", "launches of one block are paired"),
    "arms": ("VARCHAR[]", "labels of the arms that ran in it"),
    "seed": ("BIGINT", "of its data"),
    "started_utc": ("TIMESTAMP", "when it started"),
    "wall_seconds": ("DOUBLE", "how long it took, the start of processes included"),
    "load_average": ("DOUBLE", "over one minute, when it started"),
    "stolen": ("DOUBLE", "share of CPU time that the hypervisor took; null: not known"),
}
_OF_LAUNCH = {"run_id": "the run", "launch": "the launch"}
_OF_CELL = {**_OF_LAUNCH, "arm": "label of the arm", "size_bytes": "the size"}

# What each column means, by table and in the order of the columns. Types are said by the database.
TABLES: dict[str, dict[str, str]] = {
    "runs": {name: meaning for name, (_, meaning) in RUN_COLUMNS.items()},
    "launches": {name: meaning for name, (_, meaning) in LAUNCH_COLUMNS.items()},
    "cells": {
        **_OF_LAUNCH,
        "block": "its block",
        "arm": "label of the arm",
        "size_bytes": "the size",
        "algorithm": "what was executed; null: not known",
        "executed": "JSON: all that the arm says of what it executed",
        "batch": "calls that were timed together",
        "num_visits": "stays of the launch at this cell",
        "num_iterations": "samples",
        "median_seconds": "of the samples; null: no times",
        "min_seconds": "of the samples",
        "max_seconds": "of the samples",
        "min_handoff": "shortest probe of the core-to-core hand-off beside its visits, seconds; null: not probed",
        "max_handoff": "longest of these probes",
        "warm_up_iterations": "untimed iterations before the first sample",
        "warm_up_ended": "stable or limit",
        "verified": "true: every element on every rank was right in every iteration",
        "first_wrong": "JSON: the first wrong element",
        "error": "why there are no times",
    },
    "visits": {
        **_OF_CELL,
        "round": "in a round every arm of a size is visited once",
        "position": "place in the order of all visits of the launch",
        "num_iterations": "samples",
        "median_seconds": "of its samples",
        "handoff_before": "core-to-core hand-off probed right before it, one way, seconds; null: not probed",
        "handoff_after": "the same right after it",
    },
    "samples": {
        **_OF_CELL,
        "iteration": "number of the timed iteration in its cell, from 0",
        "round": "the round whose visit it belongs to",
        "seconds": "the slowest rank's time of a call",
    },
    "rank_times": {
        **_OF_CELL,
        "rank": "the rank",
        "iteration": "number of the timed iteration in its cell, from 0",
        "seconds": "this rank's time of a call",
    },
}

RUN_FIELDS = {name: kind for name, (kind, _) in RUN_COLUMNS.items()}
# The fields of launches.jsonl that the tables need; DuckDB's JSON reader skips the others.
LAUNCH_FIELDS = {
    name: "VARCHAR" if kind == "TIMESTAMP" else kind for name, (kind, _) in LAUNCH_COLUMNS.items() if name != "run_id"
}
CELL_FIELDS = {
    "launch": "BIGINT",
    "block": "BIGINT",
    "cells": """STRUCT(arm VARCHAR, size_bytes BIGINT, executed JSON, batch BIGINT, times DOUBLE[][],
        visits STRUCT(round BIGINT, position BIGINT, num_iterations BIGINT, handoff DOUBLE[])[],
        warm_up STRUCT(num_iterations BIGINT, ended VARCHAR), verified BOOLEAN, first_wrong JSON, error VARCHAR)[]""",
}

_STORED = (("runs", RUN_COLUMNS), ("launches", LAUNCH_COLUMNS))
CREATE = "".join(
    f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, (kind, _) in columns.items())});\n"
    for table, columns in _STORED
)
CREATE += """
CREATE SCHEMA stored;
CREATE TABLE stored.cells (run_id VARCHAR, launch BIGINT, block BIGINT, arm VARCHAR, size_bytes BIGINT, executed JSON,
    batch BIGINT, times DOUBLE[][], samples DOUBLE[],
    visits STRUCT(round BIGINT, position BIGINT, num_iterations BIGINT, handoff DOUBLE[])[],
    warm_up STRUCT(num_iterations BIGINT, ended VARCHAR), verified BOOLEAN, first_wrong JSON, error VARCHAR);

CREATE VIEW cells AS SELECT run_id, launch, block, arm, size_bytes, executed->>'algorithm' AS algorithm, executed,
    batch, len(visits) AS num_visits, len(samples) AS num_iterations,
    list_aggregate(samples, 'median') AS median_seconds, list_min(samples) AS min_seconds,
    list_max(samples) AS max_seconds,
    list_min([list_min(visit.handoff) FOR visit IN visits]) AS min_handoff,
    list_max([list_max(visit.handoff) FOR visit IN visits]) AS max_handoff,
    warm_up.num_iterations AS warm_up_iterations, warm_up.ended AS warm_up_ended, verified, first_wrong, error
    FROM stored.cells;

-- A visit's samples are those after the samples of the visits before it.
CREATE VIEW visits AS SELECT run_id, launch, arm, size_bytes, visit.round AS round, visit.position AS position,
    visit.num_iterations AS num_iterations,
    list_aggregate(samples[first + 1 : first + visit.num_iterations], 'median') AS median_seconds,
    visit.handoff[1] AS handoff_before, visit.handoff[2] AS handoff_after
    FROM (SELECT *, unnest(visits) AS visit,
        unnest([coalesce(list_sum([earlier.num_iterations FOR earlier IN visits[1 : index - 1]]), 0)
            FOR index IN range(1, len(visits) + 1)]) AS first
        FROM stored.cells);

-- Lists that are unnested beside each other stay in step.
CREATE VIEW samples AS SELECT run_id, launch, arm, size_bytes, unnest(range(len(samples))) AS iteration,
    unnest(flatten([[visit.round FOR i IN range(visit.num_iterations)] FOR visit IN visits])) AS round,
    unnest(samples) AS seconds
    FROM stored.cells;

CREATE VIEW rank_times AS SELECT run_id, launch, arm, size_bytes, rank, unnest(range(len(of_rank))) AS iteration,
    unnest(of_rank) / batch AS seconds
    FROM (SELECT run_id, launch, arm, size_bytes, batch, unnest(range(len(times))) AS rank, unnest(times) AS of_rank
        FROM stored.cells);
"""

INSERT_RUNS = f"INSERT INTO runs SELECT unnest(from_json(?, '{json.dumps([RUN_FIELDS])}'), max_depth := 2)"

# {source}: the reader of launches.jsonl files; files says which run each file belongs to.
INSERT_LAUNCHES = """
INSERT INTO launches SELECT file.run_id, launch, block, arms, seed, try_cast(started_utc AS TIMESTAMP), wall_seconds,
    load_average, stolen FROM {source} AS line JOIN files AS file ON file.name = line.filename
"""
INSERT_CELLS = """
INSERT INTO stored.cells SELECT run_id, launch, block, cell.arm, cell.size_bytes,
    CASE WHEN json_type(cell.executed) = 'NULL' THEN NULL ELSE cell.executed END, cell.batch, cell.times,
    [list_max([of_rank[index] FOR of_rank IN cell.times]) / cell.batch
        FOR index IN range(1, coalesce(len(cell.times[1]), 0) + 1)],
    cell.visits, cell.warm_up, cell.verified,
    CASE WHEN json_type(cell.first_wrong) = 'NULL' THEN NULL ELSE cell.first_wrong END, cell.error
    FROM (SELECT file.run_id, launch, block, unnest(cells) AS cell
        FROM {source} AS line JOIN files AS file ON file.name = line.filename)
"""
