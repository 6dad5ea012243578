"""How the variants of reduced precision are made, and what they are judged by, as a spec says it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, Strict, model_validator

from exporter.spec.advice import SAFETENSORS, AdvisedError
from exporter.spec.inputs import Flag, FormatName, Frozen, Identifier, Name, Size
from exporter.spec.named import Names
from exporter.spec.pipeline import Unrated


class Speedup(Frozen):
    """A promise of speed. Both sides run in one thread, in turns; on a CPU of another kind it is `inconclusive`."""

    engine: Name = Field(description="Engine in which the variant is timed, one of the spec's `engines`.")
    ratio: Annotated[float, Strict(), Field(gt=0)] = Field(
        description="How many times as fast as fp32 the variant is at least."
    )
    batch: Size | None = Field(None, description="Rows of each call; without the key those of the typical case.")
    over: Name | None = Field(
        None,
        description="Engine that runs fp32 for comparison; without the key the same engine, and for "
        "`paddle_inference_int8` it is `paddle_inference_default`.",
    )


class Budget(Frozen):
    """What a variant of low precision is judged by; a key that is not given has the precision's own default."""

    min_snr_db: Annotated[float, Strict(), Field(gt=0)] | None = Field(
        None, description="Signal-to-noise ratio to float64 in dB, all promised cases together; 40 dB is 1 % of error."
    )
    min_top1: Annotated[float, Strict(), Field(gt=0, le=1)] | None = Field(
        None,
        description="Share of rows whose highest score is where eager has it; of whole-number outputs the share of "
        "equal rows, 0.9 without the key.",
    )
    max_metric_loss: Annotated[float, Strict(), Field(ge=0)] | Unrated | None = Field(
        None,
        description="Loss of the recipe's metric on all held-out samples; every input has `values: dataset` then. "
        "`unrated`: none is promised, since the metric does not rate what this model gives.",
    )
    max_size: Annotated[float, Strict(), Field(gt=0)] | None = Field(
        None, description="Bytes of the variant's files, as a share of fp32's."
    )
    min_speedup: Speedup | None = Field(
        None, description="Speed that is promised; without the key none is judged, and no precision has a default."
    )


class PrecisionSettings(Frozen):
    """How one precision is made. A precision refuses a key that means nothing to it, before any work."""

    formats: Annotated[tuple[FormatName, ...], Field(min_length=1)] | None = Field(
        None, description="Formats that get the variant, among the spec's; without the key all of them."
    )
    samples: Size = Field(128, description="Rows that are drawn for calibration.")
    data: Annotated[str, Field(pattern=SAFETENSORS), Names.FILE] | None = Field(
        None, description="File with rows for each input, instead of training data or the inputs' `.npy` files."
    )
    noise: Flag = Field(False, description="`true` allows to calibrate on drawn values where there are no real ones.")
    method: Literal["minmax", "entropy", "percentile"] = Field(
        "minmax", description="How the range of an activation follows from the samples."
    )
    activations: Literal["uint8", "int8"] = Field(
        "uint8", description="Type of the activations in ONNX; `int8` is for engines that want both operands signed."
    )
    keep: tuple[str, ...] = Field(
        (),
        description="What stays in float32: layers, by the names in the report, operators (`Add.3`) and kinds (`Add`).",
    )
    search: Flag = Field(
        False,
        description="`true` lets the noisiest layers compute in float32 with weights of 8, 16 or 32 bits, until "
        "`min_snr_db` holds of every output.",
    )
    timed: Flag = Field(
        False, description="`true` reports the speed of each candidate of `search`, and chooses nothing by it."
    )
    ranges: Literal["calibrated", "trained"] = Field(
        "calibrated",
        description="`trained` fine-tunes by the recipe with the roundings in place (QAT), and takes the ranges that "
        "the activations had in training.",
    )
    epochs: Size | None = Field(
        None, description="Epochs of that fine-tuning, for `ranges: trained`; without the key those of the recipe."
    )
    cpu: Literal["any", "vnni"] = Field(
        "any",
        description="`any` is right on every x86: no two products overflow the 16 bits in which a CPU without VNNI "
        "adds them, at a cost of up to one bit. `vnni` takes all 8 bits, for CPUs that have VNNI.",
    )
    budget: Budget = Field(Budget(), description="What the variant is judged by.")

    @model_validator(mode="after")
    def _of_something(self) -> PrecisionSettings:
        if self.timed and not self.search:
            raise AdvisedError("timed are the candidates of the search: it needs `search: true`", "add search: true")
        if self.epochs is not None and self.ranges != "trained":
            raise AdvisedError("epochs are those of fine-tuning: they need `ranges: trained`", "add ranges: trained")
        return self


def _precisions(value: object) -> object:
    """Names alone are settings left as they are."""
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        if len(set(value)) != len(value):
            once = ", ".join(dict.fromkeys(value))
            raise AdvisedError(f"precisions names something twice: {', '.join(value)}", f"write precisions: [{once}]")
        return {name: PrecisionSettings() for name in value}
    if isinstance(value, dict):
        return {name: {} if settings is None else settings for name, settings in value.items()}
    return value


_ByName = dict[Identifier, PrecisionSettings | None] | tuple[Identifier, ...]
Precisions = Annotated[
    dict[Identifier, PrecisionSettings], BeforeValidator(_precisions, json_schema_input_type=_ByName)
]
