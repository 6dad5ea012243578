"""The open inference protocol (KServe v2): a bundle's interface as `interface.py` reads it, beside the servers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.tensors import dims_in, shape_at
from exporter.bundle.manifest import Manifest, Tensor
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.interface import DTYPES
from exporter.spec.values import arguments, parts

_DATATYPES = {dtype: datatype for datatype, dtype in DTYPES.items()}
#: Installed in the versions that the bundle was proven with, where it says them.
_PROVEN = ("numpy", "onnxruntime")
_IMPORT = "from exporter.deploy.handoff.interface import"


@dataclass(frozen=True)
class OutputTensor:
    """An output as the protocol names it; a word in its shape is a named dim."""

    name: str
    datatype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class InputTensor(OutputTensor):
    """An input, and the `range` of its whole numbers: the smallest, and the one after the largest; None: any."""

    range: tuple[int | str, ...] | None


@dataclass(frozen=True)
class Interface:
    """What requests and answers hold, as the file of a service names it."""

    inputs: tuple[InputTensor, ...]
    outputs: tuple[OutputTensor, ...]
    dims: Mapping[str, Mapping[str, int]]


def interface(chosen: Chosen, target: str) -> Interface:
    """Return the interface of a variant, by the artifact's own names.

    Raises:
        UsageError: an input or output is of a type that the protocol does not have.
    """
    manifest, variant = chosen.manifest, chosen.variant
    inputs = (
        InputTensor(native, _datatype(tensor, target), tensor.shape, _range(tensor, manifest))
        for tensor, native in zip(manifest.inputs, variant.inputs, strict=True)
    )
    outputs = (
        OutputTensor(native, _datatype(tensor, target), tensor.shape)
        for tensor, native in zip(manifest.outputs, variant.outputs, strict=True)
    )
    return Interface(tuple(inputs), tuple(outputs), manifest.dims)


def _datatype(tensor: Tensor, target: str) -> str:
    if tensor.dtype not in _DATATYPES:
        raise UsageError(
            f"{tensor.name} is {tensor.dtype}, which requests in JSON cannot hold",
            where=target,
            hint="change it in the model and release again, or choose another target",
        )
    return _DATATYPES[tensor.dtype]


def _range(tensor: Tensor, manifest: Manifest) -> tuple[int | str, ...] | None:
    """Return what the spec says of whole numbers: the smallest, and the one after the largest, either as `seq+1`."""
    described = manifest.spec.get("inputs", {}).get(tensor.name, {})
    values = described.get("values", "") if isinstance(described, dict) else ""
    if not isinstance(values, str) or not values.startswith("integers"):
        return None
    sizes = dims_in(described.shape for described in manifest.inputs)
    dims = [parts(text)[0] for text in arguments(values)]
    bounds = tuple(text if dim else int(text) for dim, text in zip(dims, arguments(values), strict=True))
    return bounds if all(dim in sizes for dim in dims if dim) else None


def largest(shape: tuple[int | str, ...], manifest: Manifest) -> int:
    """How many values a tensor of the interface has at most."""
    return math.prod(shape_at(shape, {name: sizes["max"] for name, sizes in manifest.dims.items()}))


def server_source(name: str) -> bytes:
    """The source of a server in this folder, for a place where its neighbour is called interface.py."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    if _IMPORT not in text:
        raise ValueError(f"{name} does not import the interface")
    return text.replace(_IMPORT, "from interface import").encode()


def interface_source() -> bytes:
    """The source of interface.py."""
    return Path(__file__).with_name("interface.py").read_bytes()


def requirements(name: str, manifest: Manifest) -> bytes:
    """The pinned packages of a list in this folder, the engine and numpy as the bundle was proven with."""
    proven = manifest.provenance.get("packages", {})
    lines = []
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        package, _, version = line.partition("==")
        told = proven.get(package, "") if package in _PROVEN else ""
        lines.append(f"{package}=={told if re.fullmatch(r'[0-9]+([.][0-9]+)+', told) else version}")
    return ("\n".join(lines) + "\n").encode()
