"""JSON from a stranger: bounded in size, depth and number of values, and no more than every reader agrees on.

Python's own reader takes NaN, the last of two equal keys, integers of any size and half a surrogate pair, none of which
can be written, hashed or compared again in another program.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Union

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import read_regular

#: What JSON can hold, of a document of our own.
Data: TypeAlias = Union[str, int, float, bool, Sequence["Data"], Mapping[str, "Data"], None]  # noqa: UP007 - recursive
#: Bytes of a document, and values in it: the manifest of a network of 10,000 tensors in six variants has 10 MB and
#: 100,000 values. At the bounds it takes 2 s and 500 MB to read.
MOST_BYTES, MOST_VALUES = 32 << 20, 300_000
#: How deep values may lie in each other; a manifest has nine levels.
MOST_DEPTH = 60
_HINT = "do not use this bundle; ask for a fresh one"


def read_json(path: Path, most_values: int = MOST_VALUES) -> Any:
    """The value that a regular file of a bundle holds.

    Raises:
        BundleError: it is not there, is larger, or holds something else.
    """
    raw = read_bytes(path)
    try:
        return parse_json(raw, most_values)
    except ValueError as error:
        raise BundleError(f"is damaged: {error}", where=str(path), hint=_HINT) from error


def read_bytes(path: Path) -> bytes:
    """The content of a regular file of a bundle; raises as :func:`read_json`."""
    try:
        return read_regular(path, MOST_BYTES)
    except UsageError as error:
        raise BundleError(error.what, where=error.where, hint=_HINT) from error


def parse_json(raw: bytes, most_values: int = MOST_VALUES, *, escape: bool = False) -> Any:
    """The value of a document; half a surrogate pair is refused, or with `escape` written out.

    Raises:
        ValueError: it is not UTF-8, not JSON, or more than the bounds above; the message says which.
    """
    text = raw.decode("utf-8")
    if sum(map(text.count, ",[{")) > most_values:
        raise ValueError(f"more than {most_values:,} values")
    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_int=_integer, parse_float=_finite, parse_constant=_finite
        )
    except RecursionError as error:
        raise ValueError(f"more than {MOST_DEPTH} levels") from error
    _refuse_depth(value)
    if "\\u" not in text:
        return value
    return _escaped(value) if escape else _without_surrogates(value)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, as `object_pairs_hook`; of two equal keys some readers take the first, and others the last.

    Raises:
        ValueError: a key is given twice.
    """
    whole = dict(pairs)
    if len(whole) < len(pairs):
        (name, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {name[:80]!r} is given twice")
    return whole


def _integer(text: str) -> int:
    if len(text) > 20 or not -(1 << 63) <= int(text) < 1 << 64:
        raise ValueError(f"the number {text[:24]} has more than 64 bits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:24]} is not finite")
    return number


def _refuse_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(f"more than {MOST_DEPTH} levels")
        held = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [inner for inners in held for inner in inners if isinstance(inner, (dict, list))]


def _without_surrogates(value: Any) -> Any:
    """Half a pair of UTF-16 is no character: it can be neither written nor hashed."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair: {error.reason}") from error
    return value


def _escaped(value: Any) -> Any:
    if isinstance(value, dict):
        return {_escaped(key): _escaped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_escaped(inner) for inner in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
