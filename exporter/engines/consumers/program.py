"""What is looked at of a program: facts of its ONNX file, and the values of its PIR program with their lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from exporter.base.readers import read
from exporter.base.readers.base import ModelFacts
from exporter.base.readers.nodes import Node, nodes
from exporter.base.readers.program import Block, TensorType, Type, read_operators
from exporter.base.tensors import TensorSpec
from exporter.spec.model import Spec

#: Operators that pass a value on, between the products and the softmax of an attention.
_BETWEEN = frozenset(("Add", "Mul", "Div", "Sub", "Where", "Cast", "Identity", "Dropout"))
_PRODUCTS = ("MatMul", "Gemm")


@dataclass(frozen=True)
class Place:
    """An operator and a tensor that it puts out; `layer` and `line` are those of the user's code, where known."""

    operator: str
    tensor: str
    layer: str = ""
    line: str = ""

    def __str__(self) -> str:
        by = f" of {self.layer}" if self.layer else ""
        return f"{self.operator} ({self.tensor}){by}" + (f", {self.line}" if self.line else "")


@dataclass(frozen=True)
class SizedValue:
    """A value inside a program; -1 is a size that varies."""

    place: Place
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """What is known of a program that a consumer is to take.

    `operators` are ONNX's, each with the places where it stands, in the order of the file; `values` those of the PIR
    program. `opset` is None where no ONNX is there or its opset is not known; `nbytes` is the size of the ONNX file.
    """

    formats: frozenset[str]
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec] = ()
    opset: int | None = None
    operators: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    values: Sequence[SizedValue] = ()
    nbytes: int = 0
    external: bool = False
    attention: Place | None = None


def program_of(files: Mapping[str, Path]) -> Program:
    """Read the programs of one model, each by its format; of several the ONNX file says most.

    Raises:
        BundleError: a file is damaged.
    """
    facts = {form: read(path) for form, path in files.items()}
    first = facts.get("onnx") or next(iter(facts.values()))
    values = tuple(_values(read_operators(files["pir"]))) if "pir" in files else ()
    plain = Program(frozenset(files), first.inputs, first.outputs, values=values)
    if "onnx" not in files:
        return plain
    return _with_onnx(plain, facts["onnx"], nodes(files["onnx"]))


def with_lines(program: Program, lines: Mapping[str, tuple[str, str]]) -> Program:
    """The program with the sublayer and the line of the user's code at each place, by the tensor that stands there."""
    return replace(
        program,
        operators={kind: [at_line(place, lines) for place in places] for kind, places in program.operators.items()},
        values=[replace(value, place=at_line(value.place, lines)) for value in program.values],
        attention=at_line(program.attention, lines) if program.attention else None,
    )


def at_line(place: Place, lines: Mapping[str, tuple[str, str]]) -> Place:
    """A place with its sublayer and line, where they are known by its tensor."""
    layer, line = lines.get(place.tensor, ("", ""))
    return replace(place, layer=layer or place.layer, line=place.line or line)


def program_of_spec(spec: Spec) -> Program:
    """Tell what a spec says of its program before there is one."""
    opset = (spec.opset or 17) if "onnx" in spec.formats else None
    fixed = {name: dim.min for name, dim in spec.dims.items() if dim.min == dim.max}
    inputs = [
        TensorSpec(tensor.name, tensor.dtype, tuple(fixed.get(str(size), size) for size in tensor.shape))
        for tensor in spec.input_specs()
    ]
    return Program(frozenset(spec.formats), inputs, opset=opset)


def _with_onnx(plain: Program, facts: ModelFacts, graph: Sequence[Node]) -> Program:
    places: dict[str, list[Place]] = {kind: [] for kind in facts.operators}
    for node in graph:
        places.setdefault(node.kind, []).append(_place(node))
    opset = facts.versions.get("opset")
    return Program(
        plain.formats,
        plain.inputs,
        plain.outputs,
        opset if isinstance(opset, int) else None,
        places,
        plain.values,
        facts.size,
        any(weight.file for weight in facts.weights),
        _attention(graph),
    )


def _place(node: Node) -> Place:
    return Place(node.kind, next(node.given(), ""))


def _values(block: Block) -> Iterator[SizedValue]:
    for operator in block.operators:
        if operator.name not in ("parameter", "data", "fetch"):
            for result in operator.results:
                for shape in _shapes(result.type):
                    yield SizedValue(
                        Place(operator.name, f"%{result.id}", operator.layer.strip("/"), operator.line), shape
                    )
        for inner in operator.blocks:
            yield from _values(inner)


def _shapes(kind: Type) -> Iterator[tuple[int, ...]]:
    if isinstance(kind, TensorType):
        yield kind.shape
    elif isinstance(kind, tuple):
        for inner in kind:
            yield from _shapes(inner)


def _attention(graph: Sequence[Node]) -> Place | None:
    """Find the first softmax between two products of matrices."""
    makers = {name: node for node in graph for name in node.given()}
    readers: dict[str, list[Node]] = {}
    for node in graph:
        for taken in node.inputs.values():
            for name in taken:
                readers.setdefault(name, []).append(node)

    def behind(node: Node, steps: int = 4) -> bool:
        above = [makers[name] for taken in node.inputs.values() for name in taken if name in makers]
        return any(
            maker.kind in _PRODUCTS or (steps > 0 and maker.kind in _BETWEEN and behind(maker, steps - 1))
            for maker in above
        )

    def ahead(node: Node, steps: int = 2) -> bool:
        below = [reader for name in node.given() for reader in readers.get(name, ())]
        return any(
            reader.kind in _PRODUCTS or (steps > 0 and reader.kind in _BETWEEN and ahead(reader, steps - 1))
            for reader in below
        )

    return next((_place(node) for node in graph if node.kind == "Softmax" and behind(node) and ahead(node)), None)
