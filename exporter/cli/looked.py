"""What is known of a model before it has a spec: what its code says, and what running it showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Signature:
    """The parameters of a model's `forward`, without `self`. `known` is false where the code does not show them."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    known: bool = True


@dataclass(frozen=True)
class Taken:
    """An input with which `forward` ran: its dtype, its shape, of whole numbers the one after the largest.

    `filled` is how its cases are filled, where that does not follow; a mask whose rows are not all 0 has `empty_rows`
    false.
    """

    dtype: str
    shape: tuple[int | str, ...]
    stop: int = 0
    filled: str = ""
    empty_rows: bool = True

    @property
    def values(self) -> str:
        """How its cases are filled."""
        return self.filled or (f"integers(0,{self.stop})" if self.stop else "normal")


@dataclass(frozen=True)
class Given:
    """An output of that run; −1 where a size follows no named dim."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}[{','.join('?' if size == -1 else str(size) for size in self.shape)}]"


@dataclass(frozen=True)
class Looked:
    """What running the model showed; or `why` nothing is known of it."""

    inputs: Mapping[str, Taken] = field(default_factory=dict)
    outputs: tuple[Given, ...] = ()
    why: str = ""


#: Of a model that was not run.
NOT_LOOKED = Looked()
