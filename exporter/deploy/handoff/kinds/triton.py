"""NVIDIA Triton Inference Server: a model repository for its ONNX Runtime backend.

Names and types as in Triton's model configuration (`model_config.proto`; docs/user_guide/model_configuration.md). What
it refuses was read in its sources: `ValidateIOShape` in core/src/model_config_utils.cc (no tensor without dims, no size
of 0); in onnxruntime_backend/src/onnxruntime_utils.cc `CompareDimsSupported` (with `max_batch_size` the file's first
size is not fixed, and the rank is one more than that of `dims`; a size that the file fixes is said just so) and
`ConvertFromOnnxDataType` (no bfloat16).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.readers import read
from exporter.bundle.manifest import Manifest
from exporter.deploy.handoff.base import Chosen, Proof, Target
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
        (model,) = chosen.files().values()
        shared = self.versions.format(name=chosen.manifest.name)
        return {f"{shared}/config.pbtxt": config(chosen).encode(), f"{folder}/model.onnx": model}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "Triton comes as a container image, and none is run here")


@dataclass(frozen=True)
class _Tensor:
    """An input or output: its name in the file, its dtype, and its whole shape; -1 is a size that varies."""

    side: str
    name: str
    dtype: str
    shape: tuple[int, ...]


def config(chosen: Chosen) -> str:
    """The text of `config.pbtxt`.

    Raises:
        UsageError: an input or output is a scalar, holds nothing, or is of a type that Triton does not have.
    """
    manifest, batch = chosen.manifest, batch_dim(chosen)
    tensors = _tensors(chosen)
    for tensor in tensors:
        _refuse(tensor)
    # Without its batch nothing is left of a tensor of rank 1, and Triton takes no tensor without dims. (It takes
    # `dims: [ 1 ]` with an empty `reshape`, but then requests say [batch, 1] where every other server wants [batch].)
    strips = batch is not None and all(len(tensor.shape) > 1 for tensor in tensors)
    lines = [
        f"# Made from the bundle {manifest.digest}",
        f"name: {json.dumps(manifest.name)}",
        'backend: "onnxruntime"',
        f"max_batch_size: {manifest.dims[batch]['max'] if batch and strips else 0}",
        *(_line(tensor, tensor.shape[1 if strips else 0 :]) for tensor in tensors),
        "instance_group [ { kind: KIND_CPU } ]",
    ]
    return "\n".join(lines) + "\n"


def _line(tensor: _Tensor, dims: tuple[int, ...]) -> str:
    sizes = ", ".join(map(str, dims))
    return (
        f"{tensor.side} [ {{ name: {json.dumps(tensor.name)} data_type: {_TYPES[tensor.dtype]} dims: [ {sizes} ] }} ]"
    )


def batch_dim(chosen: Chosen) -> str | None:
    """The dim that a server may take for its batch: it leads every input and output, stands nowhere else, starts at 1.

    That it leads the outputs is seen in the recorded cases; the file has to leave it open in each of them.
    """
    manifest = chosen.manifest
    heads = {one.shape[0] if one.shape else None for one in manifest.inputs}
    name = heads.pop() if len(heads) == 1 else None
    if not isinstance(name, str) or any(name in one.shape[1:] for one in manifest.inputs):
        return None
    dim = manifest.dims[name]
    leads = bool(manifest.cases) and all(
        output.shape[:1] == (case.dims[name],) for case in manifest.cases for output in case.outputs.values()
    )
    varies = len({case.dims[name] for case in manifest.cases}) > 1
    open_in_file = all(tensor.shape[:1] == (-1,) for tensor in _tensors(chosen))
    able = leads and varies and open_in_file and dim["min"] == 1 and dim.get("multiple_of", 1) == 1
    return name if able else None


def _tensors(chosen: Chosen) -> list[_Tensor]:
    """Inputs and outputs; a size that the file fixes is the file's, the others are the bundle's."""
    manifest, variant = chosen.manifest, chosen.variant
    facts = read(next(path for name, path in chosen.files().items() if name.endswith(".onnx")))
    in_file = {tensor.name: tensor.shape for tensor in (*facts.inputs, *facts.outputs)}
    sides = (("input", manifest.inputs, variant.inputs), ("output", manifest.outputs, variant.outputs))
    return [
        _Tensor(side, native, one.dtype, _shape(one.shape, in_file[native], manifest))
        for side, tensors, natives in sides
        for one, native in zip(tensors, natives, strict=True)
    ]


def _shape(promised: Sequence[int | str], in_file: Sequence[int | str], manifest: Manifest) -> tuple[int, ...]:
    """Raises UsageError where the two are not of one rank."""
    if len(promised) != len(in_file):
        what = f"the bundle says {list(promised)} where its file says {list(in_file)}"
        raise UsageError(what, where="triton", hint="convert and release it again")
    sizes = [size if isinstance(size, int) else -1 for size in in_file]
    return tuple(size if size >= 0 else _size(word, manifest) for size, word in zip(sizes, promised, strict=True))


def _size(size: int | str, manifest: Manifest) -> int:
    if isinstance(size, int):
        return size
    dim = manifest.dims[size]
    return dim["min"] if dim["min"] == dim["max"] else -1


def _refuse(tensor: _Tensor) -> None:
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
