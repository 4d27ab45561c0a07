"""What is deployed of a library's rules: its file or its variables, in its own format.

For: text and variables, by library. Not for: which rules (rules.py), or running with them (tuned.py). Pure.

    openmpi   a rules file of coll_tuned, and the two variables that name it
    mpich     MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM: one algorithm for all sizes, as its variables know no sizes
    impi      I_MPI_ADJUST_ALLREDUCE, by ranges of bytes and the number of ranks
    oneccl    CCL_ALLREDUCE, by ranges of bytes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtree.arms.mpi import controls_of
from ringtree.arms.mpi_libraries import IMPI, MPICH, ONECCL, ONECCL_DIRECT_UNTIL, OPENMPI
from ringtree.tune.library.rules import DEFAULT, SizeRange, all_ranges
from ringtree.tune.library.switches import COLLECTIVE, OPENMPI_ALGORITHMS

_ALL_REDUCE = 2  # what rules files call it, in Open MPI 4 and 5
INVALID = 99  # no algorithm: with it a call fails, which shows that a file is read
_USE, _FILE = "OMPI_MCA_coll_tuned_use_dynamic_rules", "OMPI_MCA_coll_tuned_dynamic_rules_filename"


@dataclass(frozen=True)
class Deployed:
    """`text`: of the file that is handed over; `environment`: with which the library goes by it."""

    text: str
    environment: Mapping[str, str]


def deployed(library: str, rules: Sequence[SizeRange], num_ranks: int, file: Path) -> Deployed:
    """Returns what makes `library` go by the rules; `file`: where the text is to lie."""
    return _FORMATS[library](rules, num_ranks, file)


def extension(library: str) -> str:
    """Returns how the name of a library's file ends."""
    return "conf" if library == OPENMPI else "env"


def takes_ranges(library: str) -> bool:
    """Returns whether a library chooses by size, so that its rules can."""
    return library != MPICH


def invalid(text: str) -> str:
    """Returns Open MPI's rules with an algorithm in each rule that there is not."""
    return "".join(_with_invalid(line) for line in text.splitlines(keepends=True))


def _with_invalid(line: str) -> str:
    words = line.split("#")[0].split()
    if len(words) != 4 or words[1] == "0":
        return line
    return line.replace(f"{words[0]} {words[1]} ", f"{words[0]} {INVALID} ", 1)


def _openmpi(rules: Sequence[SizeRange], num_ranks: int, file: Path) -> Deployed:
    """A rule holds from its number on, of ranks or bytes, up to the next one's. Algorithm 0: Open MPI's choice."""
    steps = all_ranges(rules)
    lines = [
        "1                    # collectives",
        f"{_ALL_REDUCE}                    # all_reduce",
        "3                    # numbers of ranks",
        *("0                    # from 0 ranks on", "1", "0 0 0 0"),
        f"{num_ranks:<20} # from {num_ranks} ranks on",
        f"{len(steps):<20} # sizes: bytes, algorithm, fan-out, segment",
        *(f"{f'{first} {_number(switch)} 0 0':<20} # {switch or 'its own choice'}" for first, switch in steps),
        f"{num_ranks + 1:<20} # from {num_ranks + 1} ranks on",
        *("1", "0 0 0 0"),
    ]
    return Deployed("\n".join(lines) + "\n", {_USE: "1", _FILE: str(file)} if rules else {})


def _number(switch: str) -> int:
    return 0 if switch == DEFAULT else OPENMPI_ALGORITHMS.index(switch)


def _mpich(rules: Sequence[SizeRange], num_ranks: int, file: Path) -> Deployed:
    switches = {rule.switch for rule in rules}
    assert len(switches) <= 1, "choices of MPICH are one"
    return _variables({name: value for switch in switches for name, value in _meant(MPICH, switch).items()})


def _impi(rules: Sequence[SizeRange], num_ranks: int, file: Path) -> Deployed:
    parts = [f"{rule.switch}:{rule.first}-{rule.last}@{num_ranks}-{num_ranks}" for rule in rules]
    return _variables({"I_MPI_ADJUST_ALLREDUCE": ";".join(parts)} if parts else {})


def _oneccl(rules: Sequence[SizeRange], num_ranks: int, file: Path) -> Deployed:
    """Where the arm's own choice stands, that is: direct for small sizes, oneCCL's table above."""
    if not rules:
        return _variables({})
    parts, steps = [], all_ranges(rules)
    for (first, switch), (following, _) in zip(steps, [*steps[1:], (ONECCL_DIRECT_UNTIL + 1, DEFAULT)], strict=True):
        if switch != DEFAULT:
            parts.append(f"{switch}:{first}-{following - 1}")
        elif first <= ONECCL_DIRECT_UNTIL:
            parts.append(f"direct:{first}-{min(following - 1, ONECCL_DIRECT_UNTIL)}")
    return _variables({"CCL_ALLREDUCE": ";".join(parts)})


def _meant(library: str, switch: str) -> dict[str, str]:
    return dict(controls_of(library, switch, COLLECTIVE).variables)


def _variables(environment: Mapping[str, str]) -> Deployed:
    return Deployed("".join(f"export {name}='{value}'\n" for name, value in environment.items()), environment)


_FORMATS: Mapping[str, Callable[[Sequence[SizeRange], int, Path], Deployed]] = {
    OPENMPI: _openmpi,
    MPICH: _mpich,
    IMPI: _impi,
    ONECCL: _oneccl,
}
