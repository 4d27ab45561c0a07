"""The binding against what it is bound to: NVIDIA's headers where they are installed, the stand-in, the kernels.

For: signatures, numbers and layouts that a mistake in would only show on a GPU. Not for: arms (test_nccl_arms.py).
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from nccl_standin import ROOT, Play, standin

from ringtree.gpu import NcclError, lacks_gpu, lacks_nccl, nccl_version
from ringtree.gpu import driver as driver_module
from ringtree.gpu import nccl as nccl_module
from ringtree.gpu.memory import zeros
from ringtree.gpu.patterns import on_device

__all__ = ["standin"]
PTX = ROOT / "ringtree" / "gpu" / "patterns.ptx"
C_TYPES = {
    "size_t": ctypes.c_size_t, "int": ctypes.c_int, "ncclDataType_t": ctypes.c_int, "ncclRedOp_t": ctypes.c_int,
    "ncclScalarResidence_t": ctypes.c_int, "ncclUniqueId": nccl_module._UniqueId, "float": ctypes.c_float,
    "unsigned int": ctypes.c_uint, "unsigned long long": ctypes.c_ulonglong, "unsigned char": ctypes.c_ubyte,
    "CUdevice": ctypes.c_int, "ncclResult_t": ctypes.c_int, "CUresult": ctypes.c_int,
    "CUstreamCaptureMode": ctypes.c_int,
}  # fmt: skip


def header(name: str, places: list[Path]) -> str:
    """The text of a header of NVIDIA's without its comments; skips where it isn't installed."""
    found = next((path for place in places for path in [place / name] if path.exists()), None)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", found.read_text(errors="replace"), flags=re.DOTALL)


def declared(text: str, function: str) -> list[str] | None:
    """The types of a function's parameters."""
    match = re.search(rf"\b{function}\s*\(([^)]*)\)\s*;", text)
    if match is None:
        return None
    parameters = [" ".join(each.split()) for each in match[1].split(",") if each.strip() not in ("", "void")]
    return [re.sub(r"\s*\b\w+$", "", each).removeprefix("const ").strip() or each for each in parameters]


def agrees(kind: str, bound: object) -> bool:
    """Whether a C type is the one that is bound: pointers and handles are addresses."""
    if kind in C_TYPES:
        return bound is C_TYPES[kind]
    return isinstance(bound, type) and (bound in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(bound, "contents"))


@pytest.mark.parametrize("function", sorted(nccl_module._PROTOTYPES))
def test_signatures_are_those_of_nccl_h(function: str) -> None:
    package = importlib.util.find_spec("nvidia")
    places = [Path(each) / "nccl" / "include" for each in (package.submodule_search_locations or [])] if package else []
    if "NCCL_HOME" in os.environ:
        places.insert(0, Path(os.environ["NCCL_HOME"]) / "include")
    kinds = declared(header("nccl.h", [*places, Path("/usr/include"), Path("/usr/local/include")]), function)
    assert kinds is None or len(kinds) == len(nccl_module._PROTOTYPES[function])
    assert all(map(agrees, kinds or [], nccl_module._PROTOTYPES[function]))


@pytest.mark.parametrize("function", sorted(driver_module._PROTOTYPES))
def test_signatures_are_those_of_cuda_h(function: str) -> None:
    text = header("cuda.h", [Path("/usr/local/cuda/include"), *Path("/usr/local").glob("cuda-*/include")])
    plain = re.sub(r"_v\d$", "", function)
    if plain != function:
        assert re.search(rf"#define {plain}\s+\S*{function}\b", text), f"{plain} is not {function}"
    # A macro gives the name that is declared another one in the library.
    kinds = declared(text, "cuGraphInstantiate" if plain == "cuGraphInstantiateWithFlags" else plain)
    assert kinds is not None
    bound = driver_module._PROTOTYPES[function]
    assert len(kinds) == len(bound)
    assert all(map(agrees, kinds, bound)), (kinds, bound)


def test_numbers_of_types_and_ops_are_those_of_the_log() -> None:
    from ringtree.nccl.names import DTYPES, OPS

    assert [name.removesuffix("fn") for name in nccl_module.DTYPES] == list(DTYPES)
    assert nccl_module.OPS == OPS
    assert [nccl_module.item_bytes(name) for name in nccl_module.DTYPES] == [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1]


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_100"])
def test_the_kernels_assemble(architecture: str, tmp_path: Path) -> None:
    subprocess.run(["ptxas", f"-arch={architecture}", str(PTX), "-o", str(tmp_path / "out")], check=True)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_the_ptx_is_that_of_its_source(tmp_path: Path) -> None:
    def code(text: str) -> list[str]:
        lines = [line.strip() for line in text.splitlines()]
        return [line for line in lines if line and not line.startswith(("//", ".version", ".target"))]

    made = tmp_path / "patterns.ptx"
    command = ["nvcc", "-ptx", "-arch=compute_75", str(PTX.with_suffix(".cu")), "-o", str(made)]
    if "release 13.0" not in subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("another nvcc makes other code of the same source")
    subprocess.run(command, check=True)
    assert code(made.read_text()) == code(PTX.read_text())


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_data_is_written_and_checked_where_it_lies(standin: Play, dtype: str) -> None:
    patterns = on_device(0)
    pattern = (np.arange(1, 101) % 97).astype(dtype)
    array = zeros(patterns.device, patterns, 1000, np.dtype(dtype))
    assert array.compare_pattern(np.zeros(100, dtype), 3) == (0, 0)
    array.write_pattern(pattern, 3)
    assert array.compare_pattern(pattern, 3) == (0, 0)
    assert [array.element(index) for index in (0, 97, 999)] == [pattern[3], pattern[0], pattern[2]]
    array[400:402].write_pattern(pattern, 50)
    assert array.compare_pattern(pattern, 3) == (400, 2)
    assert len(array[990:]) == 10
    assert array[990:][5:].start == 995


def test_errors_say_what_failed(standin: Play) -> None:
    standin(fail="init")
    with pytest.raises(NcclError, match=r"ncclCommInitRank failed \(2\): .*Failed to open the stand-in's network"):
        nccl_module.Communicator(nccl_module.unique_id(), 1, 0, on_device(0).device.stream)


def test_the_library_says_its_version(standin: Play) -> None:
    standin(version=22403)
    assert nccl_version() == "2.24.3"
    assert lacks_nccl() is None
    standin(gpus=0)
    assert lacks_gpu() == "no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES"
