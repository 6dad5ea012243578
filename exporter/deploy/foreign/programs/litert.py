"""LiteRT, by onnx2tf; it takes one size of each input, in the order of the axes that the bundle has."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    Arrays = Mapping[str, np.ndarray]
    #: Of each input its name, its shape and its dtype.
    Shapes = list[tuple[str, list[int], str]]

os.environ.update({"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""})
#: Which of the files that onnx2tf writes holds a precision; int8 is of the weights.
_FILES = {"fp32": "_float32.tflite", "fp16": "_float16.tflite", "int8": "_dynamic_range_quant.tflite"}


def version() -> str:
    """The version of LiteRT's wheel."""
    from importlib.metadata import version as version_of

    import ai_edge_litert.interpreter  # noqa: F401 - what cannot be imported is not installed

    return version_of("ai-edge-litert")


def convert(onnx: Path, into: Path, precision: str, shapes: Shapes) -> str:
    """Write `model.tflite`, whose inputs have the axes of the bundle: onnx2tf else moves channels to the end."""
    import onnx2tf

    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it calls onnxsim
    aside = into / "aside"
    onnx2tf.convert(
        input_onnx_file_path=str(onnx),
        output_folder_path=str(aside),
        overwrite_input_shape=[f"{name}:{','.join(map(str, shape))}" for name, shape, _ in shapes],
        keep_shape_absolutely_input_names=[name for name, _, _ in shapes],
        copy_onnx_input_output_names_to_tflite=True,
        output_dynamic_range_quantized_tflite=precision == "int8",
        enable_rnn_unroll=True,  # else loops become operators that LiteRT's own runtime lacks
        non_verbose=True,
    )
    (model,) = aside.glob(f"*{_FILES[precision]}")
    shutil.move(model, into / "model.tflite")
    shutil.rmtree(aside)
    return "model.tflite"


def load(model: Path, names: list[str], natives: list[str], precision: str) -> Callable[[Arrays], Arrays]:
    """Return what runs one case, by the kernels of LiteRT itself: XNNPACK would compute in another order."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(model), num_threads=1, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    inputs = {_plain(about["name"]): about for about in interpreter.get_input_details()}
    details = interpreter.get_output_details()
    outputs = {_plain(about["name"]): about for about in details}

    def run(fed: Arrays) -> Arrays:
        for name, value in fed.items():
            about = inputs[_plain(name)]
            interpreter.set_tensor(about["index"], np.ascontiguousarray(value.astype(about["dtype"])))
        interpreter.invoke()
        named = {native: outputs.get(_plain(native)) for native in natives}
        if None in named.values() and len(details) == len(natives):
            named = dict(zip(natives, details))  # noqa: B905 - Python 3.8
        return {native: interpreter.get_tensor(about["index"]) for native, about in named.items() if about is not None}

    return run


def _plain(name: str) -> str:
    """A name without what TensorFlow adds to it or may not have in it."""
    return name.removeprefix("serving_default_").partition(":")[0].replace(".", "_").replace("/", "_")
