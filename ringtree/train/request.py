"""From what a person asked for to the plan of a training.

For: defaults, and every check that can be made before a process is started; each failed check is one line. Not for:
parsing options (ringtree.cli), or running.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ringtree.arms.torch_nccl import lacks_torch_nccl, torch_nccl_version
from ringtree.errors import UsageError, os_errors
from ringtree.gpu import device_count
from ringtree.measure.crew import spread
from ringtree.measure.environment import available_memory, memory_for, version_of
from ringtree.measure.plan import APART, DEFAULT_LAUNCHES, fresh_seed, label_arms
from ringtree.measure.request import DEFAULT_MARGIN, MAX_RANKS
from ringtree.results import ArmPlan, Plan, SizePlan, TrainedModel, TrainingPlan
from ringtree.train.arms import ALONE, WRITTEN, lacking, no_other, parse_arm
from ringtree.train.models import find_model
from ringtree.train.nccl_arms import why_not
from ringtree.train.own_script import script_plan
from ringtree.train.placement import fullest, lacks_rows, shard_rows, world_of
from ringtree.train.request_record import OF_MODELS, TrainRequest
from ringtree.units import count, format_size, parse_counts, parse_duration, parse_share

DEFAULT_MODELS, DEFAULT_ARMS, DEFAULT_RANKS = "qwen2.5", "gloo,ringtree:auto", "1,2"
ROUNDS, STEPS_A_VISIT = 5, 5  # 25 measured steps
ENDLESS = 1e9  # seconds of a cell: steps are counted, not timed out
HOW_TO_GET_TRANSFORMERS = "transformers is not installed: pip install 'ringtree[train]'"
_COPIES = 4  # of a model's parameters: weights, gradients, buckets, what a step leaves
_PRICE = re.compile(r"([0-9]+(?:\.[0-9]+)?)/(?:gpu|rank)-hour")


def make_plan(request: TrainRequest) -> Plan:
    """Returns the plan. Raises UsageError for what can't be done."""
    training = _training(request)
    placed = _placed(request, training)
    names = [name.strip() for name in (request.arms or DEFAULT_ARMS).split(",")]
    if not all(names):
        raise UsageError(f"{request.arms!r} has an empty name; separate the arms by commas; choose from: {WRITTEN}")
    left_out: dict[str, str] = {}
    arms = _arms(request, names, training, placed, left_out)
    launches = DEFAULT_LAUNCHES if request.launches is None else request.launches
    if not 1 <= launches <= 1000:
        raise UsageError(f"--launches must lie in 1..1000, not {launches}")
    if request.budget is not None and request.launches is not None:
        raise UsageError("--budget decides the number of launches: leave --launches out")
    on_gpu = any(parse_arm(arm.name).device == "cuda" for arm in arms)
    reference = _reference(arms, request.reference)
    if training.strategy != "script":
        arms.append(ArmPlan(label=ALONE, name=ALONE, kind="training"))
        training = training.model_copy(update={"alone": ALONE})
        ranks = fullest(placed[-1])
        # Of another machine nobody knows the memory here.
        elsewhere = any(lacking(parse_arm(arm.name), False, ranks, arm.environment) is not None for arm in arms)
        apart = request.apart or not (elsewhere or _fit(training, len(arms), on_gpu, placed[-1]))
    else:
        apart = True
    if apart:
        arms = [arm.model_copy(update={"environment": {**arm.environment, APART: arm.label}}) for arm in arms]
    hosts = placed[-1]
    return Plan(
        collective="training step",
        op="none",
        dtype="bfloat16" if training.precision == "bf16" else "float32",
        num_ranks=len(hosts),
        arms=arms,
        boundary="cuda" if on_gpu else "torch",
        reference=reference,
        sizes=[_size(model, launches, training.strategy == "script") for model in training.models],
        num_launches=launches,
        seed=fresh_seed() if request.seed is None else request.seed,
        cell_budget=ENDLESS,
        margin=parse_share(request.margin or DEFAULT_MARGIN),
        time_budget=None if request.budget is None else parse_duration(request.budget),
        left_out=left_out,
        hosts=hosts if len(set(hosts)) > 1 else None,
        by_agents=request.agents is not None,
        training=training,
    )


def check_seconds_per_step(seconds: float | None, dry_run: bool, script: bool) -> None:
    """Raises UsageError for what --dry-run can't count with, and without one."""
    if seconds is None:
        return
    if not 0 < seconds < math.inf:
        raise UsageError(f"--seconds-per-step must be above 0, not {seconds:g}")
    if not dry_run:
        raise UsageError("--seconds-per-step is only used by --dry-run: add --dry-run, or leave it out")
    if script:
        raise UsageError(
            "--seconds-per-step is for the built-in models: a script decides for itself how many steps it makes"
        )


def collectives_of(training: TrainingPlan) -> list[str]:
    """Returns what a training sends; nothing is known of a script."""
    if training.strategy == "script":
        return []
    sent = ["all_reduce"] if training.strategy == "ddp" else ["all_gather", "reduce_scatter"]
    sent += ["all_reduce"] if training.strategy != "ddp" and training.sharding == "hybrid" else []
    return sent + (["all_to_all"] if training.experts == "parallel" else [])


def _sent_besides(training: TrainingPlan) -> list[str]:
    """Returns what a training sends besides its steps' gradients and weights: DDP makes sure that all ranks begin alike
    and have laid the same buckets."""
    return ["all_gather", "broadcast"] if training.strategy == "ddp" else []


def _training(request: TrainRequest) -> TrainingPlan:
    ranks = parse_counts(request.ranks or DEFAULT_RANKS, "ranks")
    price = None if request.price is None else _PRICE.fullmatch(request.price.strip())
    if request.price is not None and price is None:
        raise UsageError(f"invalid price {request.price!r}: write for example 2.50/gpu-hour")
    common: dict[str, Any] = {"world_sizes": ranks, "price": None if price is None else float(price[1])}
    if request.command:
        return script_plan(request, common)
    if request.metric is not None:
        raise UsageError("--metric reads a script's output: name the script after --, as in -- python my_train.py")
    if request.sequence is not None and request.sequence < 2:
        raise UsageError(
            f"--sequence must be at least 2, as each token is predicted from the one before, not {request.sequence}"
        )
    if request.sharding is not None and request.strategy in (None, "ddp"):
        raise UsageError("--sharding belongs to FSDP: add --strategy fsdp1 or fsdp2")
    if importlib.util.find_spec("transformers") is None:
        raise UsageError(HOW_TO_GET_TRANSFORMERS)
    texts = [text.strip() for text in (request.models or DEFAULT_MODELS).split(",")]
    models = [find_model(text, request.scale or "tiny") for text in texts]
    names = [model.name for model in models]
    if len(set(names)) != len(names):
        raise UsageError(f"--models names {', '.join(names)}: each model once")
    try:
        training = TrainingPlan(
            models=models,
            tokens=None if request.tokens is None else str(Path(request.tokens).absolute()),
            transformers=version_of("transformers"),
            **common,
            **request.said(*OF_MODELS),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"invalid --{problem['loc'][0]} {problem['input']!r}: {problem['msg']}") from None
    _check_models(training)
    return training


def _check_models(training: TrainingPlan) -> None:
    if training.tokens is not None:
        file = Path(training.tokens)
        with os_errors(f"can't read --tokens {file}", "name a file whose bytes are the tokens"), file.open("rb"):
            size = file.stat().st_size
        if size < training.sequence:
            raise UsageError(f"--tokens {file} has {size} bytes; a sequence takes {training.sequence}")
        few = [model.name for model in training.models if model.vocabulary < 256]
        if few:
            raise UsageError(f"--tokens are bytes, and {few[0]} knows fewer than 256 tokens")
    if training.experts == "parallel":
        counts = {model.name: model.configuration.get("num_local_experts") for model in training.models}
        for name, experts in counts.items():
            uneven = [ranks for ranks in training.world_sizes if experts is None or experts % ranks]
            if experts is None:
                raise UsageError(f"--experts parallel: {name} has no experts")
            if uneven:
                raise UsageError(
                    f"--experts parallel: {experts} experts of {name} can't be spread over {uneven[0]} ranks"
                )
        if training.strategy == "fsdp1":
            raise UsageError("--experts parallel runs with --strategy ddp or fsdp2")


def _arms(
    request: TrainRequest,
    names: Sequence[str],
    training: TrainingPlan,
    placed: Sequence[Sequence[int]],
    left_out: dict[str, str],
) -> list[ArmPlan]:
    arms = [arm.model_copy(update={"kind": "training"}) for arm in label_arms(names)]
    usable, sent, in_script = [], collectives_of(training), training.strategy == "script"
    for arm in arms:
        read = parse_arm(arm.name)
        if arm.name == ALONE:
            raise UsageError(f"{ALONE!r} always runs beside the arms: leave it out of --arms")
        # A plan that is only looked at may be of another machine: its printout says what is not here.
        reason = None if request.dry_run else lacking(read, in_script, fullest(placed[-1]), arm.environment)
        reason = reason or no_other(read, sent or ["all_reduce", "all_gather"])
        if reason is None and read.device == "cuda":
            version = None if lacks_torch_nccl() else torch_nccl_version()
            reason = why_not(arm.environment, sent, _sent_besides(training), version)
        if reason is None and read.algorithm is not None:
            reason = next(filter(None, map(_no_rule, placed)), None)
        if reason is None:
            usable.append(arm)
        else:
            left_out[arm.label] = reason
    if not usable:
        raise UsageError("no arm is left to run: " + "; ".join(f"{arm}: {why}" for arm, why in left_out.items()))
    devices = {parse_arm(arm.name).device for arm in usable}
    if len(devices) > 1:
        raise UsageError(
            "CPU and GPU arms can't be compared, as the device alone changes the speed: run them separately"
        )
    return usable


def _placed(request: TrainRequest, training: TrainingPlan) -> list[list[int]]:
    """Returns each rank's host, for each number of ranks, ascending. Raises UsageError for what can't be placed."""
    sizes = training.world_sizes
    if sizes[-1] > MAX_RANKS:
        raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {sizes[-1]}")
    if request.agents is not None and training.strategy == "script":
        raise UsageError("a script is started by ringtree itself, on one host: run this without a launcher")
    placed = [[0] * ranks if request.agents is None else spread(request.agents, ranks) for ranks in sizes]
    for hosts in placed if training.sharding == "hybrid" else []:
        lacks = lacks_rows(hosts)
        if lacks is not None:
            raise UsageError(f"--sharding hybrid {lacks}: --ranks {len(hosts)} does not fit")
    return placed


def _no_rule(hosts: Sequence[int]) -> str | None:
    """Why no algorithm can be forced on the engine's backend where ranks are placed so; None: one can."""
    if world_of(hosts) is not None:
        return None
    placed = " ".join(map(str, hosts))
    return (
        "it is forced for hosts that have as many ranks each, one host's after another's, and ranks 0 to "
        f"{len(hosts) - 1} are on hosts {placed}: start as many processes on each host, or use ringtree:auto"
    )


def _reference(arms: Sequence[ArmPlan], wanted: str | None) -> str:
    """The default of the device: nccl or gloo as they come; else the first arm."""
    labels = [arm.label for arm in arms]
    if wanted is not None and wanted not in labels:
        raise UsageError(f"the reference {wanted!r} is not one of the arms; choose from: {', '.join(labels)}")
    return wanted or next((label for label in labels if label in ("nccl", "gloo")), labels[0])


def _size(model: TrainedModel, launches: int, script: bool) -> SizePlan:
    return SizePlan(
        size_bytes=4 * model.parameters,
        num_launches=launches,
        max_rounds=1 if script else ROUNDS,
        max_iterations=1 if script else STEPS_A_VISIT,
        batch=1,
    )


def _fit(training: TrainingPlan, num_arms: int, on_gpu: bool, hosts: Sequence[int]) -> bool:
    """Whether the copies of all arms fit into memory together: this host's, as if it were the one with the most ranks.
    Raises UsageError if a single one does not. `hosts`: of each rank."""
    ranks, several = fullest(hosts), len(set(hosts)) > 1
    largest = max(training.models, key=lambda model: model.parameters)
    # Every rank builds the whole float32 model, on the host and then on its GPU, before it is sharded.
    built = 4 * largest.parameters * ranks
    held = _COPIES * built // _parts(training, hosts)
    free = memory_for("cuda", min(ranks, device_count())) if on_gpu else memory_for("torch", ranks)
    here = available_memory()
    for needed, there, what in (
        (max(built, held), free, "take"),
        (built, here, "build the whole model in float32 first, which takes"),
    ):
        if 0 < there < needed:
            raise UsageError(
                f"{largest.name} does not fit: {count(ranks, 'rank')}{' of a host' if several else ''} {what} about "
                f"{format_size(needed >> 20 << 20)} and {format_size(there >> 20 << 20)} are free; take a smaller "
                "model, or fewer --ranks"
            )
    # Arms are made one after the other: the last is built beside what the others hold.
    return free == 0 or (num_arms - 1) * held + max(built, held) <= free // 2


def _parts(training: TrainingPlan, hosts: Sequence[int]) -> int:
    """Into how many parts a model is divided, of which a rank holds one."""
    if training.strategy == "ddp":
        return 1
    return len(shard_rows(hosts)[0]) if training.sharding == "hybrid" else len(hosts)
