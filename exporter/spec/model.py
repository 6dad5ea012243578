"""The spec: what is exported, and what is promised of it. Frozen; unknown keys are refused.

`python -m tools.spec_pages docs` makes docs/spec.md of the descriptions, and editors show them by the JSON
Schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, Strict, field_serializer, model_validator

from exporter.base.errors import closest
from exporter.base.references import factory_text
from exporter.base.tensors import TensorSpec, dims_in
from exporter.spec.advice import DEVICE, AdvisedError, Example
from exporter.spec.candidates import Candidate as Candidate
from exporter.spec.candidates import Candidates
from exporter.spec.decoding import Decoding
from exporter.spec.decoding import fit as fit_decoding
from exporter.spec.inputs import FORMATS, Dim, FormatName, Frozen, Identifier, Input, Name, Reference
from exporter.spec.named import Names, Pattern, known_target
from exporter.spec.pipeline import Pipeline, fit
from exporter.spec.pipeline import Postprocess as Postprocess  # the documentation finds every model here
from exporter.spec.pipeline import Preprocess as Preprocess
from exporter.spec.precision import Budget as Budget
from exporter.spec.precision import Precisions
from exporter.spec.precision import PrecisionSettings as PrecisionSettings
from exporter.spec.precision import Speedup as Speedup
from exporter.spec.prune import Prune as Prune
from exporter.spec.reserved import RESERVED
from exporter.spec.values import check_values
from exporter.spec.waiver import Waiver as Waiver

#: Plain data, by the names of a factory's parameters.
Arguments = dict[Identifier, JsonValue]

#: What of a spec only the verdict depends on, besides the budgets of its precisions: no input, no weight, no case.
ONLY_VERDICT = frozenset(("budget", "candidates", "determinism", "engines", "version", "waivers"))

#: The opset since which DequantizeLinear takes a step for each channel of a weight.
_STEPS_OF_CHANNELS = 13
#: The opsets that each writer writes, from the oldest to the newest.
OPSETS = {"program": (11, 25), "paddle2onnx": (7, 21)}


def _no_file(weights: object) -> object:
    """Refuse the name of a file where the word for untrained weights stands."""
    if isinstance(weights, str) and weights.endswith((".pdparams", ".safetensors", ".pdopt", ".pdiparams")):
        what = "weights: factory asks for untrained weights, and a file of trained ones is the checkpoint"
        raise AdvisedError(what, f"rename it to checkpoint: {weights}")
    return weights


class Spec(Frozen):
    """What is exported and what is promised of it. See `specs/digits.yaml` for one with comments."""

    name: Annotated[Name, Example("net")] = Field(
        description="Name of the model and of its bundle, released to `artifacts/NAME/VERSION/`."
    )
    version: Name | None = Field(
        None,
        description="Version of the bundle; without the key a digest of spec, parameters and artifacts. `candidate`, "
        "`failed` and `unverified` are folders of their own, and refused.",
    )
    model: Annotated[Reference, Example("mypackage.models:build")] = Field(
        description="Factory of the model: a function that returns a `paddle.nn.Layer`, or the class of a Layer."
    )
    source: Annotated[str, Field(min_length=1), Names.FILE] | None = Field(
        None,
        exclude=True,  # what follows from it stands in the other keys
        description="Instead of `model`: a Paddle program, `inference.json` or `.pdmodel`, or the folder of one. What "
        "the program says need not be said: `args`, `inputs`, `outputs`, `weights`, and the usual `dims` of pictures.",
    )
    args: Arguments = Field(
        {},
        description="Arguments of the factory, by name: text, numbers, `true`, `false`, `null`, lists and mappings of "
        "them. The recipe's `build` gets them too, if it has parameters.",
    )
    recipe: Reference | None = Field(
        None,
        description="How the model is trained. It gives the checkpoint unless `checkpoint` does, the rows of `values: "
        "dataset`, samples for calibration, and the metric.",
    )
    checkpoint: Annotated[str, Names.FILE] | None = Field(
        None, description="File of trained weights, `.safetensors` or `.pdparams`; nothing is trained then."
    )
    weights: Annotated[Literal["factory"] | None, BeforeValidator(_no_file)] = Field(
        None,
        description="`factory` exports the factory's own weights, trained by no recipe. Without the key `recipe` or "
        "`checkpoint` is needed; with it neither is allowed.",
    )
    prune: Prune | None = Field(None, description="Removes channels before export.")
    inputs: Annotated[
        dict[Identifier, Input],
        Field(min_length=1),
        Example({"image": {"dtype": "float32", "shape": [1, 3, 224, 224]}}),
    ] = Field(description="Inputs of `forward`, by the names of its parameters.")
    dims: dict[Identifier, Dim] = Field(
        {}, description="Sizes of every dim that a shape names; one that no input uses is refused."
    )
    outputs: Annotated[tuple[Identifier, ...], Field(min_length=1)] | None = Field(
        None,
        description="Names of the outputs, in the order in which `forward` returns them. Without the key they have the "
        "keys of the dict that it returns, or `output_0`, `output_1` …",
    )
    formats: Annotated[tuple[FormatName, ...], Field(min_length=1)] = Field(
        FORMATS,
        description="Formats to write: `pir` is `.json` and `.pdiparams`, `pdmodel` is `.pdmodel` and `.pdiparams`.",
    )
    engines: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(
        ("jit_load", "paddle_inference", "onnxruntime"),
        description="Engines in which the artifacts are verified. Each variant needs one that runs it; "
        "without the key those of the default take part that run one of the formats.",
    )
    precisions: Precisions = Field(
        {"fp32": PrecisionSettings()},
        description="Precisions to write and judge, with settings, or a list of names. `fp32` is always among them and "
        "takes no settings.",
    )
    opset: Annotated[int, Strict(), Field(ge=7, le=25)] | None = Field(
        None,
        description="ONNX opset that is asked for; without the key 17. Where another is written, a note says so; where "
        "no ONNX is, the key is refused.",
    )
    writer: Literal["program", "paddle2onnx"] = Field(
        "program",
        description="Writer of ONNX. `program` writes it straight from the PIR program, at opsets 11 to 25, and "
        "refuses by name what it cannot write. `paddle2onnx` keeps what paddle2onnx writes as it is, for comparison: "
        "the same gate judges it (docs/onnx.md).",
    )
    external_data_mb: Annotated[float, Strict(), Field(ge=0)] | None = Field(
        None,
        description="Size of an ONNX file, in 10⁶ bytes, beyond which its large tensors lie beside it, in "
        "`model.onnx.data`. Without the key that is what one file can hold, 2,147.",
    )
    budget: Annotated[float, Strict(), Field(gt=0, le=64)] = Field(
        4.0,
        description="Error ratio that is allowed: an engine's error against float64 over that of eager float32 "
        "(docs/parity.md).",
    )
    depends: tuple[Pattern, ...] = Field(
        (), description="Patterns of files beside the project that the model or its data read unseen (docs/cache.md)."
    )
    ignores: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), description="Patterns of files of the project that change nothing of this spec (docs/cache.md)."
    )
    golden_mb: Annotated[float, Strict(), Field(gt=0)] = Field(
        64.0,
        description="Bound on the recorded goldens, in 10⁶ bytes: beyond it a seeded sample of 65,536 elements stands "
        "for each of the largest outputs. Inputs are always kept whole.",
    )
    seed: Annotated[int, Strict(), Field(ge=0, lt=2**32)] = Field(
        0, description="Seed of every random generator: initial weights, training, values of the cases, samples."
    )
    ranks: Annotated[int, Strict(), Field(ge=1, le=64)] = Field(
        1,
        description="Processes that train by the recipe and share the rows of each batch (data-parallel), a GPU each "
        "where there are GPUs; as `exporter train --ranks` (docs/training.md). Fine-tuning takes one.",
    )
    device: Annotated[str, Field(pattern=DEVICE)] = Field(
        "auto",
        description="Where training and engines run. `auto` takes a GPU that all engines can use, else the CPU; a "
        "device that is named and absent ends with exit code 3.",
    )
    targets: tuple[Annotated[str, AfterValidator(known_target)], ...] = Field(
        (),
        description="Runtimes that have to load the artifacts, as `paddle_inference>=2.6`: the `.pdmodel` is written "
        "for the oldest Paddle Inference among them. One that loads none of `formats` is refused, as is an unknown "
        "name; `pir` is read from Paddle 3.0 on. Consumers elsewhere may be named as well (`rknn`, `ncnn==20260113`): "
        "what they cannot take is refused before a training (`exporter targets` lists them).",
    )
    pipeline: Pipeline | None = Field(
        None, description="Steps around the model, compared between training and deployment (docs/pipeline.md)."
    )
    decoding: Decoding | None = Field(
        None,
        description="The model is one step of a decoder: its cache is fed back, step after step, and how the error "
        "grows is judged (docs/decoding.md).",
    )
    candidates: Candidates = Field(
        (),
        description="Files that other tools made of the model, each a path or `{file: …, name: …}`: a release judges "
        "them as its own, under their names, and holds none of them (docs/sources.md).",
    )
    determinism: Literal["bits"] | None = Field(
        None,
        description="`bits` promises the same bits however an artifact is run: twice, in two processes, in one thread "
        "and two, each row alone and in its batch, with and without padding (docs/determinism.md).",
    )
    waivers: tuple[Waiver, ...] = Field((), description="Claims that may fail for a while.")

    @field_serializer("precisions")
    def _names_alone(self, precisions: dict[str, PrecisionSettings]) -> object:
        """Plain fp32 is written as bundles have always had it."""
        return (
            ["fp32"] if list(precisions) == ["fp32"] else {k: v.model_dump(mode="json") for k, v in precisions.items()}
        )

    @property
    def factory(self) -> str:
        """The factory with its arguments: what names the model wherever it is built, with the steps folded in."""
        plain = factory_text(self.model, self.args)
        return self.pipeline.around(plain, self.inputs, self.outputs or ()) if self.pipeline else plain

    def without_verdict(self) -> Spec:
        """The same but for what nothing depends on except the verdict: what is computed for one holds for the other."""
        plain = {name: precision.model_copy(update={"budget": Budget()}) for name, precision in self.precisions.items()}
        defaults = {name: type(self).model_fields[name].default for name in ONLY_VERDICT}
        return self.model_copy(update={"precisions": plain, **defaults})

    @model_validator(mode="after")
    def _precisions_fit(self) -> Spec:
        plain = self.precisions.get("fp32")
        if plain is None:
            raise ValueError("precisions lacks fp32, which the others are made from and measured against")
        if plain != PrecisionSettings():
            raise ValueError("precisions.fp32 takes no settings: its budget is the spec's")
        for name, precision in self.precisions.items():
            if precision.ranges == "trained" and self.recipe is None and self.checkpoint is None:
                raise ValueError(f"precisions.{name}.ranges: trained needs a recipe to train by, or a checkpoint of it")
            if missing := sorted(set(precision.formats or ()) - set(self.formats)):
                raise ValueError(f"precisions.{name}.formats names {missing[0]}, which formats lacks")
        return self

    @model_validator(mode="after")
    def _writer_fits(self) -> Spec:
        if "onnx" not in self.formats:
            return self
        oldest, newest = OPSETS[self.writer]
        if self.opset is not None and not oldest <= self.opset <= newest:
            other = next(name for name in OPSETS if name != self.writer)
            raise ValueError(
                f"opset {self.opset} is only written by `writer: {other}`: ask for that, or {oldest} to {newest}"
            )
        rounded = [precision for format, precision in self.variants() if format == "onnx" and precision != "fp32"]
        if "int8" in rounded and self.opset is not None and self.opset < _STEPS_OF_CHANNELS:
            raise ValueError(
                f"precisions.int8 of onnx needs a step for each channel: opset {_STEPS_OF_CHANNELS} or later"
            )
        if self.writer == "paddle2onnx" and rounded:
            raise ValueError(f"precisions.{rounded[0]} of onnx is made from what `writer: program` writes")
        if self.writer == "paddle2onnx" and self.external_data_mb is not None:
            raise ValueError("external_data_mb is only heard by `writer: program`")
        return self

    @model_validator(mode="after")
    def _weights_are_asked_for(self) -> Spec:
        """Weights that nobody trained are a release only where somebody says so."""
        named = [key for key in ("checkpoint", "recipe") if getattr(self, key) is not None]
        if self.weights is None and not named:
            raise AdvisedError(
                "nothing says which weights are exported: give a checkpoint or a recipe, or ask for the untrained "
                "weights of the factory with `weights: factory`",
                "add weights: factory; or name your own file, as checkpoint: trained.pdparams",
            )
        if self.weights is not None and named:
            what = f"weights: factory asks for untrained weights, and {named[0]} for trained ones: drop one"
            raise AdvisedError(what, "remove weights")
        if self.ranks > 1 and (self.recipe is None or self.checkpoint is not None):
            raise ValueError("ranks train by a recipe, and nothing is trained here: drop ranks, or checkpoint")
        return self

    @model_validator(mode="after")
    def _pipeline_and_decoding_fit(self) -> Spec:
        fit(self.pipeline, {name: declared.values for name, declared in self.inputs.items()})
        fit_decoding(self.decoding, self.inputs, self.outputs, self.dims)
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Spec:
        used = set(dims_in(spec.shape for spec in self.inputs.values()))
        if missing := sorted(used - set(self.dims)):
            idle = sorted(set(self.dims) - used)
            near = closest(missing[0], idle) or (idle[0] if len(idle) == len(missing) == 1 else "")
            maybe = f"; did you mean '{near}'?" if near else ""
            entry = f"{missing[0]}: {{min: 1, typical: 1, max: 8}}"
            hint = f"add {entry} under dims" if self.dims else f"add dims: {{{entry}}}"
            what = f"dim '{missing[0]}' is used in inputs but not described under dims{maybe}"
            raise AdvisedError(what, f"did you mean '{near}'?" if near else hint)
        if idle := sorted(set(self.dims) - used):
            hint = f"remove {idle[0]} from dims" if used else "remove dims"
            raise AdvisedError(f"dim '{idle[0]}' is described but no input uses it", hint)
        for field in ("outputs", "formats", "engines"):
            listed = getattr(self, field) or ()
            if len(set(listed)) != len(listed):
                once = ", ".join(dict.fromkeys(listed))
                raise AdvisedError(f"{field} names something twice: {', '.join(listed)}", f"write {field}: [{once}]")
        if both := sorted(set(self.outputs or ()) & set(self.inputs)):
            what = f"'{both[0]}' is the name of an input and of an output, which a program cannot tell apart"
            renamed = [f"{name}_out" if name in both else name for name in self.outputs or ()]
            raise AdvisedError(what, f"write outputs: [{', '.join(renamed)}]")
        if self.version in RESERVED:
            what = f"version '{self.version}' is the name of a folder that means something else"
            raise AdvisedError(what, "write version: '1.0'")
        if any(spec.values == "dataset" for spec in self.inputs.values()) and self.recipe is None:
            what = "'values: dataset' needs a recipe to take the held-out data from"
            raise AdvisedError(what, "write values: normal")
        ranges = {name: (dim.min, dim.max) for name, dim in self.dims.items()}
        for name, declared in self.inputs.items():
            try:
                check_values(declared.values, declared.dtype, ranges)
            except ValueError as error:
                raise ValueError(f"inputs.{name}.values: {error}") from error
        return self

    def variants(self) -> tuple[tuple[str, str], ...]:
        """Each (format, precision) that is asked for: fp32 first, which the others are made from."""
        order = ["fp32", *(name for name in self.precisions if name != "fp32")]
        wanted = {name: self.precisions[name].formats or self.formats for name in order}
        return tuple((form, name) for name in order for form in self.formats if form in wanted[name])

    def input_specs(self) -> tuple[TensorSpec, ...]:
        """The inputs in the order of the spec."""
        return tuple(TensorSpec(name, declared.dtype, tuple(declared.shape)) for name, declared in self.inputs.items())
