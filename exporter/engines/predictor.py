"""Paddle Inference: what its engines share. They differ in nothing but the config."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused, Runnable, Session, Settings
from exporter.engines.paddle import border, on_gpu
from exporter.paddle.threads import set_threads, threads_now


class PredictorSession:
    """A predictor; inputs and outputs by the file's names."""

    def __init__(self, predictor: Any, provider: str, settings: Settings) -> None:
        self._predictor = predictor
        self.provider = provider
        self.settings = settings

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        predictor = self._predictor
        with border():
            names = predictor.get_input_names()
            if sorted(names) != sorted(inputs):
                raise EngineRefused(f"the file takes {names}, not {sorted(inputs)}")
            for name in names:
                predictor.get_input_handle(name).copy_from_cpu(inputs[name])
            predictor.run()
            return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}


@contextlib.contextmanager
def predicting(
    artifact: Runnable, device: str, configure: Callable[[Any], dict[str, str | int | bool]], way: str
) -> Iterator[Session]:
    """Make a predictor. `configure` changes the config that 3.3.1 gives, and returns what it asked for.

    What is in effect is read from the config after the predictor was made; a predictor itself cannot be asked.
    """
    from paddle import inference

    parameters = artifact.path.with_suffix(".pdiparams")  # a layer without any has no such file
    with border():
        config = inference.Config(str(artifact.path), str(parameters) if parameters.is_file() else "")
        config.disable_glog_info()
        config.set_cpu_math_library_num_threads(artifact.threads)
        if device.startswith("gpu"):
            config.enable_use_gpu(256, int(device.partition(":")[2] or 0))
        else:
            config.disable_gpu()
        asked = {"device": device, "threads": artifact.threads, **configure(config)}
        predictor = inference.create_predictor(config)
        set_threads(artifact.threads)
        effective: dict[str, str | int | bool] = {
            "device": f"gpu:{config.gpu_device_id()}" if config.use_gpu() else "cpu",
            "threads": threads_now(),
            "ir_optim": config.ir_optim(),
            "onednn": config.mkldnn_enabled(),
            "tensorrt": config.tensorrt_engine_enabled(),
            **on_gpu(device),
        }
    yield PredictorSession(predictor, f"{way} {effective['device']}", Settings(asked, effective))
