"""What a pickle of arrays is made of, as plain records: text and bytes stay in the file until they are asked for."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Content: TypeAlias = bytes | mmap.mmap


class PickleRefused(ValueError):
    """The pickle asks for something that no file of arrays needs, or it is damaged."""


class Text(NamedTuple):
    """Text, where it lies in the file; `encoding` is UTF-8, or latin-1 for the strings of Python 2."""

    start: int
    stop: int
    encoding: str = "utf-8"


class Bytes(NamedTuple):
    """Bytes, where they lie in the file; `latin1` says that protocol 2 wrote each of them as a letter of UTF-8."""

    start: int
    stop: int
    latin1: bool = False


class Global(NamedTuple):
    """A name that the pickle asks for, as `module.name`."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class Table:
    """A dictionary: its pairs in the order of the file."""

    pairs: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(eq=False)
class Dtype:
    """A dtype of numpy (`f4`), and the byte order that its state names."""

    code: str
    order: str = "<"


@dataclass(eq=False)
class Ndarray:
    """An array as the pickle declares it; `shape` and the rest are known once its state is set."""

    dtype: Dtype | None = None
    shape: tuple[int, ...] = ()
    fortran: bool = False
    raw: Bytes | None = None


@dataclass(frozen=True)
class Scalar:
    """A single number of numpy, which is no tensor."""

    dtype: Dtype


#: The longest name that is read; Paddle's own are below 200 letters.
MOST_LETTERS = 4096


def text_of(value: object, content: Content) -> str:
    """The text of a name; raises PickleRefused where it is none, too long or not text in its encoding."""
    if isinstance(value, Bytes) and not value.latin1:  # Python 2 made no difference
        value = Text(value.start, value.stop, "latin-1")
    if not isinstance(value, Text):
        raise PickleRefused(f"a name is expected, and there is {describe(value)}")
    if value.stop - value.start > MOST_LETTERS:
        raise PickleRefused(f"a name of {value.stop - value.start:,} bytes")
    try:
        return content[value.start : value.stop].decode(value.encoding)
    except UnicodeDecodeError as error:
        raise PickleRefused(f"a name that is not {value.encoding}: {error.reason}") from error


def describe(value: object) -> str:
    """What a value is, in a few words and without its content."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1e18 else "a large number"
    if isinstance(value, (list, tuple, Table)):
        count = len(value.pairs if isinstance(value, Table) else value)
        kind = "dict" if isinstance(value, Table) else type(value).__name__
        return f"a {kind} of {count} without arrays"
    names: dict[type, str] = {
        Text: "text",
        Bytes: "bytes",
        Global: "a name of Python",
        Dtype: "a dtype",
        Ndarray: "an array",
    }
    return names.get(type(value), "a single number of numpy")
