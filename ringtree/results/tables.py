"""The tables of `ringtree sql`: their columns, and how each is made from the stored records.

For: the one place that defines what can be asked; `ringtree sql` without a query prints it. Not for: opening or filling
the database (query.py).

All tables join on run_id; cells, visits, samples and rank_times on (run_id, launch, arm, size_bytes) too. Every time of
these tables is one call's: what was timed as a batch is divided by its number of calls.
"""

from __future__ import annotations

import json

# What each column means, by table and in the order of the columns. Types are said by the database.
TABLES: dict[str, dict[str, str]] = {
    "runs": {
        "run_id": "`<utc>-<short id>`",
        "path": "directory of the run",
        "created_utc": "when the run was planned",
        "purpose": "comparison, or pilot: it decided where a comparison spends its time and is not evidence",
        "collective": "what was compared",
        "op": "reduction",
        "dtype": "element type",
        "num_ranks": "ranks, a process each",
        "arms": "labels of the arms",
        "reference": "the arm that the others are compared with",
        "sizes": "bytes",
        "launches_planned": "launches of the whole plan",
        "launches_stored": "launches that are stored and whole",
        "seed": "of every order and of the data",
        "margin": "a difference below this share counts as none",
        "level": "of intervals",
        "preset": "null: none",
        "emulated": "true: links were slowed on purpose",
        "host": "name of the machine that planned the run",
        "cpu_model": "as the kernel names it",
        "num_cpus": "cores of the machine",
        "kernel": "its release",
        "git_commit": "of ringtree's clone; null: not run from one",
        "versions": "JSON: python, ringtree, numpy, torch",
        "command": "the command line",
        "header": "JSON: all of run.json",
    },
    "launches": {
        "run_id": "the run",
        "launch": "number in the order in which the plan's launches run",
        "block": "launches of one block are paired",
        "arms": "labels of the arms that ran in it",
        "seed": "of its data",
        "started_utc": "when it started",
        "wall_seconds": "how long it took, the start of processes included",
        "load_average": "over one minute, when it started",
        "stolen": "share of CPU time that the hypervisor took; null: not known",
    },
    "cells": {
        "run_id": "the run",
        "launch": "the launch",
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
        "run_id": "the run",
        "launch": "the launch",
        "arm": "label of the arm",
        "size_bytes": "the size",
        "round": "in a round every arm of a size is visited once",
        "position": "place in the order of all visits of the launch",
        "num_iterations": "samples",
        "median_seconds": "of its samples",
        "handoff_before": "core-to-core hand-off probed right before it, one way, seconds; null: not probed",
        "handoff_after": "the same right after it",
    },
    "samples": {
        "run_id": "the run",
        "launch": "the launch",
        "arm": "label of the arm",
        "size_bytes": "the size",
        "iteration": "number of the timed iteration in its cell, from 0",
        "round": "the round whose visit it belongs to",
        "seconds": "the slowest rank's time of a call",
    },
    "rank_times": {
        "run_id": "the run",
        "launch": "the launch",
        "arm": "label of the arm",
        "size_bytes": "the size",
        "rank": "the rank",
        "iteration": "number of the timed iteration in its cell, from 0",
        "seconds": "this rank's time of a call",
    },
}

RUN_FIELDS = {
    "run_id": "VARCHAR",
    "path": "VARCHAR",
    "created_utc": "TIMESTAMP",
    "purpose": "VARCHAR",
    "collective": "VARCHAR",
    "op": "VARCHAR",
    "dtype": "VARCHAR",
    "num_ranks": "BIGINT",
    "arms": "VARCHAR[]",
    "reference": "VARCHAR",
    "sizes": "BIGINT[]",
    "launches_planned": "BIGINT",
    "launches_stored": "BIGINT",
    "seed": "BIGINT",
    "margin": "DOUBLE",
    "level": "DOUBLE",
    "preset": "VARCHAR",
    "emulated": "BOOLEAN",
    "host": "VARCHAR",
    "cpu_model": "VARCHAR",
    "num_cpus": "BIGINT",
    "kernel": "VARCHAR",
    "git_commit": "VARCHAR",
    "versions": "JSON",
    "command": "VARCHAR",
    "header": "JSON",
}

# The fields of launches.jsonl that the tables need; DuckDB's JSON reader skips the others.
LAUNCH_FIELDS = {
    "launch": "BIGINT",
    "block": "BIGINT",
    "arms": "VARCHAR[]",
    "seed": "BIGINT",
    "started_utc": "VARCHAR",
    "wall_seconds": "DOUBLE",
    "load_average": "DOUBLE",
    "stolen": "DOUBLE",
}
CELL_FIELDS = {
    "launch": "BIGINT",
    "block": "BIGINT",
    "cells": """STRUCT(arm VARCHAR, size_bytes BIGINT, executed JSON, batch BIGINT, times DOUBLE[][],
        visits STRUCT(round BIGINT, position BIGINT, num_iterations BIGINT, handoff DOUBLE[])[],
        warm_up STRUCT(num_iterations BIGINT, ended VARCHAR), verified BOOLEAN, first_wrong JSON, error VARCHAR)[]""",
}

CREATE = """
CREATE TABLE launches (run_id VARCHAR, launch BIGINT, block BIGINT, arms VARCHAR[], seed BIGINT, started_utc TIMESTAMP,
    wall_seconds DOUBLE, load_average DOUBLE, stolen DOUBLE);
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

CREATE_RUNS = f"CREATE TABLE runs ({', '.join(f'{name} {kind}' for name, kind in RUN_FIELDS.items())})"
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
