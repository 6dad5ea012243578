"""`paddle.jit.load`: the files, run by Paddle's executor in Python."""

from __future__ import annotations

import contextlib
import pickle  # noqa: TID251  # only ever written here: see _prepared
import tempfile
from collections.abc import Iterator
from pathlib import Path

from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.engines.base import Engine, EngineRefused, Runnable, Session
from exporter.engines.kinds.eager import LayerSession
from exporter.engines.paddle import PaddleEngine, border, use
from exporter.paddle.programs import legacy_programs


class JitLoad(PaddleEngine):
    """A TranslatedLayer: it calls by position and forgets the outputs' names, so the file's order is used."""

    formats = ("pir", "pdmodel")

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import paddle

        settings = use(device, artifact.threads)
        # 3.x loads a `.pdmodel` here only with PIR switched off.
        programs = legacy_programs() if artifact.format == "pdmodel" else contextlib.nullcontext()
        with programs, _prepared(artifact) as folder:
            with border():
                layer = paddle.jit.load(str(folder / "model"))
                layer.eval()
            yield LayerSession(layer, _input_order(layer, artifact), artifact.outputs, settings)


@contextlib.contextmanager
def _prepared(artifact: Runnable) -> Iterator[Path]:
    """A folder that `jit.load` takes.

    `jit.save` writes a `.pdiparams.info` beside a `.pdmodel`. It is a pickle, so no bundle holds one. Without it,
    3.3.1 builds the whole backward program, only to see which parameters are trainable, and that fails for pruned
    operators (`jit/translated_layer.py`). So it is made here, from nothing but the parameters' names.
    """
    if artifact.format != "pdmodel":
        yield artifact.path.parent
        return
    with tempfile.TemporaryDirectory(prefix="exporter-") as place:
        for path in (artifact.path, artifact.path.with_suffix(".pdiparams")):
            (Path(place) / path.name).symlink_to(path.resolve())
        names = [weight.name for weight in read_pdmodel(artifact.path).weights]
        about = {name: {"stop_gradient": True} for name in names}
        (Path(place) / "model.pdiparams.info").write_bytes(pickle.dumps(about, protocol=2))
        yield Path(place)


def _input_order(layer: object, artifact: Runnable) -> tuple[str, ...]:
    """The file's own order of inputs, which may not be the spec's."""
    specs = layer._input_spec() if hasattr(layer, "_input_spec") else None
    names = tuple(one.name for one in specs) if specs else artifact.inputs
    if sorted(names) != sorted(artifact.inputs):
        raise EngineRefused(f"the file takes {list(names)}, not {list(artifact.inputs)}")
    return names


plugin: Engine = JitLoad()
