"""The dtype of what an operator of Paddle gives, where it is certain; empty where it is not."""

from __future__ import annotations

from collections.abc import Sequence as Many

from exporter.check.domain.tensors import common, named
from exporter.check.domain.values import Const, Tensor, Value

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
