"""One network judged as `exporter release` judges: recorded, run by every engine, and proven; stock's files too."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.zoo import stock
from evals.zoo.children import Laps
from evals.zoo.eager import eager_failure
from evals.zoo.exported import Row, Wish, convert, refusal_of, result, spec_of
from evals.zoo.network import Network
from evals.zoo.quick import quick_stock
from exporter.base.errors import ExporterError
from exporter.base.numbers.golden import GoldenCase
from exporter.bundle.contents import contents, with_record
from exporter.bundle.open import GOLDEN
from exporter.bundle.subject import about, subject_in
from exporter.bundle.write import Hashed
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.goldens.record import Exported, record
from exporter.prove.harness import Bench, run_engine
from exporter.prove.judge.judge import harness_of, judge
from exporter.prove.proofs.base import Subject
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run, plan_some


def judged(network: Network, wish: Wish, setting: Setting) -> dict[str, Any]:
    """One row of the table: for each format and each stock format a word, the counts of checks and what went wrong."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as place:
        draft, laps = Path(place), Laps()
        try:
            spec = spec_of(network, wish, setting)
        except ExporterError as error:
            return result(wish, {name: refusal_of(error) for name in wish.formats}, {}, eager=error.what)
        conversion, rows = convert(spec, draft, setting)
        laps.end("convert")
        if conversion is None:
            beside = quick_stock(network, spec, wish, draft / "stock", setting)
            return result(wish, rows, beside, **eager_failure(network, spec, setting))
        spec = spec.model_copy(update={"formats": tuple(artifact.format for artifact in conversion.artifacts)})
        content = contents(spec, conversion, Hashed.of(draft).files, None)
        try:
            content = with_record(
                content,
                record(spec, None, Exported.converted(draft, conversion), draft / GOLDEN, setting),
            )
        except ExporterError as error:
            rows |= {name: refusal_of(error) for name in spec.formats}
            return result(wish, rows, quick_stock(network, spec, wish, draft / "stock", setting))
        laps.end("record")
        places = (draft, draft / GOLDEN)
        subject = subject_in(content, spec, places, "cpu", no_source="the zoo judges the files alone")
        variants = [(name, "fp32") for name in spec.formats]
        engines = [name for name in wish.engines if set(ENGINES[name].formats) & set(spec.formats)]
        runs = plan_some(engines, variants, with_source=False)
        report = judge(harness_of(subject, runs, setting), about(content))
        laps.end("judge")
        for name in spec.formats:
            rows[name] = row_of({c: e for c, e in report.verdict.evidence.items() if c.format == name})
        if wish.keep and "pdmodel" in spec.formats:
            _keep(subject, wish.keep / f"{network.family}-{network.key}")
        beside = {
            name: _judge_stock(subject.bench(), written, stock.place_of(draft / "stock", name), setting)
            if isinstance(written, Artifact)
            else written
            for name, written in stock.artifacts(network, spec, wish, draft / "stock", setting)
        }
        laps.end("stock")
        truths = {truth.method.partition(" (")[0] for case in content.cases for truth in case.outputs.values()}
        return result(
            wish,
            rows,
            beside,
            cases=len(content.cases) + 1,
            left_out=content.left_out,
            truth=sorted(truths),
            processor=laps.seconds,
        )


def row_of(evidence: Mapping[Claim, Evidence]) -> Row:
    """Claims that an engine answered are the checks; proofs by reading count for the word only."""
    outcomes = Counter(proof.outcome for proof in evidence.values())
    engines = set(ENGINES.names())
    checks = {claim: proof for claim, proof in evidence.items() if claim.engine in engines}
    doubtful = {Outcome.INCONCLUSIVE, Outcome.VACUOUS}
    matched = set(outcomes) == {Outcome.MATCH}
    word = "passed" if matched else "inconclusive" if set(outcomes) <= {Outcome.MATCH, *doubtful} else "failed"
    missed = {str(claim): f"{proof.outcome.value}: {proof.reason}" for claim, proof in evidence.items()
              if proof.outcome is not Outcome.MATCH}  # fmt: skip
    ratios = [proof.metrics["error_ratio"] for proof in checks.values() if "error_ratio" in proof.metrics]
    return {
        "word": word,
        "why": next((why for why in missed.values() if not why.startswith(("inconclusive", "vacuous"))), "")
        or next(iter(missed.values()), ""),
        "checks": len(checks),
        "matches": sum(proof.outcome is Outcome.MATCH for proof in checks.values()),
        "bit_equal": sum(bool(proof.bit_equal) for proof in checks.values()),
        "ratio": float(f"{max(ratios, default=0.0):.3g}"),
        "missed": missed,
    }


def _judge_stock(bench: Bench, written: Artifact, folder: Path, setting: Setting) -> Row:
    """A stock file by the goldens of ours; the file's own names stand for ours."""
    ours, theirs = bench.outputs, written.outputs
    if len(ours) != len(theirs):
        return {"word": "failed", "why": f"{len(theirs)} outputs, not {len(ours)}", "checks": 0, "matches": 0}
    names = dict(zip(ours, theirs, strict=True))
    cases = tuple(_renamed(case, names) for case in bench.cases)
    beside = replace(bench, folder=folder, cases=cases, artifacts={written.format: written}, outputs=theirs)
    engine = "onnxruntime" if written.format == "onnx" else "paddle_inference"
    row = row_of(run_engine(beside, Run(written.format, "fp32", engine), setting))
    row.pop("missed")
    return row


def _renamed(case: GoldenCase, names: Mapping[str, str]) -> GoldenCase:
    outputs = {
        names[name]: replace(
            golden, name=names[name], scores=golden.scores and (names[golden.scores[0]], golden.scores[1])
        )
        for name, golden in case.outputs.items()
    }
    return replace(case, outputs=outputs)


def _keep(subject: Subject, into: Path) -> None:
    """The `.pdmodel` with one case beside it, as evals/lower/pdmodel/legacy_runtime.py reads it in older Paddles."""
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
