"""How NCCL's arms are written, the variables that a name means, and what NCCL makes of them.

    nccl   nccl:Tree   nccl:Ring/LL128   nccl/Simple   nccl+graph   nccl+registered   nccl:Ring+tuner=rules.conf

For: names, before anything starts. Not for: running them (nccl.py).

A name's algorithm and protocol are NCCL_ALGO and NCCL_PROTO, so `nccl:Tree` and `nccl@NCCL_ALGO=Tree` are the same
thing. What a release makes of them is read from its grammar and its table of kernels: an arm that NCCL would refuse, or
run as something else without a word, is left out with the reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.nccl import Variable, library_support, read
from ringtree.nccl.names import ALGORITHMS, KERNELS, POINT_TO_POINT, PROTOCOLS, algorithm_name, protocol_name
from ringtree.nccl.releases import release, version
from ringtree.nccl.variables import without_effect

HEAD = "nccl"
OPTIONS = ("graph", "registered", "symmetric")
FORMS = (HEAD, *(f"{HEAD}:{name}" for name in ("Ring", "Tree/LL128")), *(f"{HEAD}+{name}" for name in OPTIONS))
ALGO: Variable = "NCCL_ALGO"
PROTO: Variable = "NCCL_PROTO"
TUNER_RULES, TUNER_PLUGIN = "NCCL_TUNER_CONFIG_FILE", "NCCL_TUNER_PLUGIN"
_NAME = re.compile(r"nccl(?::(?P<algorithm>\w+))?(?:/(?P<protocol>\w+))?(?P<options>(?:\+(?!tuner=)\w+)*)"
                   r"(?:\+tuner=(?P<tuner>.+))?")  # fmt: skip
_SHARING = (2, 30, 3)  # first release in which two ranks can have one GPU


@dataclass(frozen=True)
class NcclName:
    """What an arm's name says."""

    algorithm: str | None
    protocol: str | None
    options: frozenset[str]
    tuner: str | None

    @property
    def environment(self) -> dict[str, str]:
        """The variables that it means."""
        rules = self.tuner is not None and not self.tuner.endswith(".so")
        said = {ALGO: self.algorithm, PROTO: self.protocol, TUNER_RULES if rules else TUNER_PLUGIN: self.tuner}
        return {name: value for name, value in said.items() if value is not None}


def parse(name: str) -> NcclName:
    """Reads an arm's name. Raises UsageError for what is none."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise UsageError(f"invalid arm {name!r} of NCCL; they are written {', '.join(FORMS)}, nccl+tuner=FILE")
    options = [option for option in found["options"].split("+") if option]
    unknown = next((option for option in options if option not in OPTIONS), None)
    if unknown is not None:
        raise UsageError(f"{name!r}: NCCL's arms have no {unknown!r}; choose from: {', '.join(OPTIONS)}, tuner=FILE")
    algorithm = found["algorithm"] and algorithm_name(found["algorithm"])
    protocol = found["protocol"] and protocol_name(found["protocol"])
    if found["algorithm"] and algorithm in (None, POINT_TO_POINT):
        raise UsageError(f"{name!r}: NCCL has no algorithm {found['algorithm']!r}; there are {', '.join(ALGORITHMS)}")
    if found["protocol"] and protocol is None:
        raise UsageError(f"{name!r}: NCCL has no protocol {found['protocol']!r}; there are {', '.join(PROTOCOLS)}")
    return NcclName(algorithm, protocol, frozenset(options), found["tuner"])


def why_not(
    collective: str, environment: Mapping[str, str], nccl_version: str, one_host: bool, num_ranks: int, num_gpus: int
) -> str | None:
    """Why an arm with these variables can't be measured, in one line; None: nothing speaks against it."""
    seen = {**os.environ, **environment}
    too_few = too_few_gpus(environment, nccl_version, num_ranks, num_gpus) if one_host else None
    if too_few is not None:
        return too_few
    if TUNER_RULES in environment and not seen.get(TUNER_PLUGIN):
        return "rules of a tuner are read by its plugin: set NCCL_TUNER_PLUGIN to the library"
    if one_host and left(collective, seen, nccl_version)[0] == ("NVLSTree",):
        return "NVLSTree runs between hosts, and there is only one"
    return _refused(collective, environment, seen, nccl_version)


def too_few_gpus(environment: Mapping[str, str], nccl_version: str | None, num_ranks: int, num_gpus: int) -> str | None:
    """Why so many ranks of one host can't run on its GPUs; None: they can. `nccl_version`: None: not known."""
    at, seen = version(nccl_version), {**os.environ, **environment}
    known_to_share = nccl_version is None or (at is not None and at >= _SHARING)
    if num_ranks <= num_gpus or (seen.get("NCCL_MULTI_RANK_GPU_ENABLE") == "1" and known_to_share):
        return None
    this = "" if nccl_version is None else f"; this is {nccl_version}"
    return (
        f"{num_ranks} ranks need as many GPUs and {num_gpus} can be seen (NCCL 2.30.3 and later let two ranks "
        f"share one with NCCL_MULTI_RANK_GPU_ENABLE=1{this})"
    )


def idle(environment: Mapping[str, str], nccl_version: str) -> dict[str, str]:
    """Returns which of an arm's variables a release passes over, with the reason."""
    at = version(nccl_version)
    found = {} if at is None else without_effect({**os.environ, **environment}, at)
    return {name: reason for name, reason in found.items() if name in environment}


def left(collective: str, environment: Mapping[str, str], nccl_version: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the algorithms and protocols that the variables leave to a collective; empty: they don't say."""
    seen = {**os.environ, **environment}
    algorithms = read(ALGO, seen[ALGO], collective, nccl_version).left if seen.get(ALGO) else ()
    protocols = read(PROTO, seen[PROTO], collective, nccl_version).left if seen.get(PROTO) else ()
    return algorithms, protocols


def _refused(collective: str, environment: Mapping[str, str], seen: Mapping[str, str], nccl_version: str) -> str | None:
    at = release(nccl_version)
    known = at and f"{at[0]}.{at[1]}"
    variables: tuple[Variable, ...] = (ALGO, PROTO)
    if collective in KERNELS[POINT_TO_POINT]:
        named = [name for name in variables if environment.get(name)]
        return f"{collective} goes point to point, so {' and '.join(named)} would do nothing" if named else None
    for name, value in ((name, seen[name]) for name in variables if seen.get(name)):
        reading = read(name, value, collective, nccl_version)
        if reading.refusal is not None:
            return f"NCCL {nccl_version} refuses {name}={value}: {reading.refusal}"
        if reading.passed_over:
            return f"NCCL {nccl_version} passes over {', '.join(reading.passed_over)} in {name}={value}"
    algorithms, protocols = left(collective, seen, nccl_version)
    found = [
        library_support(collective, algorithm, protocol, known)
        for algorithm in algorithms or ("Ring",)
        for protocol in protocols or (None,)
    ]
    if any(each.outcome in ("runs", "unknown") for each in found):
        return None
    return f"NCCL {nccl_version}: {found[0].explanation}" if found else f"NCCL_ALGO leaves {collective} nothing"
