"""Paddle Inference without Paddle's Python: the strict predictor of the shared library alone.

`import paddle` takes a second of processor time, the library that computes a fifth of that (3.3.1). What a process
needs of `paddle/base/__init__.py` before it may run a program is repeated here. Such a process never imports Paddle:
the library would register its types twice.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from exporter.base.tensors import Array
from exporter.paddle.crashes import hand_back

#: What Paddle's own Python calls the library.
_NAME = "paddle.base.libpaddle"
#: A program runs once or twice, in the calling thread: threads of its own, and buffers that are used again, cost more
#: than they save (of DenseNet-264 a quarter of a second, 3.3.1).
_FLAGS = {"FLAGS_enable_pir_in_executor_trace_run": True, "FLAGS_pir_apply_inplace_pass": False}


class BarePredictor:
    """The program of a `.json` and its parameters (None: it has none): on the CPU, and nothing optimised."""

    def __init__(self, program: Path, parameters: Path | None) -> None:
        library = _library()
        config = library.AnalysisConfig(str(program), str(parameters or ""))
        config.disable_gpu()
        config.disable_mkldnn()
        config.disable_glog_info()
        config.switch_ir_optim(False)
        config.set_cpu_math_library_num_threads(1)
        self._predictor: Any = library.create_predictor(config)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs by the names in the file; what has no axis comes in one, as the predictor gives it."""
        for name, value in inputs.items():
            handle = self._predictor.get_input_handle(name)
            handle.reshape(list(value.shape))
            handle._copy_from_cpu_bind(np.ascontiguousarray(value))
        self._predictor.run()
        names = self._predictor.get_output_names()
        return {name: np.array(self._predictor.get_output_handle(name).copy_to_cpu()) for name in names}


def _library() -> ModuleType:
    """Load the library, once in a process.

    Raises:
        ImportError: Paddle is not here, or its Python is in this process.
    """
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    found = importlib.util.find_spec("paddle")
    if found is None or not found.submodule_search_locations or "paddle" in sys.modules:
        raise ImportError(_NAME)
    file = Path(found.submodule_search_locations[0], "base/libpaddle.so")
    spec = importlib.util.spec_from_file_location(_NAME, file)
    if spec is None or spec.loader is None:
        raise ImportError(_NAME)
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    sys.modules[_NAME] = library
    names = library.globals().keys()
    flags = (name.removeprefix("FLAGS_") for name in names if name.startswith("FLAGS_"))
    library.init_gflags([f"--tryfromenv={','.join(flags)}"])
    library.init_glog("exporter")
    library.init_memory_method()
    library.init_devices()
    library.init_tensor_operants()
    library.init_default_kernel_signatures()
    for name, value in _FLAGS.items():
        library.globals()[name] = value
    hand_back(library)
    return library
