"""Paddle Inference, strict: no graph passes, no oneDNN, so that Paddle's own kernels run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from exporter.engines._paddle import border, probe_paddle
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session
from exporter.tensors import Array, TensorMap


class _Session:
    def __init__(self, predictor: Any, provider: str) -> None:
        self._predictor = predictor
        self.provider = provider

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


class PaddleInference(Engine):
    """The predictor that operations run, without its optimisations."""

    formats = ("pir", "pdmodel")
    paddle_kernels = True

    def probe(self, device: str) -> Availability:
        return probe_paddle(device)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        from paddle import inference

        assert artifact.folder is not None  # noqa: S101  # both formats have files
        with border():
            parameters = artifact.folder / "model.pdiparams"  # a layer without any has no such file
            config = inference.Config(str(artifact.folder / artifact.model), str(parameters) * parameters.is_file())
            config.switch_ir_optim(False)
            config.disable_glog_info()
            config.set_cpu_math_library_num_threads(1)
            if device.startswith("gpu"):
                config.enable_use_gpu(256, int(device.partition(":")[2] or 0))
            else:
                config.disable_gpu()
                config.disable_mkldnn()
            predictor = inference.create_predictor(config)
            asked, effective = device.startswith("gpu"), config.use_gpu()
        if asked != effective:
            raise EngineRefused(f"{device} was asked for and the predictor runs on {'gpu' if effective else 'cpu'}")
        yield _Session(predictor, f"strict {device}")


plugin: Engine = PaddleInference()
