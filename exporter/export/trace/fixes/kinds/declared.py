"""Operators whose kernels give another dtype than PIR declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.paddle.declared import declare
from exporter.paddle.patches import Patches
from exporter.paddle.private import found
from exporter.paddle.values import in_program, is_variable


def _any(self: Value, x: Value) -> Value:
    import paddle

    return paddle.any(x.astype("int64") % 2, axis=-1), (paddle.all(x) + 1.5).astype("float32")


def _exp(self: Value, x: Value) -> Value:
    import paddle

    return paddle.exp(x.astype("int32")) * 2, x.astype("int64").log1p() / 2


def _unique(self: Value, x: Value) -> Value:
    import paddle

    values, inverse = paddle.unique(x.astype("int64"), return_inverse=True)
    return values * 2, inverse + 1, paddle.unique_consecutive(x.astype("int64"), return_counts=True)[1] * 2


def _decoded(self: Value, x: Value) -> Value:
    import paddle

    potentials = x.reshape([-1, 2, 2])
    lengths = paddle.full([x.shape[0]], 2, "int64")
    scores, path = paddle.text.viterbi_decode(potentials, self.transition, lengths, False)
    return scores * 0.5, path + 1


def _determined(self: Value, x: Value) -> Value:
    import paddle

    square = paddle.matmul(x, x, transpose_x=True) + paddle.diag(paddle.arange(1.0, 5.0))
    sign, logarithm = paddle.linalg.slogdet(square)
    return sign * logarithm, paddle.linalg.matrix_rank(x) * 2


#: What is to be declared of a result: its dtype, and its sizes if they are declared wrong, too.
Declared = tuple[Value, list[int] | None]
#: What is to be declared of each result, of the first operand and the `dtype` that was asked for.
Results = Callable[[Value, Value], list[Declared]]


def _boolean(x: Value, dtype: Value) -> list[Declared]:
    return [("bool", None)]


def _floating(x: Value, dtype: Value) -> list[Declared]:
    return [("float32" if "int" in str(x.dtype) else x.dtype, None)]


def _values_and_places(x: Value, dtype: Value) -> list[Declared]:
    return [(x.dtype, None), *[(dtype or "int64", None)] * 3]


def _rank(x: Value, dtype: Value) -> list[Declared]:
    return [("int64", None)]


def _sign_and_logarithm(x: Value, dtype: Value) -> list[Declared]:
    return [(x.dtype, [2, *x.shape[:-2]])]


def _scores_and_path(potentials: Value, dtype: Value) -> list[Declared]:
    return [(potentials.dtype, [potentials.shape[0]]), ("int64", [potentials.shape[0], -1])]


_RESULTS: Mapping[str, Results] = {
    **dict.fromkeys(("paddle.all", "paddle.any", "paddle.equal_all"), _boolean),
    **dict.fromkeys([f"paddle.{name}" for name in ("log", "log2", "log10", "log1p", "exp", "expm1")], _floating),
    **dict.fromkeys(("paddle.unique", "paddle.unique_consecutive"), _values_and_places),
    "paddle.linalg.matrix_rank": _rank,
    "paddle.linalg.slogdet": _sign_and_logarithm,
    "paddle.text.viterbi_decode": _scores_and_path,
}


class OtherDtype(Fix):
    """PIR declares the operand's dtype, or float32; the kernel gives bool, float32, or the operand's.

    `any` of integers is declared integer, `exp` of integers integer, `unique` of integers float32, a rank float32, a
    determinant's sign and logarithm with the matrix's sizes, and decoded scores and paths as each other. What is read
    behind them is promoted, and kernels are chosen, by the declared dtype; a fetch and a file promise it (3.3.1).
    """

    apis = tuple(_RESULTS)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_any, (("n", 4),)),
        Example(_exp, (("n", 4),)),
        Example(_unique, (("n", 4),)),
        Example(_determined, (("n", 4),)),
        Example(_decoded, (("n", 4),), {"transition": lambda: _transition()}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        for api, results in _RESULTS.items():
            function = found(api)
            if function is not None:
                patches.body(function, self.within_programs(_declaring(function, results), refuse))


def _declaring(api: Callable[..., Value], results: Results) -> Callable[..., Value]:
    signature = inspect.signature(inspect.unwrap(api))

    def call(stock: Callable[..., Value], *args: Value, **kwargs: Value) -> Value:
        returned = stock(*args, **kwargs)
        arguments = list(signature.bind(*args, **kwargs).arguments.items())
        x = arguments[0][1]
        if in_program(x) and not is_variable(x):
            for value, declared in zip(_listed(returned), results(x, dict(arguments).get("dtype")), strict=False):
                declare(value, *declared)
        return returned

    return call


def _listed(value: Value) -> list[Value]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _transition() -> Value:
    import paddle

    return paddle.to_tensor([[0.1, 0.7], [0.4, 0.2]])


plugin: Fix = OtherDtype()
