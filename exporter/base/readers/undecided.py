"""Which outputs of a program no input decides: buffers and parameters that are given as they are, or made to others.

It is read from the file: along every operator, from each input to all that the operator writes. An operator with
blocks (`if`, `while`, `Loop`) counts as one with all that is in them, so that what a condition decides is decided. What
is said to be undecided is so; what is said to be decided may not be. A size counts as a value, where it may vary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.readers.base import damaged, map_file
from exporter.base.readers.program import Block, Operator, TensorType, read_operators
from exporter.base.readers.wire import Message, root

#: Operators of PIR that read nothing but the sizes of their first operand.
_OF_SIZES = frozenset(("shape", "shape64", "full_like", "numel"))
#: What `batch_norm_` writes of its operands: the mean and the variance, neither its input nor its weights.
_STATISTICS = (1, 3)
#: Operators of PIR without a result that hand a value on, and not to where nobody follows it.
_HAND_ON = frozenset(("fetch", "cf.yield"))


@dataclass
class _Step:
    """What an operator reads and writes; of one with blocks, with all that is in them."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


@dataclass
class _Flow:
    """A program: its inputs, the value behind each output by the output's name, and its operators."""

    inputs: set[str] = field(default_factory=set)
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[_Step] = field(default_factory=list)

    def undecided(self) -> frozenset[str]:
        """The outputs that nothing leads to from an input, in whatever order operators run."""
        readers: dict[str, list[_Step]] = {}
        for step in self.steps:
            for value in step.reads:
                readers.setdefault(value, []).append(step)
        decided, waiting = set(self.inputs), list(self.inputs)
        while waiting:
            for step in readers.pop(waiting.pop(), ()):
                new = step.writes - decided
                decided |= new
                waiting += new
        return frozenset(name for name, value in self.outputs.items() if value not in decided)


def undecided(path: Path) -> frozenset[str] | None:
    """The names of the outputs of a program's file that no input decides; None of a kind of file that is not followed.

    Raises:
        BundleError: the file is damaged.
    """
    if path.suffix == ".json":
        try:
            return undecided_in(read_operators(path))
        except LookupError as error:
            raise damaged("an output without a name or a value", str(path)) from error
    if path.suffix in (".pdmodel", ".onnx"):
        top = root(map_file(path), str(path))
        return (_of_onnx(top) if path.suffix == ".onnx" else _of_legacy(top)).undecided()
    return None


def undecided_in(block: Block) -> frozenset[str]:
    """The same of a program in PIR; none where an operator writes to what is not followed, such as a stack."""
    flow, sizes = _Flow(), {value.id: value.type for one in block.operators for value in one.results}
    for operator in block.operators:
        if operator.name in ("data", "feed"):
            flow.inputs |= {str(value.id) for value in operator.results}
        elif operator.name == "fetch":
            flow.outputs[str(operator.attributes["name"])] = str(operator.operands[0])
        step, hidden = _Step(), False
        for inner in _with_blocks(operator):
            hidden = hidden or not (inner.results or inner.name in _HAND_ON)
            step.reads |= {str(one) for one in inner.operands if one}
            step.writes |= {str(value.id) for value in inner.results}
            step.writes |= {str(value.id) for one in inner.blocks for value in one.arguments}
            if inner.name.endswith("_"):  # in place
                written = inner.operands[slice(*_STATISTICS)] if inner.name == "batch_norm_" else inner.operands
                step.writes |= {str(one) for one in written if one}
        if hidden:
            return frozenset()
        first = sizes.get(operator.operands[0]) if operator.operands else None
        if operator.name in _OF_SIZES and isinstance(first, TensorType) and -1 not in first.shape:
            step.reads -= {str(operator.operands[0])} - {str(one) for one in operator.operands[1:]}
        flow.steps.append(step)
    return flow.undecided()


def _with_blocks(operator: Operator) -> Iterator[Operator]:
    yield operator
    for block in operator.blocks:
        for inner in block.operators:
            yield from _with_blocks(inner)


def _of_onnx(model: Message) -> _Flow:
    """ModelProto.graph = 7; GraphProto: node = 1, input = 11, output = 12."""
    flow = _Flow()
    for part in (part for top in model if top.number == 7 for part in top.message()):
        if part.number == 1:
            flow.steps.append(_node(part.message()))
        elif part.number == 11:
            flow.inputs |= _texts(part.message(), 1)
        elif part.number == 12:
            flow.outputs |= {name: name for name in _texts(part.message(), 1)}
    return flow


def _node(message: Message) -> _Step:
    """NodeProto: input = 1, output = 2, attribute = 5 (a graph = 6, graphs = 11), which is read with all in it."""
    step = _Step()
    for part in message:
        if part.number in (1, 2):
            (step.reads if part.number == 1 else step.writes).update({part.text()} - {""})
        elif part.number == 5:
            for body in (one.message() for one in part.message() if one.number in (6, 11)):
                for inner in body:
                    if inner.number == 1:
                        node = _node(inner.message())
                        step.reads |= node.reads
                        step.writes |= node.writes
                    elif inner.number in (11, 12):
                        named = _texts(inner.message(), 1)
                        step.reads |= named
                        step.writes |= named if inner.number == 11 else set()
    return step


def _of_legacy(program: Message) -> _Flow:
    """ProgramDesc.blocks = 1; BlockDesc.ops = 4. All operators with blocks, and all that are in these, count as one."""
    flow, inside = _Flow(), _Step()
    blocks = [part.message() for part in program if part.number == 1]
    for number, block in enumerate(blocks):
        for operator in (part.message() for part in block if part.number == 4):
            kind, step, owner = _operator(operator)
            if number or owner:
                inside.reads |= step.reads
                inside.writes |= step.writes
            elif kind == "feed":
                flow.inputs |= step.writes
            elif kind == "fetch":
                flow.outputs |= {name: name for name in step.reads}
            else:
                flow.steps.append(step)
    flow.steps.append(inside)
    return flow


def _operator(message: Message) -> tuple[str, _Step, bool]:
    """OpDesc: inputs = 1, outputs = 2, type = 3, attrs = 4 (block_idx = 12, blocks_idx = 14, var_name(s) = 17, 18)."""
    kind, step, owner = "", _Step(), False
    for part in message:
        if part.number in (1, 2):
            (step.reads if part.number == 1 else step.writes).update(_texts(part.message(), 2))
        elif part.number == 3:
            kind = part.text()
        elif part.number == 4:
            for inner in part.message():
                owner = owner or inner.number in (12, 14)
                step.reads |= {inner.text()} if inner.number in (17, 18) else set()
    return kind, step, owner


def _texts(message: Message, number: int) -> set[str]:
    return {part.text() for part in message if part.number == number}


def undecided_in_all(paths: Iterable[Path]) -> frozenset[str]:
    """The outputs that no input decides in any of these files; none where one is not followed."""
    every = [undecided(path) or frozenset[str]() for path in paths]
    return frozenset.intersection(*every) if every else frozenset()
