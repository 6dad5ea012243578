"""The dtype that a written program declares of each value, beside the one that it has when it is run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.errors import ExporterError
from exporter.base.readers.program import TensorType, read_operators
from exporter.engines.paddle import border
from exporter.export.lower.child import Trial
from exporter.export.lower.convert import Conversion, convert_all
from exporter.export.lower.onnx_program.effects import flat
from exporter.paddle.predictor import Predictor
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.values import draw, real_rows
from exporter.prove.preflight.child import smallest
from exporter.prove.preflight.consumers import hold_for_consumers
from exporter.prove.proofs.base import source_of
from exporter.prove.root_cause.taps.kinds.pir import tap
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY

#: The format whose declared dtypes are compared: ONNX's own inference does it for ONNX.
_FORMAT = "pir"
#: Bytes of inputs and parameters of a program that is run here.
_MOST_BYTES = 1 << 26
#: What numpy has no dtype for, and a predictor gives as its bits.
_AS_BITS = ("bfloat16",)


@dataclass(frozen=True)
class WrittenProgram:
    """The folder of a `.json` program, and the spec by whose smallest case it is run."""

    folder: Path
    spec: Spec


@dataclass(frozen=True)
class OtherDtype:
    """A value whose kernel gives another dtype than the program declares, by its operator."""

    operator: str
    number: int
    declared: str
    computed: str

    def __str__(self) -> str:
        said = f"is declared {self.declared}, and its kernel gives {self.computed}"
        return f"operator {self.operator} (number {self.number}) {said}"


@dataclass(frozen=True)
class Compared:
    """Every value of a program whose dtypes differ, in its order."""

    others: tuple[OtherDtype, ...]


def convert_and_compare(
    spec: Spec,
    checkpoint: Path | None,
    into: Path,
    setting: Setting,
    samples: Mapping[str, Path] | None,
    trial: Trial | None,
) -> Conversion:
    """Convert as :func:`convert_all` does; where eager was run, compare the dtypes that the `.json` file declares.

    Operators whose kernels give others are told, and stand in the artifact's details. A program that does not run is
    the engines' to judge, and one that came from a file has its own declarations.
    """
    conversion = convert_all(spec, checkpoint, into, setting, samples, trial)
    source = source_of(spec, checkpoint, conversion.output_names)
    hold_for_consumers(spec.targets, conversion, into, setting, source)
    if trial is None or spec.model == FACTORY or _FORMAT not in spec.formats:
        return conversion
    request = WrittenProgram(into / _FORMAT, spec.without_verdict())
    try:
        compared = call(compare_dtypes, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    except ExporterError:
        return conversion
    told = [str(other) for other in compared.others]
    for text in told:
        setting.say(f"{_FORMAT}: {text}")
    artifacts = [
        replace(artifact, details={**artifact.details, "declared_otherwise": told})
        if told and artifact.variant == _FORMAT
        else artifact
        for artifact in conversion.artifacts
    ]
    return replace(conversion, artifacts=tuple(artifacts))


@job(reuse="comparing declared dtypes")
def compare_dtypes(written: WrittenProgram) -> Compared:
    """Run a program with its values put out, and compare the dtype of each with what is declared; a large one is not.

    Raises:
        EngineRefused: it does not run.
    """
    inputs = draw(written.spec, Case("", smallest(written.spec), written.spec.seed), real_rows(written.spec))
    stored = written.folder / "model.pdiparams"
    size = sum(value.nbytes for value in inputs.values()) + (stored.stat().st_size if stored.exists() else 0)
    if size > _MOST_BYTES:
        return Compared(())
    with tempfile.TemporaryDirectory(prefix="exporter-") as place, border():
        names = tap(written.folder, Path(place))
        values = Predictor(Path(place) / "model").run(inputs)
    computed = {name: value.dtype.name for name, value in zip(names, values, strict=True)}
    operators = list(flat(read_operators(written.folder / "model.json")))
    for operator in operators:
        if operator.name == "fetch":
            computed[f"%{operator.operands[0]}"] = computed[str(operator.attributes["name"])]
    others = []
    for operator in operators:
        for result in operator.results:
            given, kind = computed.get(f"%{result.id}"), result.type
            if given is not None and isinstance(kind, TensorType) and kind.dtype not in (given, *_AS_BITS):
                others.append(OtherDtype(operator.name, operator.index, kind.dtype, given))
    return Compared(tuple(others))
