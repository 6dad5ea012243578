"""What containers hold, looked into: inputs, layers that are registered, summary objects."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many

from exporter.check.domain.values import (
    WEIGHT,
    Const,
    Container,
    Dim,
    Instance,
    Layer,
    Method,
    Sequence,
    Tensor,
    Union,
    Value,
)

#: In the names of Paddle's layers that do something else in training mode.
_OF_TWO_MODES = "BatchNorm Dropout RReLU Transformer MultiHeadAttention .vision. LSTM GRU RNN Quant".split()


def holds(value: Value, wanted: Callable[[Value], bool]) -> bool:
    """Whether a value, or one inside its containers, is what is wanted."""
    if isinstance(value, (Container, Union)):
        return any(holds(each, wanted) for each in value.parts())
    return wanted(value)


def inputs_of(values: Many[Value]) -> frozenset[str]:
    """The inputs of `forward` that any of the values depend on, containers looked into."""
    found: frozenset[str] = frozenset()
    for value in values:
        if isinstance(value, (Tensor, Dim)):
            found |= value.inputs
        elif isinstance(value, Method):
            found |= inputs_of((value.owner,))
        elif parts := value.parts():
            found |= inputs_of(parts)
    return found


def is_pair(value: Value) -> bool:
    """Whether a value is a tuple of two."""
    return isinstance(value, Sequence) and value.kind == "tuple" and len(value.items) == 2


def register(value: Value) -> None:
    """A layer has taken in a layer, or a container of Paddle's that holds some: their parameters are its own."""
    if isinstance(value, (Layer, Instance)):
        value.registered = True
    elif isinstance(value, Tensor) and value.origin == "eager":
        value.origin = "buffer"  # also where a plain container holds it
    elif isinstance(value, Tensor) and value.origin == "parameter":
        value.place = value.place or (id(value), "")
        if value.value_number[:1] == (WEIGHT,) and isinstance(value.value_number[1], Layer):
            register(value.value_number[1])  # who owns its weights owns all of it that is exported
    elif isinstance(value, Union) or (isinstance(value, Sequence) and value.kind.startswith("paddle.")):
        for each in value.parts():
            register(each)


def holds_weights(value: Value, certain: bool = False) -> bool:
    """Whether a layer, or one in it, has parameters of its own; unless `certain`, also if something is not known."""
    if isinstance(value, Instance):
        # what a layer of one call only holds is the model's
        inner = [held for held in value.attributes.values() if value.persistent or not getattr(held, "persistent", 0)]
        return any((type(each) is Value and not certain) or holds_weights(each, certain) for each in inner)
    if isinstance(value, Container):
        return any(holds_weights(each, certain) for each in value.parts())
    if isinstance(value, Layer):
        return not value.weightless
    return isinstance(value, Tensor) and value.origin == "parameter"


def mode_matters(value: Value, deep: int = 8) -> bool | None:
    """Whether a layer, or one in it, does something else in training mode; None if not all that it holds is known."""
    if isinstance(value, Layer) and value.name.endswith(".Dropout") and (value.arguments or value.keywords):
        share = value.given(0, "p")
        return share.value != 0 if isinstance(share, Const) else None  # what a configuration says may be 0
    if isinstance(value, Layer):
        return any(each in value.name for each in _OF_TWO_MODES)
    if type(value) is Value or not deep:
        return None
    inner = value.attributes.values() if isinstance(value, Instance) else value.parts()
    told = [mode_matters(each, deep - 1) for each in inner]
    if isinstance(value, Instance):  # without attributes its constructor was not followed
        told.append(value.cls.module.mentions(value.cls.node, ("self.training",)) or (False if told else None))
    return True if True in told else None if None in told else False


def summarize(value: Value) -> None:
    """This object, with the layers in it, stands for several that were made alike."""
    if isinstance(value, Layer):
        value.summary = True
    elif isinstance(value, Instance) and not value.summary:
        value.summary = True
        for each in value.attributes.values():
            summarize(each)
    elif isinstance(value, (Container, Union)):
        for each in value.parts():
            summarize(each)
