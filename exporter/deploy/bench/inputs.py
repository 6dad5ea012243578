"""What the engines are timed on: the cases that a bundle records, or inputs drawn from its interface where it has none.

How long a call takes hangs on the sizes and hardly on the values; so what `convert` has written can be timed as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.tensors import save
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import Bundle
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.values import are_real


@dataclass(frozen=True)
class Size:
    """One combination of sizes: its name, the named dims, and the shape that each output must have, if it is known."""

    name: str
    dims: Mapping[str, int]
    shapes: Mapping[str, list[int]]


@dataclass(frozen=True)
class Inputs:
    """The sizes, the smallest first; the file that holds their inputs as a golden; and what a reader has to know."""

    sizes: tuple[Size, ...]
    file: Path
    note: str = ""


def inputs_of(bundle: Bundle, spec: Spec, place: Path) -> Inputs:
    """The recorded inputs; else drawn ones, written into the folder `place`. Cases that only probe are left out."""
    cases = [case for case in reversed(bundle.manifest.cases) if ":" not in case.name]
    if not cases:
        return _drawn(spec, place / GOLDEN)
    plain = {tuple(case.dims.items()): case for case in cases}
    sizes = [
        Size(case.name, case.dims, {name: list(facts.shape) for name, facts in case.outputs.items()})
        for case in plain.values()
    ]
    return Inputs(_ordered(sizes), bundle.folder / GOLDEN)


def _drawn(spec: Spec, file: Path) -> Inputs:
    cases = [case for case in plan_cases(spec) if not case.kind and "#" not in case.name]
    here = spec.model_copy(update={"inputs": {name: _here(one) for name, one in spec.inputs.items()}})
    tensors = {f"{case.name}/input/{name}": value for case in cases for name, value in draw(here, case, None).items()}
    save(file, tensors)
    said = ", ".join(f"{name} {_here(one).values}" for name, one in spec.inputs.items())
    note = f"the bundle records no case: inputs were drawn from its interface ({said})"
    return Inputs(_ordered([Size(case.name, case.dims, {}) for case in cases]), file, note)


def _here(one: Input) -> Input:
    """With values that need neither the recipe's data nor a file; whole numbers are 0 and 1, as ids can be."""
    if not are_real(one.values):
        return one
    return one.model_copy(update={"values": "normal" if one.dtype.startswith("float") else "integers(0,2)"})


def _ordered(sizes: Sequence[Size]) -> tuple[Size, ...]:
    return tuple(sorted(sizes, key=lambda size: sorted(size.dims.values())))
