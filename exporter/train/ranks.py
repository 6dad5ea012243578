"""In a child: one of several processes that train together, each on its rows of every batch (data-parallel)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from exporter.base.errors import RankLost, UsageError
from exporter.spec.recipe.base import NamedBatch
from exporter.spec.recipe.batches import batch_digest

if TYPE_CHECKING:
    import paddle


class Ranks:
    """All processes of a training; this one has the number `rank`, from 0 to `count` - 1. Alone, nothing is exchanged.

    Each reads the same batches and takes its share of the rows. Before an update the gradients are averaged over all
    rows, so that a loss that is the mean over rows gives the update of the whole batch, but for rounding. Rank 0
    evaluates and writes; the others hear of it.
    """

    def __init__(self, rank: int = 0, endpoints: Sequence[str] = ()) -> None:
        self.rank, self.count = rank, len(endpoints) or 1
        self._endpoints = endpoints

    @property
    def first(self) -> bool:
        """Whether this process evaluates and writes."""
        return self.rank == 0

    def connect(self, device: str) -> None:
        """Meet the others: by gloo on a CPU, by NCCL on GPUs.

        The variables are those that `paddle.distributed.launch` gives its processes (Paddle 3.3,
        distributed/parallel.py).

        Raises:
            RankLost: they cannot be met.
        """
        if self.count == 1:
            return
        import paddle.distributed

        os.environ.update(
            {
                "PADDLE_TRAINER_ID": str(self.rank),
                "PADDLE_TRAINERS_NUM": str(self.count),
                "PADDLE_TRAINER_ENDPOINTS": ",".join(self._endpoints),
                "PADDLE_CURRENT_ENDPOINT": self._endpoints[self.rank],
                "PADDLE_MASTER": self._endpoints[0],
                "PADDLE_DISTRI_BACKEND": "nccl" if device.startswith("gpu") else "gloo",
            }
        )
        with _of_all():
            paddle.distributed.init_parallel_env()

    def share(self, batch: NamedBatch, where: str) -> tuple[NamedBatch, float]:
        """The rows of this process, and their part of all rows; one row of part 0 where there are too few.

        Raises:
            UsageError: the processes have read different batches.
        """
        if self.count == 1:
            return batch, 1.0
        number = float(int(batch_digest(batch)[:13], 16))  # 52 bits: float64 holds them
        if self._sum_or_most([number, -number], most=True) != [number, -number]:
            hint = "use the same data in every process: draw it from numpy's or Python's generator, which are seeded"
            raise UsageError("the processes have read different batches", where=where, hint=hint)
        rows = len(next(iter(batch.values())))
        start, stop = (rows * rank // self.count for rank in (self.rank, self.rank + 1))
        part = (stop - start) / rows
        if start == stop:
            start, stop = 0, 1
        return {name: value[start:stop] for name, value in batch.items()}, part

    def seed(self, seed: int, epoch: int, step: int) -> None:
        """Let this process draw other dropout masks than the first, whose generator goes on as if it were alone."""
        if self.first:
            return
        import numpy as np
        import paddle

        paddle.seed(int(np.random.SeedSequence((seed, self.rank, epoch, step)).generate_state(1)[0]))

    def total(self, value: float) -> float:
        """The sum of a number over all processes."""
        return value if self.count == 1 else self._sum_or_most([value])[0]

    def any(self, flag: bool) -> bool:
        """Whether it is so in any process."""
        return flag if self.count == 1 else bool(self._sum_or_most([float(flag)], most=True)[0])

    def from_first(self, asked: Callable[[], tuple[float, ...]], numbers: int) -> tuple[float, ...]:
        """What the first process finds, in all of them: so many numbers."""
        if self.count == 1:
            return asked()
        return tuple(self._sum_or_most(list(asked()) if self.first else [0.0] * numbers))

    def add_gradients(self, parameters: Sequence[paddle.Tensor], where: str) -> None:
        """Give every parameter the sum of its gradients over all processes, which have weighted them by their rows.

        A parameter without a gradient here gets one, if it has one elsewhere.

        Raises:
            UsageError: a gradient is sparse.
        """
        if self.count == 1:
            return
        import paddle

        trained = [parameter for parameter in parameters if not parameter.stop_gradient]
        if any(one.grad is not None and one.grad.is_selected_rows() for one in trained):
            hint = "leave sparse=True out of the embedding, or train in one process"
            raise UsageError("sparse gradients cannot be added up", where=where, hint=hint)
        dtype = "float64" if any(one.dtype == paddle.float64 for one in trained) else "float32"
        zero = paddle.zeros([1], dtype)
        pieces = [zero.expand([one.size]) if one.grad is None else one.grad.astype(dtype).flatten() for one in trained]
        there = paddle.to_tensor([float(one.grad is not None) for one in trained], dtype=dtype)
        with _of_all():
            joined = paddle.concat([*pieces, there])
            paddle.distributed.all_reduce(joined)
        *sums, there = paddle.split(joined, [*(one.size for one in trained), len(trained)])
        for parameter, gradient, holders in zip(trained, sums, there.tolist(), strict=True):
            if holders:
                parameter.grad = gradient.reshape(parameter.shape).astype(parameter.dtype)

    def _sum_or_most(self, values: Sequence[float], *, most: bool = False) -> list[float]:
        import paddle
        from paddle.distributed import ReduceOp, all_reduce

        tensor = paddle.to_tensor(list(values), dtype="float64")
        with _of_all():
            all_reduce(tensor, op=ReduceOp.MAX if most else ReduceOp.SUM)
        return [float(value) for value in tensor.tolist()]


@contextlib.contextmanager
def _of_all() -> Iterator[None]:
    """Around what all processes do together: where one has ended, gloo and NCCL raise a RuntimeError."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise RankLost(
            f"another process of the training has ended: {str(error)[:200]}",
            where="--ranks",
            hint="look for what ended it, and go on with --resume",
        ) from error
