"""An input with which `forward` is tried."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """An input: its dtype, its shape with named dims, and for whole numbers the one after the largest.

    `values` is how a spec writes what it holds, where that is neither normal numbers nor whole ones from 0. A mask
    whose rows may not all be 0 has `empty_rows` false.
    """

    dtype: str
    shape: tuple[int | str, ...]
    stop: int = 0
    values: str = ""
    empty_rows: bool = True
