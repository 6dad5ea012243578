"""A saved program in Paddle Inference, to be compared with its layer. For children with Paddle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from exporter.base.tensors import Array


class Predictor:
    """The program of `PREFIX.json` or `PREFIX.pdmodel`, as it was written: on the CPU, and nothing optimised."""

    def __init__(self, prefix: Path) -> None:
        from paddle import inference

        legacy = prefix.with_suffix(".pdmodel")
        program = legacy if legacy.is_file() else prefix.with_suffix(".json")
        config = inference.Config(str(program), f"{prefix}.pdiparams")
        config.disable_gpu()
        config.disable_mkldnn()
        config.disable_glog_info()
        config.switch_ir_optim(False)
        self._predictor = inference.create_predictor(config)
        self.inputs: list[str] = self._predictor.get_input_names()

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs in the order of the program; inputs that it does not have are left out."""
        for name in inputs.keys() & self.inputs:
            handle = self._predictor.get_input_handle(name)
            handle.reshape(list(inputs[name].shape))
            handle.copy_from_cpu(np.asarray(inputs[name], order="C"))  # `ascontiguousarray` gives a scalar an axis
        self._predictor.run()
        names = self._predictor.get_output_names()
        return [np.array(self._predictor.get_output_handle(name).copy_to_cpu()) for name in names]
