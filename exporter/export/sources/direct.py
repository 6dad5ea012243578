"""ONNX of a `.json` program without Paddle's Python, where that gives the file that a trace would give.

Most programs hold nothing but operators that a replay (:mod:`exporter.export.sources.replay`) calls by their names. Its
trace then writes the same operators again, and our writer the same ONNX of either, byte for byte. Of those neither the
layer is built nor Paddle imported, which takes longer than all the rest; the file itself runs at the promised sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import BundleError, ChildOutOfMemory, ChildTimedOut, ModelError, UsageError
from exporter.base.files import room_explains
from exporter.base.readers.allowed import refuse_others
from exporter.base.readers.base import ModelFacts, map_file
from exporter.base.readers.kinds import pdiparams
from exporter.base.readers.kinds.pir import facts_of, parsed
from exporter.base.readers.program import Block, Operator, operators_of
from exporter.base.references import loaded_modules, split_factory
from exporter.base.tensors import Array, TensorMap, TensorSpec, digest
from exporter.export.lower.base import Artifact, Wish
from exporter.export.lower.child import BuiltLayer, Destination, LayerSource, TracedFormat, Trial
from exporter.export.trace.outputs import Seen
from exporter.process.job import job, job_at
from exporter.process.workers import SINGLE_THREAD, Setting, call, doing
from exporter.spec.source import FACTORY

if TYPE_CHECKING:
    from exporter.paddle.bare import BarePredictor

#: The format that is written, and its file.
FORMAT, _FILE = "onnx", "model.onnx"
#: What Paddle 3.3 writes; the operators of an older one may have other attributes, which a replay completes.
_VERSION = 4
#: Operators that read places which may not be there: an eager run is checked for that, a predictor cannot be.
PLACES = frozenset(
    ("embedding", "gather", "index_select", "take_along_axis", "index_sample", "gather_nd", "one_hot", "rnn")
)


@dataclass(frozen=True)
class DirectRequest:
    """A program with its parameters (None: it has none), and the empty folder `into` that ONNX is written into.

    Inputs and outputs get the names of `wish` and `outputs`, in the order of the program; `trial` runs it.
    """

    program: Path
    parameters: Path | None
    into: Path
    outputs: tuple[str, ...]
    wish: Wish
    trial: Trial


@dataclass(frozen=True)
class DirectAnswer:
    """What was written, as a trace would tell it; None where the program needs one."""

    written: TracedFormat | None = None


def written_directly(
    destinations: Sequence[Destination], layer: LayerSource, wish: Wish, trial: Trial | None, setting: Setting
) -> dict[str, TracedFormat]:
    """Write ONNX of a model that is a file in a child, where no trace is needed; else nothing: a trace says why.

    Raises:
        ChildTimedOut, ChildOutOfMemory: as the trace would.
    """
    reference, arguments = split_factory(layer.model)
    program = Path(str(arguments.get("program", "")))
    known = reference == FACTORY and program.suffix == ".json" and layer.outputs is not None and not layer.fixed
    if not known or [place.format for place in destinations] != [FORMAT] or wish.writer != "program":
        return {}
    if trial is None or not trial.of_file:
        return {}
    parameters = Path(str(arguments["parameters"])) if arguments.get("parameters") else None
    (place,) = destinations
    request = DirectRequest(program, parameters, place.into, layer.outputs or (), wish, trial)
    if not all(map(_is_plain, _names_in(program))):
        return {}
    setting.say(f"writing {FORMAT} of {program.name}")
    try:
        answer = call(
            write_directly,
            request,
            setting.limits,
            environment=SINGLE_THREAD,
            imports=("numpy",),
            on_event=setting.on_event,
        )
    except (ChildTimedOut, ChildOutOfMemory):
        raise
    except (ModelError, UsageError, BundleError):
        answer = DirectAnswer()
    if answer.written is not None:
        return {FORMAT: answer.written}
    for file in place.into.iterdir():
        file.unlink()
    return {}


def _names_in(program: Path) -> set[str]:
    """The names of operators in a program's text: enough to see that it needs a trace, without reading all of it."""
    return {name.decode() for name in re.findall(rb'"#":"1\.(\w+)"', map_file(program)[:])}


class ProgramFile:
    """A program as a function of arrays by the spec's names of its inputs; the outputs come in the file's order."""

    def __init__(self, predictor: BarePredictor, request: DirectRequest, facts: ModelFacts) -> None:
        self._predictor = predictor
        self._inputs = dict(zip((spec.name for spec in request.wish.inputs), facts.inputs, strict=True))
        self._outputs = facts.outputs

    def __call__(self, inputs: TensorMap) -> list[Array]:
        """Run it; the predictor gives what has no axis in one, which is taken away again."""
        given = self._predictor.run({self._inputs[name].name: value for name, value in inputs.items()})
        return [
            value.reshape(()) if not spec.shape and (value := given[spec.name]).size == 1 else given[spec.name]
            for spec in self._outputs
        ]


@job(reuse="writing onnx")
def write_directly(request: DirectRequest) -> DirectAnswer:
    """Run a program and write it, if a trace would write the same; nothing is written else.

    Raises:
        UsageError, BundleError: a file is missing or damaged, or does more than compute.
        ModelError: the program does not run, or ONNX cannot hold it.
    """
    from exporter.export.lower.onnx_program.file import write_onnx
    from exporter.export.lower.onnx_program.write import Program
    from exporter.paddle.bare import BarePredictor

    content = map_file(request.program)
    told = parsed(content, str(request.program))
    facts = facts_of(told, len(content), str(request.program))
    refuse_others(facts, str(request.program))
    block = operators_of(told, str(request.program))
    if not (_fits(facts, request) and _gives_its_own(block)):
        return DirectAnswer()
    stored = _stored(request.parameters, facts)
    if stored is None or not _stores_all(block, stored):
        return DirectAnswer()
    outputs = _outputs(facts, request)
    doing("loading the file")
    file = ProgramFile(BarePredictor(request.program, request.parameters), request, facts)
    seen: Seen = job_at(request.trial.of_file)(BuiltLayer(file, request.trial.spec))
    if seen.outputs is None or seen.promised(outputs) != outputs:
        return DirectAnswer()
    doing("writing onnx")
    digests = {name: digest(value) for name, value in stored.items()}
    program = Program(told, _renamed(block, request), stored, traced=False)
    with room_explains(request.into):
        details = write_onnx(program, request.into / _FILE, request.wish, digests)
    inputs = tuple(spec.name for spec in request.wish.inputs)
    files = (f"{request.into.name}/{_FILE}",)
    artifact = Artifact(FORMAT, "fp32", files, inputs, request.outputs, request.outputs, dict(details))
    names = {name: name for name in stored}
    return DirectAnswer(TracedFormat(artifact, outputs, digests, names, loaded_modules()))


def _fits(facts: ModelFacts, request: DirectRequest) -> bool:
    """Whether the spec says of inputs and outputs what the program says, but for names."""
    inputs = request.wish.inputs
    return (
        facts.versions.get("pir") == _VERSION
        and (len(inputs), len(request.outputs)) == (len(facts.inputs), len(facts.outputs))
        and all(map(_alike, inputs, facts.inputs))
    )


def _alike(wished: TensorSpec, own: TensorSpec) -> bool:
    sizes = tuple(-1 if isinstance(size, str) else size for size in wished.shape)
    return (wished.dtype, sizes) == (own.dtype, tuple(own.shape))


def _is_plain(name: str) -> bool:
    """Whether operators of that name are called by it, and read no places."""
    from exporter.export.sources.replay import written_again

    return name not in PLACES and bool(written_again(name))


def _gives_its_own(block: Block) -> bool:
    """Whether all operators are plain, and each output is what an operator of its own gives."""
    operators = block.operators
    if any(operator.blocks or not _is_plain(operator.name) for operator in operators):
        return False
    given = {value.id for operator in operators for value in operator.results if operator.name in ("data", "parameter")}
    fetched = [operator.operands[0] for operator in operators if operator.name == "fetch"]
    return len({*fetched}) == len(fetched) and given.isdisjoint(fetched)


def _stored(parameters: Path | None, facts: ModelFacts) -> dict[str, Array] | None:
    """What the file of parameters holds; None where that is of a dtype that numpy lacks."""
    if not facts.weights or parameters is None:
        return None if facts.weights else {}
    content = map_file(parameters)
    weights = pdiparams.named(content, str(parameters), facts.weights)
    if any(weight.dtype == "bfloat16" for weight in weights.values()):
        return None
    return {name: weight.array(content, copy=False) for name, weight in weights.items()}


def _stores_all(block: Block, stored: Mapping[str, Array]) -> bool:
    declared = {str(operator.attributes["name"]) for operator in block.operators if operator.name == "parameter"}
    return declared == set(stored)


def _outputs(facts: ModelFacts, request: DirectRequest) -> tuple[TensorSpec, ...]:
    return tuple(replace(spec, name=name) for name, spec in zip(request.outputs, facts.outputs, strict=True))


def _renamed(block: Block, request: DirectRequest) -> Block:
    """The block with our names of inputs and outputs, and the operators that a trace writes."""
    inputs = iter(spec.name for spec in request.wish.inputs)
    return replace(block, operators=tuple(_named(operator, inputs, request.outputs) for operator in block.operators))


def _named(operator: Operator, inputs: Iterator[str], outputs: Sequence[str]) -> Operator:
    from exporter.export.sources.replay import written_again

    if operator.name not in ("data", "fetch"):
        written = written_again(operator.name)
        return operator if written == operator.name else replace(operator, name=written)
    name = next(inputs) if operator.name == "data" else outputs[int(operator.attributes["col"])]
    return replace(operator, attributes={**operator.attributes, "name": name})
