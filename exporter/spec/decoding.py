"""What a spec says of a model that is one step of a decoder: which of its outputs are inputs of the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, Strict

from exporter.base.errors import closest
from exporter.spec.inputs import Dim, Frozen, Identifier, Input
from exporter.spec.values import arguments, bound, parts


class Decoding(Frozen):
    """One step of a decoder, run many times with what it puts out itself as its next inputs (docs/decoding.md)."""

    cache: Annotated[dict[Identifier, Identifier], Field(min_length=1)] = Field(
        description="Inputs that hold what was computed before, each with the output that is its value in the next "
        "step: keys and values, or a state."
    )
    steps: Annotated[int, Strict(), Field(ge=2, le=4096)] = Field(
        64, description="Steps that each engine runs in a row, each with the cache that its own step before gave."
    )
    tokens: dict[Identifier, Identifier] = Field(
        {},
        description="Inputs of ids, each with the output that decides it: the largest of the last scores, or the ids "
        "themselves. Eager's decide for all engines. What no key names is drawn anew for each step, by its `values`.",
    )
    counts: tuple[Identifier, ...] = Field(
        (),
        description="Inputs that grow by one in each step, from the smallest number of their `integers(a,b)`: as the "
        "place in a buffer of a fixed size.",
    )
    held: tuple[Identifier, ...] = Field(
        (), description="Inputs that are the same in all steps, as what an encoder has given."
    )

    def named(self) -> list[str]:
        """Every input that a key names, as often as one does."""
        return [*self.cache, *self.tokens, *self.counts, *self.held]

    def fit_outputs(self, outputs: Sequence[str]) -> None:
        """Make sure that it names outputs of the model.

        Raises:
            ValueError: the model has no such output; with the closest one.
        """
        for key, pairs in (("cache", self.cache), ("tokens", self.tokens)):
            for name, output in pairs.items():
                if output not in outputs:
                    near = closest(output, outputs)
                    maybe = f"; did you mean '{near}'?" if near else f": they are {', '.join(outputs)}"
                    raise ValueError(f"decoding.{key}.{name} names '{output}', which is no output{maybe}")


def fit(
    decoding: Decoding | None, inputs: Mapping[str, Input], outputs: Sequence[str] | None, dims: Mapping[str, Dim]
) -> None:
    """Make sure that what is said of decoding fits the inputs and, where they are named, the outputs.

    Raises:
        ValueError: it names what is not there, or one input twice, or one whose values do not serve.
    """
    if decoding is None:
        return
    named = decoding.named()
    for name in named:
        if name not in inputs:
            near = closest(name, inputs)
            maybe = f"; did you mean '{near}'?" if near else ""
            raise ValueError(f"decoding names '{name}', which is no input{maybe}")
        if named.count(name) > 1:
            raise ValueError(f"decoding says twice where input '{name}' comes from: keep one")
    if outputs is not None:
        decoding.fit_outputs(outputs)
    for name in decoding.tokens:
        if not inputs[name].dtype.startswith(("int", "uint")):
            raise ValueError(f"decoding.tokens.{name} are ids, and the input is {inputs[name].dtype}")
    typical = {name: dim.typical for name, dim in dims.items()}
    for name in decoding.counts:
        _refuse_short(name, inputs[name].values, decoding.steps, typical)


def _refuse_short(name: str, values: str, steps: int, typical: Mapping[str, int]) -> None:
    """Refuse an input that cannot count so many steps; bounds that name no dim are refused elsewhere."""
    if not values.startswith("integers"):
        raise ValueError(f"decoding.counts names '{name}', which needs `values: integers(a,b)` to count from")
    if any(parts(text)[0] not in ("", *typical) for text in arguments(values)):
        return
    low, stop = (bound(text, typical) for text in arguments(values))
    if stop - low < steps:
        raise ValueError(
            f"decoding counts '{name}' from {low} in {steps} steps, and {values} ends at {stop - 1}: give it a larger "
            f"range, or `steps: {stop - low}`"
        )
