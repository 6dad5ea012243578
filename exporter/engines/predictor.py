"""Paddle Inference: what its engines share. They differ in nothing but the config."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused, Runnable, Session, Settings
from exporter.engines.paddle import border, on_gpu
from exporter.paddle.threads import set_threads, threads_now

#: What `copy_from_cpu` takes for another dtype: int16 becomes int32, which a `.json` refuses (3.3.1).
_MISTAKEN = frozenset({"int16"})
#: What `copy_to_cpu` says of a dtype that handles do not know: int16, complex64 (3.3.1).
_UNKNOWN_DTYPE = "The type of data we are trying to retrieve"


class PredictorSession:
    """A predictor; inputs and outputs by the file's names.

    Dtypes that its handles cannot carry travel as Paddle's tensors, which the same predictor takes and gives.
    """

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
            if any(value.dtype.name in _MISTAKEN for value in inputs.values()):
                return self._by_tensors(names, inputs)
            for name in names:
                predictor.get_input_handle(name).copy_from_cpu(inputs[name])
            predictor.run()
            try:
                return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}
            except ValueError as error:
                if _UNKNOWN_DTYPE not in str(error):
                    raise
                return self._by_tensors(names, inputs)

    def _by_tensors(self, names: Sequence[str], inputs: TensorMap) -> dict[str, Array]:
        import paddle

        outputs = self._predictor.run([paddle.to_tensor(inputs[name]) for name in names])
        return {name: output.numpy() for name, output in zip(self._predictor.get_output_names(), outputs, strict=True)}


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
