"""The spec: what is exported, and what is promised of it. Frozen; unknown keys are refused."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    field_serializer,
    model_validator,
)

from exporter.spec.reserved import RESERVED
from exporter.spec.values import check_values, known_values
from exporter.tensors import DTYPES, TensorSpec

#: Text is no number and no flag: `seed: "3"` and `noise: yes` are mistakes.
Flag = Annotated[bool, Strict()]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Reference = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
FormatName = Literal["pir", "pdmodel", "onnx"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)


def _known_target(text: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement  # few specs name one, and it takes 40 ms

    try:
        Requirement(text)
    except InvalidRequirement as error:
        raise ValueError(f"'{text}' is no target such as paddle_inference>=2.6") from error
    return text


class Input(_Frozen):
    """One input of `forward`; a word in `shape` is a named dim. `values` says what the cases are filled with."""

    dtype: Literal[DTYPES]  # type: ignore[valid-type]  # one list of dtypes, in tensors.py
    shape: tuple[Annotated[int, Strict(), Field(ge=1)] | Identifier, ...]
    values: Annotated[str, AfterValidator(known_values)] = "normal"

    @model_validator(mode="after")
    def _values_fit_dtype(self) -> Input:
        check_values(self.values, self.dtype, None)
        return self


class Dim(_Frozen):
    """A named dimension: the sizes that the artifact must serve, and one that is usual."""

    min: Annotated[int, Strict(), Field(ge=1)]
    typical: Annotated[int, Strict(), Field(ge=1)]
    max: Annotated[int, Strict(), Field(ge=1)]
    multiple_of: Annotated[int, Strict(), Field(ge=1)] = 1

    @model_validator(mode="after")
    def _ordered(self) -> Dim:
        if self.min > self.max:
            raise ValueError(f"min ({self.min}) is greater than max ({self.max})")
        if not self.min <= self.typical <= self.max:
            raise ValueError(f"typical ({self.typical}) is not between min ({self.min}) and max ({self.max})")
        for name in ("min", "typical", "max"):
            if getattr(self, name) % self.multiple_of:
                raise ValueError(f"{name} ({getattr(self, name)}) is not a multiple of {self.multiple_of}")
        return self


class Waiver(_Frozen):
    """An exemption: claims that match the pattern may fail until the end date, and every report says so."""

    claim: Annotated[str, Field(min_length=1)]
    reason: Annotated[str, Field(min_length=8)]
    until: date


class Prune(_Frozen):
    """That channels are removed before export: until at most this share of the FLOPs is left.

    `importance` says which go first. What is cut keeps a multiple of `multiple_of` channels: engines compute in blocks
    of 8 or 16, and are slower at counts between. Where there is a recipe, the smaller model is fine-tuned by it, for as
    many epochs as it says itself unless `epochs` does; 0 is not at all.
    """

    flops: Annotated[float, Strict(), Field(gt=0, lt=1)]
    importance: Identifier = "l1"
    multiple_of: Annotated[int, Strict(), Field(ge=1)] = 16
    epochs: Annotated[int, Strict(), Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_masks(cls, value: Any) -> Any:
        if isinstance(value, dict) and "sparsity" in value:
            raise ValueError(
                "sparsity makes single weights zero, and no engine here is faster or any file smaller for that: each "
                "zero is stored and multiplied; use `flops`, which removes whole channels"
            )
        return value


class Speedup(_Frozen):
    """A promise of speed: in `engine` a variant takes at most 1/`ratio` of the time that fp32 takes in `over`.

    `over` is the same engine unless it is named. Both run `batch` rows (the typical case where it is not said), in one
    thread, in turns.
    """

    engine: Name
    ratio: Annotated[float, Strict(), Field(gt=0)]
    batch: Annotated[int, Strict(), Field(ge=1)] | None = None
    over: Name | None = None


class Budget(_Frozen):
    """What a variant of low precision is judged by; what is not given is the precision's own default.

    `min_snr_db` is the signal-to-noise ratio against float64, `min_top1` the share of rows whose highest score is where
    eager has it, `max_metric_loss` how much of the recipe's metric may be lost on all held-out samples, `max_size` the
    share of fp32's bytes.
    """

    min_snr_db: Annotated[float, Strict(), Field(gt=0)] | None = None
    min_top1: Annotated[float, Strict(), Field(gt=0, le=1)] | None = None
    max_metric_loss: Annotated[float, Strict(), Field(ge=0)] | None = None
    max_size: Annotated[float, Strict(), Field(gt=0)] | None = None
    min_speedup: Speedup | None = None


class PrecisionSettings(_Frozen):
    """How one precision is made. A precision refuses a key that means nothing to it, before any work.

    `formats` are those that get the variant, all of the spec unless it says so. `keep` names layers that stay in
    float32, as the report calls them; with `search` the worst follow until the signal-to-noise ratio of the budget
    holds. `samples` rows are drawn for calibration: from `data`, a safetensors file of rows for each input, else from
    the recipe's training data or the input's `.npy` file, and from noise only where `noise` says so.

    With `ranges: trained` the checkpoint is fine-tuned first, by the recipe, with the roundings in place (QAT), for
    `epochs` or as many as the recipe says; what each layer takes has the range that it had in training.

    `cpu: any` is right on every x86: no two products can overflow the 16 bits in which a CPU without VNNI adds them,
    which costs up to one bit of the weights or activations. `cpu: vnni` takes all 8 bits, for CPUs that have VNNI.

    With `timed` the search tells how fast its candidates are. It does not choose by it, but the bundle is not the same
    byte for byte when it is made again.
    """

    formats: Annotated[tuple[FormatName, ...], Field(min_length=1)] | None = None
    samples: Annotated[int, Strict(), Field(ge=1)] = 128
    data: Annotated[str, Field(pattern=r"\.safetensors$")] | None = None
    noise: Flag = False
    method: Literal["minmax", "entropy", "percentile"] = "minmax"
    activations: Literal["uint8", "int8"] = "uint8"
    keep: tuple[str, ...] = ()
    search: Flag = False
    timed: Flag = False
    ranges: Literal["calibrated", "trained"] = "calibrated"
    epochs: Annotated[int, Strict(), Field(ge=1)] | None = None
    cpu: Literal["any", "vnni"] = "any"
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _of_something(self) -> PrecisionSettings:
        if self.timed and not self.search:
            raise ValueError("timed are the candidates of the search: it needs `search: true`")
        if self.epochs is not None and self.ranges != "trained":
            raise ValueError("epochs are those of fine-tuning: they need `ranges: trained`")
        return self


def _precisions(value: object) -> object:
    """Names alone are settings left as they are."""
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        if len(set(value)) != len(value):
            raise ValueError(f"precisions names something twice: {', '.join(value)}")
        return {name: PrecisionSettings() for name in value}
    if isinstance(value, dict):
        return {name: {} if settings is None else settings for name, settings in value.items()}
    return value


_ByName = dict[Identifier, PrecisionSettings | None] | tuple[Identifier, ...]
Precisions = Annotated[
    dict[Identifier, PrecisionSettings],
    BeforeValidator(_precisions, json_schema_input_type=_ByName),
]


#: What of a spec only the verdict depends on, besides the budgets of its precisions: no input, no weight, no case.
ONLY_VERDICT = frozenset(("budget", "engines", "version", "waivers"))


class Spec(_Frozen):
    """What is exported and what is promised of it. See `specs/digits.yaml` for one with comments.

    `depends` are patterns of files that the model or its data read, where nobody sees that they do (docs/cache.md).
    """

    name: Name
    version: Name | None = None
    model: Reference
    recipe: Reference | None = None
    checkpoint: str | None = None
    weights: Literal["factory"] | None = None  # asks for the factory's own, untrained; else one of the two above
    prune: Prune | None = None
    inputs: Annotated[dict[Identifier, Input], Field(min_length=1)]
    dims: dict[Identifier, Dim] = {}
    outputs: Annotated[tuple[Identifier, ...], Field(min_length=1)] | None = None
    formats: Annotated[tuple[FormatName, ...], Field(min_length=1)] = ("pir", "pdmodel", "onnx")
    engines: Annotated[tuple[Name, ...], Field(min_length=1)] = ("jit_load", "paddle_inference", "onnxruntime")
    precisions: Precisions = {"fp32": PrecisionSettings()}
    opset: Annotated[int, Strict(), Field(ge=7, le=21)] | None = None
    budget: Annotated[float, Strict(), Field(gt=0, le=64)] = 4.0
    depends: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    golden_mb: Annotated[float, Strict(), Field(gt=0)] = 64.0
    seed: Annotated[int, Strict(), Field(ge=0, lt=2**32)] = 0  # what every random generator takes
    device: Annotated[str, Field(pattern=r"^(auto|cpu|gpu(:\d+)?)$")] = "auto"
    targets: tuple[Annotated[str, AfterValidator(_known_target)], ...] = ()
    waivers: tuple[Waiver, ...] = ()

    @field_serializer("precisions")
    def _names_alone(self, precisions: dict[str, PrecisionSettings]) -> object:
        """Plain fp32 is written as bundles have always had it."""
        return (
            ["fp32"] if list(precisions) == ["fp32"] else {k: v.model_dump(mode="json") for k, v in precisions.items()}
        )

    def without_verdict(self) -> Spec:
        """The same but for what nothing depends on except the verdict: what is computed for one holds for the other."""
        plain = {name: one.model_copy(update={"budget": Budget()}) for name, one in self.precisions.items()}
        defaults = {name: type(self).model_fields[name].default for name in ONLY_VERDICT}
        return self.model_copy(update={"precisions": plain, **defaults})

    @model_validator(mode="after")
    def _precisions_fit(self) -> Spec:
        plain = self.precisions.get("fp32")
        if plain is None:
            raise ValueError("precisions lacks fp32, which the others are made from and measured against")
        if plain != PrecisionSettings():
            raise ValueError("precisions.fp32 takes no settings: its budget is the spec's")
        for name, one in self.precisions.items():
            if one.ranges == "trained" and self.recipe is None and self.checkpoint is None:
                raise ValueError(f"precisions.{name}.ranges: trained needs a recipe to train by, or a checkpoint of it")
            if missing := sorted(set(one.formats or ()) - set(self.formats)):
                raise ValueError(f"precisions.{name}.formats names {missing[0]}, which formats lacks")
        return self

    @model_validator(mode="after")
    def _weights_are_asked_for(self) -> Spec:
        """Weights that nobody trained are a release only where somebody says so."""
        named = [key for key in ("checkpoint", "recipe") if getattr(self, key) is not None]
        if self.weights is None and not named:
            raise ValueError(
                "nothing says which weights are exported: give a checkpoint or a recipe, or ask for the untrained "
                "weights of the factory with `weights: factory`"
            )
        if self.weights is not None and named:
            raise ValueError(f"weights: factory asks for untrained weights, and {named[0]} for trained ones: drop one")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Spec:
        used = {dim for spec in self.inputs.values() for dim in spec.shape if isinstance(dim, str)}
        if missing := sorted(used - set(self.dims)):
            raise ValueError(f"dim '{missing[0]}' is used in inputs but not described under dims")
        if idle := sorted(set(self.dims) - used):
            raise ValueError(f"dim '{idle[0]}' is described but no input uses it")
        for field in ("outputs", "formats", "engines"):
            listed = getattr(self, field) or ()
            if len(set(listed)) != len(listed):
                raise ValueError(f"{field} names something twice: {', '.join(listed)}")
        if both := sorted(set(self.outputs or ()) & set(self.inputs)):
            raise ValueError(f"'{both[0]}' is the name of an input and of an output, which a program cannot tell apart")
        if self.version in RESERVED:
            raise ValueError(f"version '{self.version}' is the name of a folder that means something else")
        if any(spec.values == "dataset" for spec in self.inputs.values()) and self.recipe is None:
            raise ValueError("'values: dataset' needs a recipe to take the held-out data from")
        ranges = {name: (dim.min, dim.max) for name, dim in self.dims.items()}
        for name, one in self.inputs.items():
            try:
                check_values(one.values, one.dtype, ranges)
            except ValueError as error:
                raise ValueError(f"inputs.{name}.values: {error}") from error
        return self

    def variants(self) -> tuple[tuple[str, str], ...]:
        """Each (format, precision) that is asked for: fp32 first, which the others are made from."""
        order = ["fp32", *(name for name in self.precisions if name != "fp32")]
        wanted = {name: self.precisions[name].formats or self.formats for name in order}
        return tuple((one, name) for name in order for one in self.formats if one in wanted[name])

    def input_specs(self) -> tuple[TensorSpec, ...]:
        """The inputs in the order of the spec."""
        return tuple(TensorSpec(name, one.dtype, tuple(one.shape)) for name, one in self.inputs.items())
