"""How many bytes an element has, by the names that logs use.

For: holding a count against a size. Not for: ringtree's own dtypes.
"""

from __future__ import annotations

_BYTES = {
    1: "int8 uint8 char byte fp8 f8e4m3 f8e5m2 fp8_e4m3 fp8_e5m2 float8_e4m3 float8_e5m2 MPI_CHAR MPI_BYTE bool",
    2: "half bfloat16 bf16 float16 fp16 int16 uint16 short",
    4: "float int int32 uint32 float32 fp32 fp int32_t MPI_FLOAT MPI_INT",
    8: "double int64 uint64 float64 fp64 long MPI_DOUBLE",
}
_BY_NAME = {name.lower(): size for size, names in _BYTES.items() for name in names.split()}


def element_bytes(dtype: str | None) -> int | None:
    """Returns the bytes of one element, None for a name that is not known."""
    return None if dtype is None else _BY_NAME.get(dtype.strip().lower().removeprefix("torch."))
