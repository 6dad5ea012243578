"""The opcodes of a pickle, walked without Python's own unpickler.

Paddle 2.0 to 3.3 writes protocols 2 to 4; protocol 5 without buffers of its own is read as well. An opcode that could
reach code (`INST`, `OBJ`, `NEWOBJ`, the extension registry, persistent ids) is refused by its name; a global is refused
when it is named (`exporter.base.pickles.arrays.ALLOWED`), before anything could be done with it. The walk
takes time and memory in proportion to the number of opcodes, of which there is a limit: text and bytes are never
copied here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from exporter.base.pickles import arrays
from exporter.base.pickles.values import Bytes, Content, Global, PickleRefused, Table, Text, text_of

#: A tensor takes about 60 opcodes.
MOST_OPCODES = 2_000_000
_MARK = object()
_NEVER = {
    **{b"P": "PERSID", b"Q": "BINPERSID", b"\x82": "EXT1", b"\x83": "EXT2", b"\x84": "EXT4", b"i": "INST", b"o": "OBJ"},
    **{b"\x81": "NEWOBJ", b"\x92": "NEWOBJ_EX", b"\x97": "NEXT_BUFFER", b"\x98": "READONLY_BUFFER", b"2": "DUP"},
    **{b"I": "INT", b"L": "LONG", b"F": "FLOAT", b"S": "STRING", b"V": "UNICODE", b"g": "GET", b"p": "PUT"},
    **{b"\x8f": "EMPTY_SET", b"\x90": "ADDITEMS", b"\x91": "FROZENSET"},
}


class Walk:
    """One walk over one pickle; `offset` is the byte of the opcode at hand."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.offset = 0
        self._next = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._operations = _operations()

    def value(self) -> Any:
        """The one value that the pickle holds; raises PickleRefused."""
        for _ in range(MOST_OPCODES):
            self.offset = self._next
            code = bytes(self._take(1))
            if code == b".":
                return self._end()
            operation = self._operations.get(code)
            if operation is None:
                name = _NEVER.get(code, f"0x{code.hex()}")
                raise PickleRefused(f"opcode {name}, which no file of arrays needs")
            operation(self)
        raise PickleRefused(f"more than {MOST_OPCODES:,} opcodes")

    def _end(self) -> Any:
        if len(self._stack) != 1 or self._stack[0] is _MARK:
            raise PickleRefused("it does not end in one value")
        if self._next != len(self.content):
            raise PickleRefused(f"{len(self.content) - self._next:,} bytes lie behind its end")
        return self._stack[0]

    def _take(self, length: int) -> bytes:
        start, stop = self._span(length)
        return self.content[start:stop]

    def _span(self, length: int) -> tuple[int, int]:
        start = self._next
        if length > len(self.content) - start:
            raise PickleRefused(f"truncated: {length:,} bytes are due, {len(self.content) - start:,} are left")
        self._next = start + length
        return start, self._next

    def _number(self, layout: str) -> int:
        number: int = struct.unpack(layout, self._take(struct.calcsize(layout)))[0]
        return number

    def _line(self) -> str:
        stop = self.content.find(b"\n", self._next, self._next + 300)
        if stop < 0:
            raise PickleRefused("a name without an end")
        line = self._take(stop - self._next + 1)[:-1]
        return line.decode("utf-8", "backslashreplace")

    def push(self, value: Any) -> None:
        """Put a value onto the stack."""
        self._stack.append(value)

    def pop(self) -> Any:
        """Take the value on top; raises PickleRefused where there is none."""
        if not self._stack or self._stack[-1] is _MARK:
            raise PickleRefused("the stack is empty")
        return self._stack.pop()

    def above_mark(self) -> list[Any]:
        """Take everything above the last mark, and the mark."""
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] is _MARK:
                values = self._stack[place + 1 :]
                del self._stack[place:]
                return values
        raise PickleRefused("no mark lies on the stack")

    def top(self, kind: type, what: str) -> Any:
        """The value on top, which stays there and must be of a kind."""
        if not self._stack or not isinstance(self._stack[-1], kind):
            raise PickleRefused(f"no {what} lies on the stack")
        return self._stack[-1]

    # ------------------------------------------------------------------------------------------- operations

    def drop(self, value: Any) -> None:
        del value

    def protocol(self) -> None:
        if (version := self._take(1)[0]) > 5:
            raise PickleRefused(f"protocol {version}, where 5 is the newest")

    def frame(self) -> None:
        if self._number("<Q") > len(self.content) - self._next:
            raise PickleRefused("truncated inside a frame")

    def long(self) -> None:
        self.push(int.from_bytes(self._take(self._take(1)[0]), "little", signed=True))

    def text(self, layout: str) -> None:
        self.push(Text(*self._span(self._number(layout))))

    def raw(self, layout: str) -> None:
        length = self._number(layout)
        if length < 0:
            raise PickleRefused("bytes of a negative length")
        self.push(Bytes(*self._span(length)))

    def store(self, index: int) -> None:
        if not self._stack or self._stack[-1] is _MARK:
            raise PickleRefused("the stack is empty")
        self._memo[index] = self._stack[-1]

    def fetch(self, index: int) -> None:
        if index not in self._memo:
            raise PickleRefused(f"nothing was kept under {index}")
        self.push(self._memo[index])

    def tuple_of(self, count: int) -> None:
        self.push(tuple(reversed([self.pop() for _ in range(count)])))

    def table_from_mark(self) -> None:
        values = self.above_mark()
        self.push(Table(_pairs(values)))

    def set_items(self, values: list[Any]) -> None:
        self.top(Table, "dict").pairs.extend(_pairs(values))

    def append(self, values: list[Any]) -> None:
        self.top(list, "list").extend(values)

    def global_(self, name: Global) -> None:
        if name not in arrays.ALLOWED:
            raise PickleRefused(f"it asks for {name}, which is no part of an array: reading it would run code")
        self.push(name)

    def stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        self.global_(Global(text_of(module, self.content), text_of(name, self.content)))

    def reduce(self) -> None:
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Global) or not isinstance(arguments, tuple):
            raise PickleRefused("it calls what is no name of Python")
        self.push(arrays.construct(function, arguments, self.content))

    def build(self) -> None:
        state = self.pop()
        arrays.set_state(self.top(object, "object"), state, self.content)


def _pairs(values: list[Any]) -> list[tuple[Any, Any]]:
    if len(values) % 2:
        raise PickleRefused("a key without a value")
    return list(zip(values[::2], values[1::2], strict=True))


def _constant(value: Any) -> Callable[[Walk], None]:
    return lambda walk: walk.push(value)


def _operations() -> Mapping[bytes, Callable[[Walk], None]]:
    number = Walk._number
    return {
        b"\x80": Walk.protocol,
        b"\x95": Walk.frame,
        b"(": _constant(_MARK),
        b"N": _constant(None),
        b"\x88": _constant(True),
        b"\x89": _constant(False),
        b")": _constant(()),
        b"]": lambda walk: walk.push([]),
        b"}": lambda walk: walk.push(Table()),
        b"K": lambda walk: walk.push(number(walk, "<B")),
        b"M": lambda walk: walk.push(number(walk, "<H")),
        b"J": lambda walk: walk.push(number(walk, "<i")),
        b"G": lambda walk: walk.push(number(walk, ">d")),
        b"\x8a": Walk.long,
        b"\x8c": lambda walk: walk.text("<B"),
        b"X": lambda walk: walk.text("<I"),
        b"\x8d": lambda walk: walk.text("<Q"),
        b"U": lambda walk: walk.raw("<B"),
        b"T": lambda walk: walk.raw("<i"),
        b"C": lambda walk: walk.raw("<B"),
        b"B": lambda walk: walk.raw("<I"),
        b"\x8e": lambda walk: walk.raw("<Q"),
        b"\x96": lambda walk: walk.raw("<Q"),
        b"q": lambda walk: walk.store(number(walk, "<B")),
        b"r": lambda walk: walk.store(number(walk, "<I")),
        b"\x94": lambda walk: walk.store(len(walk._memo)),
        b"h": lambda walk: walk.fetch(number(walk, "<B")),
        b"j": lambda walk: walk.fetch(number(walk, "<I")),
        b"t": lambda walk: walk.push(tuple(walk.above_mark())),
        b"\x85": lambda walk: walk.tuple_of(1),
        b"\x86": lambda walk: walk.tuple_of(2),
        b"\x87": lambda walk: walk.tuple_of(3),
        b"l": lambda walk: walk.push(walk.above_mark()),
        b"d": Walk.table_from_mark,
        b"s": lambda walk: walk.set_items([walk.pop(), walk.pop()][::-1]),
        b"u": lambda walk: walk.set_items(walk.above_mark()),
        b"a": lambda walk: walk.append([walk.pop()]),
        b"e": lambda walk: walk.append(walk.above_mark()),
        b"0": lambda walk: walk.drop(walk.pop()),
        b"1": lambda walk: walk.drop(walk.above_mark()),
        b"c": lambda walk: walk.global_(Global(walk._line(), walk._line())),
        b"\x93": Walk.stack_global,
        b"R": Walk.reduce,
        b"b": Walk.build,
    }
