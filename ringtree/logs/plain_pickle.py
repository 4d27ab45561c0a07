"""Pickles that hold nothing but dicts, lists, tuples, strings, numbers, booleans and None.

For: dumps that PyTorch writes as pickles, which come from other people. Not for: anything that a class made.

A pickle is a program, and pickle.Unpickler runs it: a file from outside could run anything. This reads the few
instructions that build plain values, and refuses each other one by its name before anything is done with it.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Callable, Iterator
from typing import Any

MAX_BYTES = 256 << 20


class NotPlainError(Exception):
    """A pickle that is refused: one line that says why and where."""


class _Mark:
    pass


_MARK = _Mark()
_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}


def loads(data: bytes) -> Any:
    """Returns the value of a pickle. Raises NotPlainError for all but plain ones."""
    if len(data) > MAX_BYTES:
        raise NotPlainError(f"a pickle of more than {MAX_BYTES >> 20} MiB")
    return _Machine(data).run()


class _Machine:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        table = _TABLE
        data, end = self._data, len(self._data)
        while self._at < end:
            code = data[self._at]
            at = self._at
            self._at += 1
            if code == _STOP:
                return self._result()
            instruction = table.get(code)
            if instruction is None:
                name = _NAMES.get(code, f"0x{code:02x}")
                raise NotPlainError(f"a pickle that is refused: instruction {name} at byte {at} makes no plain value")
            try:
                instruction(self)
            except NotPlainError:
                raise
            except (IndexError, KeyError, TypeError, ValueError, OverflowError, struct.error, UnicodeError) as error:
                raise NotPlainError(f"a pickle that is damaged at byte {at}: {type(error).__name__}") from error
        raise NotPlainError("a pickle that is cut")

    def _result(self) -> Any:
        if len(self._stack) != 1 or self._marks:
            raise NotPlainError("a pickle that is damaged: it leaves no single value")
        return self._stack[0]

    def take(self, num: int) -> bytes:
        piece = self._data[self._at : self._at + num]
        if num < 0 or len(piece) < num:
            raise NotPlainError("a pickle that is cut")
        self._at += num
        return piece

    def pass_over(self, num: int) -> None:
        self.take(num)

    def integer(self, layout: str) -> int:
        return int(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def top(self) -> Any:
        if not self._stack or (self._marks and self._marks[-1] >= len(self._stack)):
            raise NotPlainError("a pickle that is damaged: nothing is there to put into")
        return self._stack[-1]

    def pop(self, num: int) -> list[Any]:
        first = len(self._stack) - num
        if first < (self._marks[-1] if self._marks else 0):
            raise NotPlainError("a pickle that is damaged: too few values")
        values = self._stack[first:]
        del self._stack[first:]
        return values

    def mark(self) -> None:
        self._marks.append(len(self._stack))

    def pop_mark(self) -> list[Any]:
        if not self._marks:
            raise NotPlainError("a pickle that is damaged: no mark")
        first = self._marks.pop()
        values = self._stack[first:]
        del self._stack[first:]
        return values

    def text(self, num: int) -> None:
        self.push(self.take(num).decode("utf-8", "replace"))

    def long(self, num: int) -> None:
        if num > 16:
            raise NotPlainError("a pickle with a number of more than 128 bits, which is refused")
        self.push(int.from_bytes(self.take(num), "little", signed=True))

    def extend(self, values: list[Any]) -> None:
        into = self.top()
        if type(into) is not list:
            raise NotPlainError("a pickle that is damaged: no list to put into")
        into.extend(values)

    def update(self, values: list[Any]) -> None:
        into = self.top()
        if type(into) is not dict or len(values) % 2:
            raise NotPlainError("a pickle that is damaged: no dict to put into")
        for key, value in _pairs(values):
            into[key] = value

    def put(self, index: int) -> None:
        self._memo[index] = self.top()

    def get(self, index: int) -> None:
        self.push(self._memo[index])

    def memoize(self) -> None:
        self.put(len(self._memo))


def _pairs(values: list[Any]) -> Iterator[tuple[Any, Any]]:
    for key, value in zip(values[::2], values[1::2], strict=True):
        # A tuple as a key may hold the whole pickle, nested without end.
        if type(key) not in (str, int, float, bool, type(None)):
            raise NotPlainError("a pickle that is refused: a key that is neither a string nor a number")
        yield key, value


def _dict(machine: _Machine) -> None:
    machine.push(dict(_pairs(machine.pop_mark())))


_STOP = ord(".")
_TABLE: dict[int, Callable[[_Machine], None]] = {
    0x80: lambda m: m.pass_over(1),  # the protocol
    0x95: lambda m: m.pass_over(8),  # the length of a frame
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("J"): lambda m: m.push(m.integer("<i")),
    ord("K"): lambda m: m.push(m.integer("<B")),
    ord("M"): lambda m: m.push(m.integer("<H")),
    0x8A: lambda m: m.long(m.integer("<B")),
    ord("G"): lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    ord("X"): lambda m: m.text(m.integer("<I")),
    0x8C: lambda m: m.text(m.integer("<B")),
    0x8D: lambda m: m.text(m.integer("<Q")),
    ord("}"): lambda m: m.push({}),
    ord("]"): lambda m: m.push([]),
    ord(")"): lambda m: m.push(()),
    ord("("): lambda m: m.mark(),
    ord("a"): lambda m: m.extend(m.pop(1)),
    ord("e"): lambda m: m.extend(m.pop_mark()),
    ord("s"): lambda m: m.update(m.pop(2)),
    ord("u"): lambda m: m.update(m.pop_mark()),
    ord("t"): lambda m: m.push(tuple(m.pop_mark())),
    ord("l"): lambda m: m.push(m.pop_mark()),
    ord("d"): _dict,
    0x85: lambda m: m.push(tuple(m.pop(1))),
    0x86: lambda m: m.push(tuple(m.pop(2))),
    0x87: lambda m: m.push(tuple(m.pop(3))),
    ord("q"): lambda m: m.put(m.integer("<B")),
    ord("r"): lambda m: m.put(m.integer("<I")),
    0x94: lambda m: m.memoize(),
    ord("h"): lambda m: m.get(m.integer("<B")),
    ord("j"): lambda m: m.get(m.integer("<I")),
}
