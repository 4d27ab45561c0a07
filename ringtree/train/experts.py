"""Experts spread over ranks: each rank has some of them, and tokens travel to theirs and back by all_to_all.

For: expert parallelism for a mixture as transformers builds it. Not for: choosing experts, which stays the router's.

A block's router runs on every rank. Each rank sorts its tokens by the rank that has their expert, tells how many go
where, sends them, computes what it got, and sends that back: two exchanges of tokens forward, and two backward.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn


def spread_experts(net: nn.Module, group: dist.ProcessGroup, rank: int, alone: bool) -> list[nn.Parameter]:
    """Replaces each block's experts by this rank's share; returns the parameters that only this rank has.

    Raises ValueError if ranks can't have equally many. `alone`: tokens stay, and each rank computes as many.
    """
    own: list[nn.Parameter] = []
    for layer in net.model.layers:  # type: ignore[union-attr]
        block: Any = layer.mlp
        block.experts = SpreadExperts(block.experts, group, rank, alone)
        own += block.experts.parameters()
    return own


class SpreadExperts(nn.Module):
    """This rank's experts of a block; called as the block's own were."""

    def __init__(self, whole: Any, group: dist.ProcessGroup, rank: int, alone: bool) -> None:
        super().__init__()
        self._group, self._alone, self._num_ranks = group, alone, group.size()
        if whole.num_experts % self._num_ranks:
            raise ValueError(f"{whole.num_experts} experts can't be spread evenly over {self._num_ranks} ranks")
        self._share = whole.num_experts // self._num_ranks
        mine = slice(rank * self._share, (rank + 1) * self._share)
        self.gate_up_proj = nn.Parameter(whole.gate_up_proj.detach()[mine].clone())
        self.down_proj = nn.Parameter(whole.down_proj.detach()[mine].clone())
        self.act_fn = whole.act_fn
        own: list[Any] = list(self.parameters())
        for parameter in own:  # each token's gradient counts in the mean over all ranks' tokens
            parameter.register_hook(lambda gradient: gradient / self._num_ranks)

    def forward(self, hidden: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """`hidden`: (tokens, width); `chosen`, `weights`: (tokens, experts of a token)."""
        order = torch.argsort(chosen.flatten(), stable=True)
        token = order // chosen.shape[1]
        expert = chosen.flatten()[order]
        to_rank = torch.bincount(expert // self._share, minlength=self._num_ranks)
        from_rank = self._counts(to_rank)
        sent, got = to_rank.tolist(), from_rank.tolist()
        arrived = self._exchange(hidden[token], got, sent)
        whose = self._exchange((expert % self._share).to(hidden.dtype)[:, None], got, sent)[:, 0].long()
        back = self._exchange(self._compute(arrived, whose), sent, got)
        weighted = back * weights.flatten()[order][:, None]
        return torch.zeros_like(hidden).index_add(0, token, weighted.to(hidden.dtype))

    def _compute(self, hidden: torch.Tensor, whose: torch.Tensor) -> torch.Tensor:
        result = torch.zeros_like(hidden)
        for expert in range(self._share):  # also one without tokens: every rank takes part in every gradient
            rows = torch.where(whose == expert)[0]
            gate, up = nn.functional.linear(hidden[rows], self.gate_up_proj[expert].to(hidden.dtype)).chunk(2, dim=-1)
            down = nn.functional.linear(self.act_fn(gate) * up, self.down_proj[expert].to(hidden.dtype))
            result = result.index_add(0, rows, down)
        return result

    def _counts(self, to_rank: torch.Tensor) -> torch.Tensor:
        if self._alone:
            return to_rank
        from_rank = torch.empty_like(to_rank)
        dist.all_to_all_single(from_rank, to_rank, group=self._group)
        return from_rank

    def _exchange(self, rows: torch.Tensor, got: list[int], sent: list[int]) -> torch.Tensor:
        if self._alone:
            return rows.clone()
        result: torch.Tensor = _Exchange.apply(rows, got, sent, self._group)  # type: ignore[no-untyped-call]
        return result


class _Exchange(torch.autograd.Function):
    """all_to_all of rows; its gradient goes the way back."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, got: list[int], sent: list[int], group: Any) -> torch.Tensor:
        ctx.splits, ctx.group = (got, sent), group
        result = rows.new_empty((sum(got), *rows.shape[1:]))
        dist.all_to_all_single(result, rows.contiguous(), got, sent, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        got, sent = ctx.splits
        result = gradients[0].new_empty((sum(sent), *gradients[0].shape[1:]))
        dist.all_to_all_single(result, gradients[0].contiguous(), sent, got, group=ctx.group)
        return result, None, None, None
