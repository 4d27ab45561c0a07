"""The arms of MPI libraries and oneCCL: `openmpi`, `mpich`, `impi`, `oneccl`, `mpi` (whichever is found).

For: how such arms are written and which of the library's variables that means: `openmpi:ring` (coll_tuned, by name or
number), `mpich:recursive_doubling` (a CVAR), `impi:7` (I_MPI_ADJUST_ALLREDUCE), `oneccl:ring` (CCL_ALLREDUCE); a
version by its number, `openmpi5`. Not for: finding and starting them (mpi_libraries.py).

A switch asks. What the library then says that it has set is read back through its tool interface (MPI_T) where it has
one, and an arm whose variable does not exist or was not taken is not measured. What a call really ran no MPI tells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ringtree.arms.arm import Arm
from ringtree.arms.kind import ALGORITHM, ArmKind
from ringtree.arms.mpi_libraries import IMPI, LIBRARIES, MPICH, ONECCL, OPENMPI, MpiProgram
from ringtree.arms.program import Controls, Native
from ringtree.errors import UsageError

_OP_NAMES = ("sum", "prod", "min", "max")
_ALL_OPS = (*_OP_NAMES, "band", "bor", "bxor", "land", "lor", "lxor")
_MPI_DTYPES = ("float32", "float64", "int8", "uint8", "int32", "uint32", "int64", "uint64")
_CCL_DTYPES = (*_MPI_DTYPES, "float16", "bfloat16")
_MPI = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "reduce", "gather", "scatter")
_CCL = _MPI[:6]
# What each library calls a collective in the name of its variable.
_OPENMPI_NAMES = dict(
    zip(
        _MPI,
        ["allreduce", "reduce_scatter_block", "allgather", "bcast", "alltoall", "reduce", "gather", "scatter"],
        strict=True,
    )
)
_SPELLED: Mapping[str, Mapping[str, str]] = {
    OPENMPI: _OPENMPI_NAMES,
    MPICH: {collective: name.upper() for collective, name in _OPENMPI_NAMES.items()},
    IMPI: {collective: name.upper().removesuffix("_BLOCK") for collective, name in _OPENMPI_NAMES.items()},
    ONECCL: {collective: _OPENMPI_NAMES[collective].upper().removesuffix("_BLOCK") for collective in _CCL},
}
_SWITCH = {OPENMPI: r"[a-z_\d-]+", MPICH: r"[a-z_\d]+", IMPI: r"\d+", ONECCL: r"[a-z_\d]+"}
# Frameworks of Open MPI whose variables the ranks have; those of its launcher they need not.
_OF_RANKS = ("coll", "btl", "pml", "smsc", "mtl", "op", "mpi", "opal")


def controls_of(library: str, switch: str, collective: str) -> Controls:
    """Returns the variables that `openmpi:switch` and its like set. Raises UsageError."""
    spelled = _SPELLED[library][collective]
    if library == OPENMPI:
        name = f"coll_tuned_{spelled}_algorithm"
        rules = ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
        return Controls((rules, (f"OMPI_MCA_{name}", switch)), ((name, switch),))
    if library == MPICH:
        name = f"MPIR_CVAR_{spelled}_INTRA_ALGORITHM"
        # Else the device's own come first, and the variable counts for nothing. Of this collective alone.
        return Controls(((f"MPIR_CVAR_{spelled}_DEVICE_COLLECTIVE", "0"), (name, switch)), ((name, switch),))
    return Controls(((f"I_MPI_ADJUST_{spelled}" if library == IMPI else f"CCL_{spelled}", switch),))


def told_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what a library must say of an arm's variables (arm@VAR=value), by its tool interface's names."""
    wanted = {}
    for name, value in environment.items():
        plain = name.removeprefix("OMPI_MCA_")
        if name.startswith("MPIR_CVAR_") or (plain != name and plain.split("_")[0] in _OF_RANKS):
            wanted[plain] = value
    return wanted


def is_taken(said: str, wanted: str) -> bool:
    """Returns whether a library that says `said` of its variable has it at `wanted`: a number, its name, or both."""
    plain = {"true": "1", "yes": "1", "false": "0", "no": "0"}.get(wanted, wanted)
    words = said.split()
    # Some tell the number of a name only; 0 is then what it is when it was not set.
    by_number = len(words) == 1 and words[0].isdigit() and not plain.isdigit()
    is_default = wanted in ("auto", "ignore", "none")
    return said == wanted or plain in words or (by_number and (words[0] != "0") != is_default)


def _no_call_from_python(name: str) -> Arm:
    raise UsageError(f"{name} is called from C only, in processes of its own")


def _program(head: str) -> MpiProgram:
    if head == "mpi":
        programs = [MpiProgram(library) for library in (OPENMPI, MPICH, IMPI)]
        return next((one for one in programs if one.lacks() is None), programs[0])
    match = re.fullmatch(r"([a-z]+)(\d*)", head)
    assert match is not None, "heads are made below"
    return MpiProgram(match[1], int(match[2]) if match[2] else None)


def _kind(head: str) -> ArmKind:
    library = OPENMPI if head == "mpi" else re.sub(r"\d+", "", head)
    switches = None if head == "mpi" else re.compile(_SWITCH[library])

    def accepts(name: str, collective: str) -> bool:
        _, colon, switch = name.partition(":")
        return not colon or (switches is not None and switches.fullmatch(switch) is not None)

    def native(name: str, collective: str | None) -> Native:
        switch = name.partition(":")[2]
        controls = controls_of(library, switch, collective) if switch and collective else Controls()
        return Native(_program(head), controls)

    def lacks() -> str | None:
        reason = _program(head).lacks()
        return f"no MPI is installed: {reason}" if reason and head == "mpi" else reason

    plain = head == library
    return ArmKind(
        name=head,
        heads=frozenset((head,)),
        written=(head, f"{head}:{'7' if head == IMPI else ALGORITHM}") if plain else (head,),
        accepts=accepts,
        make=_no_call_from_python,
        native=native,
        collectives=_CCL if library == ONECCL else _MPI,
        boundaries=("native",),
        dtypes=_CCL_DTYPES if library == ONECCL else _MPI_DTYPES,
        ops=_OP_NAMES if library == ONECCL else _ALL_OPS,
        lacks=lacks,
        process="own",
        several_hosts=lambda name: False,
        # Launches of ten arms with 2, 4 and 16 ranks on 2 cores took 4.8, 8.8 and 11.6 s (2026-11-26).
        start_seconds=0.1,
        library=True,
    )


KINDS = tuple(_kind(head) for head in (*LIBRARIES, "openmpi4", "openmpi5", "mpich4", "mpich5", "mpi"))
