"""Formulas in sentences: found, parsed and computed, without evaluating anybody's code.

    (formula,) = formulas("takes 2 x (N-1)/N x S / link bandwidth")
    formula.value(ranks=8, size=1.0, rate=1.0)    # 1.75

For: comparing what a sentence says with what a schedule costs, at several n and sizes. Not for: algebra (two formulas
are the same here if they agree at enough points).

The grammar: sums, products (also written x, × or nothing), quotients, powers, brackets, log, log2, ceil, floor, min,
max, numbers, and the names below. Products and quotients are taken from the left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

_MAX_TOKENS, _MAX_DEPTH, _MAX_POWER = 60, 20, 64

# What names stand for. Longer ones first; single letters only where no letter or digit touches them.
_NAMES: tuple[tuple[str, str], ...] = (
    ("rate", r"(?:bus |link |network |the link'?s |link'?s )(?:bandwidth|rate|speed)(?: of (?:a|the|one) link)?"),
    ("rate", r"(?:bandwidth|rate|speed) of (?:a|the|one|each) link"),
    ("rate", r"(?:the )?link'?s\b|\bbandwidth\b|\b(?:BW|bw|B|W)\b"),
    ("size", r"\b(?:message|data|buffer|vector|total) size\b|\b(?:size|data|message|vector|buffer|bytes)\b|\b[SMD]\b"),
    ("latency", r"\b(?:latency|alpha)\b|α"),
    ("beta", r"\bbeta\b|β"),
    ("ranks", r"(?:number of |num_|#)(?:ranks|GPUs|processes|nodes)\b|(?<![A-Za-z_])[NnKkPp](?![A-Za-z0-9_'])"),
)
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "log2": math.log2,
    "log": math.log2,  # in this field without a base: of two
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
}
_TOKEN = re.compile(
    r"(?P<space>\s+|\b(?:the|a|an|its|of the)\b(?=\s))"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<function>\b(?:log_?2|log₂|log|ceil|floor|min|max)(?![A-Za-z]))"
    + "".join(f"|(?P<name{index}>{pattern})" for index, (_, pattern) in enumerate(_NAMES))
    + r"|(?P<times>[x×*·](?![A-Za-z0-9])|\btimes\b)"
    r"|(?P<op>[-−–+/()^,⌈⌉⌊⌋])"
    r"|(?P<other>\w+|.)"
)
_PLAIN = {"−": "-", "–": "-", "⌈": "ceil(", "⌊": "floor(", "⌉": ")", "⌋": ")"}


class _Token(NamedTuple):
    kind: str  # number, name, function, op
    text: str
    span: tuple[int, int]


Node = tuple[str, "float | str | list[Node]"]


@dataclass(frozen=True)
class Formula:
    """A formula with the names that it uses and where it stands."""

    text: str
    span: tuple[int, int]
    names: frozenset[str]
    tree: Node

    def value(self, **names: float) -> float:
        """The value for ranks=, size=, rate=, latency=, beta=; NaN where there is none."""
        try:
            return _compute(self.tree, names)
        except (ArithmeticError, ValueError, KeyError):
            return math.nan


class NoFormulaError(ValueError):
    """A text that is no formula of the grammar."""


def formulas(text: str) -> list[Formula]:
    """The longest formulas of `text` that use a name and an operation, in order, without overlaps."""
    found = []
    for run in _runs(text):
        formula = _longest(text, run)
        if formula is not None:
            found.append(formula)
    return found


def parse(text: str) -> Formula:
    """The whole of `text` as a formula. Raises NoFormulaError."""
    tokens = [token for run in _runs(text) for token in run]
    if not tokens or _other(text):
        raise NoFormulaError(f"no formula: {text[:80]!r}")
    return _formula(text, tokens)


def _other(text: str) -> bool:
    return any(match.lastgroup == "other" for match in _TOKEN.finditer(text))


def _runs(text: str) -> list[list[_Token]]:
    """Stretches of the text that consist of tokens of formulas only."""
    runs: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "other":
            runs.append([])
        elif kind.startswith("name"):
            runs[-1].append(_Token("name", _NAMES[int(kind[4:])][0], match.span()))
        elif kind == "function":
            name = match[0].replace("_", "").replace("₂", "2")
            runs[-1].append(_Token("function", name, match.span()))
        elif kind == "times":
            runs[-1].append(_Token("op", "*", match.span()))
        elif kind == "op":
            plain = _PLAIN.get(match[0], match[0])
            if len(plain) > 1:
                runs[-1].append(_Token("function", plain[:-1], match.span()))
            runs[-1].append(_Token("op", plain[-1], match.span()))
        elif kind == "number":
            runs[-1].append(_Token("number", match[0], match.span()))
    return [run for run in runs if len(run) > 1]


def _longest(text: str, run: list[_Token]) -> Formula | None:
    run = run[:_MAX_TOKENS]
    for length in range(len(run), 1, -1):
        for start in range(len(run) - length + 1):
            tokens = run[start : start + length]
            kinds = {token.kind for token in tokens}
            explicit = any(token.kind == "op" and token.text in "+-*/^" for token in tokens)
            if "name" not in kinds or not (explicit or "function" in kinds):
                continue
            try:
                return _formula(text, tokens)
            except NoFormulaError:
                continue
    return None


def _formula(text: str, tokens: list[_Token]) -> Formula:
    tree = _Parser(tokens).whole()
    span = (tokens[0].span[0], tokens[-1].span[1])
    return Formula(text[slice(*span)], span, frozenset(token.text for token in tokens if token.kind == "name"), tree)


class _Parser:
    """Recursive descent; `depth` bounds the recursion."""

    def __init__(self, tokens: list[_Token]) -> None:
        if len(tokens) > _MAX_TOKENS:
            raise NoFormulaError("too long")
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        tree = self._sum()
        if self._at != len(self._tokens):
            raise NoFormulaError("ends early")
        return tree

    def _op(self) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        return token.text if token is not None and token.kind == "op" else ""

    def _sum(self) -> Node:
        left = self._product()
        while self._op() in ("+", "-"):
            operation = self._op()
            self._at += 1
            left = (operation, [left, self._product()])
        return left

    def _product(self) -> Node:
        left = self._power()
        while self._at < len(self._tokens):
            operation = self._op()
            if operation in ("*", "/"):
                self._at += 1
            elif operation and operation != "(":
                break
            elif self._tokens[self._at].kind == "number":
                raise NoFormulaError("two numbers side by side")
            left = ("/" if operation == "/" else "*", [left, self._power()])
        return left

    def _power(self) -> Node:
        base = self._atom()
        if self._op() == "^":
            self._at += 1
            return ("^", [base, self._atom()])
        return base

    def _atom(self) -> Node:
        if self._at >= len(self._tokens):
            raise NoFormulaError("ends too early")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return ("number", float(token.text))
        if token.kind == "name":
            return ("name", token.text)
        if token.kind == "function":
            if self._op() == "(":
                self._at += 1
                return (token.text, self._until_bracket())
            return (token.text, [self._atom()])
        if token.text == "-":
            return ("-", [("number", 0.0), self._atom()])
        if token.text == "(":
            inner = self._until_bracket()
            if len(inner) == 1:
                return inner[0]
        raise NoFormulaError(f"unexpected {token.text!r}")

    def _until_bracket(self) -> list[Node]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NoFormulaError("brackets too deep")
        found = [self._sum()]
        while self._op() == ",":
            self._at += 1
            found.append(self._sum())
        if self._op() != ")":
            raise NoFormulaError("a bracket stays open")
        self._at += 1
        self._depth -= 1
        return found


def _compute(node: Node, names: dict[str, float]) -> float:
    kind, content = node
    if isinstance(content, float):
        return content
    if isinstance(content, str):
        return names[content]
    values = [_compute(one, names) for one in content]
    if kind in _FUNCTIONS:
        return float(_FUNCTIONS[kind](*values))
    left, right = values
    if kind == "^":
        if abs(right) > _MAX_POWER:
            raise ValueError("power too large")
        return float(left**right)
    return {"+": left + right, "-": left - right, "*": left * right, "/": left / right if right else math.nan}[kind]
