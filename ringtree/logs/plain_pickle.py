"""Pickles that hold nothing but dicts, lists, tuples, strings, numbers, booleans and None.

For: dumps that PyTorch writes as pickles, which come from other people. Not for: anything that a class made.

A pickle is a program, and pickle.Unpickler runs it: a file from outside could run anything. This reads the few
instructions that build plain values, and refuses each other one by its name before anything is done with it.
"""

from __future__ import annotations

import io
import pickletools
import struct
from collections.abc import Callable
from typing import Any

MAX_BYTES = 256 << 20
_OPCODES = {ord(opcode.code): opcode for opcode in pickletools.opcodes}


class NotPlainError(Exception):
    """A pickle that is refused: one line that says why and where."""


def loads(data: bytes) -> Any:
    """Returns the value of a pickle. Raises NotPlainError for all but plain ones."""
    if len(data) > MAX_BYTES:
        raise NotPlainError(f"a pickle of more than {MAX_BYTES >> 20} MiB")
    machine, stream = _Machine(), io.BytesIO(data)
    while code := stream.read(1):
        opcode, at = _OPCODES.get(code[0]), stream.tell() - 1
        name = opcode.name if opcode is not None else f"0x{code[0]:02x}"
        instruction = _INSTRUCTIONS.get(name)
        if opcode is None or instruction is None:
            raise NotPlainError(f"a pickle that is refused: instruction {name} at byte {at} makes no plain value")
        try:
            if name in _TEXTS:
                instruction(machine, _text(stream, _TEXTS[name]))
            else:
                instruction(machine, opcode.arg.reader(stream) if opcode.arg is not None else None)
            if name == "STOP":
                return machine.result()
        except (IndexError, KeyError, TypeError, ValueError, OverflowError, struct.error) as error:
            raise NotPlainError(f"a pickle that is cut or damaged at byte {at}: {type(error).__name__}") from error
    raise NotPlainError("a pickle that is cut")


class _Machine:
    """`stack`: the values since the last mark; `below`: those before each mark."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def result(self) -> Any:
        if len(self.stack) != 1 or self.below:
            raise ValueError("no single value is left")
        return self.stack[0]

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        values, self.stack = self.stack, self.below.pop()
        return values

    def last(self, number: int) -> list[Any]:
        return [self.stack.pop() for _ in range(number)][::-1]

    def number(self, value: int) -> None:
        if value.bit_length() > 127:
            raise NotPlainError("a pickle with a number of more than 128 bits, which is refused")
        self.push(value)

    def extend(self, values: list[Any]) -> None:
        into = self.stack[-1]
        if type(into) is not list:
            raise TypeError("no list to put into")
        into.extend(values)

    def update(self, values: list[Any]) -> None:
        into = self.stack[-1]
        if type(into) is not dict:
            raise TypeError("no dict to put into")
        for key, value in zip(values[::2], values[1::2], strict=True):
            # A tuple as a key may hold the whole pickle, nested without end.
            if type(key) not in (str, int, float, bool, type(None)):
                raise NotPlainError("a pickle that is refused: a key that is neither a string nor a number")
            into[key] = value

    def dict_since_mark(self) -> None:
        values = self.since_mark()
        self.push({})
        self.update(values)

    def put(self, index: int) -> None:
        self.memo[index] = self.stack[-1]


def _text(stream: io.BytesIO, layout: str) -> str:
    (size,) = struct.unpack(layout, stream.read(struct.calcsize(layout)))
    text = stream.read(size)
    if len(text) < size:
        raise ValueError("fewer bytes than stated")
    return text.decode("utf-8", "replace")  # what Python's own reader of texts refuses


_TEXTS = {"SHORT_BINUNICODE": "<B", "BINUNICODE": "<I", "BINUNICODE8": "<Q"}  # how long the length is
_INSTRUCTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, version: None,
    "FRAME": lambda machine, size: None,
    "STOP": lambda machine, _: None,
    "MARK": lambda machine, _: machine.mark(),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "LONG1": _Machine.number,
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "BINFLOAT", *_TEXTS), _Machine.push),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "APPEND": lambda machine, _: machine.extend(machine.last(1)),
    "APPENDS": lambda machine, _: machine.extend(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.update(machine.last(2)),
    "SETITEMS": lambda machine, _: machine.update(machine.since_mark()),
    "LIST": lambda machine, _: machine.push(machine.since_mark()),
    "DICT": lambda machine, _: machine.dict_since_mark(),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
    "TUPLE1": lambda machine, _: machine.push(tuple(machine.last(1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(machine.last(2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(machine.last(3))),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), _Machine.put),
    "MEMOIZE": lambda machine, _: machine.put(len(machine.memo)),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda machine, index: machine.push(machine.memo[index])),
}
