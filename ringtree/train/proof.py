"""What a user's script really ran with: the backends of the groups that its ranks made.

For: telling an arm that a script ignores from one that it took; without it an arm is compared with itself unnoticed.
Not for: noting groups in the ranks (ringtree_autoload.made_groups).
"""

from __future__ import annotations

import json
from pathlib import Path

from ringtree.results import NOT_KNOWN
from ringtree.train.arms import TrainArm


def wrong_backend(folder: Path, arm: TrainArm, num_ranks: int) -> tuple[str, str | None]:
    """Returns the backend that ran, NOT_KNOWN if no rank tells, and what is wrong with it: None if nothing is.

    A script may have more groups than one, as for checkpoints: the arm's backend has to be that of one at least, in
    each rank that tells. `num_ranks` 1: such a script may make no group, and communicates nothing either way.
    """
    by_rank: dict[str, set[str]] = {}
    for file in sorted(folder.glob("groups-*")):
        rank = file.name.split("-")[1]
        for line in file.read_text().splitlines():
            group = json.loads(line)
            used = group["devices"].get(arm.device)
            if used is not None and group["size"] >= min(2, num_ranks):
                by_rank.setdefault(rank, set()).add(used)
    if not by_rank:
        return (arm.backend if num_ranks == 1 else NOT_KNOWN), None
    wanted = arm.backend.lower()
    for rank, used in by_rank.items():
        if wanted not in used:
            names = ", ".join(sorted(used))
            return names, (
                f"the script ran with {names} on rank {rank}, not with {arm.backend}: pass RINGTREE_TRAIN_BACKEND to "
                "init_process_group"
            )
    return arm.backend, None
