"""NVIDIA Triton Inference Server: a model repository for its ONNX Runtime backend.

Names and types as in Triton's model configuration (`model_config.proto`; docs/user_guide/model_configuration.md). What
it refuses was read in its sources: `ValidateIOShape` in core/src/model_config_utils.cc (no tensor without dims, no size
of 0); in onnxruntime_backend/src/onnxruntime_utils.cc `CompareDimsSupported` (with `max_batch_size` the file's first
size is not fixed, and the rank is one more than that of `dims`; a size that the file fixes is said just so) and
`ConvertFromOnnxDataType` (no bfloat16).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.batch import FileTensor, batch_dim, file_tensors
from exporter.process.workers import Limits

_TYPES = {
    "bool": "TYPE_BOOL",
    "uint8": "TYPE_UINT8",
    "int8": "TYPE_INT8",
    "int16": "TYPE_INT16",
    "int32": "TYPE_INT32",
    "int64": "TYPE_INT64",
    "float16": "TYPE_FP16",
    "float32": "TYPE_FP32",
    "float64": "TYPE_FP64",
}


class Triton(Target):
    """`model_repository/NAME/config.pbtxt`, which all versions share, and `1/model.onnx`."""

    formats = ("onnx",)
    versions = "model_repository/{name}"
    joins = "`dynamic_batching` in config.pbtxt, which is not written"
    start = """
Start Triton on the repository, then ask whether the model is ready:

    tritonserver --model-repository=model_repository
    curl -f localhost:8000/v2/models/{name}/ready

Requests have the shapes of the table, as everywhere: the first size is the batch.

The configuration runs on the CPU, where the bundle was proven. Before `KIND_GPU`, prove it there:
`exporter verify BUNDLE --device gpu`. Of several versions Triton serves the latest, unless `version_policy` says else.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        folder = self.version_folder(chosen)
        shared = self.versions.format(name=chosen.manifest.name)
        return {f"{shared}/config.pbtxt": config(chosen).encode(), **chosen.files(f"{folder}/")}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "Triton comes as a container image, and none is run here")


def config(chosen: Chosen) -> str:
    """The text of `config.pbtxt`.

    Raises:
        UsageError: an input or output is a scalar, holds nothing, or is of a type that Triton does not have.
    """
    manifest, batch = chosen.manifest, batch_dim(chosen)
    tensors = file_tensors(chosen)
    for tensor in tensors:
        _refuse(tensor)
    # Without its batch nothing is left of a tensor of rank 1, and Triton takes no tensor without dims. (It takes
    # `dims: [ 1 ]` with an empty `reshape`, but then requests say [batch, 1] where every other server wants [batch].)
    strips = batch is not None and all(len(tensor.shape) > 1 for tensor in tensors)
    lines = [
        f"# Made from the bundle {manifest.digest}",
        "# Requests are computed each alone. Of dynamic_batching, MANIFEST.json says where rows are independent.",
        f"name: {json.dumps(manifest.name)}",
        'backend: "onnxruntime"',
        f"max_batch_size: {manifest.dims[batch]['max'] if batch and strips else 0}",
        *(_line(tensor, tensor.shape[1 if strips else 0 :]) for tensor in tensors),
        "instance_group [ { kind: KIND_CPU } ]",
    ]
    return "\n".join(lines) + "\n"


def _line(tensor: FileTensor, dims: tuple[int, ...]) -> str:
    sizes = ", ".join(map(str, dims))
    return (
        f"{tensor.side} [ {{ name: {json.dumps(tensor.name)} data_type: {_TYPES[tensor.dtype]} dims: [ {sizes} ] }} ]"
    )


def _refuse(tensor: FileTensor) -> None:
    hint = "change it in the model and release again, or choose another target"
    if tensor.dtype not in _TYPES:
        what = f"Triton has no type for {tensor.side} {tensor.name} ({tensor.dtype})"
    elif not tensor.shape:
        what = f"{tensor.side} {tensor.name} is a scalar, which Triton does not take"
    elif 0 in tensor.shape:
        what = f"{tensor.side} {tensor.name} is always empty, which Triton does not take"
    else:
        return
    raise UsageError(what, where="triton", hint=hint)


plugin: Target = Triton()
