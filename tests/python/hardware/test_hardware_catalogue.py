"""The catalogue: a source for every number, sums that hold, entries of one's own, and errors that name file and key.

For: ringtree.hardware.entries and loading. Not for: finding entries (test_hardware_matching.py).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringtree.errors import UsageError
from ringtree.hardware import Catalogue, load_catalogue
from ringtree.hardware.entries import Sourced
from ringtree.hardware.loading import PACKAGE

KINDS = ("links", "gpus", "switches", "networks", "systems")


@pytest.fixture
def known() -> Catalogue:
    return load_catalogue(Path(__file__).parent)  # a folder without TOML files


def entries(known: Catalogue) -> list[Sourced]:
    return [entry for kind in KINDS for entry in getattr(known, kind).values()]


def test_every_number_has_a_source_with_an_address_and_a_date(known: Catalogue) -> None:
    """Counted here over the records themselves, not by the validator that refuses them."""
    numbers = 0
    for entry in entries(known):
        for key, value in entry:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                numbers += 1
                stated = [source for source, keys in entry.sources.items() if key in keys]
                assert stated, (entry.name, key)
                for source in stated:
                    record = known.sources[source]
                    assert record.title
                    assert record.address
                    assert record.accessed or record.published
    assert numbers > 350


def test_no_source_is_there_for_nothing(known: Catalogue) -> None:
    assert set(known.sources) == {source for entry in entries(known) for source in entry.sources}


def test_rates_are_of_one_direction(known: Catalogue) -> None:
    """An H100's "900 GB/s bidirectional" is 450 GB/s each way; an NDR port sends 400 Gb/s and receives 400."""
    h100 = known.gpus["H100 SXM5 80GB"]
    assert h100.stated_total_both_ways_GBps == 900
    assert known.link_rate(h100) == 450e9
    assert known.link_rate(known.gpus["P100 SXM2"]) == 80e9
    assert known.link_rate(known.gpus["V100 SXM2 32GB"]) == 150e9
    assert known.link_rate(known.gpus["A100 SXM4 40GB"]) == 300e9
    assert known.link_rate(known.gpus["B200 SXM"]) == 900e9
    assert known.link_rate(known.gpus["MI300X"]) == 448e9
    assert known.link_rate(known.gpus["L40S"]) is None
    assert known.host_link_rate(known.gpus["L40S"]) == pytest.approx(31.508e9)
    assert known.systems["p5.48xlarge"].network_rate == 400e9
    assert known.systems["Polaris"].network_rate == 50e9


def test_pcie_rates_are_what_the_lanes_carry_less_the_coding(known: Catalogue) -> None:
    for generation, giga_transfers in ((3, 8), (4, 16), (5, 32)):
        rate = known.links[f"PCIe {generation} x16"].per_direction_GBps
        assert rate == pytest.approx(16 * giga_transfers * 128 / 130 / 8, rel=1e-4)
    assert known.links["PCIe 6 x16"].per_direction_GBps == pytest.approx(16 * 64 * 242 / 256 / 8)


def test_switches_that_add_up_are_of_the_third_generation_or_newer(known: Catalogue) -> None:
    assert {switch.generation: switch.reduces for switch in known.switches.values()} == {
        1: False,
        2: False,
        3: True,
        4: True,
    }
    old = [gpu.name for gpu in known.gpus.values() if gpu.nvls and int(gpu.target.removeprefix("sm_")) < 90]
    assert not old


OWN = """
[source.mine]
title = "Our machine room"
address = "the wiki"
accessed = 2026-11-22

[system.ours]
gpus = ["H100 SXM5 80GB"]
gpus_per_host = 8
topology = "nvswitch"
switch = "NVSwitch 3"
network = "InfiniBand NDR"
nics_per_host = 4
host_Gbps = 1600
sources = { mine = ["gpus_per_host", "nics_per_host", "host_Gbps"] }
"""


def test_entries_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.toml").write_text(OWN)
    assert load_catalogue(tmp_path).systems["ours"].network_rate == 200e9
    monkeypatch.setenv("RINGTREE_HARDWARE", str(tmp_path))
    assert "ours" in load_catalogue().systems
    (tmp_path / "ours.toml").write_text(OWN.replace("system.ours", 'system."DGX H100"'))
    os.utime(tmp_path / "ours.toml", ns=(1, 1))
    assert load_catalogue().systems["DGX H100"].nics_per_host == 4  # replaces ours, and the edited file is read again
    monkeypatch.delenv("RINGTREE_HARDWARE")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_catalogue().systems["DGX H100"].nics_per_host == 8
    folder = tmp_path / "ringtree" / "hardware"
    folder.mkdir(parents=True)
    (folder / "x.toml").write_text(OWN)
    assert "ours" in load_catalogue().systems


@pytest.mark.parametrize(
    ("before", "after", "key", "said"),
    [
        ("host_Gbps = 1600", "host_Gbps = 3200", "host_Gbps", "3200 is not 4 NICs × 400 Gb/s"),
        ('"host_Gbps"]', '"gpus"]', "(the whole entry)", "no source states host_Gbps"),
        ("mine = [", "yours = [", "sources", "there is no source 'yours'"),
        ('"nics_per_host"', '"nics"', "(the whole entry)", "nics"),
        ("nics_per_host = 4", "nics_per_host = 0", "nics_per_host", "greater than or equal to 1"),
        ("nics_per_host = 4", 'nics_per_host = "four"', "nics_per_host", "valid integer"),
        ('switch = "NVSwitch 3"', "colour = 3", "colour", "not permitted"),
        ('switch = "NVSwitch 3"', "", "switch", "belongs to the topology nvswitch"),
        ('"NVSwitch 3"', '"NVSwitch 9"', "switch", "there is no switch 'NVSwitch 9'"),
        ('"H100 SXM5 80GB"', '"H100"', "gpus", "there is no gpu 'H100'"),
        ('"H100 SXM5 80GB"', '"L40S"', "topology", "L40S has no links for nvswitch"),
        ('topology = "nvswitch"', 'topology = "torus"', "topology", "'nvswitch', 'mesh'"),
        ("accessed = 2026-11-22", "", "(the whole entry)", "`published` or `accessed`"),
        ("[system.ours]", "[machine.ours]", "machine", "no such kind of entry"),
        ("gpus_per_host = 8", "gpus_per_host 8", "", "Expected '='"),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path: Path, before: str, after: str, key: str, said: str) -> None:
    assert before in OWN
    file = tmp_path / "ours.toml"
    file.write_text(OWN.replace(before, after, 1))
    with pytest.raises(UsageError) as error:
        load_catalogue(tmp_path)
    message = str(error.value)
    assert message.startswith(str(file))
    assert f"key {key}" in message or not key
    assert said in message
    assert "\n" not in message


GPU = """
[source.mine]
title = "a"
address = "b"
published = "2026"

[gpu."H100 mine"]
vendor = "NVIDIA"
names = ["H100 mine"]
family = "H100"
target = "sm_90"
memory_GB = 80
link = "NVLink 4"
link_count = 18
stated_total_both_ways_GBps = 450
sources = { mine = ["memory_GB", "link_count", "stated_total_both_ways_GBps"] }
"""


def test_a_total_that_is_no_sum_of_both_directions_is_refused(tmp_path: Path) -> None:
    """The mistake that is made with these figures: one direction entered as both."""
    (tmp_path / "gpu.toml").write_text(GPU)
    with pytest.raises(UsageError, match="450 is not 2 directions × 18 links × 25 GB/s = 900"):
        load_catalogue(tmp_path)


def test_a_folder_that_is_not_there_is_an_error_only_if_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="is not a folder: RINGTREE_HARDWARE"):
        load_catalogue(tmp_path / "none")
    monkeypatch.delenv("RINGTREE_HARDWARE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_catalogue().gpus


def test_the_files_lie_in_the_package() -> None:
    """scikit-build-core puts all of `wheel.packages` into the wheel; what is not Python must lie there too."""
    assert {file.name for file in PACKAGE.glob("*.toml")} >= {"sources.toml", "links.toml", "gpus_nvidia.toml"}
    assert (PACKAGE.parent.parent / "nccl" / "support.toml").is_file()
