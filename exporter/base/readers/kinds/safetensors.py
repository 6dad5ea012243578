"""`.safetensors`: named tensors, by their header alone: uint64 length, JSON, the numbers.

The ranges must tile the rest of the file without gap or overlap, so that no byte is unaccounted for.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from exporter.base.bounded_json import unique
from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, checked_shape, damaged, map_file

_DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}
#: As the safetensors package.
_MAX_HEADER = 100_000_000
_WRONG_SHAPE = (LookupError, TypeError, ValueError, AttributeError)


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of the file; its weights are in the order in which their numbers lie.

    Raises:
        BundleError: the header is not one, or its ranges do not tile the file.
    """
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(_MAX_HEADER, len(content) - 8):
        raise damaged("no header of safetensors", where, 0)
    begin = 8 + length
    try:
        header = json.loads(content[8:begin], object_pairs_hook=unique)
        metadata = header.pop("__metadata__", {})
        weights = sorted((_weight(name, one, where) for name, one in header.items()), key=lambda one: one.pieces)
        versions: dict[str, int | str] = {str(key): str(value) for key, value in metadata.items()}
    except RecursionError as error:
        raise damaged("JSON nested too deep", where, 8) from error
    except _WRONG_SHAPE as error:
        raise damaged(f"not a header of safetensors ({type(error).__name__}: {error})"[:200], where, 8) from error
    end = 0
    for weight in weights:
        ((start, stop),) = weight.pieces
        if start != end or stop - start != weight.nbytes:
            what = f"tensor {weight.name!r} lies at {start} to {stop}, where {end} to {end + weight.nbytes} is due"
            raise damaged(what, where, begin + end)
        end = stop
    if begin + end != len(content):
        raise damaged(f"{len(content) - begin} bytes of numbers, but the header describes {end}", where, begin)
    placed = (replace(one, pieces=tuple((begin + a, begin + b) for a, b in one.pieces)) for one in weights)
    return ModelFacts("safetensors", len(content), versions=versions, weights=tuple(placed))


def _weight(name: str, entry: dict[str, object], where: str) -> Weight:
    dims, offsets = entry["shape"], entry["data_offsets"]
    if not isinstance(dims, list) or not isinstance(offsets, list):
        raise TypeError(f"shape or data_offsets of {name!r} is not a list")
    shape, (start, stop) = checked_shape(dims, where), offsets
    if -1 in shape or not all(type(one) is int and one >= 0 for one in (start, stop)):
        raise ValueError(f"sizes of {name!r} that are not sizes")
    return Weight(name, _DTYPES[str(entry["dtype"])], shape, ((start, stop),))


def read_safetensors(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".safetensors",), facts)
