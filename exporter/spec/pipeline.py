"""What a spec says of the pipeline around the model: samples, and the steps before and after it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue

from exporter.errors import UsageError
from exporter.spec.inputs import Frozen, Identifier
from exporter.steps.chain import read_chain
from exporter.steps.settle import FAMILIES, NAMED, Side, settled

_FUNCTION = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")


def _steps(value: Any) -> Any:
    """Make sure that every step is known; one function stands for a list of it."""
    if isinstance(value, str):
        named = NAMED.match(value)
        if named and named[1] in FAMILIES.names():
            return value
        if not _FUNCTION.match(value) or value.endswith((".yml", ".yaml")):
            raise ValueError(f"'{value}' is neither FAMILY:FILE ({', '.join(FAMILIES.names())}) nor module:function")
        value = [value]
    if isinstance(value, (list, tuple)):
        try:
            read_chain(value)
        except UsageError as error:
            raise ValueError(f"{error.where}: {error.what} ({error.hint})") from error
    return value


Steps = Annotated[str | tuple[JsonValue, ...], BeforeValidator(_steps)]


class Preprocess(Frozen):
    """The steps before the model, each a list, `module:function`, or `FAMILY:FILE` (docs/pipeline.md)."""

    training: Steps = Field(description="Steps by which training and evaluation made the inputs.")
    deployment: Steps = Field(description="Steps by which deployment makes them: they have to give the same.")


class Postprocess(Frozen):
    """The steps after the model, written as those before it."""

    training: Steps = Field(description="Steps by which training and evaluation made the answer of the outputs.")
    deployment: Steps = Field(description="Steps by which deployment makes it: they have to give the same.")


class Pipeline(Frozen):
    """The steps around the model, in training and in deployment, and raw samples to compare them on."""

    samples: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)] = Field(
        description="Patterns of files with raw samples: pictures, `.txt` with a sample a line, `.npy`, `.safetensors`."
    )
    input: Identifier | None = Field(
        None, description="Input that the last step feeds; without the key the only one, or the first."
    )
    preprocess: Preprocess = Field(description="Steps from a raw sample to the inputs.")
    postprocess: Postprocess | None = Field(None, description="Steps from the outputs to the answer.")
    tolerance: Annotated[float, Field(ge=0)] = Field(
        0.0,
        description="Difference that is allowed after a step, in 255ths of the range of its values: 1 where decoders "
        "or resizers round pixels otherwise. Without the key integers are equal, and floats within float32's rounding.",
    )

    def settled(self) -> Pipeline:
        """The same with every step in full, whatever files named them.

        Raises:
            UsageError: a file is not there, or lists what no step is known for.
        """
        sides: dict[str, Any] = {}
        places: tuple[tuple[str, Side], ...] = (("preprocess", "before"), ("postprocess", "after"))
        for name, side in places:
            if (chains := getattr(self, name)) is not None:
                given = {key: settled(getattr(chains, key), side, f"pipeline.{name}.{key}") for key in _CHAINS}
                sides[name] = type(chains).model_validate(given)
        return self.model_copy(update=sides)


_CHAINS = ("training", "deployment")
