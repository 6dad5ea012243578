"""The plan: which claims a verdict must answer, fixed before anything runs.

What happens to be installed never shapes it. An engine that the spec names and the machine lacks leaves its claims
MISSING; an engine that cannot run any of the formats asked for is a mistake in the spec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.registry import Registry
from exporter.engines.base import Engine
from exporter.export.lower.convert import FORMATS, JUDGED_ONLY
from exporter.spec.model import Spec, Speedup
from exporter.spec.source import FACTORY

ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
_ADD_ONNX = "add onnx to formats, or leave the key out"
#: The engines that run the source.
SOURCE_ENGINES = ("file", "file_default", "file_tensorrt", "eager", "static")
#: How a file is served as it was given, by the engine that serves our own files so.
SERVED = {"paddle_inference_default": "file_default", "paddle_inference_tensorrt": "file_tensorrt"}


@dataclass(frozen=True)
class Run:
    """One child: an engine on a variant, for all cases."""

    format: str
    precision: str
    engine: str

    @property
    def variant(self) -> str:
        """The variant's name: `onnx`, or `onnx-fp16`."""
        return self.format if self.precision == "fp32" else f"{self.format}-{self.precision}"


def source_engines(spec: Spec) -> tuple[str, ...]:
    """Return the engines that are planned wherever the source is at hand.

    The file itself only where it is one (:func:`_ways_of_the_file`); the trace in the process, which is one to PIR,
    only where a variant is made of such a trace.
    """
    return (*_ways_of_the_file(spec), *(("eager",) if only_legacy(spec) else ("eager", "static")))


def _ways_of_the_file(spec: Spec) -> tuple[str, ...]:
    """How the file itself is run, where the model is one: strictly always, else as the engines that the spec names run.

    Nobody else's verdict hangs on Paddle's optimisations (3.3.1 refuses `interpolate` as it comes). TensorRT takes only
    a `.pdmodel`.
    """
    if spec.model != FACTORY:
        return ()
    legacy = str(spec.args.get("program", "")).endswith(".pdmodel")
    served = [SERVED[name] for name in spec.engines if name in SERVED]
    return ("file", *(name for name in served if legacy or name != "file_tensorrt"))


def only_legacy(spec: Spec) -> bool:
    """Return whether every format is made of a trace to a legacy program, so that PIR need not hold the model."""
    return all(name not in JUDGED_ONLY and FORMATS[name].legacy for name in spec.formats)


def with_defaults(spec: Spec) -> Spec:
    """Return the spec with what it leaves open said in full: its engines, and the steps of its pipeline.

    Unless it names engines, they are those of the usual ones that run one of its formats.

    Raises:
        UsageError: a file that names steps is not there, or lists what no step is known for.
    """
    if "engines" not in spec.model_fields_set:
        able = tuple(name for name in spec.engines if set(ENGINES[name].formats) & set(spec.formats))
        spec = spec.model_copy(update={"engines": able})
    return spec if spec.pipeline is None else spec.model_copy(update={"pipeline": spec.pipeline.settled()})


def plan_runs(
    engines: Sequence[str], variants: Sequence[tuple[str, str]], sources: Sequence[str] = ()
) -> tuple[Run, ...]:
    """Pair each engine with each variant that it runs; variants are (format, precision).

    `sources` are the engines that run the source (:func:`source_engines`); none where it is not at hand.

    Raises:
        UsageError: an engine is unknown, or runs none of the variants; or a variant is run by no engine, so that it
            would be released unproven.
    """
    runs = [Run("source", "fp32", name) for name in sources]
    for name in engines:
        able = [Run(*variant, name) for variant in variants if ENGINES[name].runs(*variant)]
        if not able and name not in SOURCE_ENGINES and SERVED.get(name) not in sources:
            kinds = _kinds(name)
            raise UsageError(
                f"engine '{name}' runs none of the formats",
                where="engines",
                hint=f"leave it out, or add what it runs: {kinds}",
            )
        runs.extend(able)
    proven = {(run.format, run.precision) for run in runs}
    for variant in variants:
        if variant not in proven:
            able_names = [name for name, engine in ENGINES.all() if engine.runs(*variant)]
            low = "" if variant[1] == "fp32" else f" in {variant[1]}"
            raise UsageError(
                f"no engine runs the format '{variant[0]}'{low}, so nothing would prove it",
                where="engines",
                hint=f"add one of: {', '.join(able_names)}",
            )
    return tuple(runs)


def _kinds(engine: str) -> str:
    """`onnx in fp32, int8`."""
    return f"{', '.join(ENGINES[engine].formats)} in {', '.join(ENGINES[engine].precisions)}"


def plan_some(engines: Sequence[str], variants: Sequence[tuple[str, str]], with_source: bool) -> tuple[Run, ...]:
    """Only what somebody asked for: each of the engines on every variant that it runs, the source among them.

    Raises:
        UsageError: an engine is unknown, or has nothing here to run; or none of them reads an artifact.
    """
    here = [("source", "fp32")] * with_source + list(variants)
    runs: list[Run] = []
    for name in dict.fromkeys(engines):
        able = [Run(*variant, name) for variant in here if ENGINES[name].runs(*variant)]
        if not able:
            formats = ENGINES[name].formats
            hint = f"leave it out: it runs {', '.join(formats)}"
            hint = "give --source DIR, the folder of the model's code" if "source" in formats else hint
            raise UsageError(f"engine '{name}' has nothing to run here", where="--engines", hint=hint)
        runs.extend(able)
    if all(run.format == "source" for run in runs):
        raise UsageError(
            f"{' and '.join(engines)} read no artifact, so nothing would be proven of this bundle",
            where="--engines",
            hint="name an engine that runs one of its variants beside it",
        )
    return tuple(runs)


def refuse_promises(spec: Spec) -> None:
    """Make sure that every promise of the spec can be kept or broken by something that is written and runs.

    Raises:
        UsageError: a speed is promised of an engine that is unknown, not among the engines, or runs no such variant; or
            a bound on the metric where no recipe feeds the inputs; or a folded model has other steps behind it; or a
            key is about a format that is not written.
    """
    _refuse_idle(spec)
    behind = spec.pipeline.postprocess if spec.pipeline and spec.pipeline.fold else None
    if behind is not None and behind.training != behind.deployment:
        what = "the steps behind a folded model are deployment's, and training has others"
        hint = "make them alike, or leave out `fold`: then both are run and compared"
        raise UsageError(what, where="pipeline.postprocess", hint=hint)
    bounds = {
        f"precisions.{precision}.budget": isinstance(settings.budget.max_metric_loss, float)
        for precision, settings in spec.precisions.items()
    }
    if spec.pipeline is not None:
        given = spec.pipeline.max_metric_loss if "max_metric_loss" in spec.pipeline.model_fields_set else None
        bounds["pipeline"] = isinstance(given, float)
    dataset = all(one.values == "dataset" for one in spec.inputs.values())
    if not dataset and (bound := next((where for where, given in bounds.items() if given), "")):  # it needs a recipe
        raise UsageError(
            "a metric is promised, and nothing says what it is measured on",
            where=f"{bound}.max_metric_loss",
            hint="name a recipe, and give every input `values: dataset`; or leave the promise out",
        )
    for precision, settings in spec.precisions.items():
        if (wish := settings.budget.min_speedup) is not None:
            _refuse_speed(spec, precision, wish, f"precisions.{precision}.budget.min_speedup")


def _refuse_idle(spec: Spec) -> None:
    """Refuse keys that nothing of this spec answers: whoever sets one would take it for heard."""
    if "onnx" not in spec.formats:
        about_onnx = {
            "opset": spec.opset is not None,
            "writer": spec.writer != "program",
            "external_data_mb": spec.external_data_mb is not None,
        }
        for key, is_set in about_onnx.items():
            if is_set:
                raise UsageError(f"{key} is about ONNX, which is not written", where=key, hint=_ADD_ONNX)


def _refuse_speed(spec: Spec, precision: str, wish: Speedup, where: str) -> None:
    formats = [format for format, name in spec.variants() if name == precision]
    if wish.engine not in spec.engines:
        raise UsageError(
            f"a speed is promised of '{wish.engine}', which is none of the spec's engines",
            where=f"{where}.engine",
            hint=did_you_mean(wish.engine, spec.engines),
        )
    if not any(ENGINES[wish.engine].runs(format, precision) for format in formats):
        raise UsageError(
            f"a speed is promised of '{wish.engine}', which runs no {precision} variant of the spec",
            where=f"{where}.engine",
            hint=f"name another: it runs {_kinds(wish.engine)}",
        )
    if wish.over is not None and not any(ENGINES[wish.over].runs(format, "fp32") for format in spec.formats):
        raise UsageError(f"'{wish.over}' runs no fp32 variant of the spec", where=f"{where}.over", hint="name another")
