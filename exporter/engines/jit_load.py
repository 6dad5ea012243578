"""`paddle.jit.load`: the files, run by Paddle's executor in Python."""

from __future__ import annotations

import contextlib
import pickle  # noqa: TID251  # only ever written here: see _prepared
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from exporter.engines._paddle import border, call_layer, named_arrays, probe_paddle
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session
from exporter.readers.pdmodel import read_pdmodel
from exporter.tensors import Array, TensorMap


class _Session:
    def __init__(self, layer: object, artifact: Runnable, device: str) -> None:
        self._layer, self._artifact = layer, artifact
        self._order = _input_order(layer, artifact)
        self.provider = f"paddle {device}"

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with border():
            value = call_layer(self._layer, self._order, inputs)
            return named_arrays(value, self._artifact.outputs)


class JitLoad(Engine):
    """A TranslatedLayer: it calls by position and forgets the outputs' names, so the file's order is used."""

    formats = ("pir", "pdmodel")
    paddle_kernels = True

    def environment(self, format: str) -> Mapping[str, str]:
        # 3.x loads a `.pdmodel` here only with PIR switched off.
        return {"FLAGS_enable_pir_api": "0"} if format == "pdmodel" else {}

    def probe(self, device: str) -> Availability:
        return probe_paddle(device)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import paddle

        assert artifact.folder is not None  # noqa: S101  # both formats have files
        paddle.set_device(device)
        with _prepared(artifact, artifact.folder) as folder:
            with border():
                layer = paddle.jit.load(str(folder / "model"))
                layer.eval()
            yield _Session(layer, artifact, device)


@contextlib.contextmanager
def _prepared(artifact: Runnable, folder: Path) -> Iterator[Path]:
    """A folder that `jit.load` takes.

    `jit.save` writes a `.pdiparams.info` beside a `.pdmodel`. It is a pickle, so no bundle holds one. Without it,
    3.3.1 builds the whole backward program, only to see which parameters are trainable, and that fails for pruned
    operators (`jit/translated_layer.py`). So it is made here, from nothing but the parameters' names.
    """
    if artifact.format != "pdmodel":
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="exporter-") as place:
        for name in ("model.pdmodel", "model.pdiparams"):
            (Path(place) / name).symlink_to((folder / name).resolve())
        names = [weight.name for weight in read_pdmodel(folder / "model.pdmodel").weights]
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
