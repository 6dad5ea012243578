"""The dtype of what an operator gives, where it is certain; empty where it is not."""

from __future__ import annotations

from collections.abc import Sequence as Many

from exporter.check.domain.values import Const, External, Sequence, Tensor, Value

NAMES = frozenset("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split())
_KEEP = frozenset(
    "abs acos asin atan ceil cos cosh exp expm1 floor log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin "
    "sinh sqrt square tan tanh erf relu relu6 gelu silu swish mish elu selu celu leaky_relu hardswish hardsigmoid "
    "hardtanh softplus softsign softmax log_softmax normalize clip scale clone detach zeros_like ones_like full_like "
    "cumsum cumprod flip tril triu numpy contiguous layer_norm sort pow add subtract multiply maximum minimum fmax "
    "fmin mean max min amax amin logsumexp reshape transpose unsqueeze squeeze flatten expand expand_as tile concat "
    "stack matmul bmm gather index_select slice roll split item".split()
)
_INDEX = frozenset("argmax argmin argsort nonzero numel searchsorted bincount".split())
_GIVEN = frozenset("zeros ones full empty arange zeros_like ones_like full_like rand randn uniform".split())

#: They add up small integers in larger ones.
_KEEP_FLOAT = frozenset("sum prod var std norm nansum nanmean".split())


def named(value: Value) -> str:
    """The dtype that a value names: `"float32"` or `paddle.float32`."""
    text = value.value if isinstance(value, Const) else value.name if isinstance(value, External) else ""
    last = text.rpartition(".")[2] if isinstance(text, str) else ""
    return last if last in NAMES else ""


def of_operator(name: str, arguments: Many[Value], keywords: dict[str, Value]) -> str:
    """The dtype of what an operator of Paddle gives; a method's tensor is its first argument."""
    if name in ("astype", "cast"):
        return named(keywords.get("dtype", arguments[1] if len(arguments) > 1 else Const(None)))
    if name == "float":
        return "float32"
    if "dtype" in keywords:
        return named(keywords["dtype"]) if name in _GIVEN else ""
    if name in _INDEX:
        return "int64"
    found = common(arguments)
    return found if name in _KEEP or (name in _KEEP_FLOAT and found.startswith("float")) else ""


def of_pair(left: Value, right: Value) -> str:
    """The dtype of an arithmetic operator on tensors and numbers; division of integers is left open."""
    found = common((left, right))
    whole = all(isinstance(each, (Tensor, Const)) for each in (left, right))
    return found if whole and found.startswith("float") else ""


def common(values: Many[Value]) -> str:
    """The one dtype that all tensors among the values have, those in lists included."""
    found = {each for value in values for each in _dtypes(value)}
    return found.pop() if len(found) == 1 else ""


def _dtypes(value: Value) -> set[str]:
    if isinstance(value, Tensor):
        return {value.dtype}
    if isinstance(value, Sequence):
        every = (*value.items, *((value.rest,) if value.rest is not None else ()))
        return {one for each in every for one in _dtypes(each)}
    return set()


def unchanged(name: str, tensor: Tensor, arguments: Many[Value], keywords: dict[str, Value]) -> bool:
    """Whether a method gives the tensor itself: a cast to the dtype that it has, or `contiguous`.

    Source: measured on Paddle 3.3.1; the function `paddle.cast` makes a new tensor in any case.
    """
    if name == "contiguous":
        return True
    return (
        name in ("astype", "float")
        and bool(tensor.dtype)
        and of_operator(name, (tensor, *arguments), keywords) == tensor.dtype
    )
