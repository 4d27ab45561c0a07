"""`ringtree nccl vars` and `ringtree nccl support`."""

import json

import pytest
from cli_support import invoke


def test_vars_lists_groups_with_defaults_of_the_version() -> None:
    lines = invoke("nccl", "vars", "--version", "2.13.4").stdout.splitlines()
    assert any("[infiniband]" in line for line in lines)
    assert [line.split()[1] for line in lines if line.split()[:1] == ["NCCL_IB_TIMEOUT"]] == ["14"]
    assert not any("NCCL_RAS_ENABLE" in line for line in lines), "it came later"


def test_all_has_those_that_the_manual_does_not_name() -> None:
    hidden = "NCCL_PROXY_APPEND_BATCH_SIZE"
    assert hidden not in invoke("nccl", "vars", "--version", "2.30.7").stdout
    assert hidden in invoke("nccl", "vars", "--version", "2.30.7", "--all").stdout


def test_one_variable_with_all_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_IB_HCA", "=mlx5_0")
    monkeypatch.setenv("NCCL_IB_DISABLE", "1")
    text = invoke("nccl", "vars", "ib_hca", "--version", "2.27.3").stdout
    assert "NCCL_IB_HCA=\\=mlx5_0" not in text
    assert "  set here  =mlx5_0\n" in text
    assert "NCCL_IB_HCA==mlx5_0 does nothing: NCCL_IB_DISABLE=1" in text


def test_vars_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_ALGOO", "Ring")
    found = json.loads(invoke("nccl", "vars", "NCCL_NVLS_ENABLE", "--version", "2.17.1", "--json").stdout)
    assert found["format"] == "ringtree.nccl-vars/1"
    (variable,) = found["variables"]
    assert (variable["name"], variable["state"], variable["default"]) == ("NCCL_NVLS_ENABLE", "read", "1")
    assert "NCCL_ALGO" in found["without_effect"]["NCCL_ALGOO"]


def row_of(text: str, collective: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(collective))


def test_support_says_what_forcing_does_in_each_release() -> None:
    old = invoke("nccl", "support", "--version", "2.21.5").stdout
    new = invoke("nccl", "support", "--version", "2.27.3").stdout
    assert "Ring runs (1)" in row_of(old, "all_gather")
    assert "fails (1)" in row_of(new, "all_gather")
    assert "LL LL128 Simple" in row_of(new, "all_reduce")
    assert "PAT needs one GPU a node" in new
    assert "PAT" not in old


def test_support_as_json_has_a_cell_for_each() -> None:
    found = json.loads(invoke("nccl", "support", "--version", "2.27.3", "--json").stdout)
    assert len(found["cells"]) == 5 * 7 * 3
    cell = next(
        one
        for one in found["cells"]
        if (one["collective"], one["algorithm"], one["protocol"]) == ("all_gather", "Tree", "LL")
    )
    assert (cell["outcome"], cell["executed"]) == ("error", None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vars", "--version", "latest"], "invalid version of NCCL 'latest'"),
        (["vars", "ALGORITHM"], "did you mean"),
        (["support", "--version", "2.3"], "algorithms are known from NCCL 2.5 on"),
        (["support", "--version", "two"], "invalid version of NCCL 'two'"),
        ([], "nccl is followed by vars or support"),
        (["var"], "nccl is followed by vars or support"),
    ],
)
def test_mistakes_end_in_one_line(arguments: list[str], said: str) -> None:
    done = invoke("nccl", *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", "").split())
