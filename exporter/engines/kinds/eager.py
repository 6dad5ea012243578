"""The source itself: the eager layer with its checkpoint. An ordinary engine that runs the format `source`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import Engine, Runnable, Session, Settings
from exporter.engines.paddle import PaddleEngine, border, call_layer, named_arrays, use


class LayerSession:
    """Calls a layer by position; serves all engines that have one.

    A traced layer runs the program that it was traced into only if `stop_gradient` is that of its `InputSpec`s, whose
    default is False; else Paddle traces it again for the same shapes (jit/dy2static/program_translator.py, 3.0 to 3.3).
    """

    def __init__(
        self,
        layer: object,
        order: tuple[str, ...],
        outputs: tuple[str, ...],
        settings: Settings,
        *,
        stop_gradient: bool = True,
    ) -> None:
        self._layer, self._order, self._outputs = layer, order, outputs
        self._stop_gradient = stop_gradient
        self.provider = f"paddle {settings.effective['device']}"
        self.settings = settings

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with border():
            answer = call_layer(self._layer, self._order, inputs, stop_gradient=self._stop_gradient)
            return named_arrays(answer, self._outputs)


class Eager(PaddleEngine):
    """Paddle's dygraph."""

    formats = ("source",)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        from exporter.export.trace.layer import load_layer
        from exporter.export.trace.traced import bind_inputs

        assert artifact.source is not None  # noqa: S101  # the format is `source`
        source = artifact.source
        settings = use(device, artifact.threads)
        layer = load_layer(source.model, source.checkpoint, source.seed)
        order = tuple(bound.name for bound in bind_inputs(layer, source.inputs))
        yield LayerSession(layer, order, artifact.outputs, settings)


plugin: Engine = Eager()
