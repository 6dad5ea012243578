"""Which cases a spec asks for, and what their inputs hold.

The list is known before anything runs (:func:`plan_cases`); the values are drawn in a child (:func:`draw`), since a
recipe's data may need Paddle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.errors import UsageError
from exporter.tensors import Array

if TYPE_CHECKING:
    from exporter.spec.model import Dim, Input, Spec

#: Gives `count` rows of real inputs by name: `rows(names, count, seed)`.
Rows = Callable[[tuple[str, ...], int, int], Mapping[str, Array]]


@dataclass(frozen=True)
class Case:
    """One set of named inputs: the size of each named dim, and the seed of its values."""

    name: str
    dims: Mapping[str, int]
    seed: int


def plan_cases(dims: Mapping[str, Dim], seed: int) -> tuple[Case, ...]:
    """Every named dim at min, typical, max and an odd size, together and one by one; the typical point twice.

    The second draw at the typical point gives each output a stranger of its own shape: another case's output, which
    must not pass for it.
    """
    typical = {name: dim.typical for name, dim in dims.items()}
    points = [typical, typical]
    sizes = {name: (dim.min, dim.max, odd_size(dim)) for name, dim in dims.items()}
    for choice in range(3):
        points.append({name: sizes[name][choice] for name in dims})
    for name in dims if len(dims) > 1 else ():
        points.extend({**typical, name: size} for size in sizes[name])
    cases: list[Case] = []
    for point in points:
        name = ",".join(f"{dim}={size}" for dim, size in point.items()) or "fixed"
        drawn = sum(case.dims == point for case in cases)
        if drawn and (point != typical or drawn > 1):
            continue
        cases.append(Case(f"{name}#{drawn + 1}" if drawn else name, point, seed + len(cases)))
    return tuple(cases)


def odd_size(dim: Dim) -> int:
    """An odd multiple near the middle of the range: what code written for even sizes gets wrong."""
    step = dim.multiple_of
    middle = (dim.min + dim.max) // 2 // step
    for factor in (middle | 1, (middle | 1) - 2, (middle | 1) + 2):
        if dim.min <= factor * step <= dim.max:
            return factor * step
    return dim.typical


def draw(spec: Spec, case: Case, rows: Rows | None) -> dict[str, Array]:
    """Fill the inputs of one case.

    Raises:
        UsageError: a `.npy` file or the recipe's data does not fit the input.
    """
    import numpy as np

    inputs: dict[str, Array] = {}
    shapes = {name: _shape(one, case.dims) for name, one in spec.inputs.items()}
    real = tuple(name for name, one in spec.inputs.items() if one.values == "dataset")
    if real and rows is not None:
        counts = {shapes[name][0] for name in real if shapes[name]}
        drawn = rows(real, max(counts, default=1), case.seed)
        inputs.update({name: np.ascontiguousarray(drawn[name]) for name in real})
    for index, (name, one) in enumerate(spec.inputs.items()):
        if name not in inputs:
            generator = np.random.default_rng([case.seed, index])
            inputs[name] = _fill(one, shapes[name], case.dims, generator)
        if inputs[name].shape != shapes[name] or inputs[name].dtype.name != one.dtype:
            found = f"{inputs[name].dtype.name}{list(inputs[name].shape)}"
            raise UsageError(
                f"the values are {found}, the input is {one.dtype}{list(shapes[name])}",
                where=f"inputs.{name}.values: {one.values}",
                hint="make the values fit the input's dtype and shape",
            )
    return {name: inputs[name] for name in spec.inputs}


def _shape(one: Input, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dims[dim] if isinstance(dim, str) else dim for dim in one.shape)


def _fill(one: Input, shape: tuple[int, ...], dims: Mapping[str, int], generator: object) -> Array:
    import numpy as np

    assert isinstance(generator, np.random.Generator)  # noqa: S101  # typed loosely to keep numpy out of the import
    if one.values.endswith(".npy"):
        return _rows_of_file(Path(one.values), shape, generator)
    word, numbers = one.values.partition("(")[0], re.findall(r"[^(),\s]+", one.values)[1:]
    if word == "uniform":
        return generator.uniform(float(numbers[0]), float(numbers[1]), shape).astype(one.dtype)
    if word == "integers":
        low, high = (dims[text] if text in dims else int(text) for text in numbers)
        return generator.integers(low, high, shape).astype(one.dtype)
    return generator.standard_normal(shape).astype(one.dtype)


def _rows_of_file(path: Path, shape: tuple[int, ...], generator: object) -> Array:
    """Rows of a `.npy` file, a random stretch of it; one that is too short is refused."""
    import numpy as np
    from numpy.lib import format as npy

    assert isinstance(generator, np.random.Generator)  # noqa: S101
    try:
        with path.open("rb") as stream:
            values = npy.read_array(stream, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"not a readable .npy file: {error}", where=str(path), hint="write it with numpy.save"
        ) from error
    if values.shape == shape:
        return values
    if values.ndim != len(shape) or values.shape[1:] != shape[1:] or values.shape[0] < shape[0]:
        raise UsageError(
            f"the file holds {list(values.shape)}, the case needs {list(shape)}",
            where=str(path),
            hint="store at least as many rows as the largest case has",
        )
    start = int(generator.integers(0, values.shape[0] - shape[0] + 1))
    return values[start : start + shape[0]]
