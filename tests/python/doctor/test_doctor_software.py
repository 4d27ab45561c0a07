"""PyTorch, NCCL, MPI, compilers, variables, arms: what is said of each.

For: probes of software. Not for: devices (test_doctor_devices.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_support import H100, bare, dgx, dgx_host, fact_of, found_mpi, host, listed, smi, software, write

from ringtree.arms.registry import kind_named
from ringtree.doctor import Verdict
from ringtree.doctor.probes import arms, launcher, mpi, nccl_libraries, variables
from ringtree.doctor.probes import software as probes
from ringtree.errors import RingtreeError

WARN, FAIL, OK = Verdict.WARN, Verdict.FAIL, Verdict.OK


def torch_folder(root: Path, version: str, cuda: str | None, hip: str | None = None) -> Path:
    text = f"from typing import Optional\n__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = {cuda!r}\n"
    write(root, {"site/torch/version.py": f"{text}hip: Optional[str] = {hip!r}\n"})
    return root / "site/torch"


@pytest.mark.parametrize(
    ("cuda", "hip", "verdict", "value", "why"),
    [
        ("12.8", None, OK, "2.9.0, for CUDA 12.8", ""),
        ("12.4", None, OK, "2.9.0, for CUDA 12.4", ""),
        ("13.0", None, WARN, "2.9.0, for CUDA 13.0", "the driver has CUDA up to 12.8"),
        (None, None, WARN, "2.9.0, for CPUs", "can't use the GPUs"),
        (None, "6.4", OK, "2.9.0, for ROCm 6.4", ""),
    ],
)
def test_pytorch_on_a_dgx(
    tmp_path: Path, cuda: str | None, hip: str | None, verdict: Verdict, value: str, why: str
) -> None:
    folder = torch_folder(tmp_path, "2.9.0", cuda, hip)
    (fact,) = probes.pytorch(dgx_host(dgx(tmp_path), software=software(folder_of={"torch": folder}.get)))
    assert (fact.verdict, fact.value) == (verdict, value)
    assert why in fact.why


def test_pytorch_for_cpus_is_as_it_should_be_without_gpus(tmp_path: Path) -> None:
    folder = torch_folder(tmp_path, "2.13.0+cpu", None)
    (fact,) = probes.pytorch(host(bare(tmp_path), software=software(folder_of={"torch": folder}.get)))
    assert (fact.verdict, fact.value) == (OK, "2.13.0+cpu, for CPUs")


def test_a_pytorch_that_does_not_tell_is_not_known(tmp_path: Path) -> None:
    write(tmp_path, {"site/torch/version.py": "exec(open('other').read())\n"})
    (fact,) = probes.pytorch(host(bare(tmp_path), software=software(folder_of=lambda name: tmp_path / "site/torch")))
    assert (fact.known, fact.verdict) == (False, None)


def test_a_missing_compiler_is_named_with_what_needs_it(tmp_path: Path) -> None:
    only_c = software(which={"cc": "/usr/bin/cc"}.get)
    folder = tmp_path / "made" / "when" / "needed"
    machine = host(bare(tmp_path), software=only_c, environment={"RINGTREE_CACHE_DIR": str(folder)})
    facts = list(probes.compilers(machine))
    assert (fact_of(facts, "C compiler").verdict, fact_of(facts, "C++ compiler").verdict) == (OK, WARN)
    assert "torch.distributed backend" in fact_of(facts, "C++ compiler").why
    kept = fact_of(facts, "folder for what is compiled")
    assert (kept.value, kept.verdict) == (str(folder), OK)


def test_a_cache_that_can_not_be_written_to(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    machine = host(bare(tmp_path), environment={"RINGTREE_CACHE_DIR": str(tmp_path / "file" / "below")})
    kept = fact_of(list(probes.compilers(machine)), "folder for what is compiled")
    assert kept.verdict is WARN
    assert "RINGTREE_CACHE_DIR" in kept.why


def test_a_user_without_a_home_needs_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    kept = fact_of(list(probes.compilers(host(bare(tmp_path), environment={}))), "folder for what is compiled")
    assert (kept.value, kept.verdict) == ("none", WARN)
    assert "set RINGTREE_CACHE_DIR" in kept.why


def test_an_nccl_without_code_for_the_gpus_hinders(tmp_path: Path) -> None:
    outputs = {"listed": listed(["NVIDIA B200"] * 8)}
    old = dgx_host(dgx(tmp_path), outputs, software=software(nccl=lambda: "2.21.5"))
    (fact,) = nccl_libraries.called(old)
    assert (fact.verdict, fact.value) == (FAIL, "2.21.5")
    assert "use 2.25.1 or newer" in fact.why
    (fact,) = nccl_libraries.called(dgx_host(tmp_path, outputs, software=software(nccl=lambda: "2.25.1")))
    assert fact.verdict is OK


def test_another_nccl_on_the_library_path_is_to_mind(tmp_path: Path) -> None:
    root = write(bare(tmp_path), {"own/libnccl.so.2": "", "other/libnccl.so.2.21.5": ""})
    (root / "other/libnccl.so.2").symlink_to("libnccl.so.2.21.5")
    own = software(nccl_of_packages=lambda: [str(root / "own/libnccl.so.2")])
    path = f"{root}/other::{root}/nothing:{root}/own"
    first, second = nccl_libraries.copies(host(root, software=own, environment={"LD_LIBRARY_PATH": path}))
    assert (first.verdict, second.verdict) == (WARN, OK)
    assert first.value == f"{root}/other/libnccl.so.2 (2.21.5)"
    assert "RINGTREE_LIBNCCL" in first.why


@pytest.mark.parametrize(("package", "verdict"), [("nvidia-nccl-cu13", FAIL), ("nvidia-nccl-cu12", OK)])
def test_an_nccl_for_a_newer_cuda_than_the_drivers_hinders(tmp_path: Path, package: str, verdict: Verdict) -> None:
    found = software(version_of={package: "2.28.3"}.get)
    (fact,) = nccl_libraries.copies(dgx_host(dgx(tmp_path), {"smi": smi(cuda="12.8")}, software=found))
    assert (fact.verdict, fact.value) == (verdict, f"{package} 2.28.3")


@pytest.mark.parametrize(
    ("name", "value", "verdict", "why"),
    [
        ("NCCL_ALGO", "Rinng", FAIL, "'Rinng' is not one of"),
        ("NCCL_ALGO", "Ring", WARN, "algorithm or protocol is forced"),
        ("NCCL_PROTO", "LL512", FAIL, "'LL512' is not one of"),
        ("NCCL_P2P_DISABLE", "1", WARN, "through host memory"),
        ("NCCL_IB_DISABLE", "1", WARN, "turns InfiniBand and RoCE off"),
        ("NCCL_NVLS_ENABLE", "0", WARN, "NVLS is off"),
        ("NCCL_PXN_DISABLE", "1", WARN, "PXN is off"),
        ("NCCL_ALGOO", "Ring", WARN, "it does nothing in NCCL 2.26.2"),
        ("NCCL_DEBUG", "INFO", None, ""),
        ("NCCL_IB_HCA", "mlx5", None, ""),
        ("NCCL_VERSION", "2.28.3-1", None, ""),  # as NVIDIA's images set it
    ],
)
def test_a_variable_that_is_set(tmp_path: Path, name: str, value: str, verdict: Verdict | None, why: str) -> None:
    (fact,) = variables.nccl_variables(dgx_host(dgx(tmp_path), environment={name: value, "HOME": str(tmp_path)}))
    assert (fact.name, fact.value, fact.verdict, fact.source) == (name, value, verdict, "environment")
    assert why in fact.why


def test_what_a_variable_turns_off_must_be_there(tmp_path: Path) -> None:
    """Neither NVLS nor other hosts: turning them off causes no warning."""
    for name in ("NCCL_NVLS_ENABLE", "NCCL_PXN_DISABLE"):
        value = "0" if name == "NCCL_NVLS_ENABLE" else "1"
        (fact,) = variables.nccl_variables(host(bare(tmp_path / name), environment={name: value}))
        assert fact.verdict is None


def test_one_gpu_has_no_switch_that_could_be_off(tmp_path: Path) -> None:
    alone = dgx_host(dgx(tmp_path), {"listed": listed([H100])}, environment={"NCCL_NVLS_ENABLE": "0", "HOME": "/"})
    (fact,) = variables.nccl_variables(alone)
    assert fact.verdict is None


def test_a_value_that_is_refused_is_to_mind_where_no_nccl_is(tmp_path: Path) -> None:
    (fact,) = variables.nccl_variables(host(bare(tmp_path), environment={"NCCL_ALGO": "Rinng"}))
    assert fact.verdict is WARN
    assert "none is here" in fact.why


def test_a_variable_that_another_one_overrules(tmp_path: Path) -> None:
    environment = {"NCCL_IB_DISABLE": "1", "NCCL_IB_HCA": "mlx5_0"}
    facts = list(variables.nccl_variables(dgx_host(dgx(tmp_path), environment=environment)))
    assert "does nothing in NCCL 2.26.2: NCCL_IB_DISABLE=1" in fact_of(facts, "NCCL_IB_HCA").why


def test_files_of_nccl_count_after_the_environment(tmp_path: Path) -> None:
    root = write(
        bare(tmp_path),
        {
            "home/.nccl.conf": "NCCL_DEBUG=WARN\nNCCL_P2P_DISABLE=1\n",
            "etc/nccl.conf": "# ours\nNCCL_DEBUG=VERSION\nNCCL_IB_TIMEOUT=22\nOTHER=1\n",
        },
    )
    environment = {"HOME": "/elsewhere", "NCCL_P2P_DISABLE": "0"}
    facts = list(variables.nccl_variables(host(root, environment=environment)))
    assert [(fact.name, fact.value, fact.source) for fact in facts] == [
        ("NCCL_DEBUG", "WARN", f"{root}/home/.nccl.conf"),
        ("NCCL_IB_TIMEOUT", "22", "/etc/nccl.conf"),
        ("NCCL_P2P_DISABLE", "0", "environment"),
    ]
    named = host(root, environment={"NCCL_CONF_FILE": f"{root}/etc/nccl.conf"})
    assert fact_of(list(variables.nccl_variables(named)), "NCCL_DEBUG").value == "VERSION"


def test_variables_of_others_are_those_that_runs_keep(tmp_path: Path) -> None:
    environment = {"OMP_NUM_THREADS": "2", "PATH": "/bin", "UCX_TLS": "rc", "NCCL_DEBUG": "INFO", "MKL_AUTH": "hunter2"}
    facts = variables.others(host(bare(tmp_path), environment=environment))
    assert [(fact.name, fact.value) for fact in facts] == [("OMP_NUM_THREADS", "2"), ("UCX_TLS", "rc")]


def test_a_value_that_may_be_a_secret_is_not_shown(tmp_path: Path) -> None:
    (fact,) = variables.nccl_variables(host(bare(tmp_path), environment={"NCCL_MY_TOKEN": "hunter2"}))
    assert "hunter2" not in fact.model_dump_json()


def test_mpi_libraries_are_named_with_version_and_launcher(tmp_path: Path) -> None:
    here = software(mpi=lambda library: found_mpi() if library == "openmpi" else None)
    assert [(fact.name, fact.value) for fact in mpi.libraries(host(bare(tmp_path), software=here))] == [
        ("openmpi", "4.1.4 (/usr/bin/mpirun)")
    ]
    (fact,) = mpi.libraries(host(tmp_path))
    assert (fact.name, fact.value) == ("MPI", "none")


def test_inside_of_mpirun(tmp_path: Path) -> None:
    assert list(mpi.inside_a_job(host(bare(tmp_path)))) == []
    (fact,) = mpi.inside_a_job(host(tmp_path, environment={"OMPI_COMM_WORLD_RANK": "0"}))
    assert fact.verdict is WARN


def test_a_launcher_is_named_with_the_variable_of_each_fact(tmp_path: Path) -> None:
    (none,) = launcher.launcher(host(bare(tmp_path)))
    assert (none.name, none.verdict) == ("launcher", None)
    assert none.value.startswith("none has started")
    by_hand = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "n0", "MASTER_PORT": "29500"}
    facts = list(launcher.launcher(host(tmp_path, environment=by_hand)))
    assert fact_of(facts, "launcher").value == "the environment"
    rank, meeting = fact_of(facts, "rank"), fact_of(facts, "ranks meet")
    assert (rank.value, rank.source) == ("1", "RANK")
    assert (meeting.value, meeting.source) == ("at n0, port 29500: a store of rank 0's", "MASTER_ADDR; MASTER_PORT")
    assert not any(fact.verdict for fact in facts)


def test_what_keeps_ranks_from_meeting_is_a_failure(tmp_path: Path) -> None:
    machine = bare(tmp_path)
    no_port = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "n0"}
    for environment, why in (
        (no_port, "set MASTER_PORT"),
        (no_port | {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, "two launchers disagree"),
    ):
        facts = list(launcher.launcher(host(machine, environment=environment)))
        assert [fact.verdict for fact in facts if fact.verdict] == [FAIL]
        assert why in facts[-1].why


def test_arms_are_ready_or_lack_something_which_hinders_those_that_were_asked_for(tmp_path: Path) -> None:
    from dataclasses import replace

    def broken() -> str | None:
        raise RingtreeError("the library is damaged")

    engine, gloo, impi = kind_named("auto"), kind_named("gloo"), kind_named("impi")
    kinds = (
        replace(engine, lacks=lambda: None),
        replace(gloo, lacks=lambda: "PyTorch is missing"),
        replace(impi, lacks=broken),
    )
    machine = host(bare(tmp_path), software=software(kinds=kinds))
    ready, lacking, odd = arms.arms(machine)
    assert (ready.value, ready.verdict) == ("auto", OK)
    assert (lacking.name, lacking.value, lacking.verdict) == ("gloo", "lacks: PyTorch is missing", None)
    assert (odd.name, odd.known) == ("impi", False)
    none, lacking = arms.arms(replace(machine, asked=frozenset({"gloo"})))
    assert (none.value, lacking.verdict, lacking.why) == ("none", FAIL, "PyTorch is missing")
