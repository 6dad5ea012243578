"""In a child: what a model takes and gives, found by running it; `init` writes its first spec by that.

Sublayers say what may reach them: an Embedding whole numbers below the size of its table, a convolution its channels,
a Linear or a recurrent layer its features. Such inputs are tried until `forward` runs, at two sizes of the dims.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.tensors import Array, TensorSpec, shape_at
from exporter.export.trace.blame import blamed
from exporter.export.trace.layer import load_layer
from exporter.export.trace.look_step import step_combinations
from exporter.export.trace.structure import leaves, output_names
from exporter.export.trace.wanted import Wanted
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.decoding_names import is_step
from exporter.spec.values import arguments, bound

if TYPE_CHECKING:
    import paddle

#: Sizes of images that networks are made for, and of the named dims in the two runs that are compared.
_SIDES, _LARGEST = (224, 32, 28, 64, 8), 10**5
_SIZES = ({"batch": 2, "seq": 6, "past": 10}, {"batch": 3, "seq": 7, "past": 12})
#: Combinations of inputs that are put in order.
_MOST = 10_000
#: Seconds of processor time after which no further combination is tried.
_SECONDS = 20.0


@dataclass(frozen=True)
class LookRequest:
    """The reference of a model, and the names of the inputs that its `forward` needs."""

    model: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class LookAnswer:
    """The inputs, by their names in the request, and the outputs with which `forward` ran.

    A size of an output is that of a named dim, a number, or -1 where it follows neither.
    """

    inputs: Mapping[str, Wanted]
    outputs: tuple[TensorSpec, ...]


@job
def look(request: LookRequest) -> LookAnswer:
    """Return inputs with which `forward` runs, and the outputs that it then gives.

    Raises:
        UsageError, ModelError: the model cannot be built, or none of the inputs that were tried suits it.
    """
    doing("building the model")
    layer = load_layer(request.model, None, 0)
    names = request.inputs
    began, last = time.process_time(), "no sublayer says what it takes"
    for tried in _combinations(layer, names):
        if time.process_time() - began > _SECONDS:
            break
        doing(f"trying forward on {', '.join(map(_said, tried))}")
        try:
            runs = [_run(layer, tried, sizes) for sizes in _SIZES]
        except ModelError as error:
            last = error.what
            continue
        return LookAnswer(dict(zip(names, _ranged(layer, tried), strict=True)), _described(*runs))
    raise ModelError(
        f"no input that its layers suggest suits forward: {last}",
        where=request.model,
        hint="name inputs that do in the spec",
    )


def _said(wanted: Wanted) -> str:
    return f"{wanted.dtype}[{','.join(map(str, wanted.shape))}]"


def _combinations(layer: paddle.nn.Layer, names: Sequence[str]) -> Iterator[tuple[Wanted, ...]]:
    """What the inputs may be together: those that the first layers suggest come first."""
    candidates = list(dict.fromkeys(_candidates(layer)))
    if is_step(names):
        yield from step_combinations(layer, names, candidates, _MOST)
    few = candidates[: max(1, int(_MOST ** (1 / len(names))))]
    places = {wanted: place for place, wanted in enumerate(few)}
    yield from sorted(itertools.product(few, repeat=len(names)), key=lambda chosen: sum(places[one] for one in chosen))


def _candidates(layer: paddle.nn.Layer) -> Iterator[Wanted]:
    from paddle import nn

    parts = [part for _, part in layer.named_sublayers(include_self=True)]
    tables = [int(part.weight.shape[0]) for part in parts if isinstance(part, nn.Embedding)]
    widths = [int(part.weight.shape[1]) for part in parts if isinstance(part, nn.Embedding)]
    if tables:
        yield Wanted("int64", ("batch", "seq"), min(tables))
        yield Wanted("int64", ("batch",), min(tables))
    for part in parts:
        if isinstance(part, (nn.Conv1D, nn.Conv2D, nn.Conv3D)):
            channels, axes = int(part.weight.shape[1]) * int(part._groups), len(part.weight.shape) - 2
            sides = [side for side in _SIDES if side**axes < _LARGEST]
            yield from (Wanted("float32", ("batch", channels, *(side,) * axes)) for side in sides)
        elif isinstance(part, (nn.LSTM, nn.GRU, nn.SimpleRNN)):
            yield Wanted("float32", ("batch", "seq", int(part.input_size)))
        elif isinstance(part, nn.Linear):
            features = int(part.weight.shape[0])
            for width in (features, *(features - taken for taken in widths if taken < features)):
                yield from (Wanted("float32", shape) for shape in (("batch", width), ("batch", "seq", width)))


def _inputs(tried: Sequence[Wanted], sizes: Mapping[str, int]) -> list[Array]:
    generator = np.random.default_rng(0)
    return [_drawn(wanted, sizes, generator) for wanted in tried]


def _drawn(wanted: Wanted, sizes: Mapping[str, int], generator: np.random.Generator) -> Array:
    shape = shape_at(wanted.shape, sizes)
    if wanted.values:
        low, stop = (bound(text, sizes) for text in arguments(wanted.values))
        return generator.integers(low, stop, shape).astype(wanted.dtype)
    if wanted.stop:
        return generator.integers(0, wanted.stop, shape).astype(wanted.dtype)
    return generator.standard_normal(shape).astype(wanted.dtype)


def _run(layer: paddle.nn.Layer, tried: Sequence[Wanted], sizes: Mapping[str, int]) -> list[tuple[str, Any]]:
    import paddle

    with blamed("forward", layer), paddle.no_grad():
        given = layer(*[paddle.to_tensor(value) for value in _inputs(tried, sizes)])
    found = [leaf for _, leaf in leaves(given)]
    if not found or not all(isinstance(leaf, paddle.Tensor) for leaf in found):
        raise ModelError("forward gives something else than tensors", hint="return tensors alone from forward")
    return list(zip(output_names(given, None), found, strict=True))


def _ranged(layer: paddle.nn.Layer, tried: Sequence[Wanted]) -> list[Wanted]:
    """With the size of the smallest table that each input of whole numbers itself is looked up in.

    A place that is looked up in none has 0.
    """
    import paddle

    values, stops = _inputs(tried, _SIZES[0]), [list[int]() for _ in tried]

    def note(part: paddle.nn.Layer, given: tuple[Any, ...]) -> None:
        for at, value in enumerate(values):
            if (tried[at].stop or tried[at].values) and np.array_equal(given[0].numpy(), value):
                stops[at].append(int(part.weight.shape[0]))

    tables = [part for part in layer.sublayers(include_self=True) if isinstance(part, paddle.nn.Embedding)]
    hooks = [part.register_forward_pre_hook(note) for part in tables]
    with paddle.no_grad():
        layer(*map(paddle.to_tensor, values))
    for hook in hooks:
        hook.remove()
    return [replace(wanted, stop=min(found, default=wanted.stop)) for wanted, found in zip(tried, stops, strict=True)]


def _described(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> tuple[TensorSpec, ...]:
    """The outputs; a size that is that of a named dim in both runs has its name."""
    return tuple(
        TensorSpec(name, str(tensor.dtype).removeprefix("paddle."), _named(tensor.shape, again.shape))
        for (name, tensor), (_, again) in zip(first, second, strict=True)
    )


def _named(shape: Sequence[int], again: Sequence[int]) -> tuple[int | str, ...]:
    dims: dict[tuple[int, int], str] = {(_SIZES[0][name], _SIZES[1][name]): name for name in _SIZES[0]}
    dims[_SIZES[0]["past"] + 1, _SIZES[1]["past"] + 1] = "past+1"
    return tuple(dims.get(pair, pair[0] if pair[0] == pair[1] else -1) for pair in zip(shape, again, strict=True))
