"""A static Program that the recipe writes by hand (`static_program`), run by an Executor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError
from exporter.base.references import user_code
from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.deploy.modes.base import Lack, Mode, Trainee
from exporter.export.trace.layer import weights
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.batches import as_array
from exporter.spec.recipe.training import Training
from exporter.train import loop
from exporter.train.checkpoint import State

if TYPE_CHECKING:
    import paddle


class Program(Mode):
    """Two programs over one set of parameters: forward, loss and update for training, and forward alone."""

    title = "static Program"

    def lacks(self, recipe: Recipe) -> Lack | None:
        if recipe.static_program is None:
            return Lack(
                "the recipe has no static_program", "write one, as recipes/linear.py does, or leave program out"
            )
        if recipe.training != Training():
            what = "`training` is for the loop that trains a layer, and not for a Program"
            return Lack(what, "leave `training` or program out")
        return None

    def begin(self, job: loop.Job, layer: paddle.nn.Layer) -> Trainee:
        return _ProgramTrainee(job, layer)


@contextlib.contextmanager
def _static() -> Iterator[None]:
    """Programs are built and run in static mode only; all else in a child is eager."""
    import paddle

    paddle.enable_static()
    try:
        yield
    finally:
        paddle.disable_static()


class _Parameters:
    """What an `optimizer(layer)` asks of the layer."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)

    def parameters(self) -> list[Any]:
        return self._values


class _ProgramTrainee:
    def __init__(self, job: loop.Job, layer: paddle.nn.Layer) -> None:
        import paddle
        from paddle import static

        self._job, start = job, weights(layer)
        first = next(job.batches.epoch(job.seed, 0))
        self._kinds = {name: as_array(first[name]) for name in (*job.recipe.inputs, *job.recipe.labels)}
        self._train, self._test, startup = static.Program(), static.Program(), static.Program()
        with _static():
            with static.program_guard(self._train, startup), user_code("static_program failed", job.reference):
                outputs = self._outputs(training=True)
                self._loss = job.recipe.loss(*outputs, *(self._placeholder(name) for name in job.recipe.labels))
                values = self._train.global_block().all_parameters()
                trained = _Parameters([value for value in values if not value.stop_gradient])
                self._state = State(layer, job.recipe.optimizer(trained))
                self._state.optimizer.minimize(self._loss)
            with static.program_guard(self._test, static.Program()), user_code("static_program failed", job.reference):
                self._predicted = self._outputs(training=False)
            self._executor = static.Executor(paddle.get_device())
            self._executor.run(startup)
        self._names = sorted(start)
        self._set(start)

    def _placeholder(self, name: str) -> Any:
        from paddle import static

        like = self._kinds[name]
        return static.data(name, [None, *like.shape[1:]], like.dtype.name)

    def _outputs(self, *, training: bool) -> list[Any]:
        recipe = self._job.recipe
        assert recipe.static_program is not None  # noqa: S101  # `lacks` has looked
        self._inputs = [self._placeholder(name) for name in recipe.inputs]
        outputs = recipe.static_program(*self._inputs, training=training)
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def _set(self, values: TensorMap) -> None:
        for name, tensor in self._tensors().items():
            tensor.set(values[name], self._executor.place)

    def _tensors(self) -> dict[str, Any]:
        """The parameters as the Executor holds them."""
        from paddle import static

        held = {name: static.global_scope().find_var(name) for name in self._names}
        if lost := [name for name, variable in held.items() if variable is None]:
            what = f"static_program makes no parameter '{lost[0]}', which the layer has"
            hint = "give each parameter the name that it has in the layer's state_dict"
            raise UsageError(what, where=self._job.reference, hint=hint)
        return {name: variable.get_tensor() for name, variable in held.items()}

    def step(self, batch: Mapping[str, Any], where: str) -> float:
        with _static():
            fed = {name: as_array(batch[name]) for name in self._kinds}
            (loss,) = self._executor.run(self._train, feed=fed, fetch_list=[self._loss])
        if self._job.recipe.schedule_by == "batch":
            loop.advance_schedule(self._state, float(loss), where)
        return float(loss)

    def end_epoch(self, loss: float, where: str) -> None:
        if self._job.recipe.schedule_by == "epoch":
            loop.advance_schedule(self._state, loss, where)

    def predict(self, inputs: TensorMap) -> list[Array]:
        with _static():
            fed = {name: as_array(inputs[name]) for name in self._job.recipe.inputs}
            outputs: list[Array] = self._executor.run(self._test, feed=fed, fetch_list=self._predicted)
        return outputs

    def weights(self) -> dict[str, Array]:
        import numpy as np

        return {name: np.array(tensor) for name, tensor in self._tensors().items()}

    def export(self, into: Path, inputs: Sequence[TensorSpec]) -> None:
        from paddle import static

        del inputs  # the placeholders say them
        with _static():
            static.save_inference_model(
                str(into / "model"), self._inputs, self._predicted, self._executor, program=self._test
            )


plugin: Mode = Program()
