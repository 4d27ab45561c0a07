"""NCCL's variables by release, against what NVIDIA's manual says of some, and what makes one useless."""

import re
from itertools import pairwise

import pytest

from ringtree.errors import UsageError
from ringtree.nccl import variables
from ringtree.nccl.releases import version
from ringtree.nccl.variables import find, known, release_to_show, without_effect

NEWEST = (2, 30, 7)


def at(text: str) -> tuple[int, int, int]:
    found = version(text)
    assert found is not None
    return found


# From the manual of 2.30: "since", and defaults with the release that changed them.
@pytest.mark.parametrize(
    ("name", "release", "default"),
    [
        ("NCCL_IB_TIMEOUT", "2.13.4", "14"),
        ("NCCL_IB_TIMEOUT", "2.14.3", "18"),
        ("NCCL_IB_TIMEOUT", "2.22.3", "18"),
        ("NCCL_IB_TIMEOUT", "2.23.4", "20"),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "2.19.3", "1"),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "2.20.3", "0"),
        ("NCCL_NVLS_ENABLE", "2.30.7", "2"),
        ("NCCL_PXN_C2C", "2.27.3", "0"),
        ("NCCL_PXN_C2C", "2.28.3", "1"),
        ("NCCL_IB_QPS_PER_CONNECTION", "2.30.7", "1"),
        ("NCCL_P2P_NET_CHUNKSIZE", "2.30.7", "131072"),
        ("NCCL_CUMEM_ENABLE", "2.18.1", "0"),
        ("NCCL_CUMEM_ENABLE", "2.19.1", None),  # found out by NCCL since
        ("NCCL_IB_GID_INDEX", "2.20.5", "0"),
        ("NCCL_IB_GID_INDEX", "2.21.5", None),
    ],
)
def test_defaults_are_those_of_the_manual(name: str, release: str, default: str | None) -> None:
    assert known()[name].default(at(release)) == default


@pytest.mark.parametrize(
    ("name", "release", "state"),
    [
        ("NCCL_PXN_DISABLE", "2.11.4", "not yet"),
        ("NCCL_PXN_DISABLE", "2.12.7", "read"),
        ("NCCL_TREE_THRESHOLD", "2.30.7", "gone"),
        ("NCCL_RAS_ENABLE", "2.23.4", "not yet"),
        ("NCCL_RAS_ENABLE", "2.24.3", "read"),
        ("NCCL_MULTI_RANK_GPU_ENABLE", "2.29.7", "not yet"),
        ("NCCL_MULTI_RANK_GPU_ENABLE", "2.30.3", "read"),
        ("NCCL_WORK_FIFO_DEPTH", "2.21.5", "read"),
        ("NCCL_WORK_FIFO_DEPTH", "2.22.3", "gone"),
        ("NCCL_DEBUG_FILE", "2.30.7", "read"),  # looked up in another way since 2.30.7
    ],
)
def test_releases_read_what_they_read(name: str, release: str, state: str) -> None:
    assert known()[name].state(at(release)) == state


def test_the_table_is_in_order() -> None:
    assert len(known()) == len(variables._table().variable), "a name stands twice"
    for variable in known().values():
        assert re.fullmatch(r"NCCL_[A-Z0-9_]+", variable.name)
        releases = [at(release) for release, _ in variable.defaults]
        assert releases == sorted(set(releases)), variable.name
        values = [value for _, value in variable.defaults]
        assert all(before != after for before, after in pairwise(values)), variable.name
        assert variable.since is not None or variable.gone is not None, variable.name
        assert variable.since is None or at(variables.first_read()) <= at(variable.since) <= NEWEST
        assert variable.does or not variable.manual, variable.name


def test_the_place_in_the_table_says_group_and_whether_the_manual_names_it() -> None:
    named = {name: known()[name] for name in ("NCCL_SOCKET_IFNAME", "NCCL_MIN_NRINGS", "NCCL_IB_QUERY_PORT_SPEED")}
    assert {name: (one.group, one.manual) for name, one in named.items()} == {
        "NCCL_SOCKET_IFNAME": ("network", True),
        "NCCL_MIN_NRINGS": ("channels and threads", False),  # described here all the same
        "NCCL_IB_QUERY_PORT_SPEED": (variables.UNDOCUMENTED, False),
    }


def test_rules_name_variables_that_there_are() -> None:
    for rule in variables._table().without_effect:
        assert re.split("!?=", rule.where)[0] in known()
        for pattern in rule.names:
            prefix = pattern.rstrip("*")
            others = [one.rstrip("*") for one in variables.OF_OTHERS]
            assert any(name.startswith(prefix) for name in known()) or prefix in others, pattern


def test_all_that_the_text_refers_to_exists() -> None:
    for variable in known().values():
        for name in re.findall(r"NCCL_[A-Z0-9_]+", f"{variable.does} {variable.with_}"):
            name = name.rstrip("_")
            assert name in known() or name == "NCCL_IB", f"{variable.name}: {name}"


def test_a_variable_is_found_however_it_is_written() -> None:
    assert find("nccl_algo").name == find("ALGO").name == "NCCL_ALGO"
    with pytest.raises(UsageError, match=r"reads no NCCL_IB_HAC; did you mean NCCL_IB_HCA"):
        find("ib_hac")
    with pytest.raises(UsageError, match="`ringtree nccl vars` lists"):
        find("zzzz")


def test_versions() -> None:
    assert release_to_show("2.21.5") == (2, 21, 5)
    assert release_to_show("2.26")[:2] == (2, 26)
    assert release_to_show("2.26") > at("2.26.6")
    assert release_to_show(None) == NEWEST
    with pytest.raises(UsageError, match="invalid version of NCCL 'new'"):
        release_to_show("new")
    with pytest.raises(UsageError, match=r"from NCCL 2\.5\.6 on"):
        release_to_show("2.4.8")


@pytest.mark.parametrize(
    ("environment", "name", "reason"),
    [
        ({"NCCL_IB_DISABLE": "1", "NCCL_IB_HCA": "mlx5"}, "NCCL_IB_HCA", "NCCL_IB_DISABLE=1: the built-in"),
        ({"NCCL_NET": "socket", "NCCL_NET_GDR_LEVEL": "PHB"}, "NCCL_NET_GDR_LEVEL", "NCCL_NET=socket: sockets carry"),
        ({"NCCL_OOB_NET_IFNAME": "eth0"}, "NCCL_OOB_NET_IFNAME", "NCCL_OOB_NET_ENABLE is not set"),
        ({"NCCL_DEBUG": "WARN", "NCCL_DEBUG_SUBSYS": "ALL"}, "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG=WARN: it filters"),
        ({"NCCL_IB_GID_INDEX": "3", "NCCL_IB_ADDR_FAMILY": "AF_INET"}, "NCCL_IB_ADDR_FAMILY", "the GID is given"),
        ({"NCCL_TREE_THRESHOLD": "0"}, "NCCL_TREE_THRESHOLD", "not read since 2.5: Use NCCL_ALGO."),
        ({"NCCL_SOCKET_NTHREAD": "4"}, "NCCL_SOCKET_NTHREAD", "did you mean NCCL_SOCKET_NTHREADS?"),
        ({"NCCL_IBEXT_DISABLE": "1"}, "NCCL_IBEXT_DISABLE", "NCCL itself does not read it"),
    ],
)
def test_what_is_set_and_does_nothing_is_named(environment: dict[str, str], name: str, reason: str) -> None:
    found = without_effect({"HOME": "/", **environment}, NEWEST)
    assert set(found) == {name}
    assert reason in found[name]


@pytest.mark.parametrize(
    "environment",
    [
        {"NCCL_IB_DISABLE": "0", "NCCL_IB_HCA": "mlx5"},
        {"NCCL_IB_DISABLE": "1"},
        {"NCCL_NET": "IB", "NCCL_SOCKET_IFNAME": "eth0"},  # the bootstrap's
        {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "TUNING"},
        {"NCCL_OOB_NET_ENABLE": "1", "NCCL_OOB_NET_IFNAME": "eth0"},
        {"NCCL_TUNER_CONFIG_FILE": "a.csv", "NCCL_TESTS_DEVICE": "0"},
    ],
)
def test_what_has_an_effect_is_not_named(environment: dict[str, str]) -> None:
    assert without_effect(environment, NEWEST) == {}


def test_a_release_before_the_variable_does_not_read_it() -> None:
    assert without_effect({"NCCL_PXN_DISABLE": "1"}, at("2.10.3")) == {"NCCL_PXN_DISABLE": "read from 2.12.7 on"}


def test_names_that_newer_releases_may_have_are_passed_over() -> None:
    assert without_effect({"NCCL_BRAND_NEW": "1"}, at("2.32.6")) == {}
