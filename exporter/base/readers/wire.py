"""Protocol Buffers, the wire format alone: enough to walk a message and to know where each field lies.

Fields are read as they come, none is skipped unseen: a truncated or overlong field is an error with its offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from exporter.base.readers.base import Content, damaged

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
#: As Google's own parsers: no honest model nests deeper, and a hostile one must not exhaust the stack.
MAX_DEPTH = 100
#: A program of 1,200 operators has 88,000 fields in `.pdmodel`, 10,000 in ONNX; so many are read in 3 s.
MAX_FIELDS = 600_000


class Field(NamedTuple):  # a million of them are made in a second; of frozen dataclasses in two
    """One field; `start` to `stop` is its content (of a varint, its bytes), `value` a varint's number."""

    owner: Message
    number: int
    kind: int
    start: int
    stop: int
    value: int = 0

    def integer(self) -> int:
        """An int64, int32, bool or enum."""
        self._must_be(VARINT)
        return self.value - (1 << 64) if self.value >= 1 << 63 else self.value

    def integers(self) -> Iterator[int]:
        """Numbers of a repeated field, in either way of writing it: one a field, or packed."""
        if self.kind == VARINT:
            yield self.integer()
            return
        self._must_be(BYTES)
        position = self.start
        while position < self.stop:
            value, position = self.owner.varint(position, self.stop)
            yield value - (1 << 64) if value >= 1 << 63 else value

    def text(self) -> str:
        """A string; it must be UTF-8."""
        self._must_be(BYTES)
        try:
            return self.owner.content[self.start : self.stop].decode()
        except UnicodeDecodeError as error:
            raise damaged("a name that is not UTF-8", self.owner.where, self.start) from error

    def message(self) -> Message:
        """A message inside."""
        self._must_be(BYTES)
        if self.owner.depth == MAX_DEPTH:
            raise damaged(f"messages nested more than {MAX_DEPTH} deep", self.owner.where, self.start)
        owner = self.owner
        return Message(owner.content, owner.where, self.start, self.stop, owner.depth + 1, owner.count)

    def _must_be(self, kind: int) -> None:
        if self.kind != kind:
            raise damaged(f"field {self.number} has wire type {self.kind}", self.owner.where, self.start)


@dataclass(slots=True)
class Message:
    """The bytes `start` to `stop` of a file, to be walked as a message.

    `count` holds how many fields of the file were read; all its messages share it.
    """

    content: Content
    where: str
    start: int
    stop: int
    depth: int
    count: list[int]

    def __iter__(self) -> Iterator[Field]:
        position = self.start
        while position < self.stop:
            tag, body = self.varint(position, self.stop)
            number, kind = tag >> 3, tag & 7
            if number == 0:
                raise damaged("field number 0", self.where, position)
            value, start, stop = 0, body, body
            if kind == VARINT:
                value, stop = self.varint(body, self.stop)
            elif kind == BYTES:
                length, start = self.varint(body, self.stop)
                stop = start + length
            elif kind in (FIXED32, FIXED64):
                stop = body + (4 if kind == FIXED32 else 8)
            else:
                raise damaged(f"unknown wire type {kind}", self.where, position)
            if stop > self.stop:
                raise damaged(f"a field of {stop - start} bytes, but {self.stop - start} are left", self.where, start)
            self.count[0] += 1
            if self.count[0] > MAX_FIELDS:
                raise damaged(f"more than {MAX_FIELDS:,} fields, more than any program has", self.where, position)
            yield Field(self, number, kind, start, stop, value)
            position = stop

    def varint(self, position: int, stop: int) -> tuple[int, int]:
        """Read one number that ends before `stop`; returns it and the position after it."""
        if position < stop and (byte := self.content[position]) < 0x80:  # as nearly all are
            return byte, position + 1
        number = 0
        for shift in range(0, 70, 7):
            if position + shift // 7 >= stop:
                raise damaged("the end of the data inside a number", self.where, position)
            byte = self.content[position + shift // 7]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & ((1 << 64) - 1), position + shift // 7 + 1
        raise damaged("a number of more than ten bytes", self.where, position)


def root(content: Content, where: str) -> Message:
    """The message that fills the whole file."""
    return Message(content, where, 0, len(content), 0, [0])
