"""What decides each output of a program: no input (a buffer that is given as it is), sizes alone, or values.

It is read from the file: along every operator, from each input to all that the operator writes. An operator with
blocks (`if`, `while`, `Loop`) counts as one with all that is in them, so that what a condition decides is decided. What
is said to be undecided is so; what is said to be decided may not be. Of every value two things are followed: what
decides the numbers in it, and what decides how large it is (:mod:`exporter.base.readers.sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from exporter.base.readers.base import damaged, map_file
from exporter.base.readers.program import Block, Operator, TensorType, read_operators
from exporter.base.readers.sizes import LEGACY, LEGACY_OPERANDS, LEGACY_RESIZES, ONNX, PIR
from exporter.base.readers.wire import Message, root

#: Operators that read nothing but the sizes of their first operand.
_OF_SIZES = frozenset(("shape", "shape64", "full_like", "numel"))
_OF_SIZES_IN_ONNX = frozenset(("Shape", "Size"))
_OF_SIZES_IN_LEGACY = frozenset(("shape", "size", "fill_any_like", "fill_zeros_like", "fill_constant_batch_size_like"))
#: What `batch_norm_` writes of its operands: the mean and the variance, neither its input nor its weights.
_STATISTICS = (1, 3)
#: Operators of PIR without a result that hand a value on, and not to where nobody follows it.
_HAND_ON = frozenset(("fetch", "cf.yield"))


class Reach(IntEnum):
    """How much of the inputs leads to a value."""

    NOTHING = 0
    SIZES = 1
    VALUES = 2


@dataclass
class _Step:
    """What an operator reads and writes; of one with blocks, with all that is in them.

    `sizes_of` are operands of which it reads the sizes alone, `shaping` those of `reads` whose values may decide how
    large its results are.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    sizes_of: set[str] = field(default_factory=set)
    shaping: set[str] = field(default_factory=set)


@dataclass
class _Flow:
    """A program: its inputs, the value behind each output by the output's name, its operators, and what varies not."""

    inputs: set[str] = field(default_factory=set)
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[_Step] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)

    def reach(self) -> dict[str, Reach]:
        """Return what leads to each output from the inputs, in whatever order operators run."""
        readers: dict[str, list[_Step]] = {}
        for step in self.steps:
            for value in step.reads | step.sizes_of:
                readers.setdefault(value, []).append(step)
        numbers = dict.fromkeys(self.inputs, Reach.VALUES)
        sizes = {value: Reach.SIZES for value in self.inputs - self.fixed}

        def furthest(of: Mapping[str, Reach], values: set[str]) -> Reach:
            return max((of.get(value, Reach.NOTHING) for value in values), default=Reach.NOTHING)

        waiting = list(self.inputs)
        while waiting:
            for step in readers.get(waiting.pop(), ()):
                number = max(furthest(numbers, step.reads), furthest(sizes, step.sizes_of))
                size = max(furthest(sizes, step.reads | step.sizes_of), furthest(numbers, step.shaping))
                for value in step.writes:
                    large = Reach.NOTHING if value in self.fixed else size
                    if number > numbers.get(value, Reach.NOTHING) or large > sizes.get(value, Reach.NOTHING):
                        numbers[value] = max(number, numbers.get(value, Reach.NOTHING))
                        sizes[value] = max(large, sizes.get(value, Reach.NOTHING))
                        waiting.append(value)
        return {
            name: max(numbers.get(value, Reach.NOTHING), sizes.get(value, Reach.NOTHING))
            for name, value in self.outputs.items()
        }


def reach(path: Path) -> dict[str, Reach] | None:
    """Return what leads to each output of a program's file; None of a kind of file that is not followed.

    Raises:
        BundleError: the file is damaged.
    """
    if path.suffix == ".json":
        try:
            return reach_in(read_operators(path))
        except LookupError as error:
            raise damaged("an output without a name or a value", str(path)) from error
    if path.suffix in (".pdmodel", ".onnx"):
        top = root(map_file(path), str(path))
        return (_of_onnx(top) if path.suffix == ".onnx" else _of_legacy(top)).reach()
    return None


def undecided(path: Path) -> frozenset[str] | None:
    """The names of the outputs of a program's file that no input decides; None of a kind of file that is not followed.

    Raises:
        BundleError: the file is damaged.
    """
    leads = reach(path)
    return None if leads is None else _at(leads, Reach.NOTHING)


def undecided_in(block: Block) -> frozenset[str]:
    """The same of a program in PIR; none where an operator writes to what is not followed, such as a stack."""
    return _at(reach_in(block), Reach.NOTHING)


def _at(leads: Mapping[str, Reach], most: Reach) -> frozenset[str]:
    return frozenset(name for name, how in leads.items() if how == most)


def reach_in(block: Block) -> dict[str, Reach]:
    """Return the same of a program in PIR; values lead to all where an operator writes to what is not followed."""
    flow, hidden = _Flow(), False
    for operator in block.operators:
        flow.fixed |= {str(value.id) for value in operator.results if _is_fixed(value.type)}
        if operator.name in ("data", "feed"):
            flow.inputs |= {str(value.id) for value in operator.results}
        elif operator.name == "fetch":
            flow.outputs[str(operator.attributes["name"])] = str(operator.operands[0])
        step = _Step()
        for inner in _with_blocks(operator):
            hidden = hidden or not (inner.results or inner.name in _HAND_ON)
            step.reads |= {str(value) for value in inner.operands if value}
            step.writes |= {str(value.id) for value in inner.results}
            step.writes |= {str(value.id) for body in inner.blocks for value in body.arguments}
            if inner.name.endswith("_"):  # in place
                written = inner.operands[slice(*_STATISTICS)] if inner.name == "batch_norm_" else inner.operands
                step.writes |= {str(value) for value in written if value}
        step.shaping = set(step.reads)
        if not operator.blocks:
            step.shaping &= {str(value) for value in operator.operands[PIR.get(operator.name, 0) :]}
        if operator.name in _OF_SIZES and operator.operands:
            step.sizes_of = {str(operator.operands[0])} - {str(value) for value in operator.operands[1:]}
            step.reads -= step.sizes_of
            step.shaping -= step.sizes_of
        flow.steps.append(step)
    return dict.fromkeys(flow.outputs, Reach.VALUES) if hidden else flow.reach()


def _is_fixed(kind: object) -> bool:
    return isinstance(kind, TensorType) and -1 not in kind.shape


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
    """NodeProto: input = 1, output = 2, op_type = 4, attribute = 5 (a graph = 6, graphs = 11), read with all in it."""
    step, operands, kind, bodies = _Step(), list[str](), "", False
    for part in message:
        if part.number in (1, 2):
            (step.reads if part.number == 1 else step.writes).update({part.text()} - {""})
            operands += [part.text()] if part.number == 1 else []
        elif part.number == 4:
            kind = part.text()
        elif part.number == 5:
            for body in (inner.message() for inner in part.message() if inner.number in (6, 11)):
                bodies = True
                _take_in(step, body)
    step.shaping = set(step.reads) if bodies else set(operands[ONNX.get(kind, 0) :]) - {""}
    if kind in _OF_SIZES_IN_ONNX:
        step.reads, step.sizes_of, step.shaping = set(), step.reads, set()
    return step


def _take_in(step: _Step, body: Message) -> None:
    """Add what the graph of an attribute reads and writes."""
    for inner in body:
        if inner.number == 1:
            node = _node(inner.message())
            step.reads |= node.reads | node.sizes_of
            step.writes |= node.writes
        elif inner.number in (11, 12):
            named = _texts(inner.message(), 1)
            step.reads |= named
            step.writes |= named if inner.number == 11 else set()


def _of_legacy(program: Message) -> _Flow:
    """ProgramDesc.blocks = 1; BlockDesc.ops = 4. All operators with blocks, and all that are in these, count as one."""
    flow, inside = _Flow(), _Step()
    blocks = [part.message() for part in program if part.number == 1]
    for number, block in enumerate(blocks):
        for operator in (part.message() for part in block if part.number == 4):
            kind, step, owner = _operator(operator)
            if number or owner:
                inside.reads |= step.reads | step.sizes_of
                inside.writes |= step.writes
            elif kind == "feed":
                flow.inputs |= step.writes
            elif kind == "fetch":
                flow.outputs |= {name: name for name in step.reads}
            else:
                flow.steps.append(step)
    inside.shaping = set(inside.reads)
    flow.steps.append(inside)
    return flow


def _operator(message: Message) -> tuple[str, _Step, bool]:
    """OpDesc: inputs = 1, outputs = 2, type = 3, attrs = 4 (block_idx = 12, blocks_idx = 14, var_name(s) = 17, 18).

    OpDesc.Var: parameter = 1, arguments = 2.
    """
    kind, step, owner, operands = "", _Step(), False, dict[str, set[str]]()
    for part in message:
        if part.number in (1, 2):
            (step.reads if part.number == 1 else step.writes).update(_texts(part.message(), 2))
            if part.number == 1:
                operands |= dict.fromkeys(_texts(part.message(), 1), _texts(part.message(), 2))
        elif part.number == 3:
            kind = part.text()
        elif part.number == 4:
            for inner in part.message():
                owner = owner or inner.number in (12, 14)
                step.reads |= {inner.text()} if inner.number in (17, 18) else set()
    plain = LEGACY_OPERANDS - {"Scale"} if kind in LEGACY_RESIZES else LEGACY_OPERANDS
    shaping = {value for name, values in operands.items() if name not in plain for value in values}
    step.shaping = shaping if kind in LEGACY else set(step.reads)
    if kind in _OF_SIZES_IN_LEGACY:
        step.sizes_of, step.reads, step.shaping = step.reads - shaping, set(shaping), set(shaping)
    return kind, step, owner


def _texts(message: Message, number: int) -> set[str]:
    return {part.text() for part in message if part.number == number}


def reach_in_all(paths: Iterable[Path]) -> dict[str, Reach]:
    """Return the most that leads to each output in any of these files; nothing is told where one is not followed."""
    every = [reach(path) for path in paths]
    names = set.intersection(*(set(leads or ()) for leads in every)) if every else set[str]()
    return {name: max(leads[name] for leads in every if leads is not None) for name in names}


def undecided_in_all(paths: Iterable[Path]) -> frozenset[str]:
    """The outputs that no input decides in any of these files; none where one is not followed."""
    return _at(reach_in_all(paths), Reach.NOTHING)
