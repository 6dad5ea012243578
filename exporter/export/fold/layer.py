"""In a child: the layer of a spec with its steps around it; the factory of the specs that say `fold: true`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any

from exporter.export.fold.base import Tensors
from exporter.export.fold.split import OPERATORS, parts
from exporter.export.trace.layer import factory_of
from exporter.export.trace.structure import leaves, output_names
from exporter.spec.pipeline import Pipeline
from exporter.steps.base import VALUE
from exporter.steps.chain import Chain, Declared

if TYPE_CHECKING:
    import paddle


def build(model: str, pipeline: Mapping[str, Any], inputs: Sequence[str], outputs: int = 0) -> paddle.nn.Layer:
    """The layer of a factory, given with its arguments, and in it the steps of a pipeline that can be in a graph.

    The layer is the same object with the same names, so that its checkpoints fit. `forward` takes `inputs`, the first
    of which is what the steps take. It returns the answer, then what else the last step left: scores, the model's
    outputs. Of these, the first `outputs`; with 0 all.

    Raises:
        UsageError: the factory is no such thing, or no step before or after it can be in a graph.
    """
    layer = factory_of(model)()
    found = parts(Pipeline.model_validate(pipeline))
    return fold(layer, found.before, found.after, inputs, outputs)


def fold(
    layer: paddle.nn.Layer, before: Chain, after: Chain, inputs: Sequence[str], outputs: int = 0
) -> paddle.nn.Layer:
    """The same layer, whose `forward` runs the steps before and after it on Paddle operators."""
    import paddle

    ready = paddle.jit.not_to_static(_before(before, layer.forward, inputs))
    answer = paddle.jit.not_to_static(_after(after, outputs))

    def forward(self: Any, *raw: Any) -> Any:
        return answer(self._unfolded(*ready(*raw)))

    # `to_static` refuses `*raw` as it stands: it wants the inputs by name (Paddle 3.3.1, `FunctionSpec`).
    given = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", *inputs)]
    forward.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]  # what `inspect` looks for
    layer._unfolded = layer.forward  # a bound method, so that a copy of the layer has that of the copy
    layer.forward = MethodType(forward, layer)
    return layer


def run_steps(chain: Chain, state: Tensors) -> Tensors:
    """The state behind steps that can be in a graph; each of their arrays has a batch before its axes."""
    for link in chain:
        if not isinstance(link, Declared):
            raise TypeError(f"{link} is a function, and no chain that is folded holds one")
        state = OPERATORS[link.name].apply(link.step, state)
    return state


def _before(
    chain: Chain, forward: Callable[..., Any], inputs: Sequence[str]
) -> Callable[..., tuple[paddle.Tensor, ...]]:
    """From the raw inputs to the model's: what the steps leave, and the further inputs, each under its name."""

    def ready(value: paddle.Tensor, *further: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        state = {**run_steps(chain, {VALUE: value}), **dict(zip(inputs[1:], further, strict=True))}
        return fed(forward, state, inputs[0])

    return ready


def fed(forward: Callable[..., Any], state: Tensors, first: str) -> tuple[paddle.Tensor, ...]:
    """What `forward` is called with: the value as its parameter `first`, or as the first that the state does not name.

    What the state does not name either is left out.
    """
    names = list(inspect.signature(forward).parameters)
    own = first if first in names else next((name for name in names if name not in state), first)
    given = {name: state[VALUE] if name == own else state.get(name) for name in names}
    return tuple(tensor for tensor in given.values() if tensor is not None)


def _after(chain: Chain, outputs: int) -> Callable[[Any], Any]:
    """From what the model returns to the answer, the scores and the outputs."""

    def answer(returned: Any) -> Any:
        tensors = [tensor for _, tensor in leaves(returned)]
        state = dict(zip(output_names(returned, None), tensors, strict=True))
        after = run_steps(chain, {**state, VALUE: tensors[0]})
        others = [tensor for name, tensor in after.items() if name != VALUE and tensor is not after[VALUE]]
        others.sort(key=lambda tensor: any(tensor is own for own in tensors))  # what the steps made comes first
        kept = [after[VALUE], *others][: outputs or None]
        return kept[0] if len(kept) == 1 else tuple(kept)

    return answer
