"""The source itself: the eager layer with its checkpoint. An ordinary engine that runs the format `source`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from exporter.engines._paddle import border, call_layer, named_arrays, probe_paddle
from exporter.engines.base import Availability, Engine, Runnable, Session
from exporter.tensors import Array, TensorMap


class EagerSession:
    """Calls a layer; also serves the engine `static`, whose layer is a traced one."""

    def __init__(self, layer: object, order: tuple[str, ...], outputs: tuple[str, ...], provider: str) -> None:
        self._layer, self._order, self._outputs = layer, order, outputs
        self.provider = provider

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with border():
            return named_arrays(call_layer(self._layer, self._order, inputs), self._outputs)


class Eager(Engine):
    """Paddle's dygraph."""

    formats = ("source",)
    paddle_kernels = True

    def probe(self, device: str) -> Availability:
        return probe_paddle(device)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import paddle

        from exporter.trace.layer import load_layer
        from exporter.trace.traced import bind_inputs, specs_from_json

        assert artifact.source is not None  # noqa: S101  # the format is `source`
        source = artifact.source
        paddle.set_device(device)
        layer = load_layer(source["model"], source["checkpoint"], source["seed"])
        order = tuple(one.name for one in bind_inputs(layer, specs_from_json(source["inputs"])))
        yield EagerSession(layer, order, artifact.outputs, f"paddle {device}")


plugin: Engine = Eager()
