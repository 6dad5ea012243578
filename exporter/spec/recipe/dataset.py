"""In a child: batches of a `paddle.io.Dataset`, the same ones whatever the workers and wherever an epoch begins."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from exporter.spec.recipe.base import Part, Recipe


class Loader:
    """Cuts a dataset into batches: training samples shuffled by seed and epoch, held-out ones in their order.

    Before each sample numpy's and Python's generators are seeded by run, epoch and index, so that an augmentation does
    not depend on which worker makes it, or on what was skipped. Without workers samples are made as they are needed.
    """

    def __init__(self, dataset: Any, recipe: Recipe, part: Part) -> None:
        self._dataset, self._size, self._training = dataset, recipe.batch_size, part == "train"
        self._workers = recipe.training.workers

    def __len__(self) -> int:
        total = len(self._dataset)
        return max(total // self._size, min(total, 1)) if self._training else -(-total // self._size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.epoch(0, 0))

    def epoch(self, seed: int, number: int, skip: int = 0) -> Iterable[Any]:
        """The batches from `skip` on; those before it are not made."""
        import numpy as np

        total = len(self._dataset)
        order = np.random.default_rng((seed, number)).permutation(total) if self._training else np.arange(total)
        starts = range(0, len(self) * self._size, self._size)
        rows = [order[start : start + self._size].tolist() for start in starts[skip:]]
        samples = _Seeded(self._dataset, seed, number)
        if not self._workers or not rows:
            return (_stacked([samples[index] for index in batch]) for batch in rows)
        from paddle.io import DataLoader

        batches: Iterable[Any] = DataLoader(samples, batch_sampler=rows, num_workers=self._workers, collate_fn=_stacked)
        return batches


class _Seeded:
    """A dataset whose random numbers depend on seed, epoch and index; the process's own go on as if none were drawn."""

    def __init__(self, dataset: Any, seed: int, epoch: int) -> None:
        self._dataset, self._seed = dataset, (seed, epoch)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: int) -> Any:
        import numpy as np

        before = random.getstate(), np.random.get_state()
        drawn = int(np.random.SeedSequence((*self._seed, index)).generate_state(1)[0])
        np.random.seed(drawn)
        random.seed(drawn)
        try:
            return self._dataset[index]
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def _stacked(samples: Sequence[Any]) -> Any:
    """One array for each part of a sample: a dict of dicts, a list of tuples."""
    import numpy as np

    def stack(values: Sequence[Any]) -> Any:
        return np.stack([np.asarray(value) for value in values])

    first = samples[0]
    if isinstance(first, Mapping):
        return {name: stack([sample[name] for sample in samples]) for name in first}
    return [stack(values) for values in zip(*samples, strict=True)]
