"""Made-up banks of known effect and scatter.

For: tests of the method's tests. Not for: any claim about a machine.

A launch has one log effect at each size (correlated between sizes, as a machine's mood is), a round adds its own
scatter, and a tenth of the visits are disturbed by up to a half. Cores are near or far, and move now and then.
"""

from __future__ import annotations

import numpy as np
from method.bank import Bank

NEAR, FAR = 26e-9, 150e-9


def synthetic_bank(
    num_blocks: int, deviation: float, seed: int, num_sizes: int = 9, num_rounds: int = 8, share_far: float = 0.3
) -> Bank:
    """An arm against itself: `deviation` is that of a launch's log effect. share_far: of visits; 0: one placement."""
    random = np.random.default_rng(seed)
    shape = (num_blocks, num_sizes, 2, num_rounds)
    shared, own = random.normal(size=(num_blocks, 1)), random.normal(size=(num_blocks, num_sizes))
    launch = deviation * (np.sqrt(0.5) * shared + np.sqrt(0.5) * own)
    rounds = random.normal(scale=deviation, size=shape) + (random.random(shape) < 0.1) * random.random(shape) * 0.5
    far = random.random((num_blocks, num_sizes, 1, num_rounds)) < share_far
    moved = random.random((*shape, 1)) < 0.05 * (share_far > 0)
    after = np.concatenate([far[..., None], far[..., None] ^ moved[:, :, :1]], axis=-1)
    placed = np.broadcast_to(after, (*shape, 2))
    level = np.log(20e-6 * 4.0 ** np.arange(num_sizes))[None, :, None, None] + np.log(1.7) * far
    logs = level + rounds
    logs[:, :, 1, :] += launch[:, :, None]
    probes = np.where(placed, FAR, NEAR) * np.exp(random.normal(scale=0.03, size=placed.shape))
    return Bank(
        name=f"synthetic-{seed}",
        kind="synthetic",
        collective="all_reduce",
        num_ranks=2,
        arms=("ring", "ring#2"),
        sizes=tuple(1024 * 4**i for i in range(num_sizes)),
        medians=np.exp(logs).astype(np.float32),
        probes=probes.astype(np.float32),
        origin={"seed": seed},
    )
