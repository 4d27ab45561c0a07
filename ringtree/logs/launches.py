"""How many processes a launcher's command line starts.

For: outputs that do not say their number of ranks, below the command that made them. Not for: environments, job
scripts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LAUNCHER = re.compile(r"(?:^|[\s/])(srun|mpirun|mpiexec(?:\.hydra)?|orterun|prun|aprun|jsrun)\s")
_RANKS = re.compile(r"\s(?:-np|--np|-n|--ntasks|--nprocs)[= ]?\s*(\d{1,7})(?=\s|$)")
_HOSTS = re.compile(r"\s(?:-N|--nodes)[= ]?\s*(\d{1,6})(?=\s|$)")
_PER_HOST = re.compile(r"\s(?:--ntasks-per-node|-ppn|--ppn|-npernode|--npernode)[= ]?\s*(\d{1,5})(?=\s|$)")


class LogLaunch(NamedTuple):
    """None where the command line does not say."""

    num_ranks: int | None
    num_hosts: int | None


def launch_of(command: str) -> LogLaunch:
    """Returns what the command line says. srun without a number of tasks starts one on each host."""
    found = _LAUNCHER.search(command)
    if found is None:
        return LogLaunch(None, None)
    rest = command[found.end() - 1 :]
    ranks, per_host = _number(_RANKS, rest), _number(_PER_HOST, rest)
    hosts = _number(_HOSTS, rest) if found.group(1) == "srun" else None  # of mpirun, -N is the number on each host
    if ranks is None and hosts is not None:
        ranks = hosts * (per_host or 1)
    return LogLaunch(ranks, hosts)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found.group(1)) if found is not None else None
