"""The models that can be trained: their configurations by name and scale.

For: what `--models` means, without PyTorch. Not for: building one (trainer.py), published sizes and how many parameters
follow (ringtree.language_models).

`qwen2.5` (dense) and `mixtral` (mixture of experts) exist in two scales that a laptop trains; `qwen2.5-7b` and the like
are the published sizes, and a path names a configuration of either kind. Weights are random: what a step costs does
not depend on them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError
from ringtree.language_models import PUBLISHED as KNOWN
from ringtree.language_models import SIZES, dense, mixture, num_parameters
from ringtree.results import TrainedModel

TINY, SMALL = SCALES = ("tiny", "small")

# Tiny is wide and shallow, with a small vocabulary: of a step of 1 M parameters, attention's heads and the logits took
# half, which no collective sees.
FAMILIES = {
    "qwen2.5": {TINY: dense(192, 576, 2, 2, 1, 512), SMALL: dense(512, 1408, 6, 8, 2, 8192)},
    "mixtral": {TINY: mixture(128, 144, 2, 2, 1, 512, experts=8), SMALL: mixture(320, 640, 4, 8, 2, 8192, experts=8)},
}
# The largest is there for claims about it, not to be trained.
PUBLISHED = {name: of for name, of in KNOWN.items() if name != "mixtral-8x22b"}


def find_model(text: str, scale: str) -> TrainedModel:
    """Returns the model that a name or a path means. Raises UsageError if there is none."""
    if scale not in SCALES:
        raise UsageError(f"unknown scale {scale!r}; choose from: {', '.join(SCALES)}")
    if text in FAMILIES:
        return _model(f"{text} {scale}", FAMILIES[text][scale])
    if text in PUBLISHED:
        return _model(text, PUBLISHED[text])
    path = Path(text)
    if path.is_dir():
        path = path / "config.json"
    if not path.is_file():
        names = ", ".join((*FAMILIES, *PUBLISHED))
        raise UsageError(f"unknown model {text!r}: use {names}, or a folder with a config.json; nothing is downloaded")
    return _model(path.parent.name or text, _read(path))


def _model(name: str, configuration: dict[str, Any]) -> TrainedModel:
    return TrainedModel(
        name=name,
        parameters=num_parameters(configuration),
        layers=configuration["num_hidden_layers"],
        width=configuration["hidden_size"],
        vocabulary=configuration["vocab_size"],
        configuration=configuration,
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"can't read the model {path}: {error}") from error
    kind = found.get("model_type") if isinstance(found, dict) else None
    needed = (*SIZES, *(("num_local_experts",) if kind == "mixtral" else ()))
    if kind not in ("qwen2", "mixtral"):
        raise UsageError(f"{path} is a model of type {kind!r}; qwen2 and mixtral can be trained here")
    lacks = [name for name in needed if not isinstance(found.get(name), int) or found[name] < 1]
    if lacks:
        raise UsageError(f"{path} lacks {', '.join(lacks)}: numbers above 0")
    return dict(found)
