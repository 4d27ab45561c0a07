"""NCCL's XML dumps, and XML that must not be read."""

from __future__ import annotations

import tracemalloc

import pytest
from nccl_info_support import documents, read

from ringtree.logs.kinds import KINDS

SYSTEM = """<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ffffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:15:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:18:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:2a:00.0" count="9" tclass="0x030200"/>
          <nvlink target="0000:2a:00.0" count="9" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:19:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" latency="0" speed="400000" port="1" guid="0x2" maxconn="131072" gdr="1" coll="1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:2a:00.0"><gpu dev="1" sm="90" rank="1" gdr="1"><c2c bw="225" count="2"/></gpu></pci>
    <novelty/>
  </cpu>
</system>
"""
GRAPHS = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20.6" speedinter="20" latencyinter="0.5"
   typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel><net dev="0x0"/><gpu dev="0x0" rank="0"/><gpu dev="0x1" rank="1"/><net dev="0x0"/></channel>
    <channel><net dev="0x1"/><gpu dev="1" rank="1"/><gpu dev="0" rank="0"/><net dev="0x1"/></channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="3" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PIX">
    <channel><gpu dev="0"/><gpu dev="0"/></channel>
    <channel><gpu dev="0"/><gpu dev="1"/></channel>
  </graph>
</graphs>
"""
LAUGHS = (
    '<!DOCTYPE system [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>\n<system version="1"><cpu numaid="&c;"/></system>\n'
)


@pytest.mark.parametrize("before", ["", "# source: https://example.org\n# notes: a dump\n", '<?xml version="1.0"?>\n'])
def test_topology(before: str) -> None:
    (document,) = documents(before + SYSTEM, "topology")
    data = document.data
    assert KINDS["topology"].model_validate(data).plain() == data
    first, second = data["gpus"]
    assert (first["bus_id"], first["sm"], first["rank"], first["gdr"]) == ("0000:18:00.0", 90, 0, True)
    assert (first["nvlinks"], first["pci_width"], first["numa"]) == ({"0000:2a:00.0": 18}, 16, "0")
    assert (second["c2c"], second["pci_speed"]) == (2, None)
    (nic,) = data["nics"]
    assert (nic["name"], nic["speed_mbit_per_second"], nic["collnet"]) == ("mlx5_0", 400000, True)
    assert data["shared_switches"] == [["0000:18:00.0", "mlx5_0"]]
    assert data["unknown"] == {"novelty": 1}


def test_graphs() -> None:
    (document,) = documents(GRAPHS, "graphs")
    ring, tree = document.data["graphs"]
    assert (ring["pattern_name"], ring["speed_intra_gb_per_second"], ring["latency_inter_us"]) == ("ring", 20.6, 0.5)
    assert ring["channels"][0] == {"gpus": [0, 1], "ranks": [0, 1], "nets": ["0x0", "0x0"]}
    assert ring["channels"][1]["gpus"] == [1, 0]
    assert ring["problems"] == []
    assert tree["problems"] == [
        "nchannels is 3, and 2 channels follow",
        "channel 0 names a GPU twice",
        "the channels pass different GPUs",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS, "document type"),
        ('<?xml version="1.0"?><!DOCTYPE system SYSTEM "file:///etc/passwd"><system version="1"/>', "document type"),
        ("<system><cpu></system>", "no well-formed XML"),
        ("<system>" + "<pci>" * 100 + "</pci>" * 100 + "</system>", "deeper"),
        ("<system>" + "<pci/>" * 60_000 + "</system>", "more elements"),
        ("<system/><system/>", "no well-formed XML"),
    ],
)
def test_what_is_not_plain_xml_is_refused_in_one_line(text: str, why: str) -> None:
    found = read(text)
    assert found.documents == []
    (reason,) = (skipped.reason for skipped in found.skipped if skipped.reason.startswith("begins like"))
    assert why in reason
    assert "\n" not in reason


def test_entities_do_not_grow() -> None:
    grown = LAUGHS.replace("<system version", "<system x='&c;' version")
    tracemalloc.start()
    found = read("<system>" + grown)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.documents == []
    assert peak < 8 << 20
