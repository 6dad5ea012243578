"""A file whose spec folds steps into the graph: the file is run by a predictor, the steps around it by eager code.

So what `source/file` shows holds for the program alone. That the steps in the graph are the deployment's, the claims
`source/eager/folded` show.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import Session, SessionAround
from exporter.engines.paddle import border, call_layer, named_arrays
from exporter.export.fold.layer import fold
from exporter.export.fold.split import parts
from exporter.spec.pipeline import Pipeline

if TYPE_CHECKING:
    import paddle


class FoldedFile(SessionAround):
    """A session that takes what the first folded step takes, and gives the answer and what else the spec names."""

    def __init__(self, session: Session, names: Sequence[str], specs: Mapping[str, object], outputs: Sequence[str]):
        """`names` are the program's inputs as its own spec calls them, `specs` the arguments of the folding factory."""
        super().__init__(session)
        self._outputs = tuple(outputs)
        self._inputs = tuple(str(name) for name in _listed(specs["inputs"]))
        steps = parts(Pipeline.model_validate(specs["pipeline"]))
        self._layer = fold(_served(session, names), steps.before, steps.after, self._inputs, len(self._outputs))

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with border():
            return named_arrays(call_layer(self._layer, self._inputs, inputs), self._outputs)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _served(session: Session, names: Sequence[str]) -> paddle.nn.Layer:
    """A layer that hands its inputs to a session, in the order of the session's outputs."""
    import paddle

    def forward(self: paddle.nn.Layer, *tensors: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        del self
        outputs = session.run({name: tensor.numpy() for name, tensor in zip(names, tensors, strict=True)})
        return tuple(map(paddle.to_tensor, outputs.values()))

    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", *names)]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what `fold` feeds by
    layer = paddle.nn.Layer()
    layer.forward = MethodType(forward, layer)
    return layer
