"""The file of a bundle that holds raw samples and what the chains made of them, step by step.

    raw/<number>                                a sample
    <side>/<chain>/<step>/<number>/<name>       a state after a step, counted from 1
    outputs/<number>/<name>                     what the eager layer made of a sample

`side` is `before` or `after` the model, `chain` `training` or `deployment`. Of deployment only what functions of the
user's gave is kept: all else is computed anew. Of training the last state of each sample is kept, and those between as
long as there is room.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base import tensors
from exporter.base.errors import BundleError
from exporter.steps.base import VALUE, State

if TYPE_CHECKING:
    from exporter.base.tensors import Array

_HINT = "do not use this bundle; ask for a fresh one"
#: Keys of the header: the samples' names, and those of the outputs in the order of `forward`.
_NAMES, _OUTPUTS = "samples", "outputs"

#: States of one sample: the raw one, then one after each step; an empty one was not kept.
Steps = Sequence[State]


@dataclass
class Material:
    """Samples by name, the tensors of the file, and the names of the outputs, the first of which is handed on."""

    samples: tuple[str, ...]
    tensors: dict[str, Array] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()

    @classmethod
    def of(cls, samples: Mapping[str, Array]) -> Material:
        """The samples alone."""
        raw = {f"raw/{number}": value for number, value in enumerate(samples.values())}
        return cls(tuple(samples), raw)

    @classmethod
    def read(cls, path: Path) -> Material:
        """What a file holds.

        Raises:
            BundleError: it is not whole, or its samples are not those that it names.
        """
        held, about = tensors.load_with_metadata(path)
        try:
            names, outputs = (tuple(map(str, json.loads(about.get(key, "[]")))) for key in (_NAMES, _OUTPUTS))
        except (ValueError, TypeError) as error:
            raise BundleError("its samples have no names", where=str(path), hint=_HINT) from error
        material = cls(names, held, outputs)
        if not names or any(f"raw/{number}" not in held for number in range(len(names))):
            raise BundleError("it lacks a sample that it names", where=str(path), hint=_HINT)
        return material

    def write(self, path: Path) -> None:
        """Write it, the same material as the same bytes; raises as :func:`exporter.base.tensors.save`."""
        about = {_NAMES: json.dumps(self.samples), _OUTPUTS: json.dumps(self.outputs)}
        tensors.save(path, self.tensors, about)

    @property
    def numbers(self) -> range:
        """The number of each sample."""
        return range(len(self.samples))

    def start(self, side: str, number: int) -> State:
        """The state before the first step of a side: the raw sample, or the outputs, of which the first is handed on.

        Without outputs the state behind the model is empty.
        """
        if side == "before":
            return {VALUE: self.tensors[f"raw/{number}"]}
        return behind_model(self.part(f"outputs/{number}"), self.outputs)

    def part(self, prefix: str) -> dict[str, Array]:
        """The tensors below a prefix, by what stands behind it."""
        return below(self.tensors, prefix)

    def states(self, side: str, chain: str, number: int, length: int) -> list[State]:
        """The states of one sample: before the first of `length` steps, and after each; those not kept are empty."""
        kept = (self.part(f"{side}/{chain}/{step}/{number}") for step in range(1, length + 1))
        return [self.start(side, number), *kept]

    def keep(self, side: str, chain: str, step: int, number: int, state: State) -> None:
        """Add the state of a sample after a step."""
        self.tensors.update({f"{side}/{chain}/{step}/{number}/{name}": value for name, value in state.items()})

    def thinned(self, most: int) -> Iterator[str]:
        """Drop what lies between the steps of the last samples until all of it has at most `most` bytes; tell which.

        The first sample keeps all: it shows which step differs.
        """
        places = {name: name.split("/") for name in self.tensors}
        training = {name: place for name, place in places.items() if place[1] == "training"}
        last = {
            side: max(int(step) for own, _, step, *_ in training.values() if own == side)
            for side in {side for side, *_ in training.values()}
        }
        for number in reversed(self.numbers[1:]):
            if sum(value.nbytes for value in self.tensors.values()) <= most:
                return
            for name, (side, _, step, sample, *_) in training.items():
                if sample == str(number) and int(step) < last[side]:
                    del self.tensors[name]
            yield self.samples[number]


def below(held: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """The tensors of a file below a prefix, by what stands behind it."""
    return {name[len(prefix) + 1 :]: value for name, value in held.items() if name.startswith(f"{prefix}/")}


def behind_model(outputs: Mapping[str, Array], order: Sequence[str]) -> State:
    """The state before the first step behind the model: its outputs, and as what is handed on the first of them."""
    return {VALUE: outputs[order[0]], **outputs} if order and order[0] in outputs else {}
