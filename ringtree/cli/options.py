"""Options that several commands have, with one name and one description each.

For: the type of such a parameter, and commands whose options are the fields of a record. Not for: options of one
command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.markup import escape

from ringtree.errors import UsageError

Runs = Annotated[Path, typer.Option(help="Directory of stored runs.")]
RUNS = Path("runs")
ResumeRun = Annotated[str | None, typer.Option("--resume", metavar="RUN", help="Resume an interrupted run.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan, its estimated duration and cost; run nothing.")
]
JobTrace = Annotated[Path, typer.Argument(metavar="TRACE", help="Folder written by `ringtree trace --out`.")]
SkipSteps = Annotated[
    int | None, typer.Option(min=0, help="Number of initial steps to skip.", show_default="2, or fewer")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
NcclVersion = Annotated[
    str | None,
    typer.Option(
        "--version", metavar="V", help="NCCL release, e.g. 2.27.3. Default: the installed one, else the newest known."
    ),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV only.")]
OnHosts = Annotated[
    str | None,
    typer.Option(help="Ranks on several hosts: 2x4 (hosts x ranks per host), or 3,2,1 (ranks of each host)."),
]
# What a user may say of the machine of logs: the options of ringtree.audit.Setup.
MACHINE = {
    "gpu": typer.Option("--gpu", help="The GPU, if the log does not name it."),
    "system": typer.Option("--system", help="The system, by its name in `ringtree hardware`."),
    "num_hosts": typer.Option("--hosts", min=1, help="Number of hosts, if the log does not state it."),
    "num_ranks": typer.Option("--ranks", min=1, help="Number of ranks; overrides the log."),
}
EMULATE = "Emulate a cluster on this machine: hosts x ranks per host, e.g. 2x8."
Env = Annotated[
    list[str],
    typer.Option(metavar="NAME=VALUE", help="Set a variable in all processes; repeatable.", show_default=False),
]
RunsOrLogs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Stored runs and imported logs (directory, id, id prefix or last), log files, or - for standard input.",
    ),
]

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def asks(
    record: type[Any], options: dict[str, Any], into: str = "asked"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command an option for each field of the dataclass `record` that `options` names, of that field's type and
    default: what typer.Option makes, or just the help. The command gets them as one argument, called `into`. A name
    without a value is a parameter of the command itself, which stands there in --help."""
    types, default_of = get_type_hints(record), {field.name: field.default for field in fields(record)}

    def option(name: str, given: Any) -> inspect.Parameter:
        info = typer.Option(help=given) if isinstance(given, str) else given
        annotated: Any = Annotated  # made while running, which mypy takes for a mistake
        return inspect.Parameter(name, _KEYWORD, default=default_of[name], annotation=annotated[types[name], info])

    made = {name: option(name, given) for name, given in options.items() if given}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = {name: one.replace(kind=_KEYWORD) for name, one in signature.parameters.items()}
        names = list(own)
        order = dict.fromkeys([*names[: names.index(into)], *options, *names])
        shown = [(made | own)[name] for name in order if name != into]

        @wraps(command)
        def asking(**given: Any) -> None:
            command(**{into: record(**{name: given.pop(name) for name in made})}, **given)

        asking.__annotations__ = {one.name: one.annotation for one in shown}
        vars(asking)["__signature__"] = signature.replace(parameters=shown)
        return asking

    return decorate


def refuse_beside_resume(said: Sequence[str]) -> None:
    """Raises UsageError if anything else was said: a stored plan says it all."""
    if said:
        raise UsageError(f"--resume continues a stored plan: leave {', '.join(said)} out")


def written(context: typer.Context, *names: str) -> list[str]:
    """Returns which of these parameters were said on the command line, as their options are written: of a flag that was
    switched off, the word that does so."""
    sources = {name: context.get_parameter_source(name) for name in names}
    said = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    return [
        _long(one.secondary_opts if context.params[one.name] is False and one.secondary_opts else one.opts)
        for name in said
        for one in context.command.params
        if one.name == name
    ]


def _long(spellings: Sequence[str]) -> str:
    return next((one for one in spellings if one.startswith("--")), spellings[0])


def variables(given: Sequence[str]) -> dict[str, str]:
    """Returns what options NAME=VALUE give. Raises UsageError."""
    for item in given:
        if "=" not in item:
            raise UsageError(f"invalid variable {item!r}: write NAME=VALUE")
    return dict(item.split("=", 1) for item in given)


def with_default(text: str, default: str) -> str:
    """Names a default that typer can't know; escaped, as rich would take the brackets for markup and drop them."""
    return escape(f"{text} [default: {default}]")
