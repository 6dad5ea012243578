"""The file that a spec's `source` names, in the strict predictor: it proves that the layer made of it is that file.

An ordinary engine that runs the format `source`, planned where the model is a file. It computes with Paddle's own
kernels, so that eager has to equal it bit for bit.
"""

from __future__ import annotations

from exporter.engines.base import Engine
from exporter.engines.given import GivenFile
from exporter.engines.kinds import paddle_inference


class File(GivenFile):
    """The program as it was given, with nothing optimised."""

    imports = paddle_inference.plugin.imports
    paddle_kernels = True
    served_by = paddle_inference.plugin


plugin: Engine = File()
