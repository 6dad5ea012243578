"""The cases of a bundle beside those that its spec plans: their inputs, what is kept of them, why some are left out.

What a release computes from goldens, spec and files is computed again. A probing case is left out since even eager
tells nothing there, which its goldens show; since another case has its inputs, which these show; or since eager refused
it, which nothing here can show: that is the bundle's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from exporter.base.errors import BundleError
from exporter.base.numbers.golden import promised
from exporter.base.readers import read
from exporter.base.tensors import Array, digest, dims_in, recorded_inputs, shape_at
from exporter.bundle.manifest import CaseFacts, Content
from exporter.prove.compare.golden import read_goldens, refuse_other_samples
from exporter.prove.goldens.cases import Case, declared_range, mask_cases, plan_cases
from exporter.prove.goldens.masks import masks_in, program_of
from exporter.prove.goldens.telling import in_order, untelling
from exporter.prove.goldens.values import probing
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.values import arguments

_HINT = "do not use this bundle; ask for a fresh one"
#: How the reason begins for which the inputs of another case stand.
SAME_INPUTS = "its inputs are those of "


@dataclass(frozen=True)
class Recorded:
    """What a bundle says of its cases, in the folder of its files, and the goldens that it says it of.

    `described` is what the manifest says of each case, those that tell nothing among them.
    """

    content: Content
    spec: Spec
    folder: Path
    golden: Path
    described: tuple[CaseFacts, ...]

    @cached_property
    def planned(self) -> Mapping[str, Case]:
        """The cases that a release of this spec plans for these files, by name."""
        real = [name for name, declared in self.spec.inputs.items() if declared.values.startswith("uniform")]
        artifacts = [variant.artifact() for variant in self.content.variants.values()]
        program = program_of(self.folder, artifacts) if real else None
        masks = masks_in(program, list(self.spec.inputs), real) if program else ()
        further = [case for name in masks for case in mask_cases(self.spec, name)]
        return {case.name: case for case in (*plan_cases(self.spec), *further)}

    def refuse_other(self) -> None:
        """Refuse goldens whose inputs, samples, shapes or dtypes are not those that a release of the spec records.

        What eager gives otherwise than the trace states, as a `squeeze` that also removes a batch of 1, is for the
        claims to judge until a bundle is released.

        Raises:
            BundleError: they are not; the first is named.
        """
        described = [facts.model_dump() for facts in self.described]
        refuse_other_samples(self.golden, described, self.spec)
        for facts in self.described:
            if self.content.released:
                self._refuse_other_outputs(facts)
            self._refuse_other_inputs(facts)
        self._refuse_open_sizes()

    def unshown(self) -> dict[str, str]:
        """The planned cases that were left out and of which nothing shows why, with the reason that is given.

        Raises:
            BundleError: something shows that a reason is none.
        """
        kept = {facts.name for facts in self.content.untelling}
        silent = self._untelling() if kept else {}
        word = {}
        for name, why in self.content.left_out.items():
            if name in kept and name not in silent:
                self._refuse(name, f"was left out ({why}), and what eager gave there tells as much as in any other")
            elif name not in kept and name in self.planned and not self._has_inputs_of(name, why):
                word[name] = why
        return word

    def _untelling(self) -> dict[str, str]:
        described = [facts.model_dump() for facts in self.described]
        goldens = in_order(read_goldens(self.golden, described), self.spec)
        return untelling(goldens, self.spec.budget)

    def _has_inputs_of(self, name: str, why: str) -> bool:
        """Return whether another case has its inputs, if that is the reason."""
        other = why.removeprefix(SAME_INPUTS)
        if other == why:
            return False
        known = {facts.name for facts in self.described}
        if name == other or not (other in known or other in self.planned):
            self._refuse(name, f"was left out for the inputs of case '{other}', and there is none")
        own, theirs = (self._inputs(case) for case in (name, other))
        if any(digest(own[key]) != digest(theirs[key]) for key in own):
            self._refuse(name, f"was left out for the inputs of case '{other}', and has others")
        return True

    def _inputs(self, name: str) -> Mapping[str, Array]:
        """The recorded inputs of a case; of one that was not recorded what a release makes of the typical ones."""
        if any(facts.name == name for facts in self.described):
            return recorded_inputs(self.golden, name, self.spec.inputs)
        return probing(self.spec, self.planned[name], self._typical)

    @cached_property
    def _typical(self) -> dict[str, Array]:
        first = next(iter(self.planned))
        if all(facts.name != first for facts in self.described):
            self._refuse(first, "was not recorded, and every probing case is made from it")
        return recorded_inputs(self.golden, first, self.spec.inputs)

    def _refuse_other_outputs(self, facts: CaseFacts) -> None:
        for stated in self.content.outputs:
            held = facts.outputs[stated.name]
            sizes = shape_at(stated.shape, {**dict.fromkeys(dims_in([stated.shape]), -2), **facts.dims})
            fits = len(sizes) == len(held.shape) and all(
                size in (-1, seen) for size, seen in zip(sizes, held.shape, strict=True)
            )
            if not fits or held.dtype != stated.dtype:
                self._refuse(
                    facts.name,
                    f"gives '{stated.name}' as {held.dtype}{list(held.shape)}, and the manifest states "
                    f"{stated.dtype}{list(stated.shape)}",
                )

    def _refuse_open_sizes(self) -> None:
        """What a trace declares and every case has is stated: no size is left open that is known."""
        traced = self.content.variants.get("pir")
        if traced is None:
            return
        declared = {tensor.name: tensor.shape for tensor in read(self.folder / traced.artifact().main).outputs}
        for stated, native in zip(self.content.outputs, traced.outputs, strict=True):
            for axis, size in enumerate(stated.shape):
                known = declared.get(native, ())[axis : axis + 1]
                seen = {facts.outputs[stated.name].shape[axis : axis + 1] for facts in self.described}
                if size == -1 and seen == {known}:
                    what = f"has {known[0]} at axis {axis} of '{stated.name}', as its file and all do; -1 is stated"
                    self._refuse(self.described[0].name, what)

    def _refuse_other_inputs(self, facts: CaseFacts) -> None:
        inputs, case = recorded_inputs(self.golden, facts.name, self.spec.inputs), self.planned.get(facts.name)
        for name, declared in self.spec.inputs.items():
            value = inputs[name]
            if value.dtype.name != declared.dtype:
                self._refuse(facts.name, f"holds input '{name}' in {value.dtype.name}, and the spec {declared.dtype}")
            if promised(facts.name) and not _within(declared, value, facts.dims):
                self._refuse(facts.name, f"holds values of input '{name}' that are not of {declared.values}")
        if case is not None and case.kind:
            made = probing(self.spec, case, self._typical)
            for name, value in made.items():
                # A row that may not be empty gets its token before and after it is changed.
                if self.spec.inputs[name].empty_rows and digest(value) != digest(inputs[name]):
                    self._refuse(facts.name, f"holds an input '{name}' that is not what '{case.kind}' stands for")

    def _refuse(self, case: str, what: str) -> None:
        raise BundleError(f"case '{case}' {what}", where=str(self.golden), hint=_HINT)


def _within(declared: Input, value: Array, dims: Mapping[str, int]) -> bool:
    """Whether a promised input has values of the range that the spec draws it from, as rounded to its dtype."""
    if not value.size:
        return True
    if (whole := declared_range(declared, dims)) is not None:
        return bool(whole[0] <= value.min() and value.max() < whole[1])
    if declared.values.startswith("uniform"):
        low, high = (np.dtype(declared.dtype).type(float(bound)) for bound in arguments(declared.values))
        return bool(low <= value.min() and value.max() <= high)
    return True
