"""Inputs that nobody recorded: drawn as the spec says, by a seed that a bundle's author cannot choose.

What a file or a recipe gave (`values: dataset`, `x.npy`) need not be at hand. Such an input is mixed from recorded
ones: each number is one that was recorded at its own place, since each column may have a range of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from exporter.base.tensors import Array, TensorMap
from exporter.prove.goldens.cases import Case, batch_dim
from exporter.prove.goldens.values import draw
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.values import are_real

#: How often each size is drawn: what is apart by chance, at a tie of two labels, is hardly so twice.
DRAWS = 2
#: How many are drawn for each, of which the first that is new is taken.
_TRIES = 8
#: A mixed real number is made smaller by up to a quarter: so it keeps its sign, and zeros stay what they are.
_SHRUNK = 0.75


def fresh_inputs(spec: Spec, known: Sequence[TensorMap], seed: Sequence[int]) -> dict[str, list[dict[str, Array]]]:
    """By size, the draws of all inputs: at the typical sizes, and at sizes that no case need have.

    `known` are the recorded inputs of the cases that the spec promises at the typical sizes. A draw is one of these
    only where so many others were, too: where every input is given and always the same, or the spec allows few values.
    """
    generator = np.random.default_rng(seed)
    typical = {name: dim.typical for name, dim in spec.dims.items()}
    drawn: dict[str, list[dict[str, Array]]] = {}
    for dims in (typical, _smaller(spec, generator)):
        said = ",".join(f"{dim}={size}" for dim, size in dims.items()) or "fixed"
        if said not in drawn:
            tried = [[_drawn(spec, dims, known, generator) for _ in range(_TRIES)] for _ in range(DRAWS)]
            drawn[said] = [next((one for one in tries if is_new(one, known)), tries[-1]) for tries in tried]
    return drawn


def is_new(inputs: TensorMap, known: Sequence[TensorMap]) -> bool:
    """Whether inputs are others than each of those that are known."""
    return not any(all(np.array_equal(inputs[name], case[name]) for name in inputs) for case in known)


def _smaller(spec: Spec, generator: np.random.Generator) -> dict[str, int]:
    """Any sizes up to the typical ones, so that what was recorded at these can be cut."""
    sizes = {}
    for name, dim in spec.dims.items():
        steps = (dim.typical - dim.min) // dim.multiple_of
        sizes[name] = dim.typical - dim.multiple_of * int(generator.integers(0, steps + 1))
    return sizes


def _drawn(
    spec: Spec, dims: Mapping[str, int], known: Sequence[TensorMap], generator: np.random.Generator
) -> dict[str, Array]:
    given = [name for name, one in spec.inputs.items() if _is_given(one)]
    inputs = {name: one for name, one in spec.inputs.items() if name not in given}
    case = Case("fresh", dims, int(generator.integers(np.iinfo("int64").max)))
    drawn = draw(spec.model_copy(update={"inputs": inputs}), case, None)
    mixed = {name: _mixed(spec, name, dims, known, generator) for name in given}
    return {name: (drawn | mixed)[name] for name in spec.inputs}


def _is_given(one: Input) -> bool:
    return are_real(one.values)


def _mixed(
    spec: Spec, name: str, dims: Mapping[str, int], known: Sequence[TensorMap], generator: np.random.Generator
) -> Array:
    one, batch = spec.inputs[name], batch_dim(spec)
    whole = [inputs[name] for inputs in known]
    if one.shape and one.shape[0] == batch:
        whole += [generator.permutation(value) for value in whole]
    cut = tuple(slice(dims[size] if isinstance(size, str) else size) for size in one.shape)
    pool = np.stack([value[cut] for value in whole])
    chosen = generator.integers(0, len(pool), pool.shape[1:])
    mixed: Array = np.take_along_axis(pool, chosen[None], 0)[0]
    if mixed.dtype.kind == "f":
        mixed = (mixed * generator.uniform(_SHRUNK, 1.0, mixed.shape)).astype(mixed.dtype)
    return mixed
