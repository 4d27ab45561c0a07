"""The models: their configurations by name and scale, and how many parameters each has.

For: what `--models` means, without PyTorch. Not for: building one (trainer.py).

`qwen2.5` (dense) and `mixtral` (mixture of experts) exist in two scales that a laptop trains; `qwen2.5-7b` and the like
are the published sizes, and a path names a configuration of either kind. Weights are random: what a step costs does
not depend on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError
from ringtree.results import TrainedModel

TINY, SMALL = SCALES = ("tiny", "small")
_NAMES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
          "vocab_size")  # fmt: skip


def _dense(*sizes: int, tied: bool = False) -> dict[str, Any]:
    return {"model_type": "qwen2", **dict(zip(_NAMES, sizes, strict=True)), "tie_word_embeddings": tied}


def _mixture(*sizes: int, experts: int) -> dict[str, Any]:
    sizes_of = dict(zip(_NAMES, sizes, strict=True))
    return {"model_type": "mixtral", **sizes_of, "num_local_experts": experts, "num_experts_per_tok": 2}


# Tiny is wide and shallow, with a small vocabulary: of a step of 1 M parameters, attention's heads and the logits took
# half, which no collective sees.
FAMILIES = {
    "qwen2.5": {TINY: _dense(192, 576, 2, 2, 1, 512), SMALL: _dense(512, 1408, 6, 8, 2, 8192)},
    "mixtral": {TINY: _mixture(128, 144, 2, 2, 1, 512, experts=8), SMALL: _mixture(320, 640, 4, 8, 2, 8192, experts=8)},
}
PUBLISHED = {
    "qwen2.5-0.5b": _dense(896, 4864, 24, 14, 2, 151936, tied=True),
    "qwen2.5-1.5b": _dense(1536, 8960, 28, 12, 2, 151936, tied=True),
    "qwen2.5-7b": _dense(3584, 18944, 28, 28, 4, 152064),
    "mixtral-8x7b": _mixture(4096, 14336, 32, 32, 8, 32000, experts=8),
}


def find_model(text: str, scale: str) -> TrainedModel:
    """Returns the model that a name or a path means. Raises UsageError if there is none."""
    if scale not in SCALES:
        raise UsageError(f"unknown scale {scale!r}; there are: {', '.join(SCALES)}")
    if text in FAMILIES:
        return _model(f"{text} {scale}", FAMILIES[text][scale])
    if text in PUBLISHED:
        return _model(text, PUBLISHED[text])
    path = Path(text)
    if path.is_dir():
        path = path / "config.json"
    if not path.is_file():
        names = ", ".join((*FAMILIES, *PUBLISHED))
        raise UsageError(
            f"no model {text!r}: there are {names}, or name a folder with a config.json; none is downloaded"
        )
    return _model(path.parent.name or text, _read(path))


def num_parameters(configuration: Mapping[str, Any]) -> int:
    """Returns how many parameters a model of this configuration has, as transformers builds it."""
    hidden, inner, layers, heads, groups, vocabulary = (configuration[name] for name in _NAMES)
    head = configuration.get("head_dim") or hidden // heads
    attention = hidden * head * (2 * heads + 2 * groups)
    if configuration["model_type"] == "qwen2":
        attention += head * (heads + 2 * groups)  # biases
        inside = 3 * hidden * inner
    else:
        inside = configuration["num_local_experts"] * (3 * hidden * inner + hidden)  # each with its row of the router
    embeddings = vocabulary * hidden * (1 if configuration.get("tie_word_embeddings") else 2)
    return int(embeddings + layers * (attention + inside + 2 * hidden) + hidden)


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
    needed = (*_NAMES, *(("num_local_experts",) if kind == "mixtral" else ()))
    if kind not in ("qwen2", "mixtral"):
        raise UsageError(f"{path} is a model of type {kind!r}; qwen2 and mixtral can be trained here")
    lacks = [name for name in needed if not isinstance(found.get(name), int) or found[name] < 1]
    if lacks:
        raise UsageError(f"{path} lacks {', '.join(lacks)}: numbers above 0")
    return dict(found)
