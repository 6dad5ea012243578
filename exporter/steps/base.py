"""The contract of a step: arrays in, arrays out, with options that are checked before anything runs.

A state maps names to arrays. `VALUE` is what the steps hand on: the bytes of a file as uint8 [size], a picture as
uint8 [height, width, channels], a tensor. Other names hold what a detector reads beside the picture. After the model
the state holds its outputs under their names, and `VALUE` the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict

from exporter.base.errors import UsageError

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: A count of pixels or tokens.
Size = Annotated[int, Strict(), Field(ge=1, le=1 << 16)]
#: Names in their order; as one text the file that holds them, one a line.
Words = Annotated[tuple[str, ...], Field(min_length=1)] | Annotated[str, Field(min_length=1)]
#: The name of what a step hands on to the next.
VALUE = "value"
#: How many classes the numbers in `VALUE` are places of, int64 []. No output of a model can have that name.
CLASSES = "value.classes"

#: Written as text, so that a module may name it without importing numpy.
State: TypeAlias = "Mapping[str, Array]"


class Step(BaseModel):
    """A step with its options. A kind is a subclass whose fields are the options; its name is the name of its file.

    `package` is the extra that has to be installed to run it, where NumPy alone cannot. `dtypes` and `axes` say which
    arrays it takes: names of dtypes (none: any) and numbers of axes (none: any). `files` are the options that may name
    a file of words; such a step cannot run before it is settled (:mod:`exporter.steps.settle`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    package: ClassVar[str] = ""
    files: ClassVar[Sequence[str]] = ()
    dtypes: ClassVar[Sequence[str]] = ()
    axes: ClassVar[Sequence[int]] = ()

    def run(self, value: Array) -> Array:
        """What the step makes of one sample's value; the argument is left as it is.

        Raises:
            UsageError: the value is none that the step takes.
        """
        raise NotImplementedError

    def apply(self, state: State) -> dict[str, Array]:
        """The state after the step; most steps only change `VALUE`.

        Raises:
            UsageError: the state is none that the step takes.
        """
        value = state[VALUE]
        if self.axes and value.ndim not in self.axes:
            wanted = " or ".join(map(str, self.axes))
            raise UsageError(
                f"it takes an array of {wanted} axes, and got one of shape {list(value.shape)}",
                hint="put the step where its input has that form",
            )
        if self.dtypes and value.dtype.name not in self.dtypes:
            raise UsageError(
                f"it takes {' or '.join(self.dtypes)}, and got {value.dtype.name}",
                hint="put the step where its input has that dtype, or a `cast` before it",
            )
        try:
            return {**state, VALUE: self.run(value)}
        except (ValueError, IndexError, OverflowError) as error:  # of NumPy: an axis or a size that is not there
            what = f"it cannot take {value.dtype.name} of shape {list(value.shape)}: {error}"
            raise UsageError(what, hint="correct its options, or put it where its input has another form") from error

    def options(self) -> dict[str, Any]:
        """The options that were given, as plain data."""
        return self.model_dump(mode="json", exclude_unset=True)
