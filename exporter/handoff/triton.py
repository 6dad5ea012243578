"""NVIDIA Triton Inference Server: a model repository for its ONNX Runtime backend.

Names and types as in Triton's model configuration (`model_config.proto`; docs/user_guide/model_configuration.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from exporter.bundle.manifest import Manifest, Tensor
from exporter.errors import UsageError
from exporter.handoff.base import Chosen, Proof, Target
from exporter.workers import Limits

_TYPES = {
    "bool": "TYPE_BOOL",
    "uint8": "TYPE_UINT8",
    "int8": "TYPE_INT8",
    "int16": "TYPE_INT16",
    "int32": "TYPE_INT32",
    "int64": "TYPE_INT64",
    "float16": "TYPE_FP16",
    "bfloat16": "TYPE_BF16",
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


def config(chosen: Chosen) -> str:
    """The text of `config.pbtxt`.

    Raises:
        UsageError: an input or output is a scalar, or of a type that Triton does not have.
    """
    manifest, variant = chosen.manifest, chosen.variant
    batch = batch_dim(manifest)
    lines = [
        f"# Made from the bundle {manifest.digest}",
        f"name: {json.dumps(manifest.name)}",
        'backend: "onnxruntime"',
        f"max_batch_size: {manifest.dims[batch]['max'] if batch else 0}",
        *_tensors("input", list(zip(manifest.inputs, variant.inputs, strict=True)), manifest, batch),
        *_tensors("output", list(zip(manifest.outputs, variant.outputs, strict=True)), manifest, batch),
        "instance_group [ { kind: KIND_CPU } ]",
    ]
    return "\n".join(lines) + "\n"


def batch_dim(manifest: Manifest) -> str | None:
    """The dim that Triton may take for its batch: it leads every input and output, stands nowhere else, starts at 1.

    That it leads the outputs is seen in the recorded cases.
    """
    heads = {one.shape[0] if one.shape else None for one in manifest.inputs}
    name = heads.pop() if len(heads) == 1 else None
    if not isinstance(name, str) or any(name in one.shape[1:] for one in manifest.inputs):
        return None
    dim = manifest.dims[name]
    leads = bool(manifest.cases) and all(
        output.shape[:1] == (case.dims[name],) for case in manifest.cases for output in case.outputs.values()
    )
    varies = len({case.dims[name] for case in manifest.cases}) > 1
    return name if leads and varies and dim["min"] == 1 and dim.get("multiple_of", 1) == 1 else None


def _tensors(side: str, pairs: Sequence[tuple[Tensor, str]], manifest: Manifest, batch: str | None) -> list[str]:
    lines = []
    for one, native in pairs:
        shape = [_size(size, manifest) for size in one.shape][1 if batch else 0 :]
        if one.dtype not in _TYPES:
            raise UsageError(f"Triton has no type for {side} {one.name} ({one.dtype})", where="triton", hint=_OTHER)
        if not one.shape:
            raise UsageError(f"{side} {one.name} is a scalar, which Triton does not take", where="triton", hint=_OTHER)
        # Of rank 1, with the batch taken away, nothing is left: Triton wants [1], and is told to fold it away.
        reshape = " reshape { shape: [ ] }" if not shape else ""
        dims = ", ".join(map(str, shape or [1]))
        lines.append(
            f"{side} [ {{ name: {json.dumps(native)} data_type: {_TYPES[one.dtype]} dims: [ {dims} ]{reshape} }} ]"
        )
    return lines


_OTHER = "change it in the model and release again, or choose another target"


def _size(size: int | str, manifest: Manifest) -> int:
    if isinstance(size, int):
        return size
    dim = manifest.dims[size]
    return dim["min"] if dim["min"] == dim["max"] else -1


plugin: Target = Triton()
