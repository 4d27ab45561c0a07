"""Ports as ibstat and ibstatus list them."""

from __future__ import annotations

from nccl_info_support import documents, read

IBSTAT = (
    "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.1002\n\tNode GUID: 0x1\n"
    "\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 3\n\t\tLMC: 0\n"
    "\t\tCapability mask: 0xa651e848\n\t\tPort GUID: 0x1\n\t\tLink layer: InfiniBand\n"
)


def test_ibstat() -> None:
    text = IBSTAT + IBSTAT.replace("mlx5_0", "mlx5_1").replace("Active", "Down").replace("Rate: 400", "Rate: 10")
    (document,) = documents(text, "ib_ports")
    first, second = document.data["ports"]
    assert (first["device"], first["port"], first["state"], first["rate_gbit_per_second"]) == (
        "mlx5_0",
        1,
        "Active",
        400,
    )
    assert (first["link_layer"], first["line"], second["line"]) == ("InfiniBand", 6, 20)
    assert (second["device"], second["state"], document.data["num_active"]) == ("mlx5_1", "Down", 1)
    assert read(text).skipped == []


def test_ibstatus() -> None:
    text = (
        "Infiniband device 'mlx5_2' port 1 status:\n\tdefault gid:\t fe80:0000\n\tbase lid:\t 0x9\n\tsm lid:\t\t 0x1\n"
        "\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
        "\trate:\t\t 200 Gb/sec (4X HDR)\n\tlink_layer:\t InfiniBand\n"
    )
    (document,) = documents(text, "ib_ports")
    (port,) = document.data["ports"]
    assert (port["device"], port["state"], port["physical_state"]) == ("mlx5_2", "ACTIVE", "LinkUp")
    assert (port["rate_gbit_per_second"], document.data["num_active"]) == (200, 1)


def test_such_fields_without_a_port_are_left_to_others() -> None:
    text = "State: Active\nRate: 200\nPort 1: the first\n"
    assert documents(text, "ib_ports") == []
    assert read(text).skipped[0].num_lines == 3


def test_text_between_ends_a_document() -> None:
    assert len(documents(IBSTAT + "hostname node-b\n" + IBSTAT, "ib_ports")) == 2
