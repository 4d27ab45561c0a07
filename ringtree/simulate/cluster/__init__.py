"""Clusters as data: hosts, links, switches and what they cost, each number with its source.

    cluster = load_cluster("dgx-h100")                  # a preset, or a TOML file
    network = cluster.network([(0, 8)], nodes=2)        # links, and the route of each pair

For: describing what is simulated. Not for: simulating (ringtree.simulate), limits of hardware (ringtree.hardware).
"""

from ringtree.simulate.cluster.constants import Constant
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.files import cluster_text, parse_cluster_text, read_cluster
from ringtree.simulate.cluster.network import Network, ProtocolCost
from ringtree.simulate.cluster.paths import pairs_of_all
from ringtree.simulate.cluster.presets import load_cluster, presets

__all__ = [
    "Cluster",
    "Constant",
    "Network",
    "ProtocolCost",
    "cluster_text",
    "load_cluster",
    "pairs_of_all",
    "parse_cluster_text",
    "presets",
    "read_cluster",
]
