"""Variables that are set: of NCCL's, which do nothing, which cost speed, which NCCL refuses; the others by name.

For: the environment and NCCL's own files. Not for: what each does (`ringtree nccl vars NAME`).

NCCL takes what the environment has, then ~/.nccl.conf (or the file that NCCL_CONF_FILE names), then /etc/nccl.conf. Its
home is that of passwd, whatever HOME says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ringtree.doctor import nvidia
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.probes.infiniband import all_ports
from ringtree.doctor.probes.nccl_libraries import release
from ringtree.doctor.records import Fact, fail, ok, told, warn
from ringtree.errors import UsageError
from ringtree.hardware import match_gpu
from ringtree.health.symptoms import Host as Machine
from ringtree.health.symptoms import variable_symptoms
from ringtree.measure.environment import allowed
from ringtree.measure.host_files import text
from ringtree.nccl import grammar
from ringtree.nccl.releases import version
from ringtree.nccl.variables import PREFIX, find, without_effect

_HIDDEN = "(set, not shown: it may hold a secret)"


def nccl_variables(host: Host) -> Iterator[Fact]:
    """Each variable once, with the worst that is known of it."""
    found = _settings(host)
    if not found:
        yield ok("NCCL variables", "none set", "environment, ~/.nccl.conf, /etc/nccl.conf")
        return
    at, is_here = release(host)
    library = f"NCCL {at}" if is_here else f"NCCL {at} (the newest that is known; none is here)"
    values = {name: value for name, (value, _) in found.items()}
    number = version(at)
    useless = without_effect(values, number) if number is not None else {}
    shown = allowed(values)
    for name, (value, source) in sorted(found.items()):
        said = shown.get(name, _HIDDEN)
        refused = _refusal(name, value, at)
        if refused:
            why = f"{library} creates no communicator with it: {refused}"
            yield (fail if is_here else warn)(name, said, source, why)
        elif name in useless:
            yield warn(name, said, source, f"it does nothing in {library}: {useless[name]}")
        else:
            yield _of_symptoms(host, name, value, said, source)


def others(host: Host) -> Iterator[Fact]:
    """Those of other libraries that runs keep, as they change what is measured."""
    for name, value in allowed(dict(host.environment)).items():
        if not name.startswith(PREFIX):
            yield told(name, value, "environment")


def _of_symptoms(host: Host, name: str, value: str, said: str, source: str) -> Fact:
    symptoms = variable_symptoms({name: value}, _machine(host))
    if symptoms:
        return warn(name, said, source, "; ".join(f"{one.says}: look at {one.look_at}" for one in symptoms))
    try:
        return told(name, said, source, find(name).does or "")
    except UsageError:
        return told(name, said, source)


def _machine(host: Host) -> Machine:
    """What the machine has that a variable may turn off."""
    try:
        gpus = [match.gpu for name in nvidia.names(host) if (match := match_gpu(name)).gpu is not None]
    except NotKnown:
        gpus = []
    joined = gpus if len(gpus) > 1 else []  # one alone has no peer, whatever it is sold with
    return Machine(
        several=bool(all_ports(host)),
        nvlink=any(gpu is not None and gpu.link is not None for gpu in joined),
        nvls=any(gpu is not None and gpu.nvls for gpu in joined),
    )


def _refusal(name: str, value: str, at: str) -> str | None:
    if name == "NCCL_ALGO":
        return grammar.read("NCCL_ALGO", value, None, at).refusal
    return grammar.read("NCCL_PROTO", value, None, at).refusal if name == "NCCL_PROTO" else None


def _settings(host: Host) -> dict[str, tuple[str, str]]:
    """Name -> value and where it is set; what comes first counts, as for NCCL."""
    found = {name: (value, "environment") for name, value in host.environment.items() if name.startswith(PREFIX)}
    given = host.environment.get("NCCL_CONF_FILE")
    own = Path(given) if given else host.home / ".nccl.conf" if host.home else None
    for path in (own, host.root / "etc" / "nccl.conf"):
        for line in text(path).splitlines() if path is not None else []:
            name, equal, value = line.strip().partition("=")
            if equal and name.startswith(PREFIX):
                shown = path if path == own else "/etc/nccl.conf"
                found.setdefault(name.strip(), (value.strip(), str(shown)))
    return found
