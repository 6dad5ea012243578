"""Whether a `.pdmodel` holds together: each variable is declared and given before it is read, each block is there once.

Paddle 3.3.1 dies by SIGSEGV of a block that is not there, and names no operator of the rest. What is asked for here
holds of all that Paddle 2.3.2, 2.4, 2.6.2 and 3.3.1 were seen to write (652 files of networks and operators).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from exporter.base.errors import BundleError
from exporter.base.readers.whole import HINT

#: What stands for an operand that an operator does not have.
_EMPTY = "@EMPTY@"
#: Lists what its turns may change, written before it or not.
_LOOP = "while"


@dataclass
class LegacyOperator:
    """`reads` and `writes` name variables; `column` orders feeds and fetches; `blocks` are the indices of its own."""

    kind: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    column: int = 0
    blocks: list[int] = field(default_factory=list)


@dataclass
class LegacyBlock:
    """`parent` is the index of the block around it; `declared` are names of variables."""

    parent: int = -1
    declared: list[str] = field(default_factory=list)
    operators: list[LegacyOperator] = field(default_factory=list)


def refuse_broken_legacy(blocks: Sequence[LegacyBlock], computed: frozenset[str], where: str) -> None:
    """Make sure that a program holds together; `computed` are its tensors that no file of parameters has.

    Raises:
        BundleError: it does not; the first operator is named.
    """
    try:
        _Walk(blocks, computed, where).block(0)
    except RecursionError as error:
        raise BundleError("blocks nested too deep", where=where, hint=HINT) from error


@dataclass
class _Walk:
    """What the operators so far have written, and which variables the blocks around the present one declare."""

    blocks: Sequence[LegacyBlock]
    computed: frozenset[str]
    where: str
    visible: Counter[str] = field(default_factory=Counter)
    written: set[str] = field(default_factory=set)
    entered: set[int] = field(default_factory=set)
    taken: set[tuple[str, str | int]] = field(default_factory=set)
    count: int = 0

    def block(self, index: int) -> None:
        """Go through the operators of a block, and of those in it."""
        self.entered.add(index)
        block = self.blocks[index]
        self.visible.update(block.declared)
        for operator in block.operators:
            place = f"operator {self.count}, {operator.kind}"
            self.count += 1
            if operator.kind in ("feed", "fetch"):
                self._take(operator, place)
            if operator.kind != "feed":
                self._read(operator, place)
            for inner in operator.blocks:
                if not 0 < inner < len(self.blocks) or inner in self.entered or self.blocks[inner].parent != index:
                    raise self._wrong(f"{place}, has the block {inner}, which is none of its own")
                self.block(inner)
            self.written.update(operator.writes)
        self.visible.subtract(block.declared)

    def _take(self, operator: LegacyOperator, place: str) -> None:
        what = "inputs" if operator.kind == "feed" else "outputs"
        taken: list[tuple[str, str | int]] = [(f"{what} have the place", operator.column)]
        if operator.kind == "feed":
            taken += [(f"{what} are called", name) for name in operator.writes]
        for said, value in taken:
            if (said, value) in self.taken:
                raise self._wrong(f"two of its {said} {value!r}, the second by {place}")
            self.taken.add((said, value))

    def _read(self, operator: LegacyOperator, place: str) -> None:
        for name in operator.reads:
            if name == _EMPTY:
                continue
            if self.visible[name] <= 0:
                raise self._wrong(f"{place}, reads the variable {name!r}, which is declared nowhere")
            if name in self.computed and name not in self.written and operator.kind != _LOOP:
                raise self._wrong(f"{place}, reads the variable {name!r}, which nothing before it gives")

    def _wrong(self, what: str) -> BundleError:
        return BundleError(what, where=self.where, hint=HINT)
