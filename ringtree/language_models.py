"""Published language models: the sizes of their config.json, and how many parameters follow.

For: what trains a model and what judges claims about one. Not for: which models can be trained, or in which scales
(ringtree.train.models).

Configurations have transformers' names, and what transformers builds of one has so many parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SIZES: Final = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
                "vocab_size")  # fmt: skip


def dense(*sizes: int, tied: bool = False) -> dict[str, Any]:
    """Returns a configuration without experts, of `SIZES`. `tied`: embeddings in and out are one matrix."""
    return {"model_type": "qwen2", **dict(zip(SIZES, sizes, strict=True)), "tie_word_embeddings": tied}


def mixture(*sizes: int, experts: int) -> dict[str, Any]:
    """Returns a configuration of `SIZES` with experts in each layer, two of which are active for a token."""
    sizes_of = dict(zip(SIZES, sizes, strict=True))
    return {"model_type": "mixtral", **sizes_of, "num_local_experts": experts, "num_experts_per_tok": 2}


PUBLISHED: Final = {
    "qwen2.5-0.5b": dense(896, 4864, 24, 14, 2, 151936, tied=True),
    "qwen2.5-1.5b": dense(1536, 8960, 28, 12, 2, 151936, tied=True),
    "qwen2.5-7b": dense(3584, 18944, 28, 28, 4, 152064),
    "mixtral-8x7b": mixture(4096, 14336, 32, 32, 8, 32000, experts=8),
    "mixtral-8x22b": mixture(6144, 16384, 56, 48, 8, 32768, experts=8),
}


def num_parameters(configuration: Mapping[str, Any]) -> int:
    """Returns how many parameters a model of this configuration has, as transformers builds it."""
    hidden, inner, layers, heads, groups, vocabulary = (configuration[name] for name in SIZES)
    head = configuration.get("head_dim") or hidden // heads
    attention = hidden * head * (2 * heads + 2 * groups)
    if configuration["model_type"] == "qwen2":
        attention += head * (heads + 2 * groups)  # biases
        inside = 3 * hidden * inner
    else:
        inside = configuration["num_local_experts"] * (3 * hidden * inner + hidden)  # each with its row of the router
    embeddings = vocabulary * hidden * (1 if configuration.get("tie_word_embeddings") else 2)
    return int(embeddings + layers * (attention + inside + 2 * hidden) + hidden)


def num_in_experts(configuration: Mapping[str, Any]) -> int:
    """Returns how many of them are in experts, of three matrices each; routers are outside."""
    hidden, inner, layers, *_ = (configuration[name] for name in SIZES)
    return int(layers * configuration.get("num_local_experts", 0) * 3 * hidden * inner)
