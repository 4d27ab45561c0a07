"""Form: so much of a model is (not) in its experts, and what follows for the traffic. "Only about 30% of Mixtral's
parameters are shared (not in experts), so its all-reduce volume is much smaller"."""

from __future__ import annotations

from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.language_models import Model, model_of
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.training import training_of

_SAYS = Says("share of a model's parameters")


def judge(claim: Claim) -> list[Part]:
    """The share, and the conclusion about volume if there is one."""
    percents = claim.of_kind("percent")
    if (
        not claim.says(r"\bparameters?\b|\bweights\b")
        or len(percents) != 1
        or not claim.says(r"\bexperts?\b|\bshared\b|\bactive\b")
    ):
        return []
    model = model_of(claim.text)
    if model is None:
        return [
            _SAYS.open(
                "the model's configuration is not known here",
                "its number of parameters in and outside the experts",
                covers=percents,
            )
        ]
    return [_check_share(claim, percents[0], model), *_check_volume(claim, model)]


def _check_share(claim: Claim, percent: Quantity, model: Model) -> Part:
    outside = claim.says(r"not in (?:the |its )?experts|outside|shared|other than|besides")
    active = claim.says(r"\bactive\b|\bper token\b|\beach token\b")
    share = (
        model.active_share
        if active and not outside
        else model.outside / model.total
        if outside
        else model.in_experts / model.total
    )
    what = "active for a token" if active and not outside else "outside the experts" if outside else "in the experts"
    arithmetic = (
        f"{model.name}: {model.layers} · {model.experts} · 3 · {model.hidden} · {model.ffn} = "
        f"{model.in_experts / 1e9:.2f}e9 in experts of "
        f"{model.total / 1e9:.2f}e9: {100 * share:.1f} % are {what}"
    )
    if percent.agrees(share):
        return _SAYS.holds(f"{100 * share:.1f} % of the parameters are {what}", arithmetic, [percent])
    near = (
        f"; {100 * model.active_share:.0f} % are active for a token, which is something else"
        if outside and abs(model.active_share - percent.value) < 0.05
        else ""
    )
    return _SAYS.falls(
        f"{100 * share:.1f} % of the parameters are {what}, not {percent.text}{near}", arithmetic, [percent]
    )


def _check_volume(claim: Claim, model: Model) -> list[Part]:
    if not claim.says(r"all[- ]?reduc\w*|volume|traffic|communicat\w+|gradients") or not claim.says(
        r"smaller|less|lower|fewer|reduc(?:es|ed)\b"
    ):
        return []
    way = training_of(f"{claim.text} {claim.around.description}")
    if way is None or "expert" in claim.around.description.lower():
        return [
            _SAYS.open(
                "whether experts are communicated depends on how the training is divided (experts in parallel or not)",
                "the way of training",
            )
        ]
    return [
        _SAYS.falls(
            f"{way.name} moves all parameters by {' and '.join(way.collectives)}, whichever expert they belong to",
            f"{model.total / 1e9:.1f}e9 parameters, of which {model.in_experts / model.total:.1%} in experts, are "
            "all moved",
        )
    ]
