"""Of outputs that are too large for the goldens a sample is kept: of which, and at which places.

Both follow from sizes and from the seed of the spec, so that whoever verifies a bundle comes to what its release kept.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.numbers.golden import may_be_partial

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Elements kept of an output that is too large to keep whole.
SAMPLE = 65_536
#: Elements kept at least of such an output of a decoder's step, however many steps there are.
LEAST = 1024
_WORD = 1 << 64


def sampled(sizes: Mapping[str, tuple[int, int]], megabytes: float) -> list[str]:
    """The keys of eager's outputs of which a sample is kept: the largest, until all fit into so many 10⁶ bytes.

    `sizes` holds (elements, bytes) of every tensor as a whole, by its key.
    """
    size, keys = sum(held for _, held in sizes.values()), []
    eagers = (key for key in sizes if "/eager/" in key)
    for key in sorted(eagers, key=lambda key: (-sizes[key][1], key)):
        elements = sizes[key][0]
        if size <= megabytes * 1e6 or elements <= SAMPLE:
            break
        keys.append(key)
        both = (sizes[name][1] for name in (key, _truth_of(key)) if name in sizes)
        size -= sum(held - held // elements * SAMPLE for held in both)
    return keys


def sampled_steps(sizes: Mapping[str, tuple[int, int]], megabytes: float) -> tuple[list[str], int]:
    """Return of which outputs of a decoder's steps a sample is kept, and how many elements of each.

    Of all that have more: the most that fit with their places, by halves of SAMPLE. `sizes` as :func:`sampled`.
    """
    most = SAMPLE
    if sum(held for _, held in sizes.values()) <= megabytes * 1e6:
        return [], most
    while most > LEAST and sum(_size_of(key, *sizes[key], most) for key in sizes) > megabytes * 1e6:
        most //= 2
    return sorted(key for key, (elements, _) in sizes.items() if "/eager/" in key and elements > most), most


def _size_of(key: str, elements: int, held: int, most: int) -> int:
    """Return the bytes of a tensor of which so many elements are kept, and one more, with their places."""
    if "/input/" in key or elements <= most:
        return held
    return (held // elements + (8 if "/eager/" in key else 0)) * (most + 1)


def places_of(elements: int, seed: int, allowed: Array | None = None, most: int = SAMPLE) -> Array:
    """The places of a sample, sorted: of all elements, or of those at the places that are `allowed`."""
    places = np.arange(elements, dtype="int64") if allowed is None else allowed
    if places.size <= most:
        return places
    return np.sort(places[np.argpartition(_mixed(places, seed), most)[:most]])


def _mixed(places: Array, seed: int) -> Array:
    """Mix each place by the last steps of splitmix64: numbers without order, no two of them alike."""
    mixed = places.astype("uint64") + np.uint64(seed * 0x9E3779B97F4A7C15 % _WORD)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def other_sample(
    inputs: int,
    samples: Mapping[str, Array],
    described: Iterable[Mapping[str, Any]],
    megabytes: float,
    seed: int,
    steps: bool = False,
) -> str:
    """Say which output was sampled otherwise than a release does; empty where none was.

    `inputs` are the bytes of all inputs, `samples` the places that were kept by eager's key, `described` what the
    manifest says of every case whose outputs are kept, which are a decoder's `steps` or not.
    """
    sizes = {"/input/": (0, inputs)}
    for case in described:
        for name, about in case["outputs"].items():
            elements, key = math.prod(about["shape"]), f"{case['name']}/eager/{name}"
            sizes[key] = elements, elements * np.dtype(about["dtype"]).itemsize
            if np.dtype(about["dtype"]).kind == "f":
                sizes[_truth_of(key)] = elements, elements * 8
    due, most = sampled_steps(sizes, megabytes) if steps else (sampled(sizes, megabytes), SAMPLE)
    for key in sorted(samples):
        kept, elements = samples[key], sizes.get(key, (0,))[0]
        if key not in due:
            return f"of '{key}' {kept.size} of {elements} elements are kept, and a release keeps all of them"
        partial = may_be_partial(key.partition("/")[0])  # its places are of those elements that have an answer
        # at most one more than due: where eager errs most
        fits = 0 < kept.size <= most + 1 and bool((np.diff(kept) > 0).all())
        if not fits or not (partial or np.isin(places_of(elements, seed, most=most), kept).all()):
            return f"of '{key}' {kept.size} of {elements} elements are kept, not the {most} that a release takes"
    return ""


def kept_of(held: Mapping[str, Array]) -> tuple[int, dict[str, Array]]:
    """Return the bytes of all inputs in goldens, and the places that were kept of sampled outputs, by eager's key."""
    inputs = sum(value.nbytes for key, value in held.items() if "/input/" in key)
    return inputs, {key.replace("/index/", "/eager/"): value for key, value in held.items() if "/index/" in key}


def _truth_of(key: str) -> str:
    return key.replace("/eager/", "/truth/")
