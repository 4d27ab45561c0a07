"""nccl-tests' JSON files (-J): file versions 1 to 3, rccl-tests', and those of `ringtree bench`.

For: one table, its rows with the raw iterations where the file has them (-I). Not for: what the programs print
(ringtree.logs.nccltests).

Of the environment, which the file holds whole, only variables of communication libraries are kept: the rest may be
secrets. A file that breaks off, as of a program that died, gives the rows that are there.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, BinaryIO

from ringtree.logs.context_lines import FAMILIES
from ringtree.logs.json_stream import give_members, text
from ringtree.logs.nccltests.deduce import Figures, add_forced, ranks_of_process
from ringtree.logs.nccltests.ranks import RankLines
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import (
    GB_PER_SECOND,
    IN_PLACE,
    MAX_ROWS,
    MICROSECONDS,
    OUT_OF_PLACE,
    Fact,
    Format,
    Printed,
    Row,
    RowReason,
    Side,
    Table,
)
from ringtree.logs.words import collective_of_file, collective_of_program
from ringtree.nccl.nccl_tests import PROGRAMS
from ringtree.nccl.releases import version_of_code

BROKEN = "JSON that breaks off"
UNREADABLE = RowReason("a result without a size or a measurement")
_BEGINNING = re.compile(r'\{\s*"version"\s*:\s*\d+\s*,\s*"start_time"\s*:\s*"[^"]*"\s*,\s*"args"\s*:\s*\[')
_VARIABLE = re.compile(rf"((?:{FAMILIES})_[A-Z0-9_]+)=(.*)", re.DOTALL)
# How many ranks were started: numbers of a launcher.
_TASKS = re.compile(r"(SLURM_NTASKS|SLURM_NPROCS|OMPI_COMM_WORLD_SIZE|PMI_SIZE|WORLD_SIZE)=(\d+)")
_MAX_TEXT = 1000
_MAX_VARIABLES = 1000
# The file's words for settings -> those of the printed line of settings.
_SETTINGS = {
    "nthreads": "nThread",
    "ngpus": "nGpus",
    "minimum_bytes": "minBytes",
    "maximum_bytes": "maxBytes",
    "warmup_iters": "warmup iters",
    "iterations": "iters",
    "aggregated_iterations": "agg iters",
    "validation": "validation",
    "graph": "graph",
}
_STEPS = {"step_factor": "factor", "step_bytes": "bytes"}
_PER_ITERATION = {
    "min_us": ("i_min", MICROSECONDS),
    "max_us": ("i_max", MICROSECONDS),
    "avg_us": ("i_avg", MICROSECONDS),
    "p50_us": ("i_p50", MICROSECONDS),
    "p95_us": ("i_p95", MICROSECONDS),
    "p99_us": ("i_p99", MICROSECONDS),
    "stdev_us": ("i_stdev", MICROSECONDS),
    "cv_pct": ("i_cv%", 0.01),
}


class NcclTestsJsonReader:
    """A FileReader."""

    format = Format("nccl-tests-json", Fact.EXACT_SIZES, Fact.COUNT_OF_SIZE, Fact.ONE_RUN)

    def sniff(self, head: str) -> bool:
        """Says whether a file begins so. The environment may fill all of `head`; tools may have sorted the keys."""
        if _BEGINNING.match(head) is not None:
            return True
        return head.startswith("{") and '"nccl_version"' in head and '"results"' in head and '"args"' in head

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads the file."""
        # Figures stay as they are printed; the strings that they become are told apart by their places.
        decoder = json.JSONDecoder(parse_float=str)
        file = _File(Table(self.format, 0, complete=False), context, sink)
        why = give_members(source, ("results",), file.take, decoder)
        if not file.knows_anything:
            raise UnreadableFileError(why or "no results and no settings")
        if why:
            sink.skip(BROKEN, 0, why)
        file.finish()


class _File:
    """The table as it grows."""

    def __init__(self, table: Table, context: Context, sink: Sink) -> None:
        self.knows_anything = False
        self._table = table
        self._context = context
        self._sink = sink
        self._num_ranks: int | None = None
        self._processes = 0
        self._executed: list[Any] = []
        self._is_ringtree = False

    def take(self, key: str, value: Any) -> None:
        """Takes a member of the file's object, of the results one."""
        table = self._table
        self.knows_anything = self.knows_anything or key in ("results", "config")
        if key == "results":
            self._take_result(value)
        elif key == "args" and isinstance(value, list):
            table.settings["command"] = " ".join(map(str, value))[:_MAX_TEXT]
            table.collective = collective_of_program(str(value[0])) if value else None
        elif key == "env" and isinstance(value, list):
            self._take_environment(value)
        elif key == "nccl_version" and isinstance(value, int):
            table.library_version = version_of_code(value)
            table.library = "nccl" if table.library_version is not None else None
        elif key == "ringtree" and isinstance(value, dict):
            self._take_ringtree(value)
        elif key == "config" and isinstance(value, dict):
            self._take_config(value)
        elif key in ("out_of_bounds", "average_bus_bandwidth") and isinstance(value, dict):
            self._take_total(key, value)
        elif key in ("start_time", "end_time", "version") and isinstance(value, (str, int)):
            table.settings["file version" if key == "version" else key] = str(value)[:_MAX_TEXT]
            table.complete = table.complete or key == "end_time"
        elif key == "errors" and isinstance(value, list) and any(value):
            table.settings["error"] = "; ".join(str(error) for error in value if error)[:_MAX_TEXT]

    def finish(self) -> None:
        """Concludes and emits the rest."""
        self._emit(continued=False)

    def _take_environment(self, variables: list[Any]) -> None:
        for variable in variables[: 10 * _MAX_VARIABLES]:
            found = _VARIABLE.match(str(variable)) or _TASKS.fullmatch(str(variable))
            if found is not None and len(self._table.environment) < _MAX_VARIABLES:
                self._table.environment[found.group(1)] = found.group(2)[:_MAX_TEXT]

    def _take_ringtree(self, origin: dict[str, Any]) -> None:
        table = self._table
        self._is_ringtree = True
        table.tool, table.tool_version = "ringtree", text(origin.get("version"), _MAX_TEXT)
        table.collective = PROGRAMS.get(str(origin.get("collective")), table.collective)
        if (num_ranks := _whole(origin.get("num_ranks"))) is not None:
            self._num_ranks = num_ranks
        if isinstance(origin.get("arm"), str):
            table.settings["arm"] = origin["arm"][:_MAX_TEXT]
        if isinstance(origin.get("executed"), list):
            self._executed = origin["executed"]

    def _take_config(self, config: dict[str, Any]) -> None:
        table = self._table
        for key, value in config.items():
            if key in _SETTINGS:
                table.settings[_SETTINGS[key]] = str(value)[:_MAX_TEXT]
            elif key in _STEPS:
                table.settings["step"] = f"{value}({_STEPS[key]})"[:_MAX_TEXT]
            elif key == "devices" and isinstance(value, list):
                self._take_devices([device for device in value if isinstance(device, dict)])
            elif isinstance(value, (str, int)) and len(table.settings) < _MAX_VARIABLES:
                table.settings[key[:_MAX_TEXT]] = str(value)[:_MAX_TEXT]

    def _take_devices(self, devices: list[dict[str, Any]]) -> None:
        """One of each process: only the first line of each was parsed."""
        table = self._table
        self._processes = len(devices)
        table.devices = [str(device["device_info"])[:_MAX_TEXT] for device in devices if device.get("device_info")]
        hosts = dict.fromkeys(str(device["hostname"])[:_MAX_TEXT] for device in devices if device.get("hostname"))
        table.hosts, table.num_hosts = list(hosts), len(hosts) or None

    def _take_total(self, key: str, value: dict[str, Any]) -> None:
        table = self._table
        okay = {"true": True, "false": False}.get(str(value.get("okay")).lower())
        if key == "out_of_bounds":
            table.num_out_of_bounds, table.out_of_bounds_okay = _whole(value.get("count")), okay
            table.complete = True
        else:
            table.average_busbw = _printed(value.get("bandwidth"), GB_PER_SECOND)
            if okay is not None:
                table.settings["Avg bus bandwidth"] = "OK" if okay else "FAILED"

    def _take_result(self, result: Any) -> None:
        row = self._row(result) if isinstance(result, dict) else None
        if row is None:
            self._sink.skip(UNREADABLE, 0, str(result))
            return
        self._table.rows.append(row)
        if len(self._table.rows) >= MAX_ROWS:
            self._emit(continued=True)

    def _row(self, result: dict[str, Any]) -> Row | None:
        size, count = _whole(result.get("size")), _whole(result.get("count"))
        sides = tuple(
            side
            for place in (OUT_OF_PLACE, IN_PLACE)
            if (side := self._side(place, result.get(place), result.get(f"{place}_per_iter"))) is not None
        )
        if size is None or not sides:
            return None
        return Row(
            0,
            size,
            sides,
            count,
            text(result.get("type"), _MAX_TEXT),
            text(result.get("redop"), _MAX_TEXT),
            _root(result.get("root")),
        )

    def _side(self, place: str, side: Any, per_iteration: Any) -> Side | None:
        if not isinstance(side, dict):
            return None
        heading = "cpu_time" if "cpu_time" in side else "time"
        self._table.columns = {"time": heading, "algbw": "alg_bw", "busbw": "bus_bw"}
        time = _printed(side.get(heading), MICROSECONDS)
        others = []
        if (hip := _printed(side.get("hip_event_time"), MICROSECONDS)) is not None:
            others.append(("hip_event_time", hip))
        samples: tuple[float, ...] = ()
        if isinstance(per_iteration, dict):
            for key, (name, unit) in _PER_ITERATION.items():
                if (value := _printed(per_iteration.get(key), unit)) is not None:
                    others.append((name, value))
            samples = self._samples(per_iteration)
        if time is None:
            return None
        algbw, busbw = _printed(side.get("alg_bw"), GB_PER_SECOND), _printed(side.get("bus_bw"), GB_PER_SECOND)
        return Side(place, time, algbw, busbw, _printed(side.get("nwrong"), 1.0), tuple(others), samples)

    def _samples(self, per_iteration: dict[str, Any]) -> tuple[float, ...]:
        """Returns the iterations that count, in seconds: the first ones may have been given up as a warm-up (-K)."""
        times = per_iteration.get("times_us")
        if not isinstance(times, list):
            return ()
        skipped = _whole(per_iteration.get("skipped_iterations")) or 0
        if skipped:
            self._table.settings["skipped iterations"] = str(skipped)
        found = [_printed(time, MICROSECONDS) for time in times[skipped:]]
        return tuple(time.value for time in found if time is not None)

    def _emit(self, continued: bool) -> None:
        table = self._table
        self._add_executed()
        per_process = ranks_of_process(table.settings)
        stated = self._num_ranks
        if stated is None and self._processes:
            stated = self._processes * per_process
            table.infer("num_ranks", stated, f"{self._processes} processes, {per_process} ranks of each")
        figures = Figures(table, stated)
        if table.collective is None:
            figures.add_collective([(collective_of_file(self._context.name), "the name of the file")])
        figures.add_ranks(RankLines())
        if not self._is_ringtree:
            add_forced(table)
        if continued:
            rest = replace(table, rows=[], inferences=[])
            table.continued, table.complete = True, None
            self._table = rest
        self._sink.emit(table)

    def _add_executed(self) -> None:
        """ringtree says what ran; the same for all rows is the table's algorithm and protocol."""
        names = dict.fromkeys(str(name) for pair in self._executed if isinstance(pair, list) for name in pair if name)
        if names:
            self._table.settings["executed"] = ", ".join(names)[:_MAX_TEXT]
        if len(names) == 1:
            algorithm, _, protocol = next(iter(names)).partition("/")
            self._table.algorithm, self._table.protocol = algorithm, protocol or None


def _printed(value: Any, unit: float) -> Printed | None:
    """Returns a figure; None for null, and for "nan" and what else is not a number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return Printed(str(value), unit) if abs(float(value)) < 1e30 else None
    except (ValueError, OverflowError):
        return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None


def _root(value: Any) -> int | None:
    """Returns the root, which is as wide as its printed column."""
    try:
        return int(value) if isinstance(value, (str, int)) and -1 <= int(value) < 1 << 31 else None
    except ValueError:
        return None
