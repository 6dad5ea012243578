"""What a spec says of the pipeline around the model: samples, and the steps before and after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, JsonValue

from exporter.base.errors import UsageError
from exporter.base.references import factory_text
from exporter.spec.inputs import Flag, Frozen, Identifier
from exporter.spec.named import Names, Pattern
from exporter.steps.chain import Chain, read_chain
from exporter.steps.settle import FAMILIES, NAMED, Side, settled

#: Said of a model whose outputs are not what the recipe's metric takes.
UNRATED: Final = "unrated"
Unrated = Literal["unrated"]
_CHAINS = ("training", "deployment")
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


Steps = Annotated[str | tuple[JsonValue, ...], BeforeValidator(_steps), Names.STEPS]


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

    samples: Annotated[tuple[Pattern, ...], Field(min_length=1)] = Field(
        description="Patterns of files with raw samples: pictures, `.txt` with a sample a line, `.npy`, `.safetensors`."
    )
    input: Identifier | None = Field(
        None, description="Input that the last step feeds; without the key the only one, or the first."
    )
    preprocess: Preprocess = Field(description="Steps from a raw sample to the inputs.")
    postprocess: Postprocess | None = Field(None, description="Steps from the outputs to the answer.")
    fold: Flag = Field(
        False,
        description="`true` puts the deployment's steps into the graph, those that are tensors: `inputs` are then what "
        "the first of them takes, as uint8 [batch, height, width, 3], and the first output is the answer "
        "(docs/folded.md).",
    )
    tolerance: Annotated[float, Field(ge=0)] = Field(
        0.0,
        description="Difference that is allowed after a step, in 255ths of the range of its values: 1 where decoders "
        "or resizers round pixels otherwise. Without the key integers are equal, and floats within float32's rounding.",
    )
    max_metric_loss: Annotated[float, Field(ge=0)] | Unrated = Field(
        0.001,
        description="Loss of the recipe's metric on all held-out samples that an fp32 artifact may have; it is "
        "measured where every input has `values: dataset`, by the recipe's own code on eager and on every artifact; "
        "elsewhere the key is refused. `unrated`: the metric does not rate what this model gives.",
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

    def fed(self, inputs: Iterable[str]) -> str:
        """The input, of all by name, that the last step feeds; of a folded model that which the first one takes."""
        return self.input or next(iter(inputs))

    def fed_first(self, inputs: Iterable[str]) -> list[str]:
        """All inputs by name, first the one that the steps feed."""
        first = self.fed(inputs)
        return [first, *(name for name in inputs if name != first)]

    @property
    def compared(self) -> tuple[str, ...]:
        """The sides whose chains a proof compares. The steps behind a folded model are part of its graph."""
        behind = self.postprocess is not None and not self.fold
        return ("preprocess", "postprocess") if behind else ("preprocess",)

    def deployed(self) -> tuple[Chain, Chain]:
        """The steps of the deployment before and after the model, each in full.

        Raises:
            UsageError: a file that one names is not there, or lists what no step is known for.
        """
        given = self.postprocess.deployment if self.postprocess else ()
        before = settled(self.preprocess.deployment, "before", "pipeline.preprocess.deployment")
        after = settled(given, "after", "pipeline.postprocess.deployment")
        return read_chain(before), read_chain(after)

    def around(self, factory: str, inputs: Iterable[str], outputs: Iterable[str]) -> str:
        """The factory that builds the model of another one with the steps folded in; without `fold` that one itself."""
        if not self.fold:
            return factory
        said = {"model": factory, "pipeline": self.model_dump(mode="json"), "inputs": self.fed_first(inputs)}
        return factory_text("exporter.export.fold.layer:build", {**said, "outputs": len(list(outputs))})


def fit(pipeline: Pipeline | None, values: Mapping[str, str]) -> None:
    """Make sure that a pipeline fits the inputs, given by what they are filled with.

    Raises:
        ValueError: it feeds none of them; or one is filled with samples that it does not take.
    """
    if pipeline and pipeline.input not in (None, *values):
        raise ValueError(f"pipeline.input names '{pipeline.input}', which is no input")
    folded = pipeline.fed(values) if pipeline and pipeline.fold else None
    if strange := [name for name, filled in values.items() if filled == "samples" and name != folded]:
        raise ValueError(f"inputs.{strange[0]}: 'values: samples' fill what a pipeline with `fold: true` takes")
