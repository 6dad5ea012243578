"""What is known of each of Paddle's operators and layers: one line of `catalogue.txt`."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

#: How the sizes of a result follow from what is given; `exporter.check.models.shapes` computes each.
SIZES = frozenset(
    "same reduced given reshaped expanded permuted counted stacked joined one product unsqueezed flattened lead many "
    "pair features embedded channels recurrent".split()
)
#: `kept`: that of all tensors given; `kept_float`: the same, but sums of integers are wider; `named`: what an argument
#: names; else the dtype itself.
DTYPES = frozenset("kept kept_float named bool int64 float32".split())
#: `view`: its result shares the data of its tensor in eager mode. `strided`: an in-place function of its result, or of
#: what it was given, cannot be traced; `ends_strided`: it ends in such an operator. `typed`: it takes a `dtype`.
#: `fresh`: two calls are never one computation. `random`: it draws. `numpy`: NumPy's function of that name works on a
#: tensor of the trace by calling the tensor's own. `training=N`: it asks for the mode, at that position. `weightless`:
#: the layer has no parameters; `affine`: it has none where both attributes are False.
MARKS = frozenset("view strided ends_strided typed fresh random numpy training weightless affine".split())


class Entry(NamedTuple):
    """One operator or layer; words as in `SIZES`, `DTYPES`, `MARKS`, empty where nothing is known."""

    sizes: str = ""
    dtype: str = ""
    marks: frozenset[str] = frozenset()
    training: int | None = None

    def has(self, mark: str) -> bool:
        """Whether it bears a mark."""
        return mark in self.marks


@lru_cache(maxsize=4096)
def entry(name: str) -> Entry:
    """What the catalogue says of a name, the last part of a qualified one; lines with `*` fill what is left open."""
    exact, patterns = _read()
    lines = [parse(exact[name])] if name in exact else []
    lines += [parse(text) for pattern, text in patterns if _fits(name, pattern)]
    return Entry(
        next((line.sizes for line in lines if line.sizes), ""),
        next((line.dtype for line in lines if line.dtype), ""),
        frozenset().union(*(line.marks for line in lines)),
        next((line.training for line in lines if line.training is not None), None),
    )


def _fits(name: str, pattern: str) -> bool:
    begin, *middle, end = pattern.split("*")
    return name.startswith(begin) and name.endswith(end) and all(part in name for part in middle)


def names() -> frozenset[str]:
    """Every name that has a line of its own."""
    return frozenset(_read()[0])


@cache
def _read() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The line of each name, and those of names with `*`; a line is parsed when its name is asked for."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    lines = [(line.partition(" ")[0], line) for line in text.splitlines() if line and line[0] != "#"]
    return {name: line for name, line in lines if "*" not in name}, [pair for pair in lines if "*" in pair[0]]


def parse(text: str) -> Entry:
    """The entry of one line.

    Raises:
        ValueError: a word that the catalogue does not know.
    """
    name, sizes, dtype, *marks = text.split()
    sizes, dtype = sizes.strip("-"), dtype.strip("-")
    pairs = dict(mark.partition("=")[::2] for mark in marks)
    wrong = {sizes} - SIZES - {""} | {dtype} - DTYPES - {""} | set(pairs) - MARKS
    if wrong:
        raise ValueError(f"{name}: the catalogue does not know {', '.join(sorted(wrong))}")
    training = int(pairs["training"]) if "training" in pairs else None
    return Entry(sizes, dtype, frozenset(pairs), training)
