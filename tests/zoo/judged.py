"""One network through the gate: converted, recorded, run and judged; then the same of what stock Paddle writes."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exporter.bundle.contents import contents, with_record
from exporter.bundle.open import GOLDEN
from exporter.bundle.subject import about, subject_in
from exporter.compare.golden import GoldenCase
from exporter.errors import ExporterError, ModelError
from exporter.goldens.record import record
from exporter.harness import Bench, run_engine
from exporter.judge.judge import harness_of, judge
from exporter.lower._convert import Conversion, convert_all
from exporter.proofs.base import Subject
from exporter.spec.model import Spec
from exporter.verdict.claim import Claim, Evidence, Outcome
from exporter.verdict.plan import ENGINES, Run, plan_some
from exporter.workers import Setting, call
from tests.zoo import stock
from tests.zoo.networks import Network
from tests.zoo.warm import spent

FORMATS = ("pir", "pdmodel", "onnx")


#: What runs the cases of one engine and one artifact.
_ENGINES = "exporter.engines._child:run"


@dataclass(frozen=True)
class Wish:
    """What is made of each network, and by which engines it is judged."""

    formats: tuple[str, ...] = FORMATS
    engines: tuple[str, ...] = ("jit_load", "paddle_inference", "onnxruntime")
    calibrated: bool = False
    stock: bool = True
    target: str = ""
    keep: Path | None = None


def judged(network: Network, wish: Wish, setting: Setting) -> dict[str, Any]:
    """One row of the table: for each format and each stock format a word, the counts of checks and what went wrong."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as place:
        draft = Path(place)
        try:
            spec = spec_of(network, wish, setting)
        except ExporterError as error:
            return {"formats": {name: refusal_of(error) for name in wish.formats}, "stock": {}}
        conversion, rows = convert(spec, draft, setting)
        if conversion is None:
            return {"formats": rows, "stock": {}}
        spec = spec.model_copy(update={"formats": tuple(one.format for one in conversion.artifacts)})
        content = contents(spec, conversion, draft, None)
        try:
            content = with_record(content, record(spec, None, conversion.output_names, draft / GOLDEN, setting))
        except ExporterError as error:
            return {"formats": rows | {name: refusal_of(error) for name in spec.formats}, "stock": {}}
        places = (draft, draft / GOLDEN)
        subject = subject_in(content, spec, places, "cpu", no_source="the zoo judges the files alone")
        variants = [(name, "fp32") for name in spec.formats]
        engines = [name for name in wish.engines if set(ENGINES[name].formats) & set(spec.formats)]
        before, own = Counter(spent), time.process_time()
        runs = plan_some(engines, variants, with_source=False)
        report = judge(harness_of(subject, runs, setting), about(content))
        children = Counter(spent) - before
        verifying = sum(children.values()) + time.process_time() - own
        for name in spec.formats:
            rows[name] = _row({c: e for c, e in report.verdict.evidence.items() if c.format == name})
        if wish.keep and "pdmodel" in spec.formats:
            _keep(subject, wish.keep / f"{network.family}-{network.key}")
        beside = _stock(subject, setting, Path(place, "stock")) if wish.stock else {}
        methods = sorted({one.method.partition(" (")[0] for case in content.cases for one in case.outputs.values()})
        return {
            "formats": {name: rows[name] for name in wish.formats},
            "stock": beside,
            "cases": len(content.cases) + 1,
            "left_out": content.left_out,
            "truth": methods,
            "processor": {"judge": round(verifying, 1), "engines": round(children[_ENGINES], 1)},
        }


def spec_of(network: Network, wish: Wish, setting: Setting) -> Spec:
    """The spec under which a network is released; inputs without a name get that of `forward`'s parameter.

    Raises:
        ExporterError: the network cannot be built.
    """
    model = f"tests.zoo.{'calibrated' if wish.calibrated else 'models'}:{network.key}"
    names = [one.name for one in network.inputs]
    if not all(names):
        names = call("tests.zoo.stock:parameters_of_forward", {"model": model}, setting.limits)["names"]
    inputs = {
        name: {"dtype": one.dtype, "shape": list(one.shape), "values": one.values}
        for name, one in zip(names, network.inputs, strict=False)
    }
    described = {
        "name": network.key,
        "model": model,
        "weights": "factory",
        "inputs": inputs,
        "dims": {name: dict(dim) for name, dim in network.dims.items()},
        "formats": list(wish.formats),
        "engines": list(wish.engines),
        "device": "cpu",
        "targets": [f"paddle_inference>={wish.target}"] if wish.target else [],
    }
    return Spec.model_validate(described)


def source_of(spec: Spec) -> dict[str, Any]:
    """What a child needs to build the eager layer and to trace it."""
    inputs = [{"name": one.name, "dtype": one.dtype, "shape": list(one.shape)} for one in spec.input_specs()]
    return {"model": spec.model, "checkpoint": None, "seed": spec.seed, "inputs": inputs}


def convert(spec: Spec, draft: Path, setting: Setting) -> tuple[Conversion | None, dict[str, Any]]:
    """As `convert_all`, but a format that cannot be written does not stand in the way of the others."""
    rows: dict[str, Any] = {}
    made: list[Conversion] = []
    wanted = (
        [name for name in ("pir", "onnx") if name in spec.formats],
        [name for name in ("pdmodel",) if name in spec.formats],
    )
    groups = [group for group in wanted if group]
    while groups:
        group = groups.pop(0)
        try:
            made.append(convert_all(spec.model_copy(update={"formats": tuple(group)}), None, draft, setting))
        except ModelError as error:
            for name in group:
                shutil.rmtree(draft / name, ignore_errors=True)
            if len(group) == 1:
                rows[group[0]] = refusal_of(error)
            elif error.what.startswith("onnx: "):
                rows["onnx"] = refusal_of(error)
                groups.insert(0, ["pir"])
            else:
                rows["pir"] = refusal_of(error)
                groups.insert(0, ["onnx"])
    if not made:
        return None, rows
    artifacts = tuple(one for conversion in made for one in conversion.artifacts)
    return replace(made[0], artifacts=artifacts), rows


def refusal_of(error: ExporterError) -> dict[str, Any]:
    return {"word": "refused", "why": f"{error} ({error.hint})", "checks": 0, "matches": 0}


def _row(evidence: Mapping[Claim, Evidence]) -> dict[str, Any]:
    """Claims that an engine answered are the checks; proofs by reading count for the word only."""
    outcomes = Counter(one.outcome for one in evidence.values())
    engines = set(ENGINES.names())
    checks = {claim: one for claim, one in evidence.items() if claim.engine in engines}
    doubtful = {Outcome.INCONCLUSIVE, Outcome.VACUOUS}
    matched = set(outcomes) == {Outcome.MATCH}
    word = "passed" if matched else "inconclusive" if set(outcomes) <= {Outcome.MATCH, *doubtful} else "failed"
    missed = {str(claim): f"{one.outcome.value}: {one.reason}" for claim, one in evidence.items()
              if one.outcome is not Outcome.MATCH}  # fmt: skip
    ratios = [one.metrics["error_ratio"] for one in checks.values() if "error_ratio" in one.metrics]
    return {
        "word": word,
        "why": next((why for why in missed.values() if not why.startswith(("inconclusive", "vacuous"))), "")
        or next(iter(missed.values()), ""),
        "checks": len(checks),
        "matches": sum(one.outcome is Outcome.MATCH for one in checks.values()),
        "bit_equal": sum(bool(one.bit_equal) for one in checks.values()),
        "ratio": float(f"{max(ratios, default=0.0):.3g}"),
        "missed": missed,
    }


def _stock(subject: Subject, setting: Setting, folder: Path) -> dict[str, Any]:
    """Each format as stock writes it, judged by the same goldens; the files' own names stand for ours."""
    bench = subject.bench()
    source = bench.source or {}
    rows: dict[str, Any] = {}
    for name in FORMATS:
        if name not in subject.spec.formats and name != "pir":
            continue
        into = folder / name
        into.mkdir(parents=True)
        request = {**source, "format": name, "into": str(into), "pir": str(folder / "pir")}
        try:
            answer = call("tests.zoo.stock:write", request, setting.limits, environment=stock.ENVIRONMENT)
        except ExporterError as error:
            rows[name] = {**refusal_of(error), "why": error.what.strip().splitlines()[-1][:300]}
            continue
        written = stock.artifact(name, into, list(bench.inputs), answer["outputs"])
        rows[name] = _judge_stock(bench, written, folder, setting)
    return rows


def _judge_stock(bench: Bench, written: Any, folder: Path, setting: Setting) -> dict[str, Any]:
    ours, theirs = bench.outputs, written.outputs
    if len(ours) != len(theirs):
        return {"word": "failed", "why": f"{len(theirs)} outputs, not {len(ours)}", "checks": 0, "matches": 0}
    names = dict(zip(ours, theirs, strict=True))
    cases = tuple(_renamed(case, names) for case in bench.cases)
    beside = replace(bench, folder=folder, cases=cases, artifacts={written.format: written}, outputs=theirs)
    engine = "onnxruntime" if written.format == "onnx" else "paddle_inference"
    row = _row(run_engine(beside, Run(written.format, "fp32", engine), setting))
    row.pop("missed")
    return row


def _renamed(case: GoldenCase, names: Mapping[str, str]) -> GoldenCase:
    outputs = {
        names[name]: replace(one, name=names[name], scores=one.scores and (names[one.scores[0]], one.scores[1]))
        for name, one in case.outputs.items()
    }
    return replace(case, outputs=outputs)


def _keep(subject: Subject, into: Path) -> None:
    """The `.pdmodel` with one case beside it, as tests/trace/legacy/legacy_runtime.py reads it in older Paddles."""
    import numpy as np
    from safetensors.numpy import load_file

    case = subject.recorded[0].name
    golden = load_file(subject.golden)
    into.mkdir(parents=True, exist_ok=True)
    for path in (subject.folder / "pdmodel").iterdir():
        shutil.copy(path, into / path.name.replace("model.", "m.", 1))
    native = subject.artifacts["pdmodel"].native_outputs
    np.savez(into / "inputs.npz", **{name: golden[f"{case}/input/{name}"] for name in subject.spec.inputs})
    np.savez(into / "outputs.npz", *(golden[f"{case}/eager/{name}"] for name in native))
