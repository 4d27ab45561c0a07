"""XML as a few thousand elements, without what makes XML dangerous.

For: NCCL's dumps. Not for: any XML: a document type is refused, since with it come entities that grow without end or
read files; so are more elements, deeper ones and longer files than any host has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar, get_args
from xml.parsers import expat

from ringtree.logs.reading import UnreadableFileError
from ringtree.logs.records import Shape

_MAX_ELEMENTS = 50_000
_MAX_DEPTH = 64
_MAX_ATTRIBUTES = 64
_MAX_BYTES = 64 << 20
_BLOCK = 1 << 16
_BEGINNING = 4000
ShapeT = TypeVar("ShapeT", bound=Shape)


@dataclass
class Element:
    """An element with its attributes and what stands in it."""

    name: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    def named(self, name: str) -> Iterator[Element]:
        """Yields the children of that name."""
        return (child for child in self.children if child.name == name)

    def all(self) -> Iterator[Element]:
        """Yields this element and everything in it, in the file's order."""
        yield self
        for child in self.children:
            yield from child.all()

    def above(self, name: str) -> Iterator[Element]:
        """Yields the elements of that name around this one, the nearest first."""
        around = self.parent
        while around is not None:
            if around.name == name:
                yield around
            around = around.parent

    def read(self, shape: type[ShapeT], names: Mapping[str, str] | None = None, /, **known: object) -> ShapeT:
        """Makes a shape of the attributes that its fields, or `names` for them, are called after, by the fields'
        types; `known` are those that stand elsewhere."""
        readers = {str: self.text, int: self.integer, float: self.number, bool: self.flag}
        for name, info in shape.model_fields.items():
            if name not in known:
                kind = next(one for one in (*get_args(info.annotation), info.annotation) if one in readers)
                known[name] = readers[kind]((names or {}).get(name, name))
        return shape(**known)

    def text(self, name: str) -> str | None:
        """Returns an attribute as it stands."""
        value = self.attributes.get(name)
        return None if value is None else value[:200]

    def integer(self, name: str) -> int | None:
        """Returns an attribute as a whole number, also one like "0x1a"; None if it is none."""
        value = self.attributes.get(name, "")
        if len(value) > 18:
            return None
        try:
            return int(value, 16 if value[:2].lower() == "0x" else 10)
        except ValueError:
            return None

    def flag(self, name: str) -> bool | None:
        """Returns whether an attribute is another number than 0; None if it is none."""
        value = self.integer(name)
        return None if value is None else value != 0

    def number(self, name: str) -> float | None:
        """Returns an attribute as a number that is finite; None if it is none."""
        value = self.attributes.get(name, "")
        try:
            number = float(value) if len(value) <= 40 else None
        except ValueError:
            return None
        return number if number is not None and abs(number) < 1e18 else None


def begins(head: str, root: str) -> bool:
    """Says whether a file may hold the element `root`, also one with a document type, so that this can be refused."""
    return head.startswith((f"<{root}", "<?xml", "<!DOCTYPE", "<!--")) and f"<{root}" in head[:_BEGINNING]


def parse(source: BinaryIO, root: str) -> Element:
    """Returns the element `root` of a file. Raises UnreadableFileError, in one line, for what is not plain XML."""
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.buffer_text = True
    num_bytes = 0
    try:
        while block := source.read(_BLOCK):
            num_bytes += len(block)
            if num_bytes > _MAX_BYTES:
                raise UnreadableFileError(f"more than {_MAX_BYTES >> 20} MiB of XML")
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UnreadableFileError(f"no well-formed XML: {error}") from error
    if builder.root is None or builder.root.name != root:
        raise UnreadableFileError(f"XML without <{root}>")
    return builder.root


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._num = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._num += 1
        if self._num > _MAX_ELEMENTS or len(self._open) >= _MAX_DEPTH or len(attributes) > _MAX_ATTRIBUTES:
            raise UnreadableFileError("more elements, deeper ones or more attributes than a host's topology has")
        element = Element(name[:60], attributes, self._open[-1] if self._open else None)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, name: str) -> None:
        self._open.pop()

    def doctype(self, *declaration: object) -> None:
        raise UnreadableFileError("XML with a document type (<!DOCTYPE …>), which is refused")
