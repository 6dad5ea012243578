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
    from ai_edge_litert.interpreter import Interpreter

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
    places = _outputs(interpreter, natives)

    def run(fed: Arrays) -> Arrays:
        for name, value in fed.items():
            about = inputs[_plain(name)]
            interpreter.set_tensor(about["index"], np.ascontiguousarray(value.astype(about["dtype"])))
        interpreter.invoke()
        return {native: interpreter.get_tensor(place) for native, place in places.items()}

    return run


def _outputs(interpreter: Interpreter, natives: list[str]) -> dict[str, int]:
    """The tensor of each output.

    With a signature the converter calls them `output_0` and so on, and lists them in another order; without one, as it
    writes int8, it lists them as they are.
    """
    details = interpreter.get_output_details()
    named = {_plain(about["name"]): about["index"] for about in details}
    if all(_plain(native) in named for native in natives):
        return {native: named[_plain(native)] for native in natives}
    places = [about["index"] for about in details]
    for signature in interpreter.get_signature_list():
        by_key = interpreter.get_signature_runner(signature).get_output_details()
        keys = [f"output_{place}" for place in range(len(natives))]
        places = [by_key[key]["index"] for key in keys if key in by_key]
    return dict(zip(natives, places))  # noqa: B905 - Python 3.8


def _plain(name: str) -> str:
    """A name without what TensorFlow adds to it or may not have in it."""
    return name.removeprefix("serving_default_").partition(":")[0].replace(".", "_").replace("/", "_")
