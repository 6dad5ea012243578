"""What a request of the open inference protocol may hold: the types, shapes and values of a model's interface.

handoff writes this file beside the servers that use it; it needs numpy alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = {
    **{"BOOL": "bool", "FP16": "float16", "FP32": "float32", "FP64": "float64"},
    **{f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
#: What numbers of JSON become in Python, by the first letter of a datatype; of the others they are whole.
_KINDS: dict[str, set[type]] = {"B": {bool}, "F": {int, float}}
_WORDS = {"bool": "true or false", "str": "text", "NoneType": "null", "list": "a list", "dict": "an object"}


def _bound(bound: int | str, sizes: dict[str, int]) -> int:
    """A bound of a range: a number, a dim, or a dim with a number added or taken away, as `seq+1`."""
    if isinstance(bound, int):
        return bound
    dim, sign, more = re.fullmatch(r"(\w+)(?:([+-])(\d+))?", bound).groups()  # type: ignore[union-attr]  # ours
    return sizes[dim] + int(f"{sign or '+'}{more or 0}")


class Refused(Exception):
    """A request that is not computed: the status of HTTP, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def parsed(raw: bytes) -> dict[str, Any]:
    """One JSON object: no NaN, no key twice, nothing nested deeper than Python reads."""

    def no_number(word: str) -> Any:
        raise ValueError(f"{word} is no number of JSON")

    def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) != len({key for key, _ in pairs}):
            raise ValueError("a key stands twice in an object")
        return dict(pairs)

    try:
        content = json.loads(raw.decode("utf-8"), parse_constant=no_number, object_pairs_hook=no_key_twice)
    except RecursionError:
        raise Refused(400, "the body is nested too deep") from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise Refused(400, "the body is no JSON object")
    return content


def flattened(data: object, shape: Sequence[int], name: str) -> list[Any]:
    """`data` as one list of numbers: flat already, or nested as the shape is."""
    if not isinstance(data, list):
        raise Refused(400, f"input {name}: 'data' is no list")
    depth = 0
    while data and isinstance(data[0], list):
        if depth + 1 >= len(shape) or len(data) != math.prod(shape[: depth + 1]):
            raise Refused(400, f"input {name}: 'data' is not nested as its shape {list(shape)} is")
        if any(not isinstance(row, list) or len(row) != shape[depth + 1] for row in data):
            raise Refused(400, f"input {name}: 'data' is not nested as its shape {list(shape)} is")
        data, depth = [value for row in data for value in row], depth + 1
    if len(data) != math.prod(shape):
        raise Refused(400, f"input {name}: 'data' holds {len(data)} values, its shape {list(shape)} {math.prod(shape)}")
    return data


def an_array(data: list[Any], datatype: str, name: str) -> Any:
    """The values as an array of just this type; none is cut, rounded to another kind, or overflows."""
    kinds = _KINDS.get(datatype[0], {int})
    if strange := set(map(type, data)) - kinds:
        what = strange.pop().__name__
        raise Refused(
            400, f"input {name}: {_WORDS.get(what, f'a number of type {what}')} stands where {datatype} belongs"
        )
    bounds = np.iinfo(DTYPES[datatype]) if "INT" in datatype else None
    if bounds and data and not bounds.min <= min(data) <= max(data) <= bounds.max:
        raise Refused(400, f"input {name}: a value does not fit {datatype}")
    try:
        with np.errstate(over="ignore"):
            array = np.array(data, DTYPES[datatype])
    except OverflowError:
        raise Refused(400, f"input {name}: a value does not fit {datatype}") from None
    if not np.isfinite(array).all():
        raise Refused(400, f"input {name}: a value does not fit {datatype}")
    return array


@dataclass(frozen=True)
class Asked:
    """A valid request: its id, its arrays by name, and the names of the outputs that it wants."""

    id: str | None
    arrays: dict[str, Any]
    outputs: list[str]


@dataclass(frozen=True)
class Interface:
    """The model's inputs and outputs, as service.json has them."""

    about: dict[str, Any]

    def read(self, raw: bytes) -> Asked:
        """What the body of a request asks."""
        content = parsed(raw)
        if not isinstance(content.get("id", ""), str):
            raise Refused(400, "'id' is no text")
        return Asked(content.get("id"), self.arrays(content.get("inputs")), self._wanted(content.get("outputs")))

    def arrays(self, given: Any) -> dict[str, Any]:
        """The array of each input, by its name."""
        if not isinstance(given, list) or not all(isinstance(tensor, dict) for tensor in given):
            raise Refused(400, "'inputs' is no list of objects")
        declared = {tensor["name"]: tensor for tensor in self.about["inputs"]}
        names = [tensor.get("name") for tensor in given]
        for name in names:
            if not isinstance(name, str) or name not in declared:
                raise Refused(400, f"the model has no input {quoted(name)}; it takes {', '.join(declared)}")
        if missing := [name for name in declared if name not in names]:
            raise Refused(400, f"input {missing[0]} is missing")
        if len(names) != len(declared):
            raise Refused(400, "an input stands twice")
        sizes: dict[str, int] = {}
        arrays = {tensor["name"]: self._tensor(declared[tensor["name"]], tensor, sizes) for tensor in given}
        for name, array in arrays.items():
            self._in_range(declared[name], array, sizes)
        return arrays

    def _tensor(self, declared: dict[str, Any], given: dict[str, Any], sizes: dict[str, int]) -> Any:
        name, datatype, shape = declared["name"], declared["datatype"], given.get("shape")
        if "binary_data_size" in parameters(given):
            raise Refused(415, f"input {name}: the binary tensor extension is not served; send 'data' as JSON")
        if given.get("datatype") != datatype:
            raise Refused(400, f"input {name}: 'datatype' is {quoted(given.get('datatype'))}, not {datatype}")
        if not isinstance(shape, list) or any(type(size) is not int or size < 0 for size in shape):
            raise Refused(400, f"input {name}: 'shape' is no list of sizes")
        if len(shape) != len(declared["shape"]):
            raise Refused(400, f"input {name}: shape {said(shape)} has not the rank of {declared['shape']}")
        for size, wanted in zip(shape, declared["shape"], strict=True):
            self._fits(name, size, wanted, sizes)
        return an_array(flattened(given.get("data"), shape, name), datatype, name).reshape(shape)

    def _fits(self, name: str, size: int, wanted: int | str, sizes: dict[str, int]) -> None:
        """A fixed size is this one; a dim is in its range, and of one size in the whole request, as in `past+1` too."""
        if isinstance(wanted, int):
            if size != wanted:
                raise Refused(400, f"input {name}: a size is {said(size)} where the model takes {wanted}")
            return
        word, _, added = wanted.partition("+")
        dim, more = self.about["dims"][word], int(added or 0)
        low, high = dim["min"] + more, dim["max"] + more
        if not low <= size <= high:
            raise Refused(400, f"input {name}: {wanted} is {said(size)}, not {low} to {high}")
        if (size - more) % dim.get("multiple_of", 1):
            raise Refused(400, f"input {name}: {word} is {size - more}, no multiple of {dim['multiple_of']}")
        if sizes.setdefault(word, size - more) != size - more:
            raise Refused(400, f"input {name}: {word} is {size - more}, and {sizes[word]} in another place")

    def _in_range(self, declared: dict[str, Any], array: Any, sizes: dict[str, int]) -> None:
        """Whole numbers lie in the range that the model was proven for: an index beyond it is read from anywhere."""
        if not declared.get("range") or not array.size:
            return
        low, stop = (_bound(bound, sizes) for bound in declared["range"])
        if array.min().item() < low or array.max().item() > stop - 1:
            raise Refused(400, f"input {declared['name']}: values lie between {low} and {stop - 1}")

    def _wanted(self, asked: Any) -> list[str]:
        names = [tensor["name"] for tensor in self.about["outputs"]]
        if asked is None:
            return names
        if not isinstance(asked, list) or not all(isinstance(tensor, dict) for tensor in asked):
            raise Refused(400, "'outputs' is no list of objects")
        for tensor in asked:
            if tensor.get("name") not in names:
                raise Refused(400, f"the model has no output {quoted(tensor.get('name'))}; it has {', '.join(names)}")
            if parameters(tensor).get("binary_data"):
                raise Refused(415, "the binary tensor extension is not served; outputs are JSON")
        return list(dict.fromkeys(tensor["name"] for tensor in asked)) or names


def parameters(tensor: dict[str, Any]) -> dict[str, Any]:
    """What is said besides of a tensor; only the binary extension's are looked at."""
    besides = tensor.get("parameters", {})
    if not isinstance(besides, dict):
        raise Refused(400, f"'parameters' of {quoted(tensor.get('name'))} is no object")
    return besides


def quoted(value: Any) -> str:
    """A value of a request as an error tells it: short, and on one line."""
    return json.dumps(value)[:80]


def said(value: Any) -> str:
    """Sizes of a request as an error tells them: a shape may have thousands of them, each of thousands of digits."""
    sizes = [
        str(size) if -(10**18) < size < 10**18 else "huge" for size in (value if isinstance(value, list) else [value])
    ]
    told = ", ".join([*sizes[:8], "…"] if len(sizes) > 8 else sizes)
    return f"[{told}]" if isinstance(value, list) else told
