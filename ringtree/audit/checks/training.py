"""Settings that can't have changed the throughput of a training.

For: columns that are named after an algorithm which the training's collectives do not have. Not for: how a training
scales (scaling.py), whether a difference between settings is one (arms.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material
from ringtree.audit.rule import of_file, warning
from ringtree.audit.training import Training, collectives_of, columns_of, lacking
from ringtree.audit.words import listed
from ringtree.errors import UsageError

NO_KERNEL = warning(
    "setting-without-effect",
    "the forced algorithm has no kernel for what this training sends",
    "the algorithm of the calls: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING",
)
_KINDS: dict[str, Training] = {name: name for name in get_args(Training)}


@of_file(NO_KERNEL)
def check(material: Material) -> Iterator[Finding]:
    """Yields findings about each column, over its rows."""
    for subjects in columns_of(material):
        table = subjects[0].table
        training = _KINDS.get(table.settings.get("training", ""))
        if training is None or table.algorithm is None:
            continue
        try:
            missing = lacking(training, [table.algorithm.capitalize()])
        except UsageError:
            continue  # a name that is not NCCL's
        for name in missing:
            said = f"{name} with {training}: {listed(collectives_of(training))} have no {name}"
            yield NO_KERNEL.found(subjects[0], said, [row for one in subjects for row in one.table.rows])
