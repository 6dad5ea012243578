"""What the inputs of a case hold: drawn from a distribution, a file or a recipe, then changed as the case says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from exporter.base.errors import UsageError
from exporter.base.files import sha256_bytes
from exporter.base.numbers.golden import NOT_FINITE_IN, ROWS_OF
from exporter.base.tensors import Array, digest, load_npy, shape_at
from exporter.export.fold.samples import sample_rows
from exporter.prove.goldens.cases import Case, batch_dim, declared_range, kinds_of, value_ends
from exporter.prove.goldens.extremes import Extremes, with_a_token
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.values import arguments

#: From the seeds of one attempt to those of the next: no spec has as many cases.
_STRIDE = 100_003
#: Gives `count` rows of real inputs by name: `rows(names, count, seed)`.
Rows = Callable[[tuple[str, ...], int, int], Mapping[str, Array]]


def real_rows(spec: Spec) -> Rows | None:
    """The recipe's held-out data, if any input is filled with it."""
    if spec.recipe is None or all(declared.values != "dataset" for declared in spec.inputs.values()):
        return None
    from exporter.spec.recipe.load import load_data, load_recipe, rows_of

    data = load_data(load_recipe(spec.recipe), spec.recipe)
    return lambda names, count, seed: rows_of(data, "held_out", names, count, seed)


def draw(spec: Spec, case: Case, rows: Rows | None, attempt: int = 0) -> dict[str, Array]:
    """Fill the inputs of one case; a further attempt draws them anew.

    Raises:
        UsageError: a `.npy` file or the recipe's data does not fit the input.
    """
    inputs: dict[str, Array] = {}
    seed = case.seed + _STRIDE * attempt
    # What probes is made from the typical case, whose seed it has.
    dims = {name: dim.typical for name, dim in spec.dims.items()} if case.kind else case.dims
    shapes = {name: shape_at(declared.shape, dims) for name, declared in spec.inputs.items()}
    real = tuple(name for name, declared in spec.inputs.items() if declared.values == "dataset")
    if real and rows is not None:
        counts = {shapes[name][0] for name in real if shapes[name]}
        drawn = rows(real, max(counts, default=1), seed)
        inputs.update({name: cropped(spec, name, drawn[name], shapes[name]) for name in real})
    for index, (name, declared) in enumerate(spec.inputs.items()):
        if declared.values == "samples" and spec.pipeline is not None:
            count = shapes[name][0] if shapes[name] else 1
            raw = sample_rows(spec.pipeline, count, seed)
            inputs[name] = cropped(spec, name, raw, shapes[name])
        elif name not in inputs:
            generator = np.random.default_rng([seed, index])
            inputs[name] = _fill(declared, shapes[name], dims, generator)
            if declared.values == "normal" and not shapes[name]:
                inputs[name] = _by_turns(inputs[name], seed >> index % 2)
        if inputs[name].shape != shapes[name] or inputs[name].dtype.name != declared.dtype:
            read = f"{inputs[name].dtype.name}{list(inputs[name].shape)}"
            raise UsageError(
                f"the values are {read}, the input is {declared.dtype}{list(shapes[name])}",
                where=f"inputs.{name}.values: {declared.values}",
                hint="make the values fit the input's dtype and shape",
            )
    if case.kind:
        return probing(spec, case, inputs)
    return {name: with_a_token(spec.inputs[name], value_ends(spec, name, dims), inputs[name]) for name in spec.inputs}


def probing(spec: Spec, case: Case, typical: Mapping[str, Array]) -> dict[str, Array]:
    """What a probing case makes of the inputs of the typical one."""
    dims = {name: dim.typical for name, dim in spec.dims.items()}
    changed = _changed(spec, case, {name: typical[name] for name in spec.inputs})
    return {
        name: with_a_token(spec.inputs[name], value_ends(spec, name, dims), value) for name, value in changed.items()
    }


def _by_turns(scalar: Array, turn: int) -> Array:
    """Give a drawn scalar its sign by the case: of four numbers drawn alike, one time in eight all have one sign.

    Then no case would tell whether `s > 0` is computed.
    """
    return np.asarray(np.abs(scalar) if turn % 2 else -np.abs(scalar))


def cropped(spec: Spec, name: str, rows: Array, shape: Sequence[int]) -> Array:
    """Rows of a dataset, cut down behind along the named dims of an input, so that they have its `shape` there.

    The first axis counts rows and is left alone, and so is an array with another number of axes.

    Raises:
        UsageError: the rows are shorter than a named dim.
    """
    dims = spec.inputs[name].shape
    if rows.ndim != len(shape):
        return np.ascontiguousarray(rows)
    for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        if axis and isinstance(dim, str) and rows.shape[axis] < size:
            raise UsageError(
                f"the dataset's rows have {rows.shape[axis]} along '{dim}', the case needs {size}",
                where=f"inputs.{name}.values: dataset",
                hint=f"give dims.{dim} no size over {rows.shape[axis]}, or the recipe longer rows",
            )
        if axis and isinstance(dim, str):
            rows = rows.take(range(size), axis)
    return np.ascontiguousarray(rows)


def content(inputs: Mapping[str, Array]) -> str:
    """A digest of all inputs of a case: two cases that have it in common are one."""
    lines = [f"{name} {list(value.shape)} {digest(value)}" for name, value in inputs.items()]
    return sha256_bytes("\n".join(lines).encode())


def _fill(declared: Input, shape: tuple[int, ...], dims: Mapping[str, int], generator: np.random.Generator) -> Array:
    if declared.values.endswith(".npy"):
        return _rows_of_file(Path(declared.values), shape, generator)
    word, numbers = declared.values.partition("(")[0], arguments(declared.values)
    if word == "uniform":
        return generator.uniform(float(numbers[0]), float(numbers[1]), shape).astype(declared.dtype)
    if word == "integers":
        low, high = declared_range(declared, dims) or (0, 0)
        return generator.integers(low, high, shape).astype(declared.dtype)
    return generator.standard_normal(shape).astype(declared.dtype)


def _rows_of_file(path: Path, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Rows of a `.npy` file, a random stretch of it; one that is too short is refused."""
    values = load_npy(path)
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


def trials(spec: Spec, first: Case, inputs: dict[str, Array], count: int) -> Iterator[tuple[Case, dict[str, Array]]]:
    """Variations of the first case that may reach other branches: other patterns, signs, sizes, offsets and draws."""
    generator = np.random.default_rng([spec.seed, 1])
    for number in range(1, count + 1):
        scale = float(generator.choice((1.0, -1.0))) * 4.0 ** float(generator.integers(-3, 7))
        shift = float(generator.choice((0.0, 0.0, 1.0, -1.0, 8.0, -8.0)))
        varied = {}
        for name, value in inputs.items():
            if value.dtype.kind == "f":
                pattern = _PATTERNS[int(generator.integers(len(_PATTERNS)))]
                varied[name] = (pattern(value, generator) * scale + shift).astype(value.dtype)
            else:
                varied[name] = _fill(spec.inputs[name], value.shape, first.dims, generator)
        yield Case(f"{first.name}:search-{number}", first.dims, spec.seed + 1000 + number, "search"), varied


#: As it is; one sign; one number; every row the same; the first row large and the others not.
_PATTERNS: tuple[Callable[[Array, np.random.Generator], Array], ...] = (
    lambda value, _: value,
    lambda value, _: np.abs(value),
    lambda value, _: np.ones_like(value),
    lambda value, generator: np.broadcast_to(generator.standard_normal(value.shape[1:]), value.shape),
    lambda value, _: value * (np.arange(value.size).reshape(value.shape) < np.prod(value.shape[1:])),
)


def _changed(spec: Spec, case: Case, inputs: dict[str, Array]) -> dict[str, Array]:
    """Apply the case's kind to what the typical case holds."""
    batch = batch_dim(spec)
    changed = {}
    for name, value in inputs.items():
        declared = spec.inputs[name]
        rows = bool(declared.shape) and declared.shape[0] == batch
        extremes = Extremes(name, declared, value_ends(spec, name, case.dims), case.dims, batch)
        if case.kind.startswith((ROWS_OF, NOT_FINITE_IN)):
            changed[name] = extremes.changed(case.kind, value)
        elif case.kind in _ROWS:
            changed[name] = np.ascontiguousarray(_ROWS[case.kind](value)) if rows else value
        elif case.kind == "padded":
            changed[name] = _padded(declared, value, batch, case.dims)
        elif case.kind in kinds_of(declared, case.dims):
            changed[name] = (
                _whole(declared, case, value) if declared.values.startswith("integers") else _real(case.kind, value)
            )
        else:
            changed[name] = value
    return changed


_ROWS: dict[str, Callable[[Array], Array]] = {
    "equal_rows": lambda value: np.repeat(value[:1], len(value), axis=0),
    "reversed": lambda value: value[::-1],
    "one_row": lambda value: value[:1],
}


def _real(kind: str, value: Array) -> Array:
    if kind == "one_hot":
        hot = np.zeros_like(value)
        flat = hot.reshape(len(hot), -1) if hot.ndim > 1 else hot.reshape(1, -1)
        flat[np.arange(len(flat)), np.arange(len(flat)) % max(flat.shape[1], 1)] = 1
        return hot
    factor = {"zeros": 0.0, "large": 16.0, "tiny": 2.0**-10}[kind]
    return (value * factor).astype(value.dtype)


def _whole(declared: Input, case: Case, value: Array) -> Array:
    """Ids, lengths and masks, within the range that the spec declares."""
    low, high = declared_range(declared, case.dims) or (0, 0)
    if case.kind in ("smallest", "largest", "all_ones", "all_zeros"):
        return np.full_like(value, low if case.kind in ("smallest", "all_zeros") else high - 1)
    changed = value.copy()
    if case.kind == "distinct":  # as far as the range goes; then from its beginning
        generator = np.random.default_rng([case.seed, 2])
        for row in changed.reshape(-1, changed.shape[-1]):
            row[:] = low + generator.permutation(max(high - low, len(row)))[: len(row)] % (high - low)
    elif case.kind == "repeated":
        changed[..., 1::2] = changed[..., 0 : changed.shape[-1] // 2 * 2 : 2]
    elif case.kind == "all_but_one":
        changed[...] = 1
        changed[..., -1] = 0
    elif (low, high) == (0, 2):  # sorted: a mask has its ones first
        changed = np.ascontiguousarray(np.sort(value, axis=-1)[..., ::-1])
    else:
        changed = np.sort(value, axis=-1)
    return changed


def _padded(declared: Input, value: Array, batch: str | None, dims: Mapping[str, int]) -> Array:
    """Zero the later half along the first named dim that does not count rows, as padding does.

    Whole numbers become what is nearest to zero in their declared range.
    """
    axes = [axis for axis, dim in enumerate(declared.shape) if isinstance(dim, str) and dim != batch]
    if not axes:
        return value
    low, high = declared_range(declared, dims) or (0, 1)
    padded = value.copy()
    padded[(slice(None),) * axes[0] + (slice((value.shape[axes[0]] + 1) // 2, None),)] = max(low, min(0, high - 1))
    return padded
