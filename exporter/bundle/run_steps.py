"""A decoder's steps, each on the cache that the engine's own step before gave: the part of verify.py that runs them.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.bundle.script`; it runs on Python 3.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from exporter.base.numbers.golden import GoldenCase, read_cases
from exporter.base.numbers.rule import Judged, judge_case
from exporter.base.numbers.sample import kept_of, other_sample
from exporter.base.numbers.steps import doubt_of_cache, first_off, grouped_steps, with_cache

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The file of the steps, beside the goldens.
STEPS = "decoding.safetensors"


class Named(TypedDict):
    """An input or an output, as the manifest describes it."""

    name: str


class Decoder(TypedDict):
    """What the spec says of a decoder: the output that feeds each cache, and how many steps there are."""

    cache: dict[str, str]
    steps: int


class SpecOfSteps(TypedDict, total=False):
    """What of a spec decides which steps are recorded, and how much of them."""

    decoding: Decoder
    golden_mb: float
    seed: int


class RecordedStep(TypedDict):
    """What the manifest says of a step."""

    name: str
    outputs: dict[str, dict[str, object]]


class ManifestOfSteps(TypedDict, total=False):
    """What of a manifest is read here; `decoding` has the last step once more at its end, with an empty cache."""

    spec: SpecOfSteps
    decoding: list[RecordedStep]
    inputs: list[Named]
    outputs: list[Named]
    budget: float
    constants: list[str]
    sized: list[str]


class VariantOfSteps(TypedDict):
    """The names of a variant's inputs and outputs, in the order of the manifest's, and its precision."""

    inputs: list[str]
    outputs: list[str]
    precision: str


def recorded_steps(manifest: ManifestOfSteps, held: Mapping[str, Array]) -> tuple[list[GoldenCase], GoldenCase]:
    """Read all steps, and the last one with an empty cache.

    Raises:
        KeyError, ValueError: they are not what the manifest says of them.
    """
    described, spec = manifest["decoding"], manifest["spec"]
    if len(described) != spec["decoding"]["steps"] + 1:
        raise ValueError(f"{len(described) - 1} steps are recorded, and the spec has {spec['decoding']['steps']}")
    if wrong := other_sample(*kept_of(held), described, spec.get("golden_mb", 64.0), spec.get("seed", 0), steps=True):
        raise ValueError(wrong)
    groups = grouped_steps(described, spec["decoding"]["cache"].values())
    steps, ends, emptied = (read_cases(held, group) for group in groups)
    return with_cache(steps, ends[0]), emptied[0]


def judged_steps(
    manifest: ManifestOfSteps,
    variant: VariantOfSteps,
    held: Mapping[str, Array],
    run: Callable[[Iterable[dict[str, Array]]], Iterator[dict[str, Array]]],
) -> list[list[str]]:
    """Return ["decoding", output, outcome, reason] of every output that a value decides; `run` yields outputs by case.

    Raises:
        KeyError, ValueError: as :func:`recorded_steps`.
    """
    steps, emptied = recorded_steps(manifest, held)
    outputs = [output["name"] for output in manifest["outputs"]]
    ours = {native: outputs[place] for place, native in enumerate(variant["outputs"])}
    budget = float(manifest["budget"])
    others = {name: [step.outputs[name] for step in steps if name in step.outputs] for name in outputs}
    seen: dict[str, list[Judged]] = {name: [] for name in outputs}
    before: dict[str, Array] = {}
    for at, answer in enumerate(run(_fed(manifest, variant, held, before))):
        step = steps[at]
        before.clear()
        before.update({ours.get(native, native): value for native, value in answer.items()})
        got = {name: before[name] for name in step.outputs if name in before}
        limit = budget if variant["precision"] == "fp32" else None
        for name, judged in judge_case(step, got, others, limit).items():
            seen[name].append(judged)
    no_value = {*manifest.get("constants", ()), *manifest.get("sized", ())}  # no cache leads to them
    return [
        ["decoding", name, *_of_all(seen[name], steps, emptied, name, budget)]
        for name in outputs
        if name not in no_value
    ]


def _fed(
    manifest: ManifestOfSteps, variant: VariantOfSteps, held: Mapping[str, Array], before: Mapping[str, Array]
) -> Iterator[dict[str, Array]]:
    """Yield the inputs of each step, by the names in the artifact; `before` holds what the last one has put out.

    It ends early where the last one put out no cache.
    """
    cache = manifest["spec"]["decoding"]["cache"]
    natives = [(variant["inputs"][place], described["name"]) for place, described in enumerate(manifest["inputs"])]
    for at, step in enumerate(manifest["decoding"][:-1]):
        if at and not before.keys() >= set(cache.values()):
            return
        yield {
            native: before[cache[name]] if at and name in cache else held[f"{step['name']}/input/{name}"]
            for native, name in natives
        }


def _of_all(
    seen: Sequence[Judged], steps: Sequence[GoldenCase], emptied: GoldenCase, name: str, budget: float
) -> tuple[str, str]:
    """The outcome of all steps of one output, and why; of a cache only the last one is compared."""
    due = [at for at, step in enumerate(steps) if name in step.outputs]
    if len(seen) != len(due):
        return "missing", f"{len(seen)} of {len(due)} steps gave it"
    first = first_off([judged.outcome for judged in seen])
    if first is not None:
        return seen[first].outcome, f"in step {due[first] + 1} of {len(steps)}: {seen[first].reason}"
    return doubt_of_cache(steps[-1].outputs[name], emptied.outputs[name], budget) or ("match", "")
