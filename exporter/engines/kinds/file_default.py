"""The file that a spec's `source` names, in the predictor as it comes: what whoever serves the file as it is gets."""

from __future__ import annotations

from exporter.engines.base import Engine
from exporter.engines.given import GivenFile
from exporter.engines.kinds import paddle_inference_default


class FileDefault(GivenFile):
    """The program as it was given, with Paddle's graph passes and, on a CPU, oneDNN."""

    imports = paddle_inference_default.plugin.imports
    served_by = paddle_inference_default.plugin


plugin: Engine = FileDefault()
