"""fp16: half the bytes. For GPUs and for OpenVINO; ONNX Runtime's CPU kernels cast back and are no faster."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

from exporter.base.errors import EnvironmentLacks, ExporterError
from exporter.export.lower.base import Details
from exporter.export.lower.precision.base import Order, Precision
from exporter.spec.model import Budget, PrecisionSettings


class Fp16(Precision):
    """ONNX by ONNX Runtime's converter; `.pdmodel` by Paddle's own, which needs Paddle's GPU build. I/O stays fp32."""

    formats = ("onnx", "pdmodel")
    refused: ClassVar = {
        "pir": "Paddle's convert_to_mixed_precision reads no .json (3.3.1: 'Expected desc_.ParseFromString'); a GPU "
        "engine can compute an fp32 one in fp16",
    }
    knows = frozenset({"keep", "search", "samples", "noise"})
    #: Measured: a small transformer 58.7 dB, MobileNetV2 60.6, ResNet-18 68.0, the digits 71.8 (ONNX Runtime 1.31.1).
    budget = Budget(min_snr_db=40.0, max_metric_loss=0.005, max_size=0.6)
    needs: ClassVar = {"onnx": ("onnxruntime", "onnx"), "pdmodel": ("paddle",)}

    def calibrates(self, settings: PrecisionSettings) -> bool:
        """Only a search measures anything; the conversion itself looks at no sample."""
        return settings.search

    def refuse(self, format: str, name: str, settings: PrecisionSettings) -> ExporterError | None:
        """Also where Paddle is built for CPUs: its converter then changes 0 operators and writes a file of one size."""
        if format == "pdmodel" and not _has_gpu_paddle():
            return EnvironmentLacks(
                "the CPU build of Paddle converts no operator to fp16, and says so on no channel but its log (3.3.1)",
                where=f"precisions.{name}",
                hint="install paddlepaddle-gpu, or give it `formats: [onnx]`",
            )
        return super().refuse(format, name, settings)

    def write(self, order: Order) -> Details:
        way = importlib.import_module(f"exporter.export.lower.precision.fp16_{order.format}")
        details: Details = way.halve(order)
        return details


def _has_gpu_paddle() -> bool:
    try:
        version("paddlepaddle-gpu")
    except PackageNotFoundError:
        return False
    return True


plugin: Precision = Fp16()
