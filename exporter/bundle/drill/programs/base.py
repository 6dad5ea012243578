"""The contract of an editable program: the few edits that every fault is made of, in the words of no format.

A value is named by a text, whatever the format names it by. Where an operation is inserted after a node, the node
writes to a new name and the operation to the old one, so that no reader of the value has to be touched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

#: What an attribute holds, as far as a fault can change it.
Attribute: TypeAlias = bool | int | float | str | list[int] | list[float]


#: The range of the noise. It has no zero inside: a drill is to find the same each time, and noise around zero would
#: take a branch at x > 0 in one drill and leave it in the next.
NOISE = (0.0005, 0.0015)


class Operation(Enum):
    """What can be put after a node or in its place: one input, one output of the same shape."""

    IDENTITY = "identity"
    RELU = "relu"
    RELU6 = "relu6"
    SIGMOID = "sigmoid"
    HARD_SIGMOID = "hard sigmoid"
    HARD_SWISH = "hard swish"
    SOFTSIGN = "softsign"
    TANH = "tanh"
    #: Cast to float16 and back.
    HALF = "half"
    #: Add one number from `NOISE`, new in each run.
    NOISE = "noise"
    #: Cast to another dtype, float64 or int32.
    OTHER_DTYPE = "other dtype"


class Unplantable(Exception):
    """This fault has no place here: the file cannot express it, or it would change nothing."""


@dataclass(frozen=True)
class Node:
    """One operator of a program. `kind` is the format's own word in lower case, `site` tells it from its likes."""

    kind: str
    site: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Attribute]


class Program(ABC):
    """A parsed program, changed in place; `encode` gives the bytes of the changed file."""

    #: Kinds of nodes that hold a constant.
    constants: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    @abstractmethod
    def parse(cls, content: bytes) -> Program:
        """Read the bytes of a main file that was checked before.

        Raises:
            EnvironmentLacks: the package that reads this format is not here.
        """

    @abstractmethod
    def encode(self) -> bytes:
        """The bytes of the main file as it is now; the same program gives the same bytes."""

    @abstractmethod
    def nodes(self) -> Sequence[Node]:
        """Every operator of all blocks, without parameters, inputs and outputs."""

    @abstractmethod
    def dtype(self, value: str) -> str:
        """The dtype of a value; empty where it is not known."""

    @abstractmethod
    def set(self, node: Node, name: str, value: Attribute) -> None:
        """Change an attribute that the node has."""

    @abstractmethod
    def follow(self, node: Node, operation: Operation) -> None:
        """Put an operation after the node, on its first output.

        Raises:
            Unplantable: this format cannot express it.
        """

    @abstractmethod
    def become(self, node: Node, operation: Operation, operand: int = 0) -> None:
        """Put an operation on one of its operands in the place of the node; raises as :meth:`follow`."""

    @abstractmethod
    def outputs(self) -> dict[str, str]:
        """The name of each output, and the value it puts out."""

    @abstractmethod
    def rename_outputs(self, names: dict[str, str]) -> None:
        """Give outputs other names, all at once; names may trade places."""

    @abstractmethod
    def repeat_output(self, name: str, again: str) -> None:
        """Put the same value out once more under another name."""

    @abstractmethod
    def freeze_batch(self, rows: int) -> None:
        """Declare every input whose first size varies to have `rows` rows.

        Raises:
            Unplantable: no input has such a size.
        """

    @abstractmethod
    def cut_rows(self, output: str, rows: int) -> None:
        """Keep only the first rows of an output, as a loop does that was unrolled for a fixed batch.

        Raises:
            Unplantable: the output is not what one operator computes.
        """

    @abstractmethod
    def train(self, norm: Node) -> None:
        """Let a batch norm take the statistics of the batch."""

    def wake(self, dropout: Node) -> None:
        """Let a dropout drop."""
        self.set(dropout, "is_test", False)

    def wear(self, tensor: str) -> None:
        """At the end of each run multiply a stored tensor by 1.5, so that the first run is right and the next is not.

        Raises:
            Unplantable: programs of this format keep no state.
        """
        raise Unplantable("programs of this format keep no state from run to run")

    @abstractmethod
    def widen(self) -> None:
        """Turn every float32 into float64: values, constants, and casts."""

    def inner_results(self) -> Iterable[str]:
        """Values that a nested block hands to its owner other than through an operator's inputs."""
        return ()

    def at(self, site: str) -> Node:
        """The node that a site names."""
        return next(node for node in self.nodes() if node.site == site)

    def maker(self, value: str) -> Node:
        """The live node whose first result is a value.

        Raises:
            Unplantable: there is none.
        """
        node = self.made(value)
        if node is None or node.outputs[0] != value:
            raise Unplantable("no operator computes this output alone")
        return node

    def made(self, value: str) -> Node | None:
        """The live node that computes a value; None for inputs, parameters and constants."""
        return next((node for node in self.computing() if value in node.outputs), None)

    def computing(self) -> Iterator[Node]:
        """The live nodes that are no constants."""
        return (node for node in self.live if node.kind not in self.constants)

    @cached_property
    def live(self) -> Sequence[Node]:
        """The nodes that some output depends on; a fault in any other would be none. Asked before any edit."""
        nodes, needed = self.nodes(), {*self.outputs().values(), *self.inner_results()}
        alive: list[Node] = []
        while len(alive) < len(reached := [node for node in nodes if not node.outputs or needed & {*node.outputs}]):
            alive = reached
            needed.update(name for node in alive for name in node.inputs)
        return alive


def place_of(items: Sequence[Any], item: Any) -> int:
    """Where an item stands in a repeated field of protobuf, told by identity."""
    return next(at for at, other in enumerate(items) if other is item)


def insert(items: Any, at: int, inserted: Sequence[Any]) -> None:
    """Insert several items into a repeated field of protobuf."""
    for step, item in enumerate(inserted):
        items.insert(at + step, item)
