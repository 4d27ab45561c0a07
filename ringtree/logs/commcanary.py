"""Results of CommCanary's experiments: JSON with the times of each rank and iteration.

For: cell results (commcanary.experiment.cell-result). Not for: its traces and requests.

A time is that of a whole program: several collectives with the work between them, as the file's timing_semantics
says. So a row has no size, and its table says how many collectives ran.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, BinaryIO

from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import MICROSECONDS, Printed, Row, Side, Table
from ringtree.logs.words import algorithm_in, collective_in

_MARK = "commcanary."
_MAX_BYTES = 1 << 25
_MAX_RANKS, _MAX_ITERATIONS, _MAX_REPRESENTATIONS = 1 << 16, 1 << 20, 1000
_RANK_TIMES = ("rank_timings_us", "rank_samples_us")
NO_TIMES = "a representation of CommCanary's without times"


class CommCanary:
    """A table of one row for each way in which the program was run (representation)."""

    format = "commcanary"

    def sniff(self, head: str) -> bool:
        """A JSON object that names one of CommCanary's schemas near its beginning or is a whole cell."""
        return head.startswith("{") and ('"cell_id"' in head[:1000] or _MARK in head[:1000]) and "_us" in head

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads the file. Raises UnreadableFileError if it is no such result."""
        text = source.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise UnreadableFileError("larger than CommCanary's results")
        data = _loaded(text)
        measurement = _object(data.get("measurement"))
        if not any(str(data.get(name, "")).startswith(_MARK) for name in ("schema", "measurement_schema")):
            raise UnreadableFileError("no schema of CommCanary's")
        line = 1 + text[: max(text.find(b"{"), 0)].count(b"\n")
        tables = []
        for name, one in list(_object(measurement.get("representations")).items())[:_MAX_REPRESENTATIONS]:
            table = _table(str(name), _object(one), data, measurement, line)
            if table is None:
                sink.skip(NO_TIMES, line, str(name))
            else:
                tables.append(table)
        known = {table.rows[0].sides[0].samples for table in tables}
        samples = _seconds(measurement.get("samples_us"))
        if samples and samples not in known:
            whole = {"timings_us": measurement["samples_us"], "metrics": measurement}
            table = _table("", whole, data, measurement, line)
            tables += [table] if table is not None else []
        if not tables:
            raise UnreadableFileError("it has no times")
        for table in tables:
            sink.emit(table)


def _loaded(text: bytes) -> dict[str, Any]:
    """Returns the object, its fractions as they were printed."""
    start = text.find(b"{")
    try:
        data = json.loads(text[max(start, 0) :].decode("utf-8", "replace"), parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError("no JSON") from error
    return _object(data)


def _object(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {}


def _seconds(values: Any) -> tuple[float, ...]:
    """Returns microseconds as seconds; nothing if they are no list of finite numbers."""
    if not isinstance(values, list) or len(values) > _MAX_ITERATIONS:
        return ()
    numbers = [_number(value) for value in values]
    return () if None in numbers else tuple(number * MICROSECONDS for number in numbers if number is not None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)) or len(str(value)[:60]) > 50:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _slowest(one: dict[str, Any]) -> tuple[float, ...]:
    """Returns each iteration's time on the rank that took longest."""
    ranks = next((one[name] for name in _RANK_TIMES if isinstance(one.get(name), list)), None)
    if ranks is None or not 0 < len(ranks) <= _MAX_RANKS:
        return _seconds(one.get("timings_us"))
    rows = [_seconds(times) for times in ranks]
    if not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        return _seconds(one.get("timings_us"))
    return tuple(max(times) for times in zip(*rows, strict=True))


def _table(
    name: str, one: dict[str, Any], data: dict[str, Any], measurement: dict[str, Any], line: int
) -> Table | None:
    samples = _slowest(one)
    metrics = _object(one.get("metrics"))
    numbers = {
        key: Printed(str(metrics[title]), MICROSECONDS)
        for key, title in (
            ("median", "median_us"),
            ("value", "value_us"),
            ("min", "min_us"),
            ("max", "max_us"),
            ("iqr", "iqr_us"),
        )
        if _number(metrics.get(title)) is not None
    }
    if not samples:
        return None
    main = numbers.pop("median", None) or numbers.pop("value", None)
    table = Table("commcanary", line, last_line=line)
    table.title = " ".join(part for part in (str(data.get("cell_id", ""))[:200], name) if part)
    table.columns = {"time": "median_us"} if main is not None else {}
    table.rows = [Row(line, None, (Side("", main, others=tuple(numbers.items()), samples=samples),))]
    _facts(table, name, one, data, measurement)
    return table


def _facts(table: Table, name: str, one: dict[str, Any], data: dict[str, Any], measurement: dict[str, Any]) -> None:
    runtime, execution = _object(measurement.get("runtime")), _object(measurement.get("execution"))
    table.tool = "CommCanary"
    table.collective = collective_in(str(measurement.get("operation", ""))[:100])
    ranks = measurement.get("world_size")
    table.num_ranks = ranks if isinstance(ranks, int) and 0 < ranks <= _MAX_RANKS else None
    if isinstance(runtime.get("hostname"), str):
        table.hosts = [runtime["hostname"][:200]]
    code = runtime.get("runtime_nccl_version_code")
    if isinstance(code, int) and 2000 < code < 1_000_000:
        table.library, table.library_version = "nccl", _version(code)
        table.infer("library_version", table.library_version, f"runtime_nccl_version_code is {code}")
    algorithm = algorithm_in(str(data.get("cell_id", ""))[:200])
    if algorithm is not None:
        table.algorithm = algorithm
        table.infer("algorithm", algorithm, "cell_id names it")
    known = {
        "representation": name or None,
        "category": one.get("category"),
        "semantics": one.get("semantics"),
        "collectives in a program": one.get("executed_event_count"),
        "timing_semantics": execution.get("timing_semantics"),
        "iterations": execution.get("iterations"),
        "warmup": execution.get("warmup"),
        "torch": runtime.get("torch_version"),
        "cuda": runtime.get("torch_cuda_version"),
    }
    table.settings = {key: str(value)[:200] for key, value in known.items() if isinstance(value, (str, int))}
    if "program" in table.settings.get("timing_semantics", ""):
        table.infer("size_bytes", "none", "a time is that of a whole program, by timing_semantics")


def _version(code: int) -> str:
    """Returns NCCL's version from its number: 21903 is 2.19.3, 2708 is 2.7.8."""
    if code < 10_000:
        return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
    return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"
