"""One network at one CPU level: built once for each seed of its weights, converted once, and judged in many cases.

What records, runs and judges are the gate's own functions, in one process instead of one for each engine.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evals.clean.known import FATAL
from evals.clean.networks import NETWORKS
from exporter.base.errors import ModelError
from exporter.base.files import sha256_bytes, write_json
from exporter.base.numbers.golden import GoldenCase, read_cases, to_run
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.readers import read_program
from exporter.base.tensors import Array
from exporter.engines.base import Engine, EngineRefused, Runnable, Session, SourceModel
from exporter.engines.session import started
from exporter.export.lower.child import Destination, ExportRequest, ExportTracedRequest, export, export_traced
from exporter.export.lower.convert import fixed_dims, layer_and_wish
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import bind_inputs
from exporter.prove.compare.outputs import compare_case, evidence_of
from exporter.prove.goldens import child as recording
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.finish import goldens_of, note_scores, note_ties
from exporter.prove.goldens.oracle import make_oracle
from exporter.prove.goldens.telling import untelling
from exporter.prove.goldens.values import content, draw
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY

RUNS = (
    ("source", "file"),
    ("pir", "jit_load"),
    ("pir", "paddle_inference"),
    ("pir", "paddle_inference_default"),
    ("onnx", "onnxruntime"),
    ("onnx", "openvino"),
)
#: Far from the seeds that a spec's cases take for themselves, so that no two draws share a case.
STRIDE = 1000


@dataclass(frozen=True)
class Goldens:
    """What one draw of the inputs gave: the cases to run, their inputs, and how many tell nothing."""

    cases: tuple[GoldenCase, ...]
    inputs: dict[str, dict[str, Array]]
    left_out: dict[str, str]


def main(network: str, out: Path, weights: int, drawn: int, files: bool) -> None:
    """Write what came of so many seeds of weights, with so many draws of the inputs for each.

    With `files` the `.json` of the network stands in the place of its layer.
    """
    rows = [checked(network, seed, drawn, files) for seed in range(weights)]
    write_json(out, {"seeds": rows})


def checked(network: str, weights: int, drawn: int, files: bool = False) -> dict[str, Any]:
    """All claims on one set of weights, in every engine: what was no match, and every error ratio by engine."""
    import paddle

    paddle.set_device("cpu")
    model, described = NETWORKS[network]
    spec = Spec.model_validate(
        {"name": network, "model": model, "weights": "factory", "device": "cpu", "seed": weights, **described}
    )
    with tempfile.TemporaryDirectory(prefix="clean-") as place:
        if files:
            spec = _of_file(spec, Path(place, "given"))
        artifacts, outputs, refused = _converted(spec, Path(place))
        layer = load_layer(spec.factory, None, weights)
        goldens = [
            recorded(layer, spec.model_copy(update={"seed": STRIDE * (number + 1) + weights}), outputs)
            for number in range(drawn)
        ]
        row = _Row(network, weights)
        for format, name in RUNS:
            if (network, name) in FATAL:
                refused[name] = FATAL[(network, name)]
            elif format in artifacts:
                _judged(row, (name, ENGINES[name]), artifacts[format], goldens)
    row.about["refused"] = refused
    row.about["left_out"] = [f"{name}: {why}" for one in goldens for name, why in one.left_out.items()]
    return row.about


def _of_file(spec: Spec, folder: Path) -> Spec:
    """Write the layer's `.json`, and return the spec of which that is the model."""
    folder.mkdir()
    layer, wish = layer_and_wish(spec, None)
    request = ExportTracedRequest("pir", (Destination("pir", folder),), layer, wish)
    program = folder / Path(export_traced(request).written["pir"].artifact.main).name
    facts = read_program(program)
    parameters = {"parameters": str(program.with_suffix(".pdiparams"))} if facts.weights else {}
    names = [one.name for one in facts.inputs]
    described = {
        "model": FACTORY,
        "args": {"program": str(program), **parameters, "inputs": names},
        "inputs": {name: spec.inputs[name].model_dump() for name in names},
        "outputs": [one.name for one in facts.outputs],
    }
    return Spec.model_validate(spec.model_dump(mode="json") | described)


def _converted(spec: Spec, folder: Path) -> tuple[dict[str, Runnable], tuple[str, ...], dict[str, str]]:
    """What was written, the outputs' names, and why a format was not."""
    artifacts: dict[str, Runnable] = {}
    refused: dict[str, str] = {}
    layer, wish = layer_and_wish(spec, None)
    outputs: tuple[str, ...] = ()
    for name in ("pir", "onnx"):
        into = folder / name
        into.mkdir()
        try:
            if outputs:
                written = export(ExportRequest(name, into, folder / "pir", outputs, layer, wish)).artifact
            else:
                request = ExportTracedRequest(name, (Destination(name, into),), layer, wish)
                written = export_traced(request).written[name].artifact
                outputs = written.outputs
        except ModelError as error:
            refused[name] = str(error)
            continue
        main_file = Path(written.main).name
        artifacts[name] = Runnable(name, into, main_file, tuple(spec.inputs), written.native_outputs)
    if not outputs:
        raise LookupError(f"{spec.name}: no format could be written: {refused}")
    if spec.model == FACTORY:
        source = SourceModel(layer.model, None, spec.seed, tuple(spec.input_specs()), outputs, fixed_dims(spec))
        artifacts["source"] = Runnable("source", None, "", tuple(spec.inputs), outputs, source)
    return artifacts, outputs, refused


def recorded(layer: Any, spec: Spec, outputs: tuple[str, ...]) -> Goldens:
    """As the gate records, but for the search after unreached lines."""
    order = tuple(one.name for one in bind_inputs(layer, spec.input_specs()))
    oracle = make_oracle(layer, order, outputs, spec.seed)
    rows, seen, left_out = [], {}, {}
    for case in plan_cases(spec):
        inputs = draw(spec, case, None)
        if case.kind and seen.setdefault(content(inputs), case.name) != case.name:
            left_out[case.name] = "repeats another"
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="clean-") as place:
                rows.append(recording._record_case(oracle, case, inputs, Path(place) / "case.safetensors"))
        except EngineRefused as refusal:
            left_out[case.name] = str(refusal)
    note_scores(rows)
    note_ties(rows, spec.budget)
    left_out.update(untelling(goldens_of(rows), spec.budget))
    telling = [one for one in rows if one.case.name not in left_out]
    tensors = {key: value for one in telling for key, value in one.tensors.items()}
    cases = read_cases(tensors, [asdict(one.facts) for one in telling])
    inputs_of = {
        one.case.name: {name: one.tensors[f"{one.case.name}/input/{name}"] for name in spec.inputs} for one in telling
    }
    return Goldens(to_run(cases), inputs_of, left_out)


class _Row:
    """What became of the claims of one network and one seed of weights."""

    def __init__(self, network: str, weights: int) -> None:
        self.about: dict[str, Any] = {"weights": weights, "checks": 0, "outcomes": {}, "not_matched": [], "ratios": {}}
        self.about |= {"combined": {}, "bit_equal": {}, "bits": {}, "few": 0, "network": network}

    def add(self, engine: str, claim: str, evidence: Evidence, allowance: float = 1.0) -> None:
        about = self.about
        about["checks"] += 1
        about["few"] += allowance > 1
        outcome = evidence.outcome.value
        about["outcomes"][outcome] = about["outcomes"].get(outcome, 0) + 1
        about["bit_equal"][engine] = about["bit_equal"].get(engine, 0) + evidence.bit_equal
        if evidence.outcome is not Outcome.MATCH:
            about["not_matched"].append([engine, claim, outcome, evidence.reason])
        for key, metric in (("ratios", "error_ratio"), ("combined", "combined_ratio")):
            if metric in evidence.metrics:
                numbers = (float(f"{evidence.metrics[metric]:.3g}"), round(allowance, 2))
                about[key].setdefault(engine, []).append(numbers)


def _judged(row: _Row, engine: tuple[str, Engine], artifact: Runnable, goldens: Sequence[Goldens]) -> None:
    """Run and judge what each draw gave; the artifact is loaded once for each number of threads."""
    name, plugin = engine
    results: list[dict[str, dict[str, Array] | str]] = [{} for _ in goldens]
    for threads in sorted({case.threads for one in goldens for case in one.cases}):
        for answers, one in zip(results, goldens, strict=True):
            for case, values in _answers(plugin, artifact, one, threads):
                answers[case] = values
    bits = b"".join(
        value.tobytes() for values in results[0].values() if not isinstance(values, str) for value in values.values()
    )
    row.about["bits"][name] = sha256_bytes(bits)[:12]
    for answers, one in zip(results, goldens, strict=True):
        _judge_draw(row, name, one, answers)


def _answers(
    engine: Engine, artifact: Runnable, goldens: Goldens, threads: int
) -> Iterator[tuple[str, dict[str, Array] | str]]:
    opened = replace(artifact, threads=threads)
    with contextlib.ExitStack() as stack:
        try:
            session: Session = stack.enter_context(started(engine, opened, "cpu"))
        except EngineRefused as refusal:
            yield from ((case.name, f"does not load: {refusal}") for case in goldens.cases if case.threads == threads)
            return
        for case in goldens.cases:
            if case.threads == threads:
                try:
                    yield case.name, session.run(goldens.inputs[case.recorded])
                except EngineRefused as refusal:
                    yield case.name, f"refused: {refusal}"


def _judge_draw(row: _Row, name: str, goldens: Goldens, answers: dict[str, Any]) -> None:
    by_output = {output: [case.outputs[output] for case in goldens.cases] for output in goldens.cases[0].outputs}
    together = Pooled(draws(goldens.cases))
    for case in goldens.cases:
        got = answers[case.name]
        if isinstance(got, str):
            for output in case.outputs:
                row.add(name, f"{case.name}/{output}", Evidence(Outcome.CRASHED, got))
            continue
        together.add(case.name, got)
        for output, found in compare_case(case, got, 4.0, by_output).items():
            row.add(name, f"{case.name}/{output}", found, case.outputs[output].allowance)
    for output, judged in together.judge(4.0).items():
        row.add(name, f"pooled_bias/{output}", evidence_of(judged))
