"""What the modes share that run the recipe's own layer: the training loop is that of `exporter train`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.deploy.modes.base import Lack, Mode, Trainee
from exporter.export.trace.layer import weights
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.training import faults
from exporter.train import evaluate, loop
from exporter.train.checkpoint import State

if TYPE_CHECKING:
    import paddle


class LayerMode(Mode):
    """A mode that calls the layer, traced or not."""

    def lacks(self, recipe: Recipe) -> Lack | None:
        del recipe
        return None

    @abstractmethod
    def trace(self, layer: paddle.nn.Layer) -> None:
        """Let the layer run in this mode from its first call on."""

    def begin(self, job: loop.Job, layer: paddle.nn.Layer) -> Trainee:
        self.trace(layer)
        untraced = replace(job.recipe.training, to_static=False)
        recipe = replace(job.recipe, training=untraced)
        state, precision = loop.begin(recipe, job.reference, layer)
        return _LayerTrainee(replace(job, recipe=recipe, precision=precision), state)


class TracedMode(LayerMode):
    """A mode that traces the layer, which some options of a recipe forbid."""

    def lacks(self, recipe: Recipe) -> Lack | None:
        for what, hint in faults(replace(recipe.training, to_static=True)):
            return Lack(f"training: {what}", hint)
        return None


class _LayerTrainee:
    def __init__(self, job: loop.Job, state: State) -> None:
        self._job, self._state = job, state
        state.layer.train()

    def step(self, batch: Mapping[str, Any], where: str) -> float:
        return loop.take_step(self._job, self._state, batch, where)

    def end_epoch(self, loss: float, where: str) -> None:
        if self._job.recipe.schedule_by == "epoch":
            loop.advance_schedule(self._state, loss, where)
        self._state.epoch, self._state.step = self._state.epoch + 1, 0

    def predict(self, inputs: TensorMap) -> list[Array]:
        import paddle

        if self._state.layer.training:
            self._state.layer.eval()
        with paddle.no_grad():
            outputs = evaluate.forward(self._state.layer, self._job.recipe, inputs, self._job.reference)
        return [output.numpy() for output in outputs]

    def weights(self) -> dict[str, Array]:
        return weights(self._state.layer)

    def export(self, into: Path, inputs: Sequence[TensorSpec]) -> None:
        import paddle
        from paddle.static import InputSpec

        specs = [
            InputSpec([size if isinstance(size, int) else None for size in spec.shape], spec.dtype, spec.name)
            for spec in inputs
        ]
        self._state.layer.eval()
        paddle.jit.save(self._state.layer, str(into / "model"), input_spec=specs)
