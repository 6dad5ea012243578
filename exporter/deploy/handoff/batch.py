"""Which dim a server may take for its batch, and the tensors of a file with the sizes that they have there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exporter.base.errors import UsageError
from exporter.base.readers import read
from exporter.base.tensors import dims_in, split_size
from exporter.bundle.manifest import Manifest
from exporter.deploy.handoff.base import Chosen


@dataclass(frozen=True)
class FileTensor:
    """An input or output: its name in the file, its dtype, and its whole shape; -1 is a size that varies."""

    side: str
    name: str
    dtype: str
    shape: tuple[int, ...]


def batch_dim(chosen: Chosen) -> str | None:
    """The dim that a server may take for its batch: it leads every input and output, stands nowhere else, starts at 1.

    That it leads the outputs is seen in the recorded cases; the file has to leave it open in each of them.
    """
    manifest = chosen.manifest
    heads = {tensor.shape[0] if tensor.shape else None for tensor in manifest.inputs}
    name = heads.pop() if len(heads) == 1 else None
    if name not in manifest.dims or name in dims_in(tensor.shape[1:] for tensor in manifest.inputs):
        return None
    dim = manifest.dims[name]
    leads = bool(manifest.cases) and all(
        output.shape[:1] == (case.dims[name],) for case in manifest.cases for output in case.outputs.values()
    )
    varies = len({case.dims[name] for case in manifest.cases}) > 1
    open_in_file = all(tensor.shape[:1] == (-1,) for tensor in file_tensors(chosen))
    able = leads and varies and open_in_file and dim["min"] == 1 and dim.get("multiple_of", 1) == 1
    return name if able else None


def file_tensors(chosen: Chosen) -> list[FileTensor]:
    """Inputs and outputs of an ONNX; a size that the file fixes is the file's, the others are the bundle's."""
    manifest, variant = chosen.manifest, chosen.variant
    facts = read(next(path for name, path in chosen.files().items() if name.endswith(".onnx")))
    in_file = {tensor.name: tensor.shape for tensor in (*facts.inputs, *facts.outputs)}
    sides = (("input", manifest.inputs, variant.inputs), ("output", manifest.outputs, variant.outputs))
    return [
        FileTensor(side, native, tensor.dtype, _shape(tensor.shape, in_file[native], manifest))
        for side, tensors, natives in sides
        for tensor, native in zip(tensors, natives, strict=True)
    ]


def _shape(promised: Sequence[int | str], in_file: Sequence[int | str], manifest: Manifest) -> tuple[int, ...]:
    """Raises UsageError where the two are not of one rank."""
    if len(promised) != len(in_file):
        what = f"the bundle says {list(promised)} where its file says {list(in_file)}"
        raise UsageError(what, where="--to", hint="convert and release it again")
    sizes = [size if isinstance(size, int) else -1 for size in in_file]
    return tuple(size if size >= 0 else _size(word, manifest) for size, word in zip(sizes, promised, strict=True))


def _size(size: int | str, manifest: Manifest) -> int:
    if isinstance(size, int):
        return size
    name, more = split_size(size)
    dim = manifest.dims[name]
    return dim["min"] + more if dim["min"] == dim["max"] else -1
