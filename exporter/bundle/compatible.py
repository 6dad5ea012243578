"""May a consumer of one bundle take another in its place, without a change? The rules, one by one.

A consumer feeds the inputs by name and within the dims, reads the outputs by name or by place, and names the variant
that it loads. What it never relied on may change: a wider dim, a further output at the end, a further variant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from exporter.base.tensors import split_size
from exporter.bundle.manifest import Manifest, Tensor, Variant

Size: TypeAlias = int | str


@dataclass(frozen=True)
class Change:
    """What is different; `breaks` says that a consumer of the old bundle would notice."""

    what: str
    breaks: bool


def changes(old: Manifest, new: Manifest) -> list[Change]:
    """Every change of inputs, outputs, dims and variants, what breaks first."""
    found = [*_inputs(old, new), *_outputs(old.outputs, new.outputs), *_variants(old, new)]
    return sorted(found, key=lambda one: not one.breaks)


def _inputs(old: Manifest, new: Manifest) -> Iterator[Change]:
    before, after = {one.name: one for one in old.inputs}, {one.name: one for one in new.inputs}
    yield from (Change(f"input {name} is gone", True) for name in before if name not in after)
    yield from (Change(f"input {name} is new, and nobody feeds it", True) for name in after if name not in before)
    both = [(before[name], after[name]) for name in before if name in after]
    for one, other in both:
        if one.dtype != other.dtype:
            yield Change(f"input {one.name} is {other.dtype}, was {one.dtype}", True)
        if len(one.shape) != len(other.shape):
            yield Change(f"input {one.name} is {_shape(other)}, was {_shape(one)}", True)
        else:
            for axis, (was, now) in enumerate(zip(one.shape, other.shape, strict=True)):
                yield from _size(f"input {one.name}, axis {axis}", _range(was, old), _range(now, new))
    yield from _tied(both)


@dataclass(frozen=True)
class _Range:
    """The sizes that may come: from, to, and a step; `text` as a reader knows it."""

    low: int
    high: int
    step: int
    text: str

    def holds(self, other: _Range) -> bool:
        """Whether every size of the other may come here."""
        fits = other.low == other.high or other.step % self.step == 0
        return self.low <= other.low and other.high <= self.high and fits and other.low % self.step == 0


def _range(size: Size, manifest: Manifest) -> _Range:
    if isinstance(size, int):
        return _Range(size, size, 1, str(size))
    name, more = split_size(size)
    dim = manifest.dims[name]
    step = 1 if more else dim.get("multiple_of", 1)
    text = f"{size} ({dim['min']} to {dim['max']}{f', multiples of {step}' if step > 1 else ''})"
    return _Range(dim["min"] + more, dim["max"] + more, step, text)


def _size(where: str, was: _Range, now: _Range) -> Iterator[Change]:
    if (was.low, was.high, was.step) != (now.low, now.high, now.step):
        yield Change(f"{where}: {now.text}, was {was.text}", not now.holds(was))


def _tied(both: Sequence[tuple[Tensor, Tensor]]) -> Iterator[Change]:
    """Sizes that could differ from each other, and now are one named dim."""
    meant: dict[str, set[Size]] = {}
    for one, other in both:
        if len(one.shape) == len(other.shape):
            for was, now in zip(one.shape, other.shape, strict=True):
                if isinstance(now, str):
                    meant.setdefault(now, set()).add(was)
    for name, sizes in meant.items():
        if len(sizes) > 1:
            yield Change(f"dim {name} ties what was {' and '.join(sorted(map(str, sizes)))}", True)


def _outputs(old: Sequence[Tensor], new: Sequence[Tensor]) -> Iterator[Change]:
    before, after = {one.name: one for one in old}, {one.name: one for one in new}
    yield from (Change(f"output {name} is gone", True) for name in before if name not in after)
    yield from (Change(f"output {name} is new", False) for name in after if name not in before)
    kept = [name for name in before if name in after]
    if kept == list(before) and list(after)[: len(kept)] != kept:
        yield Change(f"the outputs are in another order: {', '.join(after)}; was {', '.join(before)}", True)
    for name in kept:
        one, other = before[name], after[name]
        if one.dtype != other.dtype:
            yield Change(f"output {name} is {other.dtype}, was {one.dtype}", True)
        if _plain(one) != _plain(other):
            yield Change(f"output {name} is {_shape(other)}, was {_shape(one)}", True)


def _variants(old: Manifest, new: Manifest) -> Iterator[Change]:
    yield from (Change(f"variant {name} is gone", True) for name in old.variants if name not in new.variants)
    yield from (Change(f"variant {name} is new", False) for name in new.variants if name not in old.variants)
    for name in old.variants:
        if name in new.variants:
            yield from _natives(name, old.variants[name], new.variants[name])


def _natives(name: str, was: Variant, now: Variant) -> Iterator[Change]:
    """The names inside the files, which an engine's caller uses; and the files' names, which it opens."""
    for what, one, other in (
        ("inputs are called", sorted(was.inputs), sorted(now.inputs)),
        ("outputs are called", was.native_outputs, now.native_outputs),
        ("files are", was.files, now.files),
    ):
        if list(one) != list(other):
            yield Change(f"variant {name}: its {what} {', '.join(other)}; was {', '.join(one)}", True)


def _plain(tensor: Tensor) -> list[int]:
    return [size if isinstance(size, int) else -1 for size in tensor.shape]


def _shape(tensor: Tensor) -> str:
    return f"[{', '.join(map(str, tensor.shape))}]"
