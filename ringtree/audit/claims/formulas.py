"""Formulas as people write them, computed without running anybody's code: 2(N-1)/N x S/B, 2·⌈log₂ n⌉, 2k-1.

    formula("2 x (N-1)/N x S / B").value(ranks=8, size=1.0, rate=1.0)    # 1.75

For: comparing what a claim says with what a schedule costs, at several n and sizes. Not for: algebra (two formulas are
the same here if they agree at enough points).

The grammar: sums, products (also x, ×, · or nothing), quotients, powers, brackets, log2, ceil, floor, min, max,
numbers, N (or n, k, p: ranks), S (size), B (rate of a link), alpha, beta. x and / are taken from the left.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from ringtree.audit.claims.amounts import parsed

_MAX_TOKENS, _MAX_POWER = 60, 64
_NAMES = {
    "rate": r"(?:link )?bandwidth|rate|link'?s|BW|B",
    "size": r"(?:message )?size|S|M",
    "latency": r"latency|alpha|α",
    "beta": r"beta|β",
    "ranks": r"ranks|[NnKkPp]",
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "log2": math.log2, "ceil": math.ceil, "floor": math.floor, "min": min, "max": max,
}  # fmt: skip
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: math.nan if abs(b) > _MAX_POWER else a**b,
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<space>\s+|the\b)|(?P<number>\d+(?:\.\d+)?)|(?P<log>log_?2|log₂|log)(?![A-Za-z])|(?P<function>ceil|floor|min|max)\b|"
    + "|".join(rf"(?P<{name}>(?:{words})(?![A-Za-z]))" for name, words in _NAMES.items())
    + r"|(?P<times>[x×*·])|(?P<power>\^)|(?P<op>[-−–+/(),⌈⌉⌊⌋])"
)
_PLAIN = {"−": "-", "–": "-", "⌈": "ceil(", "⌊": "floor(", "⌉": ")", "⌋": ")"}


@dataclass(frozen=True)
class Formula:
    """A formula with the names that it uses."""

    text: str
    names: frozenset[str]
    tree: ast.expr = field(compare=False)

    def value(self, **names: float) -> float:
        """The value for ranks=, size=, rate=, latency=, beta=; NaN where there is none."""
        try:
            return _compute(self.tree, names)
        except (ArithmeticError, ValueError, KeyError, TypeError):
            return math.nan


def formula(text: str) -> Formula:
    """The formula that `text` is. Raises ValueError for anything else."""
    wrong = f"invalid formula {text[:80]!r}: use numbers, N, S, B, alpha, log2, + - x / ^ ( ), as in 2(N-1)/N x S/B"
    pieces = _python(text, wrong)
    try:
        tree = ast.parse(" ".join(pieces), mode="eval").body
        _compute(tree, dict.fromkeys(_NAMES, 3.0))
    except (SyntaxError, TypeError, KeyError):
        raise ValueError(wrong) from None
    except (ArithmeticError, ValueError):
        pass  # no value at these numbers
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in _NAMES)
    return Formula(text.strip(), names, tree)


def _python(text: str, wrong: str) -> list[str]:
    """The same in Python: what stands side by side is multiplied, log2 n gets its brackets."""
    pieces: list[str] = []
    before, at = "", 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(pieces) > _MAX_TOKENS:
            raise ValueError(wrong)
        at, kind = match.end(), match.lastgroup or ""
        if kind == "space":
            continue
        plain = _PLAIN.get(match[0], match[0]) if kind in ("op", "number", "function") else kind
        piece = {"times": "*", "power": "**", "log": "log2"}.get(kind, plain)
        if before in ("number", ")", *_NAMES) and (piece.endswith("(") or kind not in ("op", "times", "power")):
            if kind == "number":
                raise ValueError(wrong)
            pieces.append("*")
        pieces.append(f"({piece})" if before == "log" and piece != "(" else piece)
        before = ")" if piece == ")" else kind
    return pieces


def _compute(node: ast.expr, names: dict[str, float]) -> float:
    """Raises TypeError for what no formula has."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)  # whole numbers would grow without bound
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_compute(node.left, names), _compute(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_compute(node.operand, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return float(_FUNCTIONS[node.func.id](*(_compute(one, names) for one in node.args)))
    raise TypeError(f"{type(node).__name__} in a formula")


Written = Annotated[Formula, parsed(formula, "a number or a formula of N, S, B, alpha: 30, 2(N-1)/N x S")]
