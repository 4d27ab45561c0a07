"""Did all arms train the same model? Their losses may differ by what the order of sums permits, and by no more.

For: how far a loss may lie from the reference arm's, and the first one that lies further. Not for: running steps.

All arms begin with the same weights and see the same tokens, so before anything was summed their losses are equal. An
all-reduce over n ranks may add in any order; to first order that changes each averaged gradient by at most
(n - 1)·u·mean|g_r|, u the unit roundoff of the sums (2^-24: gradients are summed in float32 with every precision).
Gradients of different tokens are independent but for their mean, so mean‖g_r‖ ≤ √n·‖g‖. A step of plain SGD with rate η
lowers the loss by about η‖g‖², and the changed gradient changes that by (n - 1)·√n·u of it. All steps together can't
lower a loss by more than the first one, L0, as it is never negative; a step is given all of that, so that after k steps
    k·(n - 1)·√n·u·L0.
Weights that differ in a bit also round differently inside a step. Roundings are independent (Higham & Mary 2019), so
they grow as the root of their number: about 3·(7·layers + 1) products in a row, forward and backward, each a sum over
`width` terms, which bf16 products keep in float32; and as the root of the steps:
    √(k + 1)·√(3·(7·layers + 1)·width)·v·L0,      v = 2^-24;  with bf16  √(k + 1)·√(3·(7·layers + 1))·2^-8·L0.
An arm that loses a gradient changes its loss by a share of the step's whole progress, thousands of times more. With
bf16 the second term is wide, and only what is grossly wrong is found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ringtree.results import TrainedModel

U_FLOAT32, U_BF16 = 2.0**-24, 2.0**-8


def tolerance(first_loss: float, step: int, num_ranks: int, model: TrainedModel, precision: str) -> float:
    """Returns how far the loss of `step` (from 0) may lie from another arm's."""
    sums = step * (num_ranks - 1) * math.sqrt(num_ranks) * U_FLOAT32
    products = 3 * (7 * model.layers + 1)
    inside = math.sqrt(products) * U_BF16 if precision == "bf16" else math.sqrt(products * model.width) * U_FLOAT32
    return abs(first_loss) * (sums + math.sqrt(step + 1) * inside)


def first_difference(
    losses: Sequence[Sequence[float]], reference: Sequence[Sequence[float]], model: TrainedModel, precision: str
) -> str | None:
    """Returns in one line where an arm's losses, by rank and step, leave the reference's; None: nowhere.

    What only one of the two has was not trained alike, and is a difference.
    """
    if len(losses) != len(reference):
        return f"{len(losses)} ranks reported losses, of the reference {len(reference)}"
    for step in range(max((len(of_rank) for of_rank in (*losses, *reference)), default=0)):
        for rank, (own, other) in enumerate(zip(losses, reference, strict=True)):
            if step >= min(len(own), len(other)):
                return f"{len(own)} steps on rank {rank}, of the reference {len(other)}"
            allowed = tolerance(other[0], step, len(reference), model, precision)
            if not abs(own[step] - other[step]) <= allowed:  # also where one is not a number
                return (
                    f"a different model was trained: at step {step + 1} the loss of rank {rank} is {own[step]:.6g}, "
                    f"the reference's {other[step]:.6g}; the order of sums permits {allowed:.1g}"
                )
    return None
