"""Damage for tests: copies of bundles with one fault each, and a seal that makes the hashes right again.

The places of tensors come from the readers, so a fault changes numbers and nothing else in the file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.files import sha256_file
from exporter.base.readers import read
from exporter.base.readers.base import Weight
from exporter.bundle.manifest import sealed
from tests.documents import state_again


def copied(bundle: Path, to: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(bundle, to))


def reseal(bundle: Path, content: dict[str, Any] | None = None) -> None:
    """Make every size, hash and the digest right again, as someone would who can write to the bundle.

    `content` is what the manifest is to say instead; the documents are made to say the same.
    """
    manifest = bundle / "manifest.json"
    content = content or json.loads(manifest.read_bytes())
    state_again(bundle, content)
    content["files"] = {
        path.relative_to(bundle).as_posix(): {"sha256": sha256_file(path), "size": path.stat().st_size}
        for path in bundle.rglob("*")
        if path.is_file() and path != manifest
    }
    manifest.write_bytes(sealed(content))


def flip_bit(path: Path, bit: int) -> None:
    """Flip bit `bit` of the file, counted from its start; negative from its end."""
    content = bytearray(path.read_bytes())
    bit %= len(content) * 8
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def truncate(path: Path, keep: float = 0.5) -> None:
    """Keep the first part of the file."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])


def float_weights(path: Path) -> list[Weight]:
    """The float32 tensors of more than one number in a .pdiparams or .onnx, whose bytes lie in one piece."""
    weights = [one for one in read(path).weights if one.dtype == "float32" and one.elements > 1]
    assert weights and all(len(one.pieces) == 1 and not one.varints for one in weights)
    return weights


def zero_tensor(path: Path, place: int = 0) -> str:
    """Fill one float tensor with zeros; returns its name."""
    return _change(path, float_weights(path)[place], np.zeros_like)


def scale_tensor(path: Path, place: int = 0, factor: float = 1.01) -> str:
    """Multiply one float tensor; returns its name."""
    return _change(path, float_weights(path)[place], lambda value: value * np.float32(factor))


def swap_tensors(path: Path) -> tuple[str, str]:
    """Exchange the numbers of two tensors of one shape that differ; returns their names."""
    content, weights = path.read_bytes(), float_weights(path)
    one, other = next(
        (one, other)
        for i, one in enumerate(weights)
        for other in weights[i + 1 :]
        if one.shape == other.shape and not np.array_equal(one.array(content), other.array(content))
    )
    values = one.array(content), other.array(content)
    _change(path, one, lambda _: values[1])
    _change(path, other, lambda _: values[0])
    return one.name, other.name


def _change(path: Path, weight: Weight, change: Callable[[np.ndarray], np.ndarray]) -> str:
    content = bytearray(path.read_bytes())
    ((start, stop),) = weight.pieces
    before = weight.array(bytes(content))
    after = change(before).astype("<f4")
    assert after.shape == before.shape and not np.array_equal(after, before), f"{weight.name} would stay as it is"
    content[start:stop] = after.tobytes()
    path.write_bytes(content)
    return weight.name
