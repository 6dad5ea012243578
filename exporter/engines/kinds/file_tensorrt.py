"""The file that a spec's `source` names, with TensorRT: a `.pdmodel`, on an NVIDIA GPU."""

from __future__ import annotations

from exporter.engines.base import Engine
from exporter.engines.given import GivenFile
from exporter.engines.kinds import paddle_inference_tensorrt


class FileTensorRt(GivenFile):
    """The program as it was given, its parts compiled by TensorRT."""

    imports = paddle_inference_tensorrt.plugin.imports
    served_by = paddle_inference_tensorrt.plugin


plugin: Engine = FileTensorRt()
