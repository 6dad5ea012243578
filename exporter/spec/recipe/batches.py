"""In a child: the batches of a recipe's data, whichever form `data` has; read :func:`load_batches` first."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.files import canonical_json, sha256_bytes
from exporter.base.references import user_code
from exporter.base.tensors import digest
from exporter.paddle.loading import end_workers, with_own_workers
from exporter.spec.recipe.base import BatchValue, Data, NamedBatch, Part, Recipe
from exporter.spec.recipe.dataset import Loader

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap

#: Of batches as many rows are kept for goldens, calibration and metric proofs; fewer where they take more bytes.
WINDOW_ROWS, WINDOW_BYTES = 4096, 1 << 28
_END = object()
_FORMS = "give a list or a generator of batches, a paddle.io.DataLoader or a paddle.io.Dataset"


class Batches(Protocol):
    """What is trained on, and what is evaluated. `steps` is the number of batches in an epoch; 0: not known yet."""

    steps: int

    def epoch(self, seed: int, number: int, skip: int = 0) -> Iterator[NamedBatch]:
        """The batches of an epoch, by name, from batch `skip` on; they depend on seed and epoch alone."""

    def held_out(self) -> Iterator[NamedBatch]:
        """All held-out samples in their order."""

    def ends(self) -> list[NamedBatch]:
        """Held-out batches of each size there is, or the first alone where that is not known."""


def streams(recipe: Recipe) -> bool:
    """Whether the recipe's `data` takes a part and gives batches."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(recipe.data).parameters.values()
    except (TypeError, ValueError):  # written in C, or not callable: calling it says so
        return False
    return any(parameter.default is parameter.empty and parameter.kind in kinds for parameter in parameters)


def batch_digest(batch: NamedBatch) -> str:
    """Hex sha256 over the names, dtypes and values of a batch."""
    return sha256_bytes(canonical_json({name: digest(as_array(batch[name])) for name in sorted(batch)}))


def as_array(value: BatchValue) -> Array:
    """A numpy array of a batch's value."""
    import numpy as np

    return cast("Array", value if isinstance(value, np.ndarray) else value.numpy())


def as_tensor(value: BatchValue) -> paddle.Tensor:
    """A tensor of a batch's value, on the device in use."""
    import paddle

    return value if isinstance(value, paddle.Tensor) else paddle.to_tensor(value)


class Whole:
    """Batches of whole arrays."""

    def __init__(self, data: Data, recipe: Recipe) -> None:
        self._data, self._size = data, recipe.batch_size
        self._names, self._labels = (*recipe.inputs, *recipe.labels), recipe.labels
        self._total = len(data.train[recipe.inputs[0]])
        self.steps = len(self._starts())

    def _starts(self) -> range:
        return range(0, max(self._total - self._size, 0) + 1, self._size)

    def epoch(self, seed: int, number: int, skip: int = 0) -> Iterator[NamedBatch]:
        """Rows shuffled by seed and epoch, without the last, incomplete batch."""
        import numpy as np

        order = np.random.default_rng((seed, number)).permutation(self._total)
        for start in self._starts()[skip:]:
            rows = order[start : start + self._size]
            yield {name: self._data.train[name][rows] for name in self._names}

    def held_out(self) -> Iterator[NamedBatch]:
        """Batches in their order; the last may be smaller."""
        total = len(self._data.held_out[self._names[0]])
        yield from map(self._held_out_from, range(0, total, self._size))

    def ends(self) -> list[NamedBatch]:
        """The first and the last batch."""
        total = len(self._data.held_out[self._names[0]])
        return [self._held_out_from(start) for start in dict.fromkeys((0, (total - 1) // self._size * self._size))]

    def labels(self, most: int) -> dict[str, Array]:
        """The labels of the first held-out samples, at most so many."""
        return {name: self._data.held_out[name][:most] for name in self._labels}

    def _held_out_from(self, start: int) -> NamedBatch:
        return {name: self._data.held_out[name][start : start + self._size] for name in self._names}


class Stream:
    """Batches of `data(part)`.

    Raises:
        UsageError: what comes is no batch of the recipe's arrays.
    """

    def __init__(self, recipe: Recipe, reference: str) -> None:
        self._recipe, self._reference = recipe, reference
        self._made: dict[Part, Any] = {}
        self._windows: dict[Part, TensorMap] = {}
        self.steps = self._length("train")
        self._check_first()

    def epoch(self, seed: int, number: int, skip: int = 0) -> Iterator[NamedBatch]:
        """The batches as they come, numpy's and Python's generators seeded by seed and epoch before."""
        seed_data(seed, number)
        made = self._iterable("train")
        if isinstance(made, Loader):
            yield from self._named(made.epoch(seed, number, skip), "train")
            return
        sampler: Any = getattr(made, "batch_sampler", None)
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(number)
        count = 0
        for count, batch in enumerate(self._named(made, "train"), 1):
            if count > skip:
                yield batch
        self.steps = count
        if not count:
            raise UsageError("there are no batches", where=self._where("train"), hint="check how the data is loaded")

    def held_out(self) -> Iterator[NamedBatch]:
        """All held-out batches."""
        return self._named(self._iterable("held_out"), "held_out")

    def ends(self) -> list[NamedBatch]:
        """The first held-out batch: to find the last, all have to be made."""
        return list(itertools.islice(self.held_out(), 1))

    def rows(self, part: Part) -> TensorMap:
        """The first rows of a part, at most :data:`WINDOW_ROWS`, as whole arrays."""
        import numpy as np

        if part not in self._windows:
            if part == "train":
                seed_data(0, 0)
            pieces: list[dict[str, Array]] = []
            rows = size = 0
            for batch in self._named(self._iterable(part), part):
                pieces.append({name: as_array(value) for name, value in batch.items()})
                rows += len(pieces[-1][self._recipe.inputs[0]])
                size += sum(value.nbytes for value in pieces[-1].values())
                if rows >= WINDOW_ROWS or size >= WINDOW_BYTES:
                    break
            self._refuse_ragged(pieces, part)
            self._windows[part] = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        return self._windows[part]

    def _refuse_ragged(self, pieces: list[dict[str, Array]], part: Part) -> None:
        for name in pieces[0] if pieces else ():
            shapes = sorted({piece[name].shape[1:] for piece in pieces})
            if len(shapes) > 1:
                raise UsageError(
                    f"rows of '{name}' cannot be picked: its batches have the shapes {shapes[0]} and {shapes[-1]} "
                    "behind the first axis",
                    where=self._where(part),
                    hint="pad every batch to one length, or fill the spec's inputs by other `values` than dataset",
                )

    def _length(self, part: Part) -> int:
        try:
            return len(self._iterable(part))
        except (TypeError, NotImplementedError, RuntimeError):  # a generator; a DataLoader of an IterableDataset
            return 0

    def _iterable(self, part: Part) -> Any:
        """What `data(part)` gave; asked for again where it can be iterated once only."""
        from paddle.io import Dataset, IterableDataset

        if isinstance(self._made.get(part), Iterator):
            del self._made[part]
        if part not in self._made:
            with user_code(f"data('{part}') failed", self._reference):
                made: Any = cast("Any", self._recipe.data)(part)
            kind = type(made).__name__
            if isinstance(made, IterableDataset):
                hint = "wrap it: paddle.io.DataLoader(dataset, batch_size=…)"
                raise UsageError("an IterableDataset gives samples, no batches", where=self._where(part), hint=hint)
            if isinstance(made, Dataset):
                if self._recipe.batch_size < 1:
                    what = f"batch_size is {self._recipe.batch_size!r}"
                    raise UsageError(what, where=self._where(part), hint="give one: a Dataset has single samples")
                made = Loader(made, self._recipe, part)
            elif self._recipe.training.workers:
                hint = "return a paddle.io.Dataset, or leave them out and give num_workers to the DataLoader"
                what = f"training.workers have no Dataset to work on: it is a {kind}"
                raise UsageError(what, where=self._where(part), hint=hint)
            elif isinstance(made, (str, bytes, Mapping)) or not hasattr(made, "__iter__"):
                raise UsageError(f"it gave a {kind}", where=self._where(part), hint=_FORMS)
            self._made[part] = with_own_workers(made)
        return self._made[part]

    def _named(self, iterable: Any, part: Part) -> Iterator[NamedBatch]:
        with user_code(f"data('{part}') failed", self._reference):
            iterator = iter(iterable)
        try:
            for number in itertools.count(1):
                with user_code(f"data('{part}') failed", f"{self._reference}, batch {number}"):
                    item = next(iterator, _END)
                if item is _END:
                    return
                yield self._checked(item, f"{self._where(part)}, batch {number}")
        finally:
            end_workers(iterator)

    def _checked(self, item: Any, where: str) -> NamedBatch:
        names = (*self._recipe.inputs, *self._recipe.labels)
        if isinstance(item, Mapping):
            for name in names:
                if name not in item:
                    raise UsageError(f"no array '{name}'", where=where, hint=did_you_mean(name, sorted(item)))
            batch = {name: item[name] for name in names}
        elif isinstance(item, (tuple, list)) and len(item) == len(names):
            batch = dict(zip(names, item, strict=True))
        else:
            count = f" of {len(item)}" if isinstance(item, (tuple, list)) else ""
            hint = f"give a dict or a tuple of {', '.join(names)}"
            raise UsageError(f"a batch is a {type(item).__name__}{count}", where=where, hint=hint)
        return _rows_agree(batch, where)

    def _check_first(self) -> None:
        """Draw one batch of each part: they must be there, finite, and of one dtype and number of axes.

        Where the data is a generator, it begins anew afterwards.
        """
        import numpy as np

        seed_data(0, 0)
        found: dict[Part, dict[str, Array]] = {}
        for part in cast("tuple[Part, ...]", ("train", "held_out")):
            first = next(self._named(self._iterable(part), part), None)
            if first is None:
                raise UsageError("there are no batches", where=self._where(part), hint="check how the data is loaded")
            found[part] = {name: as_array(value) for name, value in first.items()}
            for name, array in found[part].items():
                if array.dtype.kind == "f" and not np.isfinite(array).all():
                    raise UsageError(f"'{name}' holds NaN or infinity", where=self._where(part), hint="clean the data")
        for name, train in found["train"].items():
            held_out = found["held_out"][name]
            if (train.dtype, train.ndim) != (held_out.dtype, held_out.ndim):
                kinds = (f"{part} {arrays[name].dtype}[{arrays[name].ndim} axes]" for part, arrays in found.items())
                said = ", ".join(kinds)
                what = f"'{name}' differs: {said}"
                raise UsageError(what, where=f"{self._reference}, data(part)", hint="make both parts by the same code")

    def _where(self, part: Part) -> str:
        return f"{self._reference}, data('{part}')"


class Window:
    """:class:`Data` of the first rows of each part of a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    @property
    def train(self) -> TensorMap:
        """The first training rows."""
        return self._stream.rows("train")

    @property
    def held_out(self) -> TensorMap:
        """The first held-out rows."""
        return self._stream.rows("held_out")


def seed_data(seed: int, epoch: int) -> None:
    """Seed numpy's and Python's generators for the data of an epoch."""
    import numpy as np

    drawn = int(np.random.SeedSequence((seed, epoch)).generate_state(1)[0])
    np.random.seed(drawn)
    random.seed(drawn)


def _rows_agree(batch: dict[str, Any], where: str) -> NamedBatch:
    import numpy as np
    import paddle

    lengths = {}
    for name, value in batch.items():
        numbers = isinstance(value, paddle.Tensor) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub")
        if not numbers or not value.shape:
            kind = f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__
            hint = "give numpy arrays or tensors of numbers, of shape [rows, …]"
            raise UsageError(f"'{name}' is a {kind}", where=where, hint=hint)
        lengths[name] = value.shape[0]
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise UsageError(f"the rows of a batch differ: {said}", where=where, hint="give one row for each sample")
    return batch
