"""Lower to every format that a spec asks for, each in a child of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.version import Version

from exporter.base.errors import (
    BundleError,
    CannotRun,
    ChildCrashed,
    ChildFailed,
    ExporterError,
    ModelError,
    UsageError,
)
from exporter.base.files import room_explains, total_size
from exporter.base.readers import read, refuse_others
from exporter.base.readers.undecided import Reach, reach_in_all
from exporter.base.registry import Registry
from exporter.base.tensors import TensorSpec, digest, load
from exporter.export.lower.base import TRACING, Artifact, Format, Wish
from exporter.export.lower.child import (
    Destination,
    ExportRequest,
    ExportTracedRequest,
    LayerSource,
    TracedFormat,
    Trial,
    export,
    export_traced,
)
from exporter.export.lower.precision.base import Precision
from exporter.export.lower.precision.child import LowerRequest, lower
from exporter.export.lower.precision.refused import REFUSED
from exporter.export.lower.stored import Digests, stored_digests
from exporter.export.sources.direct import written_directly
from exporter.export.trace.outputs import Seen
from exporter.export.trained_ranges import ranges_in
from exporter.process.answers import Event
from exporter.process.job import A, Job, Q
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Budget, Spec

FORMATS: Registry[Format] = Registry("exporter.export.lower", "format")
#: Formats that are judged where another tool wrote them, and written by none of ours.
JUDGED_ONLY = ("openvino",)
PRECISIONS: Registry[Precision] = Registry("exporter.export.lower.precision", "precision")


def folds(format: str) -> bool:
    """Return whether files of a format hold constants of their writer, and parameters folded into each other."""
    return format in JUDGED_ONLY or FORMATS[format].folds


@dataclass(frozen=True)
class Conversion:
    """What came of one layer: its artifacts, its outputs (−1 where a size varies), the digests of its tensors.

    `modules` are those that the children had loaded in the end: name -> file. `constants` are the outputs that no input
    decides, in the trace and in every file, and `sized` those that nothing but sizes decides.
    """

    artifacts: tuple[Artifact, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: Mapping[str, str]
    modules: Mapping[str, str] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    sized: tuple[str, ...] = ()

    @property
    def output_names(self) -> list[str]:
        """The outputs' names, in the order that `forward` returns them."""
        return [output.name for output in self.outputs]


@dataclass(frozen=True)
class _Calibration:
    """What a precision is written with: a file of calibration samples, and trained ranges by the layers' weights."""

    samples: Path | None
    ranges: Mapping[str, tuple[float, float]]


def convert_all(
    spec: Spec,
    checkpoint: Path | None,
    into: Path,
    setting: Setting,
    samples: Mapping[str, Path] | None = None,
    trial: Trial | None = None,
) -> Conversion:
    """Write `into/<variant>/` for each format, then what is made of these in other precisions.

    `samples` names a file of calibration samples for each precision that is calibrated. `trial` runs the layer, once it
    is built and before it is traced.

    Raises:
        CannotRun: the layer was to be tried, and cannot be built or run.
        UsageError: the factory, the checkpoint or the inputs are wrong.
        ModelError: a format cannot hold the model, or its child crashed or ran out of time; it names the format.
    """
    formats = {name: FORMATS[name].after for name in spec.formats}
    derived = [name for name, after in formats.items() if after in formats]
    layer, wish = layer_and_wish(spec, checkpoint)
    destinations = [_destination(name, into) for name in formats if name not in derived]
    written = written_directly(destinations, layer, wish, trial, setting)
    written = written or _traced(destinations, layer, wish, trial, setting)
    traced = next(iter(written.values()))
    artifacts = {name: answer.artifact for name, answer in written.items()}
    modules = [answer.modules for answer in written.values()]
    for name in derived:
        place, source = _destination(name, into), into / str(formats[name])
        names = tuple(output.name for output in traced.outputs)
        setting.say(f"writing {name}")
        answer = _called(export, name, ExportRequest(name, place.into, source, names, layer, wish), setting)
        artifacts[name] = answer.artifact
        modules.append(answer.modules)
    digests = Digests()
    plain = tuple(_read_again(artifacts[name], traced, spec, into, digests) for name in spec.formats)
    _those_of(checkpoint, traced.parameters)
    calibrations = {
        name: _Calibration(
            samples[name] if samples and name in samples else None,
            _trained(checkpoint, traced.names) if settings.ranges == "trained" else {},
        )
        for name, settings in spec.precisions.items()
    }
    grown = setting.grown(total_size(path for path in into.rglob("*") if path.is_file()))
    lowered = tuple(
        _lower_precision(artifact, precision, spec, into, grown, calibrations[precision])
        for precision in spec.precisions
        for artifact in plain
        if (artifact.format, precision) in spec.variants() and precision != "fp32"
    )
    files = {name: file for loaded in modules for name, file in loaded.items()}
    constants, sized = _without_values(into, (*plain, *lowered))
    return Conversion((*plain, *lowered), traced.outputs, traced.parameters, files, constants, sized)


def _without_values(into: Path, artifacts: Sequence[Artifact]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The outputs that no input decides, and those that nothing but sizes does, in the trace and in every file."""
    reached = reach_in_all(into / artifact.main for artifact in artifacts)
    for artifact in artifacts:  # a file that was made of a trace may have lost what leads to an output
        if (trace := artifact.details.get("reach")) is not None:
            reached = {name: max(how, Reach(trace.get(name, Reach.VALUES))) for name, how in reached.items()}
    constants, sized = (
        tuple(sorted(name for name, how in reached.items() if how == wanted)) for wanted in (Reach.NOTHING, Reach.SIZES)
    )
    return constants, sized


def _traced(
    destinations: Sequence[Destination], layer: LayerSource, wish: Wish, trial: Trial | None, setting: Setting
) -> dict[str, TracedFormat]:
    """Trace the layer for each destination, from one that is built once for all where it can be."""
    answers: dict[str, TracedFormat] = {}
    seen = Seen()
    while left := [place for place in destinations if place.format not in answers]:
        names, first = ", ".join(place.format for place in left), left[0].format
        setting.say(f"writing {names}")
        request = ExportTracedRequest(names, tuple(left), layer, wish, trial, seen)
        try:
            answer = _called(export_traced, first, request, setting)
        except ModelError as error:
            raise _with_way_out(error, layer, wish, setting) from error
        written, seen = answer.written, answer.seen
        answers |= {
            place.format: written[place.format] for place in left if place.format in written or place.format == first
        }
        trial = None
        if any(answer.parameters != answers[destinations[0].format].parameters for answer in written.values()):
            raise ModelError(
                "the factory gave other weights each time it was called",
                where=layer.model,
                hint="give the weights as a checkpoint, or seed the factory's own random generators",
            )
    return answers


def _with_way_out(error: ModelError, layer: LayerSource, wish: Wish, setting: Setting) -> ModelError:
    """The same error; where the trace to PIR failed and one to a legacy program goes through, its hint says so.

    PIR has tensors for sizes that vary, and refuses `sorted(a.shape)`; a legacy trace has numbers there (3.3.1).
    """
    if not re.match(r"\w+: trace: ", error.what) or FORMATS[error.what.partition(":")[0]].legacy:
        return error
    for name in (name for name, plugin in FORMATS.all() if plugin.legacy):
        setting.say(f"trying {name} instead")
        with scratch() as place:
            request = ExportTracedRequest(name, (_destination(name, place),), layer, wish)
            try:
                call(export_traced, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
            except ExporterError:
                continue
        way = f"write {name} alone (`formats: [{name}]`): the trace to a legacy program goes through"
        return type(error)(error.what, where=error.where, hint=f"{way}; or {error.hint}")
    return error


def _destination(name: str, into: Path) -> Destination:
    """Return where a format is written to, and make the empty folder."""
    (into / name).mkdir(exist_ok=True)
    return Destination(name, into / name)


def _read_again(artifact: Artifact, traced: TracedFormat, spec: Spec, folder: Path, digests: Digests) -> Artifact:
    """The artifact of an answer, with the digests of what its files store and the layer's names for it.

    Of a program that reads no tensor of the layer that is noted, so that a bundle which stores none says why.
    They are read here: the child has imported the model, whose code may do anything to what it answers.

    Raises:
        ModelError: as :func:`_as_read`.
    """
    held = set() if traced.stateless else set(traced.parameters.values())
    artifact = _as_read(artifact, folder, spec, held, digests)
    if not held:
        artifact = replace(artifact, details={**artifact.details, "stateless": True})
    own = {stored: name for name, stored in sorted(traced.names.items(), reverse=True)}
    return replace(artifact, origins={stored: own[stored] for stored in artifact.weights if stored in own})


def _as_read(artifact: Artifact, folder: Path, spec: Spec, held: set[str], digests: Digests | None = None) -> Artifact:
    """The artifact with what its files say: their writer, order of outputs and tensors; `held` are the layer's digests.

    Raises:
        ModelError: an input or output is lost, a tensor is not the layer's, or the program does more than compute.
    """
    with room_explains(folder / artifact.variant):
        facts = read(folder / artifact.main)
        weights = stored_digests(artifact.files, folder, facts, digests)
    try:
        refuse_others(facts, artifact.main)
    except BundleError as error:
        raise ModelError(
            f"{artifact.variant}: {error.what}",
            where=artifact.main,
            hint="leave out of `forward` what prints, reads files or calls Python while the program runs",
        ) from error
    foreign = set(weights.values()) - held if held else set()
    try:
        FORMATS[artifact.format].ensure(facts, spec.input_specs(), artifact.outputs, foreign)
    except ModelError as error:
        raise ModelError(f"{artifact.variant}: {error.what}", where=artifact.main, hint=error.hint) from error
    return replace(
        artifact,
        native_outputs=tuple(one.name for one in facts.outputs),
        details={"writer": facts.writer, **artifact.details},
        weights=weights,
    )


def _those_of(checkpoint: Path | None, parameters: Mapping[str, str]) -> None:
    """Compare what the layer holds, as its process told, with what the checkpoint holds, read here.

    Raises:
        ModelError: a tensor is another one.
    """
    if checkpoint is None:
        return
    own = {name: digest(value) for name, value in load(checkpoint).items()}
    if differ := sorted(name for name, found in own.items() if parameters.get(name) != found):
        raise ModelError(
            f"{len(differ)} of the layer's tensors are not the checkpoint's, as '{differ[0]}'",
            where=str(checkpoint),
            hint="look for code of the model that changes its weights, or how they are compared, while it is exported",
        )


def _trained(checkpoint: Path | None, names: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """The trained ranges in a checkpoint, by what the program calls the layers' weights."""
    found = ranges_in(checkpoint)
    weights = {path: f"{path}.weight" if path else "weight" for path in found}
    if lost := sorted(set(weights.values()) - set(names)):
        raise UsageError(
            f"it holds a trained range for '{lost[0]}', which the model does not have",
            where=str(checkpoint),
            hint="train again, or name the checkpoint of this model and of this version of its code",
        )
    return {names[weights[path]]: pair for path, pair in found.items()}


def effective_budget(precision: str, spec: Spec) -> Budget:
    """Return the budget of a variant: the spec's values, and the precision's defaults for the rest."""
    given = spec.precisions[precision].budget.model_dump(exclude_none=True)
    return Budget.model_validate({**PRECISIONS[precision].budget.model_dump(exclude_none=True), **given})


def refuse_precisions(spec: Spec) -> None:
    """Make sure that every variant has a route, before any work.

    Raises:
        UsageError, EnvironmentLacks: one has none, for the reason given.
    """
    for format, name in spec.variants():
        if name in REFUSED:
            raise UsageError(f"'{name}' is refused: {REFUSED[name]}", where="precisions", hint=f"take '{name}' out")
        if name != "fp32" and (error := PRECISIONS[name].refuse(format, name, spec.precisions[name])):
            raise error


def fixed_dims(spec: Spec) -> dict[str, int]:
    """Named dims that never vary: they are written as numbers."""
    return {name: dim.min for name, dim in spec.dims.items() if dim.min == dim.max}


def oldest_paddle(targets: Sequence[str]) -> str | None:
    """The oldest Paddle Inference among targets such as `paddle_inference>=2.6`; None where none is named."""
    from packaging.requirements import Requirement  # few specs name a target, and it takes 40 ms

    wanted = [Requirement(target) for target in targets]
    asked = [one.version for need in wanted if need.name == "paddle_inference" for one in need.specifier]
    versions = [version.removesuffix(".*") for version in asked]
    return min(versions, key=Version, default=None)


def _lower_precision(
    plain: Artifact, precision: str, spec: Spec, into: Path, setting: Setting, calibration: _Calibration
) -> Artifact:
    variant = f"{plain.format}-{precision}"
    setting.say(f"writing {variant}")
    (into / variant).mkdir()
    budget = effective_budget(precision, spec)
    request = LowerRequest(
        precision=precision,
        format=plain.format,
        source=into / plain.variant,
        into=into / variant,
        settings=spec.precisions[precision],
        budget=budget,
        samples=calibration.samples,
        rows=spec.precisions[precision].samples,
        ranges=calibration.ranges,
        inputs=tuple(spec.inputs),
        outputs=plain.outputs,
    )
    artifact = _as_read(_called(lower, variant, request, setting), into, spec, set())
    return replace(artifact, details={**artifact.details, "budget": budget.model_dump(mode="json")})


def layer_and_wish(spec: Spec, checkpoint: Path | None) -> tuple[LayerSource, Wish]:
    """Return how a child builds and traces the layer of a spec, and what the spec asks of the files."""
    outputs = tuple(spec.outputs) if spec.outputs else None
    layer = LayerSource(spec.factory, checkpoint, spec.seed, outputs, fixed_dims(spec), spec.dims)
    data_over = None if spec.external_data_mb is None else int(spec.external_data_mb * 1e6)
    return layer, Wish(spec.opset, oldest_paddle(spec.targets), tuple(spec.input_specs()), spec.writer, data_over)


def _called(job: Job[Q, A], name: str, request: Q, setting: Setting) -> A:
    """What the child answers; its errors name the format, unless they come of trying the layer before it is traced.

    `name` is the first format that it writes; it says itself when it comes to another.
    """
    steps: list[str] = []
    several = request if isinstance(request, ExportTracedRequest) else None
    known = {place.format for place in several.destinations} if several else set()
    reached = [name]

    def follow(event: Event) -> None:
        steps.append(event["doing"])
        if (format := event.get("format")) in known:
            reached.append(format)
        if setting.on_event:
            setting.on_event(event)

    try:
        return call(job, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=follow)
    except ModelError as error:
        if several is None or several.trial is None or TRACING in steps:
            raise _of_format(reached[-1], error) from error
        raise CannotRun.of(error) from error


def _of_format(name: str, error: ModelError) -> ModelError:
    """The same error, told of a format, once."""
    what = error.what if error.what.startswith(f"{name}: ") else f"{name}: {error.what}"
    if not isinstance(error, ChildFailed):
        return type(error)(what, where=error.where, hint=error.hint)
    what, hint = f"{what}{_last_words(error)}", f"{error.hint}, or leave this format out"
    return type(error)(what, where=error.where, hint=hint, details=error.details)


def _last_words(error: ChildFailed) -> str:
    """Return the last line that a library printed before it aborted the process, without Python's crash report."""
    if not isinstance(error, ChildCrashed):
        return ""
    own, _, _ = error.details.partition("Fatal Python error")
    lines = [line.strip() for line in own.splitlines() if line.strip() and "Warning" not in line]
    telling = [
        line for line in lines if re.search(r"error|fail|unsupported|not support|terminate|what\(\)|assert", line, re.I)
    ]
    return f"; it said: {(telling or lines)[-1][:300]}" if lines else ""
