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
    cache = paired([own.name for own in inputs], [given.name for given in outputs])
    by_name = {given.name: given for given in outputs}
    names = {given.name: given.name for given in outputs}
    if not cache or not all(_follows(own, by_name[cache[own.name]]) for own in caches):
        behind = [given for given in outputs if any(_follows(own, given) for own in caches)]
        if len(behind) != len(caches) or not all(map(_follows, caches, behind)):
            return None
        cache = {own.name: given.name for own, given in zip(caches, behind, strict=True)}
        names |= {given: renamed(name) for name, given in cache.items() if _is_number(given)}
    scores = _scores([given for given in outputs if given.name not in cache.values()])
    if scores and _is_number(scores.name):
        names[scores.name] = "logits"
    if len(set(names.values())) < len(outputs):
        names = {given.name: given.name for given in outputs}
    ids = [own.name for own in inputs if role(own.name) == "ids" and own.dtype.startswith("int")]
    grows = any(own.shape != by_name[cache[own.name]].shape for own in caches)
    counted = () if grows else tuple(own.name for own in inputs if role(own.name) == "place")
    most = min(_MOST, places - 1) if grows and places > _FEWEST_PLACES else _MOST
    return Proposal(
        {name: names[given] for name, given in cache.items()},
        tuple(names[given.name] for given in outputs),
        {ids[0]: names[scores.name]} if scores and ids else {},
        counted,
        tuple(own.name for own in inputs if role(own.name) == "held"),
        min(_STEPS, most),
        most,
    )


def step_of(found: Signature, looked: Looked) -> Proposal | None:
    """What is fed back where the layer is one step of a decoder; of one that was not run it is guessed by names."""
    if not looked.inputs:
        return _propose_by_names(found.required) if is_step(found.required) else None
    inputs = [Shaped(name, taken.dtype, taken.shape) for name, taken in looked.inputs.items()]
    tables = [taken.stop for name, taken in looked.inputs.items() if role(name) == "place"]
    outputs = [Shaped(given.name, given.dtype, given.shape) for given in looked.outputs]
    return propose(inputs, outputs, max(tables, default=0))


def taken_of(found: Signature, looked: Looked, step: Proposal | None) -> Mapping[str, Taken]:
    """What is known of each input, or guessed of one of a step; empty where nothing is."""
    if step is None or looked.inputs:
        counted = step.counts if step else ()
        filled = {name: replace(looked.inputs[name], filled="integers(0,past)") for name in counted}
        return {**looked.inputs, **filled}
    guesses = {name: _guess(name) for name in found.required}
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


def _follows(own: Shaped, given: Shaped) -> bool:
    """Return whether an output can be this input in the next step: of its shape, but for a past that is one longer."""
    if own.dtype != given.dtype or len(own.shape) != len(given.shape):
        return False
    return all(
        -1 in (before, after) or before == after or f"{before}+1" == after
        for before, after in zip(own.shape, given.shape, strict=True)
    )


def _scores(outputs: Sequence[Shaped]) -> Shaped | None:
    """The output that decides the next ids: the scores, or whole numbers."""
    named = [given for given in outputs if any(word in given.name.lower() for word in _SCORES)]
    floats = [given for given in outputs if given.dtype.startswith("float") and len(given.shape) > 1]
    whole = [given for given in outputs if given.dtype.startswith("int")]
    return next(iter((*named, *floats, *whole)), None)


def _is_number(name: str) -> bool:
    """Return whether it is the name that an output gets which has none."""
    return name.startswith("output_") and name.removeprefix("output_").isdecimal()


def _flow(value: _Value) -> str:
    """Write a value of the key in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{yaml_text(name)}: {yaml_text(output)}' for name, output in value.items())}}}"
    return str(value) if isinstance(value, int) else f"[{', '.join(map(yaml_text, value))}]"
