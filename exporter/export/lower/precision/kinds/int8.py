"""int8: weights per channel, activations by calibration, of every convolution and linear layer that is not kept."""

from __future__ import annotations

import importlib
from typing import ClassVar

from exporter.export.lower.base import Details
from exporter.export.lower.precision.base import Order, Precision
from exporter.export.lower.precision.kernels import kernels
from exporter.spec.model import Budget


class Int8(Precision):
    """QDQ in ONNX, by ONNX Runtime's quantizer; in a `.pdmodel` by Paddle's static post-training quantization."""

    formats = ("onnx", "pdmodel")
    refused: ClassVar = {
        "pir": "Paddle 3.3.1 writes int8 PIR programs that are as large as before and compute garbage "
        "(jit.load: -86 dB; Paddle Inference: 'Tensor holds no memory'), or raises where the batch may vary",
    }
    calibrated = True
    knows = frozenset(
        {"samples", "data", "noise", "method", "activations", "keep", "search", "timed", "ranges", "epochs", "cpu"}
    )
    budget = Budget(min_snr_db=25.0, max_metric_loss=0.01, max_size=0.5)
    needs: ClassVar = {"onnx": ("onnxruntime", "onnx", "ml_dtypes"), "pdmodel": ("paddle",)}

    def write(self, order: Order) -> Details:
        way = importlib.import_module(f"exporter.export.lower.precision.int8_{order.format}")
        details: Details = way.quantise(order)
        layers = kernels(sorted(path.name for path in order.into.iterdir()), order.into)
        effective = "vnni" if any(layer.pairs.saturate for layer in layers) else "any"
        return {**details, "cpu": {"asked": order.settings.cpu, "effective": effective}}


plugin: Precision = Int8()
