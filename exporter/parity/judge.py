"""Judge one bundle, or the draft of one: gather the evidence for every planned claim, and report on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from exporter.lower._convert import artifact_from_json, fixed_dims
from exporter.lower.base import Artifact
from exporter.parity import declared, parameters, together
from exporter.parity.golden import read_goldens, to_run
from exporter.parity.heldout import Task
from exporter.parity.informative import Doubt, doubts, still_open, told, undecided
from exporter.parity.localise.find import localise
from exporter.parity.localise.narrow import contradicted
from exporter.parity.localise.search import Search
from exporter.parity.low import low_precision
from exporter.parity.plan import ENGINES, Run, claims
from exporter.parity.quantised import prove_rounded
from exporter.parity.report import Report, unlike_bits
from exporter.parity.repro import Keep
from exporter.parity.run import Bench, gather
from exporter.parity.settings import differences
from exporter.parity.verdict import Evidence, Verdict
from exporter.parity.waivers import waived
from exporter.spec.model import Spec
from exporter.workers import Setting


@dataclass(frozen=True)
class Subject:
    """What is judged: a manifest's content, the folder it speaks of, the goldens, and the checkpoint where it is here.

    `trained` holds the digests of the layer's own tensors at release; later None, since the manifest has them.
    `only` names the one recorded case that is run, where a run was narrowed; the others then serve as controls.
    `no_source` says why the model's code is not at hand; it is, where this is empty.
    """

    content: Mapping[str, Any]
    spec: Spec
    folder: Path
    golden: Path
    checkpoint: Path | None
    device: str
    trained: frozenset[str] | None
    no_source: str = ""
    only: str = ""


def judge(subject: Subject, runs: Sequence[Run], setting: Setting, notes: Sequence[str] = ()) -> Report:
    """Plan the claims, gather the evidence, waive what is waived today."""
    content, spec, bench = subject.content, subject.spec, bench_of(subject)
    artifacts = bench.artifacts
    stored = [artifacts[name] for name in dict.fromkeys(run.variant for run in runs if run.format != "source")]
    proven = stored if content["parameters"] else []
    low = low_precision(
        bench,
        runs,
        Task(spec, subject.checkpoint),
        with_source=any(one.format == "source" for one in runs),
        released_on=content["provenance"].get("machine", {}).get("abilities", ()),
    )
    planned = claims(runs, [case.name for case in bench.cases], bench.outputs) | low.claims()
    planned |= together.claims(runs, bench.draws)
    planned |= {parameters.claim(artifact) for artifact in proven} | {declared.claim(artifact) for artifact in stored}
    evidence = {parameters.claim(artifact): _stored(subject, artifact, artifacts) for artifact in proven}
    for artifact in stored:
        evidence[declared.claim(artifact)] = declared.prove_declared(artifact, subject.folder, content)
    said: list[str] = []
    if idle := _idle(subject, bench, runs):
        evidence.update(undecided([claim for claim in planned if claim not in evidence], idle))
        said.append(told(idle))
    else:
        evidence.update(gather(bench, runs, setting))
        kept, said = low.prove(evidence, setting)
        evidence.update(kept)
    verdict = Verdict(planned, evidence)
    if not subject.no_source:
        verdict = contradicted(bench, runs, verdict, setting)
    paddle_kernels = {name for name, engine in ENGINES.all() if engine.paddle_kernels}
    methods = {output["method"] for case in content["cases"] for output in case["outputs"].values()}
    return Report(
        name=content["name"],
        version=content["version"],
        verdict=waived(verdict, spec.waivers, datetime.now(timezone.utc).date()),
        budget=spec.budget,
        notes=(
            *notes,
            *said,
            *content["notes"],
            *_left_out(content),
            *unlike_bits(verdict, paddle_kernels),
            *differences(verdict, artifacts),
        ),
        waivers=tuple(one.model_dump(mode="json") for one in spec.waivers),
        digest=content.get("digest", ""),
        methods=tuple(sorted(methods)),
    )


def _idle(subject: Subject, bench: Bench, runs: Sequence[Run]) -> tuple[Doubt, ...]:
    """Why it is idle to run any engine; of a bundle that has passed, and of one case alone, it is not asked."""
    recorded = bench.cases[: len(subject.content["cases"])]
    if subject.content["verdict"] == "passed" or len(recorded) < 2:
        return ()
    return still_open(doubts(recorded, bench.budget), runs, subject.spec.waivers)


def blame(subject: Subject, report: Report, setting: Setting, keep: Keep | None) -> Report:
    """Say where what failed came in.

    Raises:
        UsageError, EnvironmentLacks: the folder for repros cannot be written.
    """
    order = {variant: at for at, variant in enumerate(("source", *subject.content["variants"]))}
    engines = ENGINES.names()
    plain = [one for one in report.verdict.plan if one.precision == "fp32"]  # of others the noise of each layer tells
    runs = {Run(one.format, one.precision, one.engine) for one in plain if one.engine in engines}
    search = Search(bench_of(subject), report.verdict, setting, subject.no_source, keep)
    return replace(report, blames=localise(search, sorted(runs, key=lambda run: (order[run.variant], run.engine))))


def bench_of(subject: Subject) -> Bench:
    """Where the evidence on a subject comes from.

    Raises:
        BundleError: the goldens are not whole.
    """
    content, spec = subject.content, subject.spec
    outputs = [one["name"] for one in content["outputs"]]
    recorded = read_goldens(subject.golden, content["cases"])
    narrowed = [case for case in recorded if case.name == subject.only]
    return Bench(
        folder=subject.folder,
        golden=subject.golden,
        cases=to_run(narrowed or recorded),
        artifacts={name: artifact_from_json(one) for name, one in content["variants"].items()},
        outputs=tuple(outputs),
        inputs=tuple(spec.inputs),
        source=_source(subject, outputs),
        device=subject.device,
        budget=spec.budget,
        controls=to_run(recorded) if narrowed else (),
    )


def _left_out(content: Mapping[str, Any]) -> list[str]:
    return [
        f"the probing case {name} tells nothing and was left out: {why}" for name, why in content["left_out"].items()
    ]


def _stored(subject: Subject, artifact: Artifact, artifacts: Mapping[str, Artifact]) -> Evidence:
    if subject.trained is not None and artifact.precision != "fp32":
        return prove_rounded(artifact, artifacts[artifact.format], subject.folder)
    if subject.trained is not None:
        return parameters.prove_origin(artifact, subject.folder, subject.trained)
    return parameters.prove_unchanged(artifact, subject.folder)


def _source(subject: Subject, outputs: Sequence[str]) -> dict[str, Any]:
    """What the engines of the format `source` open."""
    spec = subject.spec
    return {
        "model": spec.model,
        "checkpoint": str(subject.checkpoint) if subject.checkpoint else None,
        "seed": spec.seed,
        "inputs": [{"name": one.name, "dtype": one.dtype, "shape": list(one.shape)} for one in spec.input_specs()],
        "outputs": list(outputs),
        "fixed": fixed_dims(spec),
    }
