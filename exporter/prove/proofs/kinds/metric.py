"""The budget of low precision on the task: what is lost of the recipe's metric on all held-out samples.

Three steps in children: eager runs on the samples, each engine runs on the same, and the recipe's metric rates both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exporter.base.errors import ExporterError, UsageError
from exporter.base.tensors import Array
from exporter.engines.job import REFUSED, EngineCase
from exporter.export import trained_ranges
from exporter.export.lower.convert import effective_budget
from exporter.process.job import A, Job, Q, job
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call, doing
from exporter.prove.goldens.cases import batch_dim
from exporter.prove.harness import Bench
from exporter.prove.proofs.base import Harness, Proof, per_run
from exporter.prove.proofs.promises import Promise, lower_runs, promises, weighed
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.spec.model import Spec
from exporter.spec.pipeline import UNRATED, Unrated


@dataclass(frozen=True)
class SamplesRequest:
    """The spec with its recipe, the checkpoint, the outputs' names, and the file for the held-out samples."""

    spec: Spec
    checkpoint: Path | None
    outputs: tuple[str, ...]
    into: Path


@dataclass(frozen=True)
class SamplesAnswer:
    """The names of the batches in the file, in their order."""

    cases: tuple[str, ...]


@dataclass(frozen=True)
class RateRequest:
    """The recipe, the file of the samples with its batches, and the folder of what an engine made of them.

    `names` are the artifact's own names of the `outputs`.
    """

    recipe: str
    samples: Path
    cases: tuple[str, ...]
    into: Path
    outputs: tuple[str, ...]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Rated:
    """The metric on so many `rows`: of an engine (`value`) and of `eager`, what is lost, and its 95 % interval.

    `equal` says that the outputs are equal bit for bit. `sign` is -1 where less is better. `impostors` says what
    answers would lose that do not depend on the input.
    """

    metric: str
    rows: int
    value: float
    eager: float
    sign: float
    impostors: Mapping[str, float]
    loss: float
    low: float
    high: float
    equal: bool = False


@dataclass(frozen=True)
class Task:
    """The spec with its recipe, and the checkpoint that was trained by it."""

    spec: Spec
    checkpoint: Path | None

    @property
    def ratable(self) -> bool:
        """Whether the recipe's samples are what every input takes."""
        return self.spec.recipe is not None and all(tensor.values == "dataset" for tensor in self.spec.inputs.values())


class TaskMetric(Proof):
    """One claim for each run in low precision, and of fp32 where the spec says what surrounds the model (`pipeline`).

    A loss that the spec itself bounds is planned always, the default of a precision where the spec has a recipe that
    feeds every input, and none that the spec calls `unrated`. Where the model or the recipe is not at hand, the claims
    are MISSING; those of fp32 are planned only with the source: without it the recorded outputs judge.
    """

    kind = "metric"
    after = ("outputs",)
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        spec = harness.spec
        runs = [run for run in lower_runs(harness) if _promises(spec, run.precision)]
        if _promises_around(spec) and not harness.subject.no_source:
            runs += [run for run in harness.runs if run.format != "source" and run.precision == "fp32"]
        return per_run(self.kind, runs)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        task = Task(harness.spec, harness.subject.checkpoint)
        why_not = harness.subject.no_source or (
            "" if task.ratable else "the spec names no recipe that feeds the inputs"
        )
        if why_not:
            reason = f"the metric cannot be rated: {why_not}; or leave it out on purpose, --without {self.kind}"
            return dict.fromkeys(claims, Evidence(Outcome.MISSING, reason, stage="environment"))
        low = [claim for claim in claims if claim.precision != "fp32"]
        wanted = promises(low, harness, lambda budget, _: _bound(budget.max_metric_loss))
        around = harness.spec.pipeline
        if around is not None and (loss := _bound(around.max_metric_loss)) is not None:
            wanted += [Promise(claim, loss) for claim in claims if claim.precision == "fp32"]
        with scratch() as place:
            proven = prove_metric(task, harness.bench, wanted, place, harness.setting)
        return {claim: _beside_outputs(claim, found, harness.evidence) for claim, found in proven.items()}


def is_rated(spec: Spec) -> bool:
    """Whether the recipe's metric will be asked about what the model gives, where the recipe is at hand."""
    low = {precision for _, precision in spec.variants()} - {"fp32"}
    return Task(spec, None).ratable and (_promises_around(spec) or any(_promises(spec, one) for one in low))


def _promises(spec: Spec, precision: str) -> bool:
    if spec.precisions[precision].budget.max_metric_loss is None and not Task(spec, None).ratable:
        return False
    return _bound(effective_budget(precision, spec).max_metric_loss) is not None


def _promises_around(spec: Spec) -> bool:
    around = spec.pipeline
    return around is not None and Task(spec, None).ratable and _bound(around.max_metric_loss) is not None


def _bound(loss: float | Unrated | None) -> float | None:
    return None if loss == UNRATED else loss


def _beside_outputs(claim: Claim, found: Evidence, evidence: Mapping[Claim, Evidence]) -> Evidence:
    """The evidence on a metric, with what it means where the run's recorded outputs are right and the metric is not."""
    if claim.precision != "fp32" or found.outcome is not Outcome.MISMATCH:
        return found
    own = [
        one.outcome is Outcome.MATCH
        for other, one in evidence.items()
        if (other.kind, other.variant, other.engine) == ("outputs", claim.variant, claim.engine)
    ]
    if not own or not all(own):
        return found
    said = "the outputs of every recorded case agree with eager's, and the metric does not"
    why = (
        "on these samples they are equal bit for bit, so the metric does not give the same for the same"
        if found.bit_equal
        else "the samples reach what no case does, or the metric hangs on ties"
    )
    return replace(found, reason=f"{found.reason}; {said}: {why}")


def prove_metric(
    task: Task, bench: Bench, promises: Sequence[Promise], place: Path, setting: Setting
) -> dict[Claim, Evidence]:
    """Evidence for every promise on the metric; what goes wrong on the way is evidence too."""
    if not promises:
        return {}
    setting.say("running eager on the held-out samples")
    samples = place / "held_out.safetensors"
    assert task.spec.recipe is not None  # noqa: S101  # the metric was planned because there is one
    request = SamplesRequest(task.spec.without_verdict(), task.checkpoint, bench.outputs, samples)
    proven: dict[Claim, Evidence] = {}
    try:
        names_of_cases = _in_child(prepare, request, setting).cases
    except ExporterError as error:
        return {promise.claim: Evidence(Outcome.MISSING, f"no samples: {error}", stage="run") for promise in promises}
    cases = tuple(EngineCase(name, name) for name in names_of_cases)
    before = trained_ranges.before(task.checkpoint) if task.checkpoint else None
    for number, promise in enumerate(promises):
        run, claim = promise.run, promise.claim
        setting.say(f"running {run.variant} by {run.engine} on the held-out samples")
        into = place / f"metric{number}"
        into.mkdir()
        names = dict(zip(bench.outputs, bench.artifacts[run.variant].outputs, strict=True))
        try:
            answer = replace(bench.job(run), golden=samples, cases=cases).run(into, setting)
            if answer.refusal:
                raise UsageError(answer.refusal, hint=REFUSED)
            rating = RateRequest(task.spec.recipe, samples, names_of_cases, into, bench.outputs, names)
            proven[claim] = _judge(promise.wanted, _in_child(rate, rating, setting), before)
        except ExporterError as error:
            proven[claim] = Evidence(Outcome.CRASHED, str(error), stage="run")
    return proven


def _in_child(job: Job[Q, A], request: Q, setting: Setting) -> A:
    return call(job, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)


def _judge(wanted: float, rated: Rated, before: float | None) -> Evidence:
    """`before` is the metric of float32 before it was trained with roundings: what that lost is lost as well."""
    loss, low, high = rated.loss, rated.low, rated.high
    said = (
        f"{rated.metric} {rated.value:.4f}, eager's is {rated.eager:.4f}, on {rated.rows} held-out "
        f"samples: a loss of {loss:.4f} (95 % interval {low:.4f} to {high:.4f}), at most {wanted:g} promised"
    )
    metrics = {"loss": loss, "low": low, "high": high, "value": rated.value, "eager": rated.eager}
    if before is not None:
        metrics |= {"before": before, "loss_in_all": rated.sign * (before - rated.value)}
        said += f"; it was {before:.4f} before training with roundings, a loss of {metrics['loss_in_all']:.4f} in all"
    kept = loss <= wanted and metrics.get("loss_in_all", loss) <= wanted
    impostors = ((f"{name} would lose {lost:.4f}", lost <= wanted) for name, lost in rated.impostors.items())
    broken = Evidence(Outcome.MISMATCH, said, elements=rated.rows, bit_equal=rated.equal, metrics=metrics)
    return weighed(kept, broken, impostors)


# ---- the child's side ------------------------------------------------------------------------------------------


@job(reuse="the metric's samples")
def prepare(request: SamplesRequest) -> SamplesAnswer:
    """Cut the held-out samples into batches that the spec allows, and store them with what eager makes of them."""
    from exporter.base.tensors import save_scratch
    from exporter.engines.paddle import call_layer, named_arrays
    from exporter.export.trace.layer import load_layer
    from exporter.export.trace.traced import bind_inputs
    from exporter.spec.recipe.load import load_data, load_recipe
    from exporter.train.evaluate import refuse_other_rows

    spec = request.spec
    assert spec.recipe is not None  # noqa: S101  # the metric was planned because there is one
    recipe = load_recipe(spec.recipe)
    held_out = load_data(recipe, spec.recipe).held_out
    if lacking := sorted(set(spec.inputs) - set(recipe.inputs)):
        raise UsageError(
            f"the recipe feeds no '{lacking[0]}'", where=spec.recipe, hint="name inputs as the recipe does"
        )
    layer = load_layer(spec.factory, request.checkpoint, spec.seed)
    order = tuple(tensor.name for tensor in bind_inputs(layer, spec.input_specs()))
    tensors: dict[str, Array] = {}
    cases = []
    for start, stop in _cuts(spec, len(held_out[recipe.inputs[0]])):
        doing(f"running eager on samples {start} to {stop}")
        case = f"{start:08}"
        part = {name: held_out[name][start:stop] for name in order}
        tensors |= {f"{case}/input/{name}": value for name, value in part.items()}
        named = named_arrays(call_layer(layer, order, part), request.outputs)
        refuse_other_rows(named, stop - start, recipe, spec.recipe)
        tensors |= {f"{case}/eager/{name}": value for name, value in named.items()}
        cases.append(case)
    save_scratch(request.into, tensors)
    return SamplesAnswer(tuple(cases))


def _cuts(spec: Spec, rows: int) -> list[tuple[int, int]]:
    """Where each batch starts and stops: as large as the spec allows, the last as large as it may be."""
    name = batch_dim(spec)
    fixed = next(iter(spec.inputs.values())).shape[0]
    dim = spec.dims[name] if name else None
    most, step = (dim.max, dim.multiple_of) if dim else (int(fixed), int(fixed))
    cuts, start = [], 0
    while rows - start >= (dim.min if dim else step):
        size = min(most, rows - start) // step * step
        cuts.append((start, start + size))
        start += size
    return cuts


@job(reuse="the metric")
def rate(request: RateRequest) -> Rated:
    """The recipe's metric of eager and of an engine, the loss between them, and its interval."""
    import numpy as np

    from exporter.base.numbers.intervals import bootstrap, paired
    from exporter.base.tensors import load
    from exporter.spec.recipe.load import load_data, load_recipe
    from exporter.train.evaluate import score

    where = request.recipe
    recipe = load_recipe(where)
    samples = load(request.samples)
    answers = [load(request.into / f"{index}.safetensors") for index in range(len(request.cases))]
    eager = [np.concatenate([samples[f"{case}/eager/{name}"] for case in request.cases]) for name in request.outputs]
    engine = [np.concatenate([answer[request.names[name]] for answer in answers]) for name in request.outputs]
    rows = len(eager[0])
    held_out = load_data(recipe, where).held_out
    labels = {name: held_out[name][:rows] for name in recipe.labels}
    sign = 1.0 if recipe.goal == "max" else -1.0

    def rated(outputs: list[Any], index: Any) -> float:
        drawn = {name: value[index] for name, value in labels.items()}
        return score(recipe, [output[index] for output in outputs], drawn, where)

    def loss(index: Any) -> float:
        return sign * (rated(eager, index) - rated(engine, index))

    every = np.arange(rows)
    value, before = rated(engine, every), rated(eager, every)
    doing("drawing samples anew for the interval")
    single = [np.array([rated(side, every[at : at + 1]) for at in range(rows)]) for side in (eager, engine)]
    shares = all(set(np.unique(scores)) <= {0.0, 1.0} for scores in single)
    if shares and np.isclose(single[0].mean(), before) and np.isclose(single[1].mean(), value):
        low, high = paired(single[0] * sign > single[1] * sign, single[0] * sign < single[1] * sign)
    else:
        low, high = bootstrap(loss, rows)
    return Rated(
        metric=recipe.metric_name,
        rows=rows,
        value=value,
        eager=before,
        equal=all(map(np.array_equal, eager, engine)),
        sign=sign,
        impostors={
            name: sign * (before - score(recipe, [output[index] for output in eager], labels, where))
            for name, index in _impostors(eager, rows).items()
        },
        loss=sign * (before - value),
        low=low,
        high=high,
    )


def _impostors(eager: Sequence[Array], rows: int) -> dict[str, Array]:
    """Answers that do not depend on the input, as the rows of eager's own that are given in their place."""
    import numpy as np

    impostors = {"the answers shuffled": np.random.default_rng(0).permutation(rows)}
    first = eager[0].reshape(rows, -1)
    if rows > 1:
        labels = first.argmax(1) if first.shape[1] > 1 else first[:, 0]
        _, places, counts = np.unique(labels, return_index=True, return_counts=True)
        impostors["the commonest answer for every row"] = np.full(rows, places[counts.argmax()])
    return impostors


plugin: Proof = TaskMetric()
