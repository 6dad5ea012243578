"""The child's side: feed each operator of a file the right inputs, and measure what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from exporter.base.errors import ModelError, UsageError
from exporter.base.readers import read_program
from exporter.base.readers.program import Block, Operator
from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, save_scratch
from exporter.engines.base import EngineRefused, Runnable, SourceModel
from exporter.engines.kinds.onnxruntime import plugin as onnxruntime
from exporter.export.lower.onnx_program.graph import value_name
from exporter.export.sources.in_place import reads
from exporter.export.sources.program import block_of, build
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.oracle import make_oracle
from exporter.prove.root_cause.own.errors import Right, makers, worst
from exporter.prove.root_cause.own.given import OWN, GivenRequest, NodeFacts, compute_given
from exporter.prove.root_cause.own.match import counterparts, variables
from exporter.prove.root_cause.own.replay import Replayed, replay
from exporter.prove.root_cause.own.sound import Place, computed, placed, traced_anew
from exporter.prove.root_cause.taps.kinds.onnx import tap
from exporter.prove.verdict.blame import BEYOND, OperatorError

if TYPE_CHECKING:
    import paddle

_Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class OwnRequest:
    """A file that failed with its format, the recorded case, and what is right: the source, or a program beside it.

    `program` is the PIR program that an ONNX file was written from: it is held to be right where there is no source,
    or a program of the source is another one today.
    """

    file: Path
    format: str
    golden: Path
    case: str
    source: SourceModel | None = None
    program: Path | None = None


@dataclass(frozen=True)
class OwnAnswer:
    """Every operator of the file; or why their own errors are not known."""

    operators: tuple[OperatorError, ...]
    why_not: str = ""


@job
def measure(request: OwnRequest) -> OwnAnswer:
    """Measure the own error of each operator of a file in one recorded case."""
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    try:
        with TemporaryDirectory(prefix="exporter-") as folder:
            places, sound = _sound(request, Path(folder))
            if request.format == "onnx":
                return OwnAnswer(tuple(_of_onnx(request, sound, places)))
            return OwnAnswer(tuple(_of_paddle(request, sound, places)))
    except (ModelError, UsageError, EngineRefused) as refusal:
        return OwnAnswer((), str(refusal))


@dataclass(frozen=True)
class _Program:
    """A program that can be replayed, with its operators and the inputs of the case."""

    layer: paddle.nn.Layer
    block: Block
    order: _Names
    inputs: TensorMap

    @cached_property
    def read(self) -> frozenset[int]:
        """The values that something reads: what else a norm gives, such as statistics of a training, is nobody's."""
        return frozenset(number for operator in self.block.operators for number in reads(operator))

    def sound_values(self) -> dict[int, Array]:
        """Return what the program itself computes of every value that is read."""
        return {number: value for number, value in self.replayed({}).values.items() if number in self.read}

    def replayed(self, right: Mapping[int, Array]) -> Replayed:
        return replay(self.layer, self.order, self.inputs, right)

    def exact(self, right: Mapping[int, Array], known: set[int]) -> dict[int, Array]:
        """Compute what each operator gives in float64 from right inputs; nothing where the program does not run so."""
        oracle = make_oracle(self.layer, self.order, ("output",), 0, lean=True)
        oracle.exactly(lambda run: run(self.inputs))
        if not oracle.ways:
            return {}
        way = oracle.ways[0]
        wide = {number: _widened(value) for number, value in right.items() if number in known}
        inputs = {name: _widened(value) for name, value in self.inputs.items()}
        return replay(way.layer(), self.order, inputs, wide, way.around).values


def _widened(value: Array) -> Array:
    return value.astype("float64") if value.dtype.kind == "f" else value


def _program(path: Path, golden: Path, case: str) -> _Program:
    import paddle

    doing(f"building {path.name}")
    facts = read_program(path)
    order = tuple(spec.name for spec in facts.inputs)
    stored = path.with_suffix(".pdiparams")
    with paddle.utils.unique_name.guard():  # two programs of one model give parameters the same names
        layer = build(str(path), order, str(stored) if stored.exists() else "")
    return _Program(layer, block_of(path), order, recorded_inputs(golden, case, order))


def _sound(request: OwnRequest, folder: Path) -> tuple[list[Place], _Program]:
    """The sound program, and where its operators come from, as far as the source tells it."""
    form, places = "pdmodel" if request.format == "pdmodel" else "pir", list[Place]()
    path = folder / ("model.pdmodel" if form == "pdmodel" else "model.json")
    if request.source is not None:
        try:
            places = traced_anew(request.source, form, folder)
        except (ModelError, UsageError):
            if request.program is None:
                raise
    if request.program is not None and not (places and _alike(path, request.program)):
        path = request.program
    return places, _program(path, request.golden, request.case)


def _alike(traced: Path, program: Path) -> bool:
    """Compare two programs: with the same operators in the same order their values have the same numbers."""
    ours, theirs = (
        [(op.name, op.results and op.results[0].id) for op in computed(block_of(path))] for path in (traced, program)
    )
    return ours == theirs


def _of_paddle(request: OwnRequest, sound: _Program, places: Sequence[Place]) -> list[OperatorError]:
    """Own errors of a `.json` or `.pdmodel`: its operators are replayed, each on what the sound program has there."""
    file = _program(request.file, request.golden, request.case)
    stands_for = counterparts(sound.block.operators, file.block.operators)
    doing("replaying the sound program")
    values = sound.sound_values()
    right = Right(values, sound.exact(values, set(values)))
    forced = {number: values[own] for number, own in stands_for.items() if own in values}
    doing("replaying the file")
    fed = file.replayed(forced)
    try:
        plain = file.replayed({}).values
    except EngineRefused:
        plain = {}
    operators = [operator for operator in computed(file.block) if operator.results]
    where = placed(places, operators)
    named = variables(request.file, operators) if request.format == "pdmodel" else {}
    shown = {value_name(result.id): at for at, operator in enumerate(operators) for result in operator.results}
    known = right, stands_for, fed, plain
    errors = [_error(operator, where.get(operator.index), shown, known) for operator in operators]
    return [replace(error, values=named.get(int(error.name), error.values)) for error in errors]


def _error(
    operator: Operator,
    place: Place | None,
    shown: Mapping[str, int],
    known: tuple[Right, Mapping[int, int], Replayed, Mapping[int, Array]],
) -> OperatorError:
    right, stands_for, fed, plain = known
    numbers = [(result.id, stands_for[result.id]) for result in operator.results if result.id in stands_for]
    own = worst(right.off(sound, fed.values.get(number)) for number, sound in numbers)
    total = worst(right.off(sound, plain.get(number)) for number, sound in numbers)
    first = next((fed.values[number] for number, _ in numbers if number in fed.values), None)
    return OperatorError(
        name=str(operator.index),
        kind=operator.name,
        values=tuple(value_name(result.id) for result in operator.results),
        reads=makers(map(value_name, operator.operands), {}, shown),
        own=BEYOND if operator.index in fed.failed else own,
        total=BEYOND if operator.index in fed.failed else total,
        size="" if first is None else " x ".join(map(str, first.shape)),
        sublayer=(place.sublayer if place else "") or operator.layer.strip("/").replace("/", "."),
        line=operator.line or (place.line if place else ""),
    )


def _of_onnx(request: OwnRequest, sound: _Program, places: Sequence[Place]) -> list[OperatorError]:
    """Own errors of an ONNX file by those values that our writer named after the values of the program.

    What lies between two such values counts as one operator: the node that puts out the second.
    """
    numbers = {value_name(result.id): result.id for operator in sound.block.operators for result in operator.results}
    fetched = [operator for operator in sound.block.operators if operator.name == "fetch"]
    numbers |= {str(operator.attributes["name"]): operator.operands[0] for operator in fetched}
    doing("replaying the sound program")
    values = sound.sound_values()
    doing("running the file")
    plain, behind = _plain_values(request.file, sound.inputs)
    known = {name: number for name, number in numbers.items() if name in plain and number in values}
    if not known:
        raise ModelError(
            "the file names none of its values as the program does",
            hint="export it again, by this version of exporter",
        )
    right = Right(values, sound.exact(values, set(known.values())))
    nodes, anew = _computed_anew(
        request.file, {**sound.inputs, **{name: values[number] for name, number in known.items()}}
    )
    of_program = {result.id: operator for operator in computed(sound.block) for result in operator.results}
    where = placed(places, list(computed(sound.block)))
    shown = {name: at for at, name in enumerate(nodes)}
    measured = []
    for at, (name, node) in enumerate(nodes.items()):
        operator = of_program.get(known[name])
        place = where.get(operator.index) if operator else None
        value = values[known[name]]
        measured.append(
            OperatorError(
                name=node.name or str(at),
                kind=node.kind,
                values=(name,),
                reads=makers(node.reads, behind, shown),
                own=right.off(known[name], anew.get(name)),
                total=right.off(known[name], plain.get(name)),
                size=" x ".join(map(str, value.shape)),
                sublayer=(place.sublayer if place else "") or node.sublayer.strip("/").replace("/", "."),
                line=place.line if place else "",
            )
        )
    return measured


def _computed_anew(file: Path, values_given: TensorMap) -> tuple[Mapping[str, NodeFacts], Mapping[str, Array]]:
    """The node of each given value, and what it makes of the values that are given."""
    with TemporaryDirectory(prefix="exporter-") as place:
        values, into = Path(place, "given.safetensors"), Path(place, "computed.safetensors")
        save_scratch(values, dict(values_given))
        answer = compute_given(GivenRequest(file, values, into, anew=True))
        if answer.refused:
            raise EngineRefused(answer.refused)
        return answer.nodes, {name.removeprefix(OWN): value for name, value in load(into).items()}


def _plain_values(file: Path, inputs: TensorMap) -> tuple[dict[str, Array], dict[str, _Names]]:
    """Every value that the file computes, and what the node of each value reads."""
    import onnx

    with TemporaryDirectory(prefix="exporter-") as place:
        names = tap(file.parent, Path(place))
        with onnxruntime.open(Runnable("onnx", Path(place), file.name, tuple(inputs), names), "cpu") as session:
            values = dict(session.run(inputs))
    graph = onnx.load_model(str(file), load_external_data=False).graph
    behind = {name: tuple(node.input) for node in graph.node for name in node.output if name}
    return values, behind
