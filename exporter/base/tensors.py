"""Named tensors on their way between steps: what they are (`TensorSpec`), and safetensors in and out.

`ml_dtypes` is not needed: bfloat16 appears only as the name of a dtype, never as a numpy array.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import open_regular, translated, write_bytes
from exporter.base.pickles.state import is_pickle, read_tensors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Written as text, so that a module may name them without importing numpy.
Array: TypeAlias = "npt.NDArray[Any]"
TensorMap: TypeAlias = "Mapping[str, npt.NDArray[Any]]"

#: Dtype names that a spec may use; they are numpy's, and Paddle's, and ONNX's in lower case.
DTYPES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
)
#: Bytes of the header of a safetensors file: 100,000 tensors take 12 MB. The package takes 100 MB.
_MOST_HEADER = 16 << 20
#: What NumPy's reader of headers raises on damaged ones (2.4: its tokenizer, and `dtype` on what is no dtype).
_NO_NPY = (
    *(OSError, ValueError, EOFError, OverflowError, MemoryError, TypeError, LookupError, AttributeError),
    *(SyntaxError, RecursionError, AssertionError, tokenize.TokenError),
)
FLOATS = ("float16", "bfloat16", "float32", "float64")


def split_size(size: int | str) -> tuple[str, int]:
    """The named dim of a size and what is added: ("past", 1) of `past+1`, and ("", 3) of the number 3."""
    if isinstance(size, int):
        return "", size
    dim, _, more = size.partition("+")
    return dim, int(more or 0)


def size_at(size: int | str, dims: Mapping[str, int]) -> int:
    """A size as a number, where each named dim has this one; raises KeyError for another name."""
    dim, more = split_size(size)
    return dims[dim] + more if dim else more


def shape_at(shape: Iterable[int | str], dims: Mapping[str, int]) -> tuple[int, ...]:
    """A shape in numbers; raises as :func:`size_at`."""
    return tuple(size_at(size, dims) for size in shape)


def dims_in(shapes: Iterable[Iterable[int | str]]) -> list[str]:
    """Every named dim of some shapes, once, in their order."""
    return list(dict.fromkeys(dim for shape in shapes for dim, _ in map(split_size, shape) if dim))


@dataclass(frozen=True)
class TensorSpec:
    """One input or output: its name, dtype and shape.

    A `str` in the shape is a named dim, to which a number may be added (`past+1`); `-1` is unknown.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.name}={self.dtype}[{','.join(map(str, self.shape))}]"


def digest(array: Array) -> str:
    """Hex sha256 over dtype and little-endian bytes, whatever the shape: converters reshape biases at will."""
    import numpy as np

    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    hashed = hashlib.sha256(array.dtype.name.encode())
    hashed.update(np.ascontiguousarray(little).reshape(-1).view("uint8").data)  # as it lies: weights are large
    return hashed.hexdigest()


def save(path: Path, tensors: TensorMap, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors as safetensors, atomically; the same tensors give the same bytes.

    Raises:
        UsageError, EnvironmentLacks: as :func:`exporter.base.files.write_bytes`.
    """
    import numpy as np
    from safetensors.numpy import save as encode

    # reshape: `ascontiguousarray` lifts 0-D to 1-D.
    plain: dict[str, np.ndarray[Any, Any]] = {
        name: np.ascontiguousarray(tensors[name]).reshape(tensors[name].shape) for name in sorted(tensors)
    }
    content = encode(plain, dict(metadata) if metadata else None)
    write_bytes(path, _sorted_metadata(content) if metadata else content)


def save_scratch(path: Path, tensors: TensorMap) -> None:
    """Write tensors for another process of the same command: neither atomically nor kept through a power cut.

    Raises:
        EnvironmentLacks: there is no room.
    """
    import numpy as np
    from safetensors.numpy import save as encode

    plain = {name: np.ascontiguousarray(value).reshape(value.shape) for name, value in tensors.items()}
    with translated(path):
        path.write_bytes(encode(plain))


def _sorted_metadata(content: bytes) -> bytes:
    """Sort the metadata in a safetensors header: safetensors (0.8) writes it in a new order in every process."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # the tensors behind it stay aligned
    return len(text).to_bytes(8, "little") + text + content[start:]


def load(path: Path) -> dict[str, Array]:
    """Read a file of tensors whole: safetensors, or one that `paddle.save` wrote.

    Raises:
        UsageError: no such file, or a pickle of something else than arrays.
        BundleError: it is not a whole safetensors file.
    """
    tensors, _ = load_with_metadata(path)
    return tensors


def load_with_metadata(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Read a file of tensors and the string metadata in its header; raises as :func:`load`.

    A pickle of Paddle's (`.pdparams`) has no metadata, and what is no array in it is left out.
    """
    if is_pickle(path):
        return read_tensors(path), {}
    with _opened(path) as reader:
        names = list(reader.keys())
        halves = [name for name in names if reader.get_slice(name).get_dtype() == "BF16"]
        held = {name: reader.get_tensor(name) for name in names if name not in halves}
        return held | _bits(path, halves), dict(reader.metadata() or {})


def _bits(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """Tensors of bfloat16 in a file that was opened as safetensors, as uint16: numpy has no such dtype."""
    import numpy as np

    if not names:
        return {}
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    places = {name: [start + offset for offset in header[name]["data_offsets"]] for name in names}
    return {
        name: np.frombuffer(content[begin:end], "<u2").reshape(header[name]["shape"])
        for name, (begin, end) in places.items()
    }


def metadata(path: Path) -> dict[str, str]:
    """The string metadata in the header of a safetensors file, none of a pickle; raises as :func:`load`."""
    if is_pickle(path):
        return {}
    with _opened(path) as reader:
        return dict(reader.metadata() or {})


def shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor, from the header of a safetensors file; raises as :func:`load`."""
    with _opened(path) as reader:
        return {name: tuple(reader.get_slice(name).get_shape()) for name in reader.keys()}  # noqa: SIM118 - no mapping


def recorded_inputs(golden: Path, case: str, names: Iterable[str]) -> dict[str, Array]:
    """The inputs of one case of a file of goldens; nothing else is read, least of all what the outputs should be.

    Raises:
        UsageError, BundleError: as :func:`load`.
    """
    with _opened(golden) as reader:
        return {name: reader.get_tensor(f"{case}/input/{name}") for name in names}


def recorded_truths(golden: Path, case: str) -> dict[str, Array]:
    """The float64 truths of one case of a file of goldens, by output: whole, or the sample of it that is kept.

    Raises:
        UsageError, BundleError: as :func:`load`.
    """
    before = f"{case}/truth/"
    with _opened(golden) as reader:
        names = list(reader.keys())
        return {name.removeprefix(before): reader.get_tensor(name) for name in names if name.startswith(before)}


def refuse_long_header(path: Path) -> None:
    """Refuse a safetensors file whose header says that it is longer than any of ours, before it is parsed.

    Raises:
        BundleError: it does.
    """
    with contextlib.suppress(OSError), open_regular(path) as (stream, _):
        if int.from_bytes(stream.read(8), "little") > _MOST_HEADER:
            what = f"not a whole safetensors file (its header would have more than {_MOST_HEADER:,} bytes)"
            hint = "write it again with safetensors: it may be truncated, or a pickle"
            raise BundleError(what, where=str(path), hint=hint)


def npy_facts(path: Path) -> tuple[tuple[int, ...], str]:
    """The shape and the name of the dtype of a `.npy` file; raises as :func:`load_npy`."""
    with _npy(path) as (_, shape, dtype):
        return shape, dtype.name


def load_npy(path: Path) -> Array:
    """The array of a `.npy` file; nothing in it is unpickled.

    Raises:
        UsageError: it is no such file, or does not hold what its header announces.
    """
    from numpy.lib import format as npy

    with _npy(path) as (stream, _, _):
        stream.seek(0)
        array: Array = npy.read_array(stream, allow_pickle=False)
        return array


@contextlib.contextmanager
def _npy(path: Path) -> Iterator[tuple[BinaryIO, tuple[int, ...], Any]]:
    from numpy.lib import format as npy

    try:
        with open_regular(path) as (stream, size):
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(stream)
            announced, held = math.prod(shape) * dtype.itemsize, size - stream.tell()
            if dtype.hasobject:
                raise ValueError("it holds Python objects, and nothing is unpickled")
            if dtype.itemsize == 0 or min(shape, default=0) < 0:  # NumPy makes room for each of them all the same
                raise ValueError(f"it announces {shape} elements of {dtype}")
            if announced > held:
                raise ValueError(f"truncated: it announces {announced:,} bytes of numbers and holds {held:,}")
            yield stream, tuple(shape), dtype
    except _NO_NPY as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"not a readable .npy file: {what}", where=str(path), hint="write it with numpy.save"
        ) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise UsageError("no such file", where=str(path), hint="check the path: .safetensors or .pdparams")
    refuse_long_header(path)
    try:
        with safe_open(str(path), framework="numpy") as reader:
            yield reader
    except (SafetensorError, ValueError, OSError) as error:
        raise BundleError(
            f"not a whole safetensors file ({error})",
            where=str(path),
            hint="write it again with safetensors: it may be truncated, or a pickle",
        ) from error
