"""Who am I? What the program that started this process says about rank, world size, hosts, job and meeting point.

For: the one place that reads launchers' variables; a file a launcher, `table.py` lists them and says which one counts.
Not for: joining the other ranks (ringtree.comm), or starting ranks of a launch (ringtree.measure.crew).
"""

from ringtree.launchers.description import Described, describe
from ringtree.launchers.identity import Identity, Surroundings, command_lines_above
from ringtree.launchers.meeting_point import address_of, job_key, key_of_start, port_of
from ringtree.launchers.table import LAUNCHERS, LaunchersDisagree, Unidentified, identify

__all__ = [
    "LAUNCHERS",
    "Described",
    "Identity",
    "LaunchersDisagree",
    "Surroundings",
    "Unidentified",
    "address_of",
    "command_lines_above",
    "describe",
    "identify",
    "job_key",
    "key_of_start",
    "port_of",
]
