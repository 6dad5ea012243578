"""The key `decoding` of a first spec: what names and shapes of a layer's inputs and outputs say of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from exporter.cli.looked import Looked, Signature, Taken
from exporter.cli.yaml_names import yaml_text
from exporter.spec.decoding_names import Role, is_step, paired, renamed, role

#: How many steps are proven, and the sizes that the past has for them: one more than the steps at the least.
_STEPS, _MOST = 64, 128
_GROWS = "past"
#: A table of places of so many is none that a text is read by.
_FEWEST_PLACES = 3
#: Words of the output that decides the next ids.
_SCORES = ("logit", "score", "prob")


#: What the key holds, as a spec does.
_Value: TypeAlias = dict[str, str] | list[str] | int


@dataclass(frozen=True)
class Shaped:
    """An input or output: its name, dtype and shape, with named dims, and -1 where nothing says a size."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Proposal:
    """What is fed back: the keys of `decoding`, and names for all outputs in their order."""

    cache: Mapping[str, str]
    outputs: tuple[str, ...]
    tokens: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    steps: int = _STEPS
    most: int = _MOST

    @property
    def past(self) -> str:
        """The range of the dim that grows, as YAML; of a buffer that does not grow, every step has its place in it."""
        least = self.steps if self.counts else 1
        return f"{{min: {least}, typical: {max(least, min(16, self.most))}, max: {self.most}}}"

    def content(self) -> dict[str, _Value]:
        """The key as a spec holds it."""
        keys: dict[str, _Value] = {
            "cache": dict(self.cache),
            "tokens": dict(self.tokens),
            "counts": list(self.counts),
            "held": list(self.held),
            "steps": self.steps,
        }
        return {key: value for key, value in keys.items() if value}

    def lines(self) -> list[str]:
        """The key as YAML writes it."""
        said = [f"  {key}: {_flow(value)}" for key, value in self.content().items()]
        return ["decoding:   # one step of a decoder: what it gives is fed back (docs/decoding.md)", *said]


def propose(inputs: Sequence[Shaped], outputs: Sequence[Shaped], places: int = 0) -> Proposal | None:
    """Return what is fed back from step to step; None where no output can be an input of the next.

    Outputs that have no names of their own, as those of a tuple, are taken by their shapes, in their order. `places`
    is the size of a table in which the place is looked up; 0 where there is none.
    """
    caches = [own for own in inputs if role(own.name) == "cache"]
    if not caches:
        return None
    cache = paired([own.name for own in inputs], [output.name for output in outputs])
    by_name = {output.name: output for output in outputs}
    names = {output.name: output.name for output in outputs}
    if not cache or not all(_follows(own, by_name[cache[own.name]]) for own in caches):
        behind = [output for output in outputs if any(_follows(own, output) for own in caches)]
        if len(behind) != len(caches) or not all(map(_follows, caches, behind)):
            return None
        cache = {own.name: output.name for own, output in zip(caches, behind, strict=True)}
        names |= {output: renamed(name) for name, output in cache.items() if _is_number(output)}
    scores = _scores([output for output in outputs if output.name not in cache.values()])
    if scores and _is_number(scores.name):
        names[scores.name] = "logits"
    if len(set(names.values())) < len(outputs):
        names = {output.name: output.name for output in outputs}
    ids = [own.name for own in inputs if role(own.name) == "ids" and own.dtype.startswith("int")]
    grows = any(own.shape != by_name[cache[own.name]].shape for own in caches)
    counted = () if grows else tuple(own.name for own in inputs if role(own.name) == "place")
    most = min(_MOST, places - 1) if grows and places > _FEWEST_PLACES else _MOST
    return Proposal(
        {name: names[output] for name, output in cache.items()},
        tuple(names[output.name] for output in outputs),
        {ids[0]: names[scores.name]} if scores and ids else {},
        counted,
        tuple(own.name for own in inputs if role(own.name) == "held"),
        min(_STEPS, most),
        most,
    )


def step_of(signature: Signature, looked: Looked) -> Proposal | None:
    """Return what is fed back where a layer is a step of a decoder; of one that was not run it is guessed by names."""
    if not looked.inputs:
        return _propose_by_names(signature.required) if is_step(signature.required) else None
    inputs = [Shaped(name, taken.dtype, taken.shape) for name, taken in looked.inputs.items()]
    tables = [taken.stop for name, taken in looked.inputs.items() if role(name) == "place"]
    outputs = [Shaped(output.name, output.dtype, output.shape) for output in looked.outputs]
    return propose(inputs, outputs, max(tables, default=0))


def taken_of(signature: Signature, looked: Looked, step: Proposal | None) -> Mapping[str, Taken]:
    """Return what is known of each input, or guessed of one of a step; empty where nothing is."""
    if step is None or looked.inputs:
        counted = step.counts if step else ()
        filled = {name: replace(looked.inputs[name], filled="integers(0,past)") for name in counted}
        return {**looked.inputs, **filled}
    guesses = {name: _guess(name) for name in signature.required}
    values = {"place": "integers(past,past+1)", "mask": "integers(0,2)", "ids": "integers(0,100)"}
    return {
        name: Taken(shaped.dtype, shaped.shape, filled=values.get(role(name), ""), empty_rows=role(name) != "mask")
        for name, shaped in guesses.items()
    }


def _guess(name: str) -> Shaped:
    """An input of a step of which only the name is known."""
    shapes: dict[Role, tuple[str, tuple[int | str, ...]]] = {
        "cache": ("float32", ("batch", 8, _GROWS, 64)),
        "place": ("int64", ("batch", 1)),
        "mask": ("int64", ("batch", f"{_GROWS}+1")),
        "ids": ("int64", ("batch", 1)),
        "held": ("float32", ("batch", "seq", 512)),
        "": ("float32", ("batch", 512)),
    }
    return Shaped(name, *shapes[role(name)])


def _propose_by_names(inputs: Sequence[str]) -> Proposal | None:
    """Return the same of a layer of which only the names of its inputs are known: its outputs are guesses."""
    caches = [_guess(name) for name in inputs if role(name) == "cache"]
    scores = Shaped("logits", "float32", ("batch", 1, -1))
    behind = [Shaped(renamed(own.name), own.dtype, ("batch", 8, f"{_GROWS}+1", 64)) for own in caches]
    return propose([_guess(name) for name in inputs], [scores, *behind])


def _follows(own: Shaped, output: Shaped) -> bool:
    """Return whether an output can be this input in the next step: of its shape, but for a past that is one longer."""
    if own.dtype != output.dtype or len(own.shape) != len(output.shape):
        return False
    return all(
        -1 in (before, after) or before == after or f"{before}+1" == after
        for before, after in zip(own.shape, output.shape, strict=True)
    )


def _scores(outputs: Sequence[Shaped]) -> Shaped | None:
    """The output that decides the next ids: the scores, or whole numbers."""
    named = [output for output in outputs if any(word in output.name.lower() for word in _SCORES)]
    floats = [output for output in outputs if output.dtype.startswith("float") and len(output.shape) > 1]
    whole = [output for output in outputs if output.dtype.startswith("int")]
    return next(iter((*named, *floats, *whole)), None)


def _is_number(name: str) -> bool:
    """Return whether it is the name that an output gets which has none."""
    return name.startswith("output_") and name.removeprefix("output_").isdecimal()


def _flow(value: _Value) -> str:
    """Write a value of the key in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{yaml_text(name)}: {yaml_text(item)}' for name, item in value.items())}}}"
    return str(value) if isinstance(value, int) else f"[{', '.join(map(yaml_text, value))}]"
