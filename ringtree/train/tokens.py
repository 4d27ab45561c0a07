"""The tokens of a step: made up, or the bytes of a file; a pure function of seed, rank and step.

For: the same tokens for every arm, others for each rank and step. Not for: tokenizers: a byte is a token, as what a
step costs does not depend on what the tokens say.

Made-up tokens follow Zipf's law, so that there is something to learn and the loss falls from the first step on.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch


class Tokens:
    """Batches for one rank."""

    def __init__(self, seed: int, rank: int, batch: int, sequence: int, vocabulary: int, file: str | None) -> None:
        self._key, self._shape, self._text = (seed, rank), (batch, sequence), None
        self._weights = 1.0 / torch.arange(1, vocabulary + 1, dtype=torch.float64)
        if file is not None:
            self._text = torch.frombuffer(bytearray(Path(file).read_bytes()), dtype=torch.uint8)

    def batch(self, step: int, part: int) -> torch.Tensor:
        """Returns tokens of shape (batch, sequence); `part`: which batch of the step."""
        digest = hashlib.sha256("/".join(map(str, (*self._key, step, part))).encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
        rows, length = self._shape
        if self._text is None:
            drawn = torch.multinomial(self._weights, rows * length, replacement=True, generator=generator)
            return drawn.view(rows, length)
        starts = torch.randint(0, len(self._text) - length + 1, (rows,), generator=generator)
        return torch.stack([self._text[start : start + length] for start in starts.tolist()]).long()
