"""A function of tensors, written as ONNX: run it beside eager mode and compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle

from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace

Feed = Mapping[str, Array]


class _Calling(paddle.nn.Layer):
    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Any, y: Any = None, z: Any = None, w: Any = None) -> Any:
        """Paddle traces no function of any number of tensors."""
        return self.body(*[given for given in (x, y, z, w) if given is not None])


class AsOnnx:
    """`body` in both ways. `shapes` has dtype and shape of each argument in turn; sizes that are names vary.

    Raises:
        ModelError: it cannot be written.
    """

    def __init__(
        self, body: Callable[..., Any], shapes: Mapping[str, tuple[str, Sequence[int | str]]], folder: Path
    ) -> None:
        self.layer = _Calling(body)
        self.layer.eval()
        named = zip("xyzw", shapes.values(), strict=False)
        specs = tuple(TensorSpec(name, dtype, tuple(shape)) for name, (dtype, shape) in named)
        with pir_format.session(None):
            pir_format.write(trace(self.layer, specs, None, {}), None, folder, Wish())
        (folder / "onnx").mkdir()
        onnx_format.write(None, folder, folder / "onnx", Wish(inputs=specs))
        self.session = onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"])

    def must_equal_eager(self, feed: Feed) -> None:
        """Both ways agree: integers are equal, floats err by at most 16 epsilon of the largest number."""
        wants = self.layer.body(*(paddle.to_tensor(value) for value in feed.values()))  # the layer itself is traced
        wants = wants if isinstance(wants, (list, tuple)) else [wants]
        taken = {one.name for one in self.session.get_inputs()}
        named = zip("xyzw", feed.values(), strict=False)
        answers = self.session.run(None, {name: value for name, value in named if name in taken})
        assert len(answers) == len(wants)
        for want, got in zip((tensor.numpy() for tensor in wants), answers, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape), (
                f"{got.dtype}{got.shape}, {want.dtype}{want.shape}"
            )
            if want.dtype.kind != "f":
                np.testing.assert_array_equal(got, want)
                continue
            scale = float(np.abs(want).max(initial=0)) or 1.0
            np.testing.assert_allclose(got, want, rtol=0, atol=16 * float(np.finfo(want.dtype).eps) * scale)
