"""Notes which backends a process's groups have, as `ringtree train` asks it of a user's script by a variable.

For: a line of JSON for each group that torch.distributed makes, in a file of the process. Not for: reading it
(ringtree.train.proof), or knowing which backend was wanted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = "RINGTREE_TRAIN_GROUPS"  # where the files are written; unset: nothing is noted


def note_groups(folder: str) -> None:
    """From now on notes each group, whoever asks for it: scripts, device meshes, FSDP. All of them are made by one
    function of PyTorch's, which is private, so that nothing is noted where a later PyTorch has none."""
    import torch.distributed.distributed_c10d as c10d

    make = getattr(c10d, "_new_process_group_helper", None)
    if make is None:
        return

    def making(group_size: Any, group_rank: Any, ranks: Any, backend: Any, *others: Any, **named: Any) -> Any:
        made = make(group_size, group_rank, ranks, backend, *others, **named)
        try:
            devices = c10d.BackendConfig(c10d.Backend(str(backend))).get_device_backend_map()
            line = {"size": int(group_size), "devices": {str(name): str(one) for name, one in devices.items()}}
            with open(Path(folder) / f"groups-{os.environ.get('RANK', '0')}-{os.getpid()}", "a") as file:
                file.write(json.dumps(line) + "\n")
        except Exception:  # a script must not fail because nobody can tell what it did
            pass
        return made

    c10d._new_process_group_helper = making  # type: ignore[assignment] # as generic as later arguments need it
