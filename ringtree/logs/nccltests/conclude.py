"""From a program's lines to a table, with everything that had to be concluded said as an Inference.

For: collective, number of ranks, columns, versions, algorithm of a Run that is over. Not for: judging them.
"""

from __future__ import annotations

from ringtree.logs.nccltests.collective import candidates
from ringtree.logs.nccltests.forced import forced
from ringtree.logs.nccltests.names import (
    COLLECTIVES,
    collective_of_file,
    collective_of_program,
    collective_of_title,
    version_of_code,
)
from ringtree.logs.nccltests.ranks import Interval, RankLines, factor, possible_ranks, ranks_of_counts
from ringtree.logs.nccltests.run import Around, Run
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Printed, Table

FORMAT = "nccl-tests"
_HALF = 0.5  # the smallest factor of more than one rank


def table_of(run: Run, around: Around, continued: bool) -> Table:
    """Returns the table. `continued`: more rows of it will come in another one."""
    last = run.rows[-1].line if run.rows and continued else max(run.last_line, run.first_line)
    table = Table(
        format=FORMAT,
        first_line=run.first_line,
        title=run.title,
        job=run.job,
        environment=run.environment,
        settings=dict(run.settings),
        rows=run.rows,
        continued=continued,
        last_line=last,
    )
    lines = RankLines()
    for line in run.rank_lines:
        lines.add(line)
    table.devices, table.hosts = lines.devices, list(lines.hosts)
    table.num_hosts = len(lines.hosts) if lines.hosts and not lines.elided else None
    if lines.processes:
        table.settings["processes"] = str(len(lines.processes))
    _add_versions(table, run)
    _add_columns(table, run)
    _add_collective_and_ranks(table, run, lines, around.context.name)
    _add_forced(table)
    _add_extras(table, run)
    _add_totals(table, run)
    return table


def _add_versions(table: Table, run: Run) -> None:
    """What NCCL prints itself goes before the number that the program prints of it; the audit compares both."""
    library, version = run.library
    stated = run.version
    fresh = version is not None and run.library_line > run.after_line
    if stated is not None:
        table.tool, table.tool_version = stated.tool, stated.version
        table.settings.update(stated.codes)
        name, code = next(((name, code) for name, code in stated.codes.items() if name.endswith("library")), ("", "0"))
        known = version_of_code(int(code))
        if known is not None and not fresh:
            table.library, table.library_version = name.partition("-")[0], known
            return
    if version is not None:
        table.library, table.library_version = library, version
        if not fresh:
            table.infer("library_version", version, f"line {run.library_line} names it, for an earlier run")


def _add_columns(table: Table, run: Run) -> None:
    layout = run.layout
    if layout is None:
        return
    table.columns = layout.columns
    unit = "us" if layout.time_unit == MICROSECONDS else "ms"
    if not layout.stated:
        names = " ".join(layout.sides[0].names)
        sides = "one measurement" if len(layout.sides) == 1 else "out of place, then in place"
        lead = " ".join(("size count type", *(["redop"] * layout.has_op), *(["root"] * layout.has_root)))
        table.infer(
            "columns",
            f"{lead}, then {names} {sides}",
            f"there is no heading; algbw is size / time in {unit} in each row, within what its digits tell",
        )
        return
    if not layout.has_places and len(layout.sides) > 1:
        table.infer("places", "out of place, then in place", "no line above the columns says so; they always stand so")
    if not layout.has_units:
        table.infer("unit of time", unit, "no line below the columns names it; versions with these names printed it so")


def _add_collective_and_ranks(table: Table, run: Run, lines: RankLines, name: str) -> None:
    if run.program:
        table.collective = COLLECTIVES.get(run.program.rpartition("/")[2].partition("_perf")[0])
        table.settings["program"] = run.program
    if run.command:
        table.settings["command"] = run.command
    complete = lines.num_ranks is not None and not (lines.elided or run.is_elided)
    stated = lines.num_ranks if complete else None
    known = stated is not None and table.collective is not None
    blocks, found = ranks_of_counts(table.rows), factor(table.rows, at_a_glance=known)
    if table.collective is None:
        _conclude_collective(table, run, candidates(table.rows, blocks, found, stated), name)
    possible, because = _ranks_of_figures(table, blocks, found)
    if stated is not None:
        table.num_ranks = stated
        if possible is not None and not possible[0] <= stated <= (possible[1] or stated):
            table.infer("ranks of the figures", _range(possible), f"{because}; the lines of ranks say {stated}")
    elif lines.num_ranks is not None and (possible is None or (possible[1] or lines.num_ranks) <= lines.num_ranks):
        table.num_ranks = lines.num_ranks
        table.infer(
            "num_ranks", lines.num_ranks, f"only {len(lines.ranks)} lines of ranks are there; the highest counts"
        )
        if possible is not None and possible[1] != lines.num_ranks:
            table.infer("ranks of the figures", _range(possible), because)
    elif possible is not None and possible[0] == possible[1]:
        table.num_ranks = possible[0]
        table.infer("num_ranks", possible[0], f"{because}; no other number fits")
    elif (per_process := _product(table.settings)) > 1 and possible is None and (found is None or not found.is_empty):
        table.num_ranks = per_process
        table.infer("num_ranks", per_process, "nThread × nGpus, if there was one process: nothing else tells")
    elif because:
        table.infer("num_ranks", _range(possible), because)


def _ranks_of_figures(
    table: Table, blocks: int | None, found: Interval | None
) -> tuple[tuple[int, int | None] | None, str]:
    """Returns the fewest and most ranks that the rows allow (None: no number, or any), and from what."""
    per_process = _product(table.settings)
    if blocks is not None and blocks > 1:
        return (blocks, blocks), f"each size is {blocks} times count elements"
    if found is None or table.collective is None:
        return None, ""
    if found.high < _HALF and per_process == 1:
        return (1, 1), "busbw is 0 wherever algbw is not"
    if found.is_empty:
        return None, "no one number of ranks explains busbw/algbw in all rows"
    possible = possible_ranks(table.collective, found, per_process)
    return possible, f"busbw/algbw lies between {max(found.low, 0):.6g} and {found.high:.6g}"


def _range(possible: tuple[int, int | None] | None) -> str:
    if possible is None:
        return "unknown"
    fewest, most = possible
    return f"{fewest} or more" if most is None else str(fewest) if fewest == most else f"{fewest} to {most}"


def _conclude_collective(table: Table, run: Run, fitting: set[str], name: str) -> None:
    named = (
        (collective_of_program(run.command), f"the command before it: {run.command[:80]}"),
        (collective_of_title(run.title), f"the heading above it: {run.title[:80]}"),
        (collective_of_file(name), "the name of the file"),
    )
    for collective, because in named:
        if collective is None:
            continue
        if not fitting or collective in fitting:
            table.collective = collective
            table.infer("collective", collective, because)
            return
        table.infer("collective", f"not {collective}", f"{because}; but its rows are none of that")
    if len(fitting) == 1:
        table.collective = next(iter(fitting))
        table.infer(
            "collective", table.collective, "no line names it; reduction, root, counts and busbw/algbw fit no other"
        )
    elif table.rows:
        rows = f"its rows may be of {' or '.join(sorted(fitting))}" if fitting else "its rows fit none, or tell nothing"
        table.infer("collective", "unknown", f"no line names it; {rows}")


def _product(settings: dict[str, str]) -> int:
    """Ranks of one process: a job's number of ranks is a multiple of it."""
    try:
        return max(1, int(settings.get("nThread", "1")) * int(settings.get("nGpus", "1")))
    except ValueError:
        return 1


def _add_forced(table: Table) -> None:
    for variable, field_name in (("NCCL_ALGO", "algorithm"), ("NCCL_PROTO", "protocol")):
        value = forced(table.environment, variable, table.collective)
        if value is not None:
            setattr(table, field_name, value)
            table.infer(field_name, value, f"{variable}={table.environment[variable]} was set; what ran is not printed")


def _add_extras(table: Table, run: Run) -> None:
    if run.timestamps is not None:
        table.settings["first timestamp"], table.settings["last timestamp"] = run.timestamps
    if run.executed:
        parts = [f"{algo}/{proto} ({low} to {high} bytes)" for (algo, proto), (low, high) in run.executed.items()]
        table.settings["executed"] = ", ".join(parts)[:1000]
        if len(run.executed) == 1:
            (algo, proto), _ = next(iter(run.executed.items()))
            table.algorithm, table.protocol = algo.lower(), proto.lower()
    if run.num_restarts:
        table.infer(
            "rows", f"sizes begin again {run.num_restarts} times", "no line says that another cycle or program begins"
        )
    if run.num_programs > 1:
        table.infer(
            "rows",
            f"program {run.number + 1} of {run.num_programs}",
            f"{run.num_programs} programs wrote into one stream without marks: the k-th row, rank and total of a kind "
            "was given to the k-th program, since nothing tells them apart",
        )


def _add_totals(table: Table, run: Run) -> None:
    if table.continued:
        return
    table.complete = bool(run.out_of_bounds or run.averages)
    if run.out_of_bounds:
        table.num_out_of_bounds, table.out_of_bounds_okay = run.out_of_bounds[0]
    if run.averages and run.averages[0].text:
        table.average_busbw = Printed(run.averages[0].text, GB_PER_SECOND)
    if run.averages and run.averages[0].okay is not None:
        table.settings["Avg bus bandwidth"] = "OK" if run.averages[0].okay else "FAILED"
