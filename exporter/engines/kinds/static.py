"""`to_static` in the process, not saved: tells a fault of the trace from a fault of the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from exporter.engines.base import Engine, Runnable, Session
from exporter.engines.kinds.eager import LayerSession
from exporter.engines.paddle import PaddleEngine, use


class Static(PaddleEngine):
    """The traced layer, run by Paddle's executor."""

    formats = ("source",)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        from exporter.export.trace.fixes import fixes_in_force
        from exporter.export.trace.fixes.settled import declared_sizes
        from exporter.export.trace.layer import load_layer
        from exporter.export.trace.traced import bind_inputs, trace
        from exporter.paddle.in_place import remembering_writes

        assert artifact.source is not None  # noqa: S101  # the format is `source`
        source = artifact.source
        settings = use(device, artifact.threads)
        layer = load_layer(source.model, source.checkpoint, source.seed)
        order = tuple(bound.name for bound in bind_inputs(layer, source.inputs))  # before: to_static replaces forward
        with remembering_writes():  # as the format `pir`
            traced = trace(layer, source.inputs, source.outputs, source.fixed, source.dims)
        # A call that Paddle takes for another signature traces once more.
        with fixes_in_force("pir"), declared_sizes(source.inputs, source.dims, settling=True):
            yield LayerSession(traced.layer, order, artifact.outputs, settings, stop_gradient=False)


plugin: Engine = Static()
