"""So much of a language model is (not) in its experts, and what follows for the traffic: "about 30 % of Mixtral's
parameters are outside the experts, so there is far less to all-reduce".

The numbers are those of the published config.json of each model; of others nothing is said.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Share
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.statement import Answer, Statement, UndecidedError
from ringtree.audit.claims.written import percent
from ringtree.audit.training import Training, collectives_of

Which = Literal["in the experts", "outside the experts", "active for a token"]


class Decoder(NamedTuple):
    """Experts of three matrices hidden × ffn in each layer; embeddings in and out are not shared."""

    hidden: int
    ffn: int
    layers: int
    experts: int
    active: int
    kv_width: int  # heads for keys and values × their width
    vocabulary: int

    def parameters(self) -> tuple[int, int]:
        """Parameters of all experts; and of attention, routers, norms and embeddings."""
        layer = 2 * self.hidden * (self.hidden + self.kv_width) + self.hidden * self.experts + 2 * self.hidden
        outside = self.layers * layer + 2 * self.vocabulary * self.hidden + self.hidden
        return self.layers * self.experts * 3 * self.hidden * self.ffn, outside


MODELS = {
    "Mixtral-8x7B": Decoder(4096, 14336, 32, 8, 2, 1024, 32000),
    "Mixtral-8x22B": Decoder(6144, 16384, 56, 8, 2, 1024, 32768),
}


class Parameters(Statement):
    """`value` of the model's parameters are `which`, and so (`less_traffic`) less is sent."""

    kind: Literal["parameters"]
    model: str
    value: Share
    which: Which
    less_traffic: bool = False
    training: Training | None = Field(default=None, description="as the sentence has it; the table's is not taken")

    def judge(self, about: About) -> Answer:
        model = MODELS.get(self.model)
        if model is None:
            settles = "its number of parameters in and outside the experts"
            raise UndecidedError("the model's configuration is not known here", settles)
        inside, outside = model.parameters()
        total, active = inside + outside, outside + inside * model.active / model.experts
        counts = {"in the experts": inside, "outside the experts": outside, "active for a token": active}
        share = percent(counts[self.which] / total, 1)
        product = f"{model.layers} · {model.experts} · 3 · {model.hidden} · {model.ffn} = {inside / 1e9:.2f}e9"
        shown = f"{self.model}: {product} in experts of {total / 1e9:.2f}e9: {share} are {self.which}"
        said, near = f"{share} of the parameters are {self.which}", abs(active / total - self.value.value) < 0.05
        hint = f"; {percent(active / total)} are active for a token, which is something else" if near else ""
        right = self.value.agrees(counts[self.which] / total)
        part = self.holds(said, shown) if right else self.falls(f"{said}, not {self.value.text}{hint}", shown)
        return [part, self._traffic(inside, total)] if self.less_traffic else part

    def _traffic(self, inside: int, total: int) -> Part:
        if self.training is None:
            reason = "whether experts are communicated depends on how the training is divided"
            return self.open(f"{reason} (experts in parallel or not)", "the way of training")
        moved = " and ".join(collectives_of(self.training))
        shown = f"{total / 1e9:.1f}e9 parameters, of which {inside / total:.1%} in experts, are all moved"
        return self.falls(f"{self.training} moves all parameters by {moved}, whichever expert they belong to", shown)
