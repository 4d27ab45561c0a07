"""Published models: how many parameters follow from their sizes, against what their makers say."""

from __future__ import annotations

from ringtree.language_models import PUBLISHED, num_in_experts, num_parameters
from ringtree.train import models as trained


def test_parameters_are_those_of_the_published_models() -> None:
    assert num_parameters(PUBLISHED["qwen2.5-7b"]) == 7_615_616_512
    assert num_parameters(PUBLISHED["qwen2.5-0.5b"]) == 494_032_768
    assert num_parameters(PUBLISHED["mixtral-8x7b"]) == 46_702_792_704


def test_only_mixtures_have_parameters_in_experts() -> None:
    assert num_in_experts(PUBLISHED["qwen2.5-7b"]) == 0
    assert num_in_experts(PUBLISHED["mixtral-8x22b"]) == 56 * 8 * 3 * 6144 * 16384  # layers, experts, matrices


def test_what_is_trained_has_the_published_sizes() -> None:
    for name, configuration in trained.PUBLISHED.items():
        assert configuration is PUBLISHED[name]
