"""The launchers that are known, innermost first, and which one counts where several have left variables.

For: adding a launcher, a line here and a file beside; and precedence. Not for: any launcher's variables.

Launchers nest: torchrun runs inside of srun, mpirun inside of a Slurm or PBS job, Flux inside of srun. The inner one
counts, as it started this process. Two of one kind that disagree can't nest, and there is no telling which of them is
meant: an error. RANK and WORLD_SIZE alone may come from anywhere, so they must agree with what else is there, or be the
inner ones of a launcher that started one process for each group of LOCAL_WORLD_SIZE ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ringtree.errors import UsageError
from ringtree.launchers import by_hand, flux, hydra, jsm, kubernetes, open_mpi, pals, pmi, slurm, torchrun
from ringtree.launchers.identity import Finding, Identity, Surroundings

# From the inside out. ANY: RANK and WORLD_SIZE alone; INSTANCE: a scheduler that others can start.
PROGRAM, ANY, MPI, INSTANCE, SCHEDULER = range(5)


class Unidentified(UsageError):
    """There is no telling which rank this process is. `identities`: who it is to each launcher that can be read, the
    inner one first."""

    def __init__(self, why: str, identities: Sequence[Identity]) -> None:
        super().__init__(why)
        self.identities = tuple(identities)


class LaunchersDisagree(Unidentified):
    """Two launchers that can't both be meant."""

    def __init__(self, first: Identity, second: Identity) -> None:
        super().__init__(
            f"two launchers disagree: {first.words}, and {second.words}: unset the variables of the one that did not "
            "start this",
            (first, second),
        )


class Launcher(NamedTuple):
    """`read`: returns None if this launcher did not start this process as a rank."""

    kind: int
    read: Callable[[Surroundings], Identity | None]


LAUNCHERS = (
    Launcher(PROGRAM, torchrun.read),
    Launcher(ANY, by_hand.read),
    Launcher(MPI, open_mpi.read),
    Launcher(MPI, hydra.read),
    Launcher(INSTANCE, flux.read),
    Launcher(SCHEDULER, slurm.read),
    Launcher(SCHEDULER, pals.read),
    Launcher(SCHEDULER, jsm.read),
    Launcher(SCHEDULER, kubernetes.read),
    Launcher(SCHEDULER, pmi.read),
)
# What one launcher may know better than another that agrees with it on rank and world size.
_FILLED = ("local_rank", "local_size", "host_rank", "num_hosts", "hosts", "job", "address")


def identify(surroundings: Surroundings | None = None) -> Identity | None:
    """Returns who this process is, None if no launcher has started it as a rank. Raises LaunchersDisagree, and
    Unidentified for variables that can't be read."""
    around = Surroundings.here() if surroundings is None else surroundings
    found: list[tuple[int, Identity]] = []
    unreadable: list[UsageError] = []
    for launcher in LAUNCHERS:
        try:
            identity = launcher.read(around)
        except UsageError as error:
            unreadable.append(error)
            continue
        if identity is not None:
            found.append((launcher.kind, identity))
    if unreadable:
        raise Unidentified(str(unreadable[0]), [_with_master(identity, around) for _, identity in found])
    if not found:
        return None
    kind, counts = found[0]
    for other_kind, other in found[1:]:
        if (other.rank, other.world_size) == (counts.rank, counts.world_size):
            counts = _filled(counts, other)
        elif _nests(kind, counts, other_kind, other):
            counts = replace(counts, inside=(*counts.inside, other.words))
        else:
            raise LaunchersDisagree(_with_master(counts, around), _with_master(other, around))
    return _with_master(counts, around)


def _nests(kind: int, inner: Identity, outer_kind: int, outer: Identity) -> bool:
    """Whether `outer` can have started the process that started this one."""
    if outer.world_size == 1:
        return True
    if kind == ANY:
        size = inner.local_size
        return bool(size and inner.world_size == outer.world_size * size and inner.rank // size == outer.rank)
    return kind < outer_kind


def _filled(counts: Identity, other: Identity) -> Identity:
    lacking = [name for name in _FILLED if not _is_said(counts, name) and _is_said(other, name)]
    sources = {**counts.sources, **{name: other.sources[name] for name in lacking if name in other.sources}}
    return replace(counts, sources=sources, **{name: getattr(other, name) for name in lacking})


def _is_said(identity: Identity, name: str) -> bool:
    return getattr(identity, name) not in (None, ())


def _with_master(identity: Identity, around: Surroundings) -> Identity:
    """MASTER_ADDR and MASTER_PORT count for every launcher: torchrun sets them, anybody may."""
    master = Finding(identity.launcher, around.environment)
    address, port = master.text("address", "MASTER_ADDR"), master.text("port", "MASTER_PORT")
    sources = dict(identity.sources)
    if address is not None:
        sources["address"] = "MASTER_ADDR"
    if port is not None:
        sources["port"] = "MASTER_PORT"
    return replace(identity, address=address or identity.address, port=port, sources=sources)
