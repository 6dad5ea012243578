"""What the inputs of one step of a decoder may be, by their names and by what the layer says of its heads.

Nothing in a layer says the shape of keys and values of the past. Its attributes, or those of a configuration that it
holds, tell how many heads it has and how wide they are; every order of the axes that is usual is tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from exporter.export.trace.wanted import Wanted
from exporter.spec.decoding_names import Role, role

if TYPE_CHECKING:
    import paddle

#: Numbers of heads that are tried where no attribute says one.
_HEADS = (4, 8, 2, 12, 16, 1)
#: Attributes of layers and configurations are looked for in this many objects at most.
_MOST_OBJECTS = 2000

_PLACES = tuple(Wanted("int64", shape, values="integers(past,past+1)") for shape in (("batch", 1), ("batch",), (1,)))
_MASKS = (
    Wanted("int64", ("batch", "past+1"), 2, empty_rows=False),
    Wanted("float32", ("batch", "past+1"), values="integers(0,2)", empty_rows=False),
    Wanted("float32", ("batch", 1, 1, "past+1")),
    Wanted("bool", ("batch", "past+1"), 2, empty_rows=False),
    Wanted("bool", ("batch", 1, 1, "past+1"), 2, empty_rows=False),
)


def step_combinations(
    layer: paddle.nn.Layer, names: Sequence[str], usual: Sequence[Wanted], most: int
) -> Iterator[tuple[Wanted, ...]]:
    """Yield what the inputs of these names may be together, the likeliest first.

    All caches have one shape. `usual` are the candidates of any layer: they serve what no name tells.
    """
    roles = [role(name) for name in names]
    choices: dict[Role, tuple[Wanted, ...]] = {
        "ids": _ids(usual),
        "place": _PLACES,
        "mask": _MASKS,
        "cache": tuple(dict.fromkeys(_caches(layer, usual)))[: max(1, most // 50)],
        "held": tuple(wanted for wanted in usual if wanted.shape[1:2] == ("seq",) and not wanted.stop),
        "": _single(usual),
    }
    kinds = list(dict.fromkeys(roles))
    if not all(choices[kind] for kind in kinds):
        return
    ranked = itertools.product(*(range(len(choices[kind])) for kind in kinds))
    for places in sorted(itertools.islice(ranked, most), key=sum):
        chosen = {kind: choices[kind][place] for kind, place in zip(kinds, places, strict=True)}
        yield tuple(chosen[kind] for kind in roles)


def _ids(usual: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """Ids of one step: one a row."""
    stops = list(dict.fromkeys(wanted.stop for wanted in usual if wanted.stop))
    return tuple(Wanted("int64", shape, stop) for stop in stops for shape in (("batch", 1), ("batch",)))


def _single(usual: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """The same with one place where there may be several."""
    shapes = (tuple(1 if size == "seq" else size for size in wanted.shape) for wanted in usual)
    return tuple(dict.fromkeys(Wanted(w.dtype, shape, w.stop) for w, shape in zip(usual, shapes, strict=True)))


def _caches(layer: paddle.nn.Layer, usual: Sequence[Wanted]) -> Iterator[Wanted]:
    """Keys or values of one block, or all of them in one tensor."""
    numbers = list(_integers(layer))
    heads = [number for name, number in numbers if "head" in name and not _is_size(name)]
    sizes = [number for name, number in numbers if "head" in name and _is_size(name)]
    widths = list(dict.fromkeys(int(w.shape[-1]) for w in usual if isinstance(w.shape[-1], int) and not w.stop))
    blocks = [number for name, number in numbers if "layer" in name]
    pairs = [(count, size) for count in heads for size in sizes]
    pairs += [(count, width // count) for count in heads for width in widths if width % count == 0]
    # of queries that share heads of keys, the width belongs to all heads: each number of heads with each size
    pairs += [(few, width // count) for few in heads for count in heads for width in widths if width % count == 0]
    if not heads:
        pairs += [(count, width // count) for count in _HEADS for width in widths if width % count == 0]
    for count, size in dict.fromkeys(pair for pair in pairs if min(pair) > 0):
        yield Wanted("float32", ("batch", count, "past", size))
        yield Wanted("float32", ("batch", "past", count, size))
        for number in dict.fromkeys(blocks):
            yield Wanted("float32", (number, 2, "batch", count, "past", size))
            yield Wanted("float32", (2 * number, "batch", count, "past", size))
        yield Wanted("float32", ("batch", "past", count * size))


def _is_size(name: str) -> bool:
    return any(word in name for word in ("dim", "size", "width")) and "num" not in name


def _integers(layer: paddle.nn.Layer) -> Iterator[tuple[str, int]]:
    """Attributes that hold a positive whole number, of the layer, its sublayers and their configurations."""
    objects: list[Any] = [part for _, part in layer.named_sublayers(include_self=True)]
    configs = {id(value): value for part in objects for name, value in vars(part).items() if "config" in name.lower()}
    for held in (*objects, *configs.values())[:_MOST_OBJECTS]:
        for name, value in (held if isinstance(held, dict) else getattr(held, "__dict__", {})).items():
            if type(value) is int and value > 0:
                yield str(name).lower(), value
    lists = [len(part) for part in objects if type(part).__name__ == "LayerList"]
    yield from (("layers", count) for count in lists if count)
