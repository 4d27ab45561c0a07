"""From a program's lines to a table, with everything that had to be concluded said as an Inference.

For: collective, number of ranks, columns, versions, algorithm of a Run that is over. Not for: judging them.
"""

from __future__ import annotations

from ringtree.logs.nccltests.deduce import Figures, add_forced
from ringtree.logs.nccltests.ranks import RankLines
from ringtree.logs.nccltests.run import Around, ProgramRun
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Fact, Format, Printed, Table
from ringtree.logs.words import collective_of_file, collective_of_program, collective_of_title
from ringtree.nccl.releases import version_of_code

FORMAT = Format("nccl-tests", Fact.EXACT_SIZES, Fact.COUNT_OF_SIZE, Fact.ONE_RUN)


def table_of(run: ProgramRun, around: Around, continued: bool) -> Table:
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
    lines = RankLines(run.rank_lines)
    table.devices, table.hosts = lines.devices, lines.hosts
    table.num_hosts = len(lines.hosts) if lines.hosts and not lines.elided else None
    if lines.processes:
        table.settings["processes"] = str(len(lines.processes))
    _add_versions(table, run)
    _add_columns(table, run)
    _add_collective_and_ranks(table, run, lines, around.context.name)
    add_forced(table)
    _add_extras(table, run)
    _add_totals(table, run)
    return table


def _add_versions(table: Table, run: ProgramRun) -> None:
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


def _add_columns(table: Table, run: ProgramRun) -> None:
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


def _add_collective_and_ranks(table: Table, run: ProgramRun, lines: RankLines, name: str) -> None:
    if run.program:
        table.collective = collective_of_program(run.program)
        table.settings["program"] = run.program
    if run.command:
        table.settings["command"] = run.command
    complete = lines.num_ranks is not None and not (lines.elided or run.is_elided)
    figures = Figures(table, lines.num_ranks if complete else None)
    if table.collective is None:
        named = (
            (collective_of_program(run.command), f"the command before it: {run.command[:80]}"),
            (collective_of_title(run.title), f"the heading above it: {run.title[:80]}"),
            (collective_of_file(name), "the name of the file"),
        )
        figures.add_collective(named)
    figures.add_ranks(lines)


def _add_extras(table: Table, run: ProgramRun) -> None:
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


def _add_totals(table: Table, run: ProgramRun) -> None:
    if table.continued:
        return
    table.complete = bool(run.out_of_bounds or run.averages)
    if run.out_of_bounds:
        table.num_out_of_bounds, table.out_of_bounds_okay = run.out_of_bounds[0]
    if run.averages and run.averages[0].text:
        table.average_busbw = Printed(run.averages[0].text, GB_PER_SECOND)
    if run.averages and run.averages[0].okay is not None:
        table.settings["Avg bus bandwidth"] = "OK" if run.averages[0].okay else "FAILED"
