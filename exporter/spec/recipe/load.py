"""In a child: a recipe by its reference, its data checked, and real inputs for the cases of a parity run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.references import load_object, user_code
from exporter.spec.recipe.base import Data, Part, Recipe, unset
from exporter.spec.recipe.batches import Batches, Stream, Whole, Window, streams
from exporter.spec.recipe.training import Training, faults

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The other keys of a row in `metrics.jsonl`, which a metric cannot be called.
ROW = ("epoch", "steps", "loss", "held_out_loss", "learning_rate", "best")


def load_recipe(reference: str) -> Recipe:
    """Import the recipe that `module:attribute` names.

    Raises:
        UsageError: it cannot be imported, is not a `Recipe`, or says something impossible.
    """
    recipe = load_object(reference)
    if not isinstance(recipe, Recipe):
        raise UsageError(
            f"this is a {type(recipe).__name__}, not a Recipe",
            where=reference,
            hint="make it an exporter.spec.recipe.base.Recipe(...), as recipes/digits.py does",
        )
    _refuse_unset(recipe, reference)
    _refuse_training(recipe, reference)
    batched = recipe.batch_size or not streams(recipe)
    for name in ("epochs", "batch_size") if batched else ("epochs",):
        value = getattr(recipe, name)
        if not isinstance(value, int) or value < 1:
            raise UsageError(f"{name} is {value!r}", where=reference, hint="give a whole number from 1 on")
    for name, known in (("goal", ("max", "min")), ("schedule_by", ("batch", "epoch"))):
        if (value := getattr(recipe, name)) not in known:
            hint = did_you_mean(str(value), known, f"use {' or '.join(known)}")
            raise UsageError(f"{name} is {value!r}", where=reference, hint=hint)
    if not recipe.metric_name.isidentifier() or recipe.metric_name in ROW:
        raise UsageError(
            f"metric_name is {recipe.metric_name!r}", where=reference, hint=f"give a word that is not {', '.join(ROW)}"
        )
    floor: Any = recipe.floor
    if floor is not None and not (isinstance(floor, (int, float)) and math.isfinite(floor)):
        raise UsageError(f"floor is {floor!r}", where=reference, hint="give the number that the metric must reach")
    for name in ("inputs", "labels"):
        listed = getattr(recipe, name)
        if isinstance(listed, str) or not listed or not all(isinstance(one, str) for one in listed):
            raise UsageError(f"{name} is {listed!r}", where=reference, hint='give a tuple of names, as ("image",)')
    return recipe


def _refuse_unset(recipe: Recipe, reference: str) -> None:
    needed = ("metric",) if recipe.fit else ("loss", "metric", "optimizer")
    if lacking := [name for name in needed if getattr(recipe, name) is unset]:
        hint = "give it" + ("" if recipe.fit or lacking[0] == "metric" else ", or a `fit` that trains by itself")
        raise UsageError(f"the recipe has no {lacking[0]}", where=reference, hint=hint)
    if isinstance(recipe.metric, type):
        hint = f"make an object of it: {recipe.metric.__name__}()"
        raise UsageError(f"metric is the class {recipe.metric.__name__}", where=reference, hint=hint)


def _refuse_training(recipe: Recipe, reference: str) -> None:
    asked: Any = recipe.training
    if not isinstance(asked, Training):
        what = f"training is a {type(asked).__name__}"
        raise UsageError(what, where=reference, hint="make it an exporter.spec.recipe.training.Training(...)")
    for what, hint in faults(recipe.training):
        raise UsageError(f"training: {what}", where=reference, hint=hint)
    if recipe.fit and recipe.training != Training():
        what = "`fit` trains by itself, and `training` is for the loop that it replaces"
        raise UsageError(what, where=reference, hint="leave one of them out")
    if recipe.training.workers and not streams(recipe):
        what = "training.workers have nothing to do: data() gives whole arrays"
        raise UsageError(what, where=reference, hint="let data(part) return a paddle.io.Dataset, or leave them out")


def load_batches(recipe: Recipe, reference: str) -> Batches:
    """The recipe's data as batches, for training and evaluation.

    Raises:
        UsageError: as :func:`load_data`; later also where a batch that comes is wrong.
    """
    return Stream(recipe, reference) if streams(recipe) else Whole(load_data(recipe, reference), recipe)


def load_data(recipe: Recipe, reference: str) -> Data:
    """Load the recipe's samples and check that every array is there, whole, finite, and as long as the others.

    Of a recipe that gives batches the first rows of each part, which are only read when they are asked for.

    Raises:
        UsageError: with the part (`train` or `held_out`) and the array that is wrong.
    """
    if streams(recipe):
        return Window(Stream(recipe, reference))
    with user_code("data() failed", reference):
        data = cast("Callable[[], Data]", recipe.data)()
        parts = {"train": data.train, "held_out": data.held_out}
    for part, arrays in parts.items():
        _check_part(arrays, (*recipe.inputs, *recipe.labels), f"{reference}, data().{part}")
    for name in (*recipe.inputs, *recipe.labels):
        one, other = (parts[part][name] for part in ("train", "held_out"))
        if one.dtype != other.dtype or one.shape[1:] != other.shape[1:]:
            raise UsageError(
                f"'{name}' is {one.dtype}{list(one.shape[1:])} in train and {other.dtype}{list(other.shape[1:])} in "
                "held_out",
                where=f"{reference}, data()",
                hint="split one array, so that both parts have one dtype and one shape of a sample",
            )
    return data


def _check_part(arrays: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    import numpy as np

    lengths = {}
    for name in names:
        if name not in arrays:
            raise UsageError(f"no array '{name}'", where=where, hint=did_you_mean(name, sorted(arrays)))
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.ndim == 0 or array.dtype.kind not in "fiub":
            kind = f"{array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
            raise UsageError(
                f"'{name}' is a {kind}", where=where, hint="give numpy arrays of numbers, of shape [samples, …]"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UsageError(f"'{name}' holds NaN or infinity", where=where, hint="clean the data")
        lengths[name] = len(array)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise UsageError(f"the arrays differ in length: {said}", where=where, hint="give one row for each sample")
    if 0 in lengths.values():
        raise UsageError("there are no samples", where=where, hint="check how the data is loaded and split")


def rows_of(data: Data, part: Part, names: Sequence[str], count: int, seed: int) -> dict[str, Array]:
    """Pick `count` real samples of one part: an array [count, …] for each of `names` (inputs or labels).

    The choice depends on `seed` and on the number of samples of that part alone. No sample comes twice while there is
    another; where `count` exceeds them, each comes once before any comes again.

    Raises:
        UsageError: the data has no such array, or is not sound.
    """
    import numpy as np

    arrays = data.train if part == "train" else data.held_out
    _check_part(arrays, names, f"the recipe, data().{part}")
    total = len(arrays[names[0]])
    order = np.random.default_rng(seed).permutation(total)
    rows = np.resize(order, count)  # repeats the whole order where it is too short
    return {name: np.ascontiguousarray(arrays[name][rows]) for name in names}
