"""Names of clusters, and that their rates are the catalogue's.

For: looking a cluster up, and where its numbers are from. Not for: routes (test_cluster_routes.py).
"""

from __future__ import annotations

from collections import Counter

import pytest

from ringtree.errors import UsageError
from ringtree.hardware import load_catalogue
from ringtree.simulate.cluster import cluster_text, load_cluster, parse_cluster_text, presets


def test_every_system_of_the_catalogue_is_a_preset_and_names_are_unique() -> None:
    known = presets()
    names = Counter(name for one in known for name in (one.name, *one.also))
    assert [name for name, number in names.items() if number > 1] == []
    titles = {one.make().title.split(":")[0] for one in known}
    assert set(load_catalogue().systems) <= titles


def test_asked_for_names() -> None:
    for name in ("dgx-a100", "dgx-h100", "hgx-h200", "dgx-v100", "a100-pcie-8", "cpu-2", "DGX H100", "p5.48xlarge"):
        assert load_cluster(name).host.ranks >= 2


def test_rates_are_those_of_the_catalogue_and_say_so() -> None:
    known = load_catalogue()
    cluster = load_cluster("dgx-h100")
    gpu = known.gpus["H100 SXM5 80GB"]
    assert cluster.host.links is not None
    assert cluster.host.nics is not None
    assert cluster.host.links.rate.si == known.link_rate(gpu)
    assert cluster.host.links.rate.source.startswith("hardware catalogue, H100 SXM5 80GB")
    assert cluster.host.nics.rate.si * cluster.host.nics.count == known.systems["DGX H100"].network_rate


def test_every_constant_of_every_preset_has_a_source_with_a_date_or_is_assumed() -> None:
    for preset in presets():
        cluster = preset.make()
        for key, one in cluster.constants():
            assert one.assumed or one.date, f"{preset.name}: {key}"
        assert parse_cluster_text(cluster_text(cluster), preset.name) == cluster


def test_an_unknown_name_says_which_are_near() -> None:
    with pytest.raises(UsageError, match=r"no cluster is called 'dgx-h10'; near it are dgx-h100.*cluster list"):
        load_cluster("dgx-h10")
