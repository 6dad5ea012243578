"""The inputs of a model and its named dimensions, as a spec writes them; and the types that all keys share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator

from exporter.base.registry import declared
from exporter.base.tensors import DTYPES
from exporter.spec.advice import DIM_SIZE, IDENTIFIER, NAME, REFERENCE, AdvisedError, Example
from exporter.spec.named import Names
from exporter.spec.values import FORMS, check_values, known_values

#: Text is no number and no flag: `seed: "3"` and `noise: yes` are mistakes.
Flag = Annotated[bool, Strict()]
Name = Annotated[str, Field(pattern=NAME, max_length=100)]
Identifier = Annotated[str, Field(pattern=IDENTIFIER)]
Reference = Annotated[str, Field(pattern=REFERENCE), Names.CODE]
#: What a spec without `formats` asks for; other packages add theirs by entry points of the group of formats.
FORMATS = ("pir", "pdmodel", "onnx")
_FORMATS = tuple(dict.fromkeys((*FORMATS, *declared("exporter.export.lower"))))
FormatName = Literal[_FORMATS]  # type: ignore[valid-type]  # made of what is installed
Size = Annotated[int, Strict(), Field(ge=1)]
#: A named dim, or one to which a number is added.
DimSize = Annotated[str, Field(pattern=DIM_SIZE)]


class Frozen(BaseModel):
    """What every model of a spec is: unchangeable, with no key that is not described."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)


#: NumPy, which holds the cases, has no bfloat16.
_DTYPES = tuple(dtype for dtype in DTYPES if dtype != "bfloat16")


def _of_numpy(dtype: object) -> object:
    if dtype == "bfloat16":
        raise AdvisedError(
            "no input can be bfloat16: the recorded cases are NumPy's, which has no such dtype; "
            "declare float32, and cast the input in `forward`",
            "write dtype: float32",
        )
    return dtype


class Input(Frozen):
    """An input of `forward`, under the name of its parameter; the order in the file is the order of the call."""

    dtype: Annotated[Literal[_DTYPES], BeforeValidator(_of_numpy), Example("float32")] = Field(  # type: ignore[valid-type]  # made of a list
        description="Dtype of the tensor that `forward` takes. Of `bfloat16` is none: the recorded cases are NumPy's."
    )
    shape: Annotated[tuple[Size | DimSize, ...], Example([1, 3, 224, 224])] = Field(
        description="Size of each axis, outermost first; a word names a dim of `dims`, to which a number may be added, "
        "as in `past+1`, and `[]` is a scalar."
    )
    values: Annotated[str, AfterValidator(known_values), Names.FILE] = Field(
        "normal",
        examples=list(FORMS),
        description="What the recorded cases hold.",
    )

    empty_rows: Flag = Field(
        True,
        description="Whether a row may be all 0, as the mask of a row that is all padding: `true` has cases of it. "
        "`false` promises that nobody sends one, and no case has one. For `integers` and `uniform`.",
    )
    finite: Flag = Field(
        True,
        description="`true` promises that nobody sends NaN or infinities. `false` has cases with them in some rows: "
        "engines have to agree on which numbers are finite (docs/not-finite.md). For floating-point dtypes.",
    )

    @property
    def promised(self) -> str:
        """What a reader has to know of what callers send; empty where nothing is promised of it."""
        finite = "finite numbers only" if self.finite else "NaN and infinities, too"
        said = [finite] if self.dtype.startswith("float") else []
        return ", ".join(said if self.empty_rows else [*said, "no row that is all 0"])

    @model_validator(mode="after")
    def _values_fit_dtype(self) -> Input:
        check_values(self.values, self.dtype, None)
        if not self.finite and not self.dtype.startswith("float"):
            what = f"finite: false asks for NaN and infinities, which {self.dtype} has not: drop it"
            raise AdvisedError(what, "write finite: true")
        if not self.empty_rows and (not self.shape or not self.values.startswith(("integers", "uniform"))):
            raise AdvisedError(
                "empty_rows: false is a promise on rows that are drawn: it needs a shape with an axis, and "
                "`values: integers(…)` or `uniform(…)`",
                "write empty_rows: true",
            )
        return self


class Dim(Frozen):
    """A named dimension. Cases are recorded at `typical`, `min`, `max` and an odd size, combined pairwise with others.

    The dim that is the first axis of inputs, and no other axis of any, counts rows: it is the batch.
    """

    min: Annotated[Size, Example(1)] = Field(description="Smallest size that the artifact must serve.")
    typical: Annotated[Size, Example(1, like="min")] = Field(
        description="Usual size. Strange values, calibration, FLOPs and speed are taken at it."
    )
    max: Annotated[Size, Example(8, like="typical")] = Field(description="Largest size that the artifact must serve.")
    multiple_of: Size = Field(1, description="Step of the sizes: `min`, `typical` and `max` are multiples of it, too.")

    @model_validator(mode="after")
    def _ordered(self) -> Dim:
        if self.min > self.max:
            raise AdvisedError(f"min ({self.min}) is greater than max ({self.max})", f"write max: {self.min}")
        if not self.min <= self.typical <= self.max:
            what = f"typical ({self.typical}) is not between min ({self.min}) and max ({self.max})"
            raise AdvisedError(what, f"write typical: {self.min}")
        step = self.multiple_of
        for name in ("min", "typical", "max"):
            if (size := getattr(self, name)) % step:
                nearest = max(size // step * step, step)
                raise AdvisedError(f"{name} ({size}) is not a multiple of {step}", f"write {name}: {nearest}")
        return self
