"""The engine in processes of its own, called from C++: beside MPI and oneCCL, whose arms are called so.

For: `native:<an engine's arm>`, and the engine's ordinary arms where all arms of a run are called natively. Not for:
how they are called from Python (engine.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtree.arms.arm import Arm
from ringtree.arms.engine_name import AUTO, ORDINARY, SHARED, STREAMING, parse_engine_name
from ringtree.arms.kind import ALGORITHM, ArmKind
from ringtree.arms.program import Native, operands
from ringtree.building import installed
from ringtree.comm import profile
from ringtree.errors import UsageError
from ringtree.schedules import algorithms as builtin

HEAD = "native"


@dataclass(frozen=True)
class EngineProgram:
    """Its worker starts its own ranks. `auto` goes by this machine's profile, if there is one."""

    name: str = "engine"

    @property
    def worker(self) -> Path:
        """The program of all ranks, which comes with the package."""
        return installed() / "lib" / "engine_worker"

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        return [str(self.worker), "--ranks", str(num_ranks), *self.rules(), *operands(socket, pin)]

    def rules(self) -> list[str]:
        """Returns the options that tell ranks what `auto` runs."""
        rules = profile.load(None).rules
        return ["--rules", rules] if rules else []

    def environment(self) -> dict[str, str]:
        return {}


def native_of(name: str, collective: str | None) -> Native | None:
    """Returns how native processes host an engine's arm; None where only Python can say what it asks for. Raises
    UsageError for an arm that there is not."""
    asked = parse_engine_name(name, collective)
    if asked.channels != 1 or not asked.words <= {SHARED, STREAMING, ORDINARY}:
        return None
    stores = [word for word in (STREAMING, ORDINARY) if word in asked.words]
    words = [asked.algorithm, asked.protocol or AUTO, str(asked.slice_bytes), *stores]
    return Native(EngineProgram(), words=" ".join(words), shared=SHARED in asked.words)


def lacks() -> str | None:
    """As ArmKind.lacks, of arms that must run natively."""
    worker = EngineProgram().worker
    return None if worker.exists() else f"{worker} is missing: the installation of ringtree is not complete"


def _accepts(name: str, collective: str) -> bool:
    _, colon, plain = name.partition(":")
    if not colon or plain.split("/")[0] not in (AUTO, *builtin.names(collective)):
        return False
    if native_of(plain, collective) is None:
        raise UsageError(f"invalid arm {name}: native: does not take channels, as-auto, for-shared or unfused")
    return True


def _no_call_from_python(name: str) -> Arm:
    raise UsageError(f"{name} can only be called from C++: leave native: out to call it from Python")


KIND = ArmKind(
    name="native_engine",
    heads=frozenset((HEAD,)),
    written=(f"{HEAD}:{ALGORITHM}", f"{HEAD}:{AUTO}"),
    accepts=_accepts,
    make=_no_call_from_python,
    native=lambda name, collective: native_of(name.partition(":")[2], collective),
    collectives=builtin.COLLECTIVES,
    boundaries=("native",),
    lacks=lacks,
    process="own",
    several_hosts=lambda name: False,
    shared_buffers=True,
    rivals=True,
    whose="ringtree's engine",
)
