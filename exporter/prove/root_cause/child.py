"""The child's side: what each sublayer should put out, how far eager is from it, and which of it a program shows."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.numbers.norms import FLOOR, FLOOR_64, error
from exporter.base.readers.program import Block, Operator, read_operators
from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, recorded_truths, save_scratch
from exporter.engines.base import EngineRefused, Runnable, SourceModel
from exporter.engines.paddle import border, call_layer
from exporter.export.lower.base import Wish
from exporter.export.lower.onnx_program.effects import flat
from exporter.export.trace.blame import operator_line
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import bind_inputs, trace
from exporter.paddle.user_line import reported_to
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.float64 import narrow_kernels
from exporter.prove.goldens.oracle import Oracle, make_oracle
from exporter.prove.root_cause.align import FirstOff, Observed, Shown, TensorFact, Trace, worst
from exporter.prove.root_cause.constants import MadeOf, made_with_constants
from exporter.prove.root_cause.locate import is_narrow
from exporter.prove.root_cause.origin import Left, Lines, first_off, in_words
from exporter.prove.root_cause.taps.kinds.pir import tap
from exporter.prove.root_cause.watch import Call, short_path, watching

#: Two float64 runs of one computation differ by less of the largest value, by float32 inside by more.
_SAME = 1e-11
#: The program that is traced for comparison.
_FRESH = "model.json"


@dataclass(frozen=True)
class ObserveRequest:
    """The source, the recorded case of the goldens that it is to compute, and the folder for what comes of it."""

    source: SourceModel
    golden: Path
    case: str
    into: Path


@dataclass(frozen=True)
class TraceRequest:
    """What to trace, as it was observed; `root` is the outermost call, whose tensors are in `values.safetensors`."""

    observed: ObserveRequest
    root: Trace


@dataclass(frozen=True)
class TraceAnswer:
    """What is known of a program traced anew; `why_not` says why there is none, empty where there is."""

    why_not: str = ""
    derived: MadeOf = field(default_factory=dict)
    first_off: FirstOff | None = None


@job
def observe(request: ObserveRequest) -> Trace:
    """Run one case in eager, moved and float64 forms; write every sublayer's tensors, return its calls and their e_ref.

    `values.safetensors` holds `<key>/truth` and `<key>/eager`.

    Raises:
        ModelError: the forms of the layer do not call the same sublayers, so nothing can be compared.
    """
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    source = request.source
    layer, order = _built(source)
    inputs = recorded_inputs(request.golden, request.case, order)
    doing("running the oracle")
    oracle = make_oracle(layer, order, source.outputs, source.seed, lean=True)
    exact = _watch_exact(oracle, inputs, recorded_truths(request.golden, request.case))
    doing("watching sublayers")
    watched = _watch_all(oracle, inputs, exact)
    tensors, facts = _collect(*watched)
    if any(value.dtype.name in ("float16", "float32") for value in inputs.values()):
        floor = FLOOR
    else:
        floor = FLOOR_64
    facts = {key: replace(fact, floor=floor) if fact.dtype == "float64" else fact for key, fact in facts.items()}
    save_scratch(request.into / "values.safetensors", tensors)
    return Trace(tuple(call.described() for call in watched[0]), facts)


@job
def trace_anew(request: TraceRequest) -> TraceAnswer:
    """Trace a program of the source, and run the case; `fresh.safetensors` holds all that the program computes."""
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    asked = request.observed
    layer, order = _built(asked.source)
    inputs = recorded_inputs(asked.golden, asked.case, order)
    with _folders() as folders:
        try:
            _trace_fresh(layer, asked.source, folders)
            del layer  # of a large layer there is no room beside the program that is run below
            gc.collect()
            values = _run_fresh(inputs, folders)
        except (ModelError, EngineRefused) as refusal:
            return TraceAnswer(str(refusal))
        save_scratch(asked.into / "fresh.safetensors", values)
        program = folders[0] / _FRESH
        seen = Observed(request.root, load(asked.into / "values.safetensors"))
        off = worst(Shown(seen, values), request.root.calls[0].outputs)
        first = _first_off(program, asked.source, inputs, values) if is_narrow(off) else None
        return TraceAnswer("", made_with_constants(program), first)


def _built(source: SourceModel) -> tuple[Any, tuple[str, ...]]:
    """The layer, and the order in which it takes its inputs."""
    doing("building the layer")
    layer = load_layer(source.model, source.checkpoint, source.seed)
    return layer, tuple(bound.name for bound in bind_inputs(layer, source.inputs))


def _watch_exact(oracle: Oracle, inputs: TensorMap, truths: Mapping[str, Array]) -> list[Call] | None:
    """The calls of the float64 run; None where there is no true one.

    Where it gives the recorded truths it is as true as when they were recorded; else that is found out anew, which
    takes several runs.
    """
    wide = {name: value.astype("float64") if value.dtype.kind == "f" else value for name, value in inputs.items()}
    with contextlib.suppress(EngineRefused), narrow_kernels() as narrow:
        calls = _watch_way(oracle, wide)
        if not narrow and _gives(calls[0].outputs, [truths[name] for name in oracle.outputs if name in truths]):
            return calls
    oracle.exactly(lambda run: run(inputs))
    return _watch_way(oracle, wide) if oracle.ways else None


def _watch_way(oracle: Oracle, inputs: TensorMap) -> list[Call]:
    with oracle.ways[0].around:
        return _watched(oracle.ways[0].layer(), oracle.order, inputs)


def _gives(outputs: Sequence[Array], truths: Sequence[Array]) -> bool:
    """Return whether the float outputs are these truths, but for float64's own rounding."""
    floats = [output for output in outputs if output.dtype == np.float64]
    return (
        bool(truths)
        and [value.shape for value in floats] == [value.shape for value in truths]
        and all(
            np.isfinite(truth).all() and np.abs(value - truth).max(initial=0) <= _SAME * np.abs(truth).max(initial=0)
            for value, truth in zip(floats, truths, strict=True)
        )
    )


def _watch_all(
    oracle: Oracle, inputs: TensorMap, exact: list[Call] | None
) -> tuple[list[Call], list[Call] | None, list[list[Call]]]:
    """Eager's calls, those of the float64 run (None where it is not true), and those of all float32 runs."""
    runs = [_watched(oracle.eager, oracle.order, inputs)]
    for form in oracle.moved:
        with form.used() as moved:
            runs.append(_watched(moved, oracle.order, inputs))
    for other in [*runs[1:], *([exact] if exact else [])]:
        if [_shape(one) for one in other] != [_shape(one) for one in runs[0]]:
            raise ModelError(
                "float64 or a weight moved by one ulp makes forward call other sublayers",
                where=runs[0][0].kind,
                hint="look at the comparisons in forward: a branch hangs on rounding",
            )
    return runs[0], exact, runs


def _watched(layer: Any, order: tuple[str, ...], inputs: TensorMap) -> list[Call]:
    with watching(layer) as calls, border():
        call_layer(layer, order, inputs)
    return calls


def _shape(call: Call) -> tuple[Any, ...]:
    return call.path, [one.shape for one in call.inputs], [one.shape for one in call.outputs]


def _collect(
    calls: list[Call], exact: list[Call] | None, runs: list[list[Call]]
) -> tuple[dict[str, Array], dict[int, TensorFact]]:
    tensors: dict[str, Array] = {}
    facts: dict[int, TensorFact] = {}
    for number, call in enumerate(calls):
        for side in ("inputs", "outputs"):
            for place, key in enumerate(getattr(call, side[:-1] + "_keys")):
                values = [getattr(run[number], side)[place] for run in runs]
                if key in facts or values[0].dtype.kind not in "fiub":
                    continue
                wide = values[0] if exact is None else getattr(exact[number], side)[place]
                truth, facts[key] = _fact(values, wide, known=exact is not None)
                tensors[f"{key}/eager"], tensors[f"{key}/truth"] = values[0], truth
    return tensors, facts


def _fact(values: Sequence[Array], exact: Array, *, known: bool) -> tuple[Array, TensorFact]:
    """The truth of one tensor and what is known of it; without float64 the float32 runs' centre takes its place."""
    eager = values[0]
    fact = TensorFact(tuple(eager.shape), eager.dtype.name, finite=True, e_ref=(0.0, 0.0))
    if eager.dtype.kind != "f":
        return eager, fact
    with np.errstate(invalid="ignore", over="ignore"):
        truth = exact if known else np.mean([one.astype("float64") for one in values], axis=0)
    errors = [error(truth, value) for value in values]
    if not np.isfinite(errors).all():
        return truth, replace(fact, finite=False)
    by_max, by_l2 = zip(*errors, strict=True)
    return truth, replace(fact, e_ref=(float(max(by_max)), float(max(by_l2))))


def _trace_fresh(layer: Any, source: SourceModel, folders: tuple[Path, Path]) -> None:
    """Trace a layer, and write its program into the first folder; raises ModelError where it cannot be traced."""
    from exporter.export.lower.kinds.pir import plugin as pir

    doing("tracing the layer anew")
    pir.write(trace(layer, source.inputs, source.outputs, source.fixed, source.dims), None, folders[0], Wish())


def _run_fresh(inputs: TensorMap, folders: tuple[Path, Path]) -> dict[str, Array]:
    """Run the program of the first folder with every value put out, from the second; raises EngineRefused."""
    from exporter.engines.kinds.jit_load import plugin as jit_load

    plain, tapped = folders
    artifact = Runnable("pir", tapped, _FRESH, tuple(inputs), tap(plain, tapped))
    with jit_load.open(artifact, "cpu") as session:
        return dict(session.run(inputs))


def _first_off(program: Path, source: SourceModel, inputs: TensorMap, values: dict[str, Array]) -> FirstOff | None:
    """Which operators of the program give something else first than the lines of the eager layer leave.

    The layer is built once more: while its program ran there was none.
    """
    layer, order = _built(source)
    lines = Lines()
    with border(), reported_to(lines):
        call_layer(layer, order, inputs)
    operators = read_operators(program)
    suspects = first_off([*map(Left, inputs.values()), *lines.values], values, operators)
    traced = trace(layer, source.inputs, source.outputs, source.fixed, source.dims)
    line_of = partial(_line, program=operators, layer=traced.layer)
    suspected = suspects.told(line_of)
    if not suspected:
        return None
    path, _, number = line_of(suspected[-1]).rpartition(":")
    return FirstOff(in_words(suspected), f"{short_path(Path(path))}:{number}" if path else "")


def _line(operator: Operator, program: Block, layer: Any) -> str:
    alike = [candidate.index for candidate in flat(program) if candidate.name == operator.name]
    return operator.line or operator_line(layer, operator.name, alike.index(operator.index), len(alike))


@contextlib.contextmanager
def _folders() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="exporter-") as place:
        plain, tapped = Path(place) / "plain", Path(place) / "tapped"
        plain.mkdir()
        tapped.mkdir()
        yield plain, tapped
