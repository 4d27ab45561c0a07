"""One arm's training on one rank: model, optimizer, tokens, and a step.

For: a step as it is timed. Not for: when steps are made (program.py), or whether their losses are right
(judge/losses.py).

The optimizer is plain SGD: its steps carry rounding on, but do not enlarge it, so that losses of arms can be compared
(losses.py); its cost is not communication.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ringtree.compiling import BuildError
from ringtree.joblog.counting import counted_calls
from ringtree.joblog.recorded_step import recording
from ringtree.results import CalledCollective, RecordedStep, TrainedModel, TrainedSteps, TrainingPlan
from ringtree.torch.building import load
from ringtree.train.arms import ALONE, parse_arm
from ringtree.train.experts import spread_experts
from ringtree.train.groups import make_groups
from ringtree.train.strategies import computing_in, distributed, without_exchange
from ringtree.train.tokens import Tokens


class Trainer:
    """Used by all ranks alike."""

    def __init__(
        self,
        name: str,
        model: TrainedModel,
        plan: TrainingPlan,
        rank: int,
        hosts: Sequence[int],
        seed: int,
        device: torch.device,
        timeout: float,
    ) -> None:
        """Makes the arm's groups and its copy of the model. `hosts`: of each rank. Raises what PyTorch and transformers
        raise."""
        arm, alone = parse_arm(name), name == ALONE
        groups = make_groups(arm, hosts, plan.sharding == "hybrid", timeout)
        net = build(model, seed, device)
        spread = plan.experts == "parallel" and "num_local_experts" in model.configuration
        own = spread_experts(net, groups.world, rank, alone) if spread else []
        self._net = distributed(net, plan, groups, device, alone, own)
        self._optimizer = torch.optim.SGD(self._net.parameters(), lr=plan.learning_rate)
        self._tokens = Tokens(seed, rank, plan.batch, plan.sequence, model.vocabulary, plan.tokens)
        self._plan, self._device, self._slowed, self._number = plan, device, arm.slowed, 0
        self._losses: list[float] = []
        self._inputs: list[float] = []
        self._called: list[CalledCollective] = []
        self._recorded: RecordedStep | None = None
        # What communicates nothing has no collectives to look at, and those of GPUs the host can't time.
        self._records = not alone and len(hosts) > 1 and device.type == "cpu" and _can_record()

    def step(self) -> None:
        """One step of the optimizer; returns when it is done, on a GPU too."""
        started = time.perf_counter()
        plan = self._plan
        parts = [self._tokens.batch(self._number, part).to(self._device) for part in range(plan.accumulate)]
        self._inputs.append(time.perf_counter() - started)
        total = torch.zeros((), device=self._device)
        for part, tokens in enumerate(parts):
            with without_exchange(self._net, plan.strategy, part == len(parts) - 1):
                with computing_in(plan.precision, plan.strategy, self._device):
                    loss = self._net(input_ids=tokens, labels=tokens, use_cache=False).loss / plan.accumulate
                loss.backward()
            total += loss.detach()
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._losses.append(float(total))
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self._number += 1
        until = started + (1 + self._slowed) * (time.perf_counter() - started)
        while self._slowed and time.perf_counter() < until:
            pass

    def counted_step(self, ready: Callable[[], None]) -> None:
        """A step whose collectives are counted, and recorded where that can be: it takes a little longer and
        is not timed. It begins when `ready` returns, on all ranks at about the same time."""
        if self._records:
            with recording() as one:
                ready()
                one.begins()
                self.step()
                one.ends()
            found = one.recorded()
            if found is not None:
                self._recorded = found.model_copy(update={"input_seconds": self._inputs[-1]})
                self._called = called_in(found)
            return
        with counted_calls() as counted:
            ready()
            self.step()
        self._called = [
            CalledCollective(collective=name, calls=calls, size_bytes=size) for name, (calls, size) in counted.items()
        ]

    def told(self) -> TrainedSteps:
        """Returns what the steps since the last call gave."""
        losses, inputs = self._losses, self._inputs
        called, recorded = self._called, self._recorded
        self._losses, self._inputs, self._called, self._recorded = [], [], [], None
        return TrainedSteps(
            losses=losses,
            input_seconds=inputs,
            peak_bytes=_peak(self._device),
            collectives=called,
            recorded=recorded,
        )


def called_in(step: RecordedStep) -> list[CalledCollective]:
    """Returns the counts of a recorded step, as counted_calls() has them."""
    by_name: dict[str, list[int]] = {}
    for call in step.calls:
        by_name.setdefault(call.collective, []).append(call.size_bytes)
    return [
        CalledCollective(collective=name, calls=len(sizes), size_bytes=sum(sizes))
        for name, sizes in sorted(by_name.items())
    ]


def _can_record() -> bool:
    """Compiles the recorder, which is part of the backend, if need be; without a compiler collectives are counted."""
    try:
        load()
    except BuildError:
        return False
    return True


def build(model: TrainedModel, seed: int, device: torch.device) -> torch.nn.Module:
    """Returns the model with random weights, the same on every rank; nothing is downloaded."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    configuration = dict(model.configuration)
    made = transformers.AutoConfig.for_model(configuration.pop("model_type"), **configuration)
    torch.manual_seed(seed)
    families: Any = transformers.AutoModelForCausalLM
    net: torch.nn.Module = families.from_config(made, torch_dtype=torch.float32)
    return net.to(device).train()


def _peak(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
