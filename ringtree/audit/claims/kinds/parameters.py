"""So much of a language model is (not) in its experts, and what follows for the traffic: "about 30 % of Mixtral's
parameters are outside the experts, so there is far less to all-reduce".

The numbers follow from the published config.json of each model (ringtree.language_models); of others nothing is said.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Share
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.statement import Answer, Statement, UndecidedError
from ringtree.audit.claims.written import percent
from ringtree.audit.training import Training, collectives_of
from ringtree.language_models import PUBLISHED, num_in_experts, num_parameters

Which = Literal["in the experts", "outside the experts", "active for a token"]


class Parameters(Statement):
    """`value` of the model's parameters are `which`, and so (`less_traffic`) less is sent."""

    kind: Literal["parameters"]
    model: str
    value: Share
    which: Which
    less_traffic: bool = False
    training: Training | None = Field(default=None, description="as the sentence has it; the table's is not taken")

    def judge(self, about: About) -> Answer:
        model = PUBLISHED.get(self.model.lower())
        if model is None or not num_in_experts(model):
            settles = "its number of parameters in and outside the experts"
            raise UndecidedError("the model's configuration is not known here", settles)
        inside, total = num_in_experts(model), num_parameters(model)
        outside, experts = total - inside, model["num_local_experts"]
        active = outside + inside * model["num_experts_per_tok"] / experts
        counts = {"in the experts": inside, "outside the experts": outside, "active for a token": active}
        share = percent(counts[self.which] / total, 1)
        factors = (model["num_hidden_layers"], experts, 3, model["hidden_size"], model["intermediate_size"])
        product = f"{' · '.join(map(str, factors))} = {inside / 1e9:.2f}e9"
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
