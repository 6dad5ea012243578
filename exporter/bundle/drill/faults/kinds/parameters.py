"""Faults of stored tensors: another number where the trained one was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from exporter.base.tensors import Array
from exporter.bundle.drill.faults.base import Family, Kind
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Unplantable

_Change = Callable[[Array, np.random.Generator], Array]
_AND = " | "


def _every(material: Material) -> Iterable[str]:
    return material.parameters


def _changed(change: _Change) -> Callable[[Material, str, np.random.Generator], None]:
    def plant(material: Material, site: str, generator: np.random.Generator) -> None:
        material.replace(site, change(material.array(site), generator))

    return plant


def _square(material: Material) -> Iterable[str]:
    for name in material.parameters:
        shape = material.array(name).shape
        if len(shape) > 1 and shape[-1] == shape[-2] > 1:
            yield name


def _biases(material: Material) -> Iterable[str]:
    for name in material.parameters:
        own = material.layer.get(name, name).lower()
        if own.endswith("bias") or ".b_" in own:
            yield name


def _pairs(material: Material) -> Iterable[str]:
    """Neighbours among the tensors of one shape."""
    alike = defaultdict(list)
    for name in material.parameters:
        alike[material.array(name).shape].append(name)
    for names in alike.values():
        for one, other in pairwise(names):
            yield f"{one}{_AND}{other}"


def _swap(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    one, other = site.split(_AND)
    first, second = material.array(one), material.array(other)
    material.replace(one, second)
    material.replace(other, first)


def _older(material: Material) -> Iterable[str]:
    return ["all of them"] if material.older else []


def _take_older(material: Material, site: str, generator: np.random.Generator) -> None:
    del site, generator
    changed = 0
    for name, value in material.older.items():
        if not np.array_equal(value, material.array(name)):
            material.replace(name, value)
            changed += 1
    if not changed:
        raise Unplantable("the other checkpoint holds the same tensors")


def _one_element(value: Array, generator: np.random.Generator) -> Array:
    flat = value.ravel().copy()
    candidates = np.flatnonzero((flat != 0) & np.isfinite(flat))
    if not candidates.size:
        raise Unplantable("every element is zero or infinite")
    flat[generator.choice(candidates)] *= np.float32(1.01)
    return flat


def _one_bit(value: Array, generator: np.random.Generator) -> Array:
    bits = value.ravel().view("<u4").copy()
    bits[generator.integers(bits.size)] ^= np.uint32(1) << np.uint32(generator.integers(32))
    flipped: Array = bits.view("<f4")
    return flipped


def _through_bfloat16(value: Array, generator: np.random.Generator) -> Array:
    del generator
    bits = value.view("<u4").astype("u8")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000  # to the nearest, ties to even
    result: Array = rounded.astype("<u4").view("<f4")
    return result


def _through_float16(value: Array, generator: np.random.Generator) -> Array:
    del generator
    with np.errstate(over="ignore"):
        return value.astype("f2").astype("f4")


plugin: Family = (
    Kind("zeroed", _every, _changed(lambda value, _: np.zeros_like(value))),
    Kind("sign", _every, _changed(lambda value, _: -value)),
    Kind("swapped", _pairs, _swap),
    Kind("transposed", _square, _changed(lambda value, _: np.swapaxes(value, -1, -2))),
    Kind("x1.001", _every, _changed(lambda value, _: value * np.float32(1.001))),
    Kind("one element +1 %", _every, _changed(_one_element)),
    Kind("one bit", _every, _changed(_one_bit)),
    Kind("through fp16", _every, _changed(_through_float16)),
    Kind("through bf16", _every, _changed(_through_bfloat16)),
    Kind("older checkpoint", _older, _take_older),
    Kind("bias dropped", _biases, _changed(lambda value, _: np.zeros_like(value))),
)
