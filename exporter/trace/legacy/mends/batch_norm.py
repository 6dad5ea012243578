"""F.batch_norm by the batch's own statistics."""

from __future__ import annotations

from typing import Any

from exporter.trace.legacy.statistics import normalised, of_batch


def batch_norm(  # noqa: PLR0913 - the signature of paddle.nn.functional.batch_norm
    stock: Any,
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """As stock has it, where the running statistics normalise."""
    decided = use_global_stats is not None
    if of_batch(not training, bool(use_global_stats) if decided else not training, decided and not use_global_stats):
        return normalised(x, weight, bias, epsilon, data_format[1] != "C")
    return stock(
        x, running_mean, running_var, weight, bias, training, momentum, epsilon, data_format, use_global_stats, name
    )
