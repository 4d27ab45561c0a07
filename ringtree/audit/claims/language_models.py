"""How the parameters of some language models divide into experts and the rest.

For: sentences about the share of a mixture of experts that is outside its experts. Not for: models that are not listed:
of them nothing is said. The numbers are those of the published config.json of each model.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Model(NamedTuple):
    """A decoder with experts of three matrices hidden × ffn in each layer; embeddings in and out are not shared."""

    name: str
    pattern: str
    hidden: int
    ffn: int
    layers: int
    experts: int
    active: int
    kv_width: int  # heads for keys and values × their width
    vocabulary: int

    @property
    def in_experts(self) -> int:
        """Parameters of all experts."""
        return self.layers * self.experts * 3 * self.hidden * self.ffn

    @property
    def outside(self) -> int:
        """Parameters of attention, routers, norms and embeddings."""
        attention = 2 * self.hidden * self.hidden + 2 * self.hidden * self.kv_width
        layer = attention + self.hidden * self.experts + 2 * self.hidden
        return self.layers * layer + 2 * self.vocabulary * self.hidden + self.hidden

    @property
    def total(self) -> int:
        """All parameters."""
        return self.in_experts + self.outside

    @property
    def active_share(self) -> float:
        """The part that one token uses."""
        return (self.outside + self.in_experts * self.active / self.experts) / self.total


MODELS = (
    Model("Mixtral-8x22B", r"Mixtral[- ]?8x22B", 6144, 16384, 56, 8, 2, 1024, 32768),
    Model("Mixtral-8x7B", r"Mixtral(?:[- ]?8x7B)?\b", 4096, 14336, 32, 8, 2, 1024, 32000),
)


def model_of(text: str) -> Model | None:
    """The model that `text` names."""
    return next((model for model in MODELS if re.search(model.pattern, text, re.IGNORECASE)), None)
