"""Operators that Paddle's Python functions say: theirs take other arguments than the C++ function of the name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.base.readers.program import Operator
from exporter.export.sources.values import Filled, Runner, Value, Values, as_sizes, number_of, tensor


def _extremum(name: str) -> Runner:
    """Return `argmax` or `argmin`, whose Python function takes other arguments than the operator."""

    def run(operator: Operator, values: Values) -> Sequence[Value]:
        import paddle

        attributes = operator.attributes
        x, axis = (values[number] for number in operator.operands)
        along = None if attributes["flatten"] else number_of(axis)
        return [getattr(paddle, name)(x, along, attributes["keepdims"], attributes["dtype"])]

    return run


def _logsumexp(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    attributes = operator.attributes
    along = None if attributes["reduce_all"] else list(attributes["axis"])
    return [paddle.logsumexp(tensor(values[operator.operands[0]]), along, attributes["keepdim"])]


def _expand_as(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    x, *like = (tensor(values[number]) for number in operator.operands if number)
    return [paddle.expand_as(x, *like)] if like else [paddle.expand(x, list(operator.attributes["target_shape"]))]


def _pieces(operator: Operator, values: Values) -> Sequence[Value]:
    """Split a tensor: by sizes, or with `num` into so many alike."""
    import paddle

    x, *further = (values[number] for number in operator.operands)
    attributes = operator.attributes
    axis = attributes["axis"] if "axis" in attributes else number_of(further.pop())
    parts = attributes["num"] if "num" in attributes else as_sizes(further[0])
    return [paddle.split(x, parts, axis)]


def _alone(name: str) -> Runner:
    """Return `unbind` or `unstack`, which give a list."""

    def run(operator: Operator, values: Values) -> Sequence[Value]:
        import paddle

        return [list(getattr(paddle, name)(tensor(values[operator.operands[0]]), int(operator.attributes["axis"])))]

    return run


def _range(operator: Operator, values: Values) -> Sequence[Value]:
    """Count; the legacy operator takes its dtype from its ends alone, to which Paddle's Python casts them."""
    import paddle

    ends = [values[number] for number in operator.operands if number]
    plain = [end.number if isinstance(end, Filled) else tensor(end) for end in ends]
    return [paddle.arange(*plain, dtype=operator.attributes["dtype"])]


def _tested(name: str) -> Runner:
    """Return `all` or `any`, whose result PIR declares to be what is tested; Paddle's Python declares it as bool."""

    def run(operator: Operator, values: Values) -> Sequence[Value]:
        import paddle

        attributes = operator.attributes
        along = list(attributes["axis"]) or None
        return [getattr(paddle, name)(tensor(values[operator.operands[0]]), along, attributes["keepdim"])]

    return run


def _of_tensors(name: str) -> Runner:
    """Return a function of tensors alone, whose result PIR's C++ declares in the operand's dtype."""

    def run(operator: Operator, values: Values) -> Sequence[Value]:
        import paddle

        return [getattr(paddle, name)(*(tensor(values[number]) for number in operator.operands))]

    return run


def _distinct(name: str, wanted: Sequence[str]) -> Runner:
    """Return `unique` or `unique_consecutive`; of a trace the C++ function of the first takes more than it says."""

    def run(operator: Operator, values: Values) -> Sequence[Value]:
        import paddle

        attributes = operator.attributes
        flags = {flag: bool(attributes[flag]) for flag in wanted}
        (axis,) = attributes["axis"] or [None]
        x = tensor(values[operator.operands[0]])
        results = getattr(paddle, name)(x, **flags, axis=axis, dtype=attributes["dtype"])
        left = iter(results if any(flags.values()) else [results])
        return [next(left), *(next(left) if asked else None for asked in flags.values())]

    return run


def _repeated(operator: Operator, values: Values) -> Sequence[Value]:
    """Repeat as often as a tensor says; the function of this name has no legacy operator, and Python's writes one."""
    import paddle

    x, repeats = (tensor(values[number]) for number in operator.operands)
    return [paddle.repeat_interleave(x, repeats, int(operator.attributes["axis"]))]


def _middle(operator: Operator, values: Values) -> Sequence[Value]:
    """Return the median without NaN; of a legacy program its Python asks for both results, as the kernel insists."""
    import paddle

    attributes = operator.attributes
    x, *along = (values[number] for number in operator.operands)
    axis = as_sizes(along[0]) if along else list(attributes["axis"])
    axis = axis[0] if len(axis) == 1 else axis or None
    result = paddle.nanmedian(tensor(x), axis, attributes["keepdim"], attributes["mode"])
    return list(result) if isinstance(result, (list, tuple)) else [result, None]


def _rank(operator: Operator, values: Values) -> Sequence[Value]:
    """Return the rank of a matrix, which PIR's C++ declares as floats."""
    import paddle

    attributes = operator.attributes
    x, *bounds = (tensor(values[number]) if number else None for number in operator.operands)
    hermitian = attributes["hermitian"]
    if operator.name == "matrix_rank_atol_rtol":
        return [paddle.linalg.matrix_rank(x, hermitian=hermitian, atol=bounds[0], rtol=bounds[1])]
    bound = bounds[0] if bounds else attributes["tol"]
    return [paddle.linalg.matrix_rank(x, None if attributes["use_default_tol"] else bound, hermitian)]


def _decoded(operator: Operator, values: Values) -> Sequence[Value]:
    """Decode by Viterbi; PIR's C++ declares scores and paths as each other."""
    import paddle

    tensors = (tensor(values[number]) for number in operator.operands)
    return list(paddle.text.viterbi_decode(*tensors, operator.attributes["include_bos_eos_tag"]))


RUNNERS: Mapping[str, Runner] = {
    **{name: _tested(name) for name in ("all", "any")},
    **{name: _of_tensors(name) for name in ("equal_all", "exp", "expm1", "log", "log10", "log1p", "log2")},
    "arange": _range,
    "argmax": _extremum("argmax"),
    "argmin": _extremum("argmin"),
    "logsumexp": _logsumexp,
    "expand_as": _expand_as,
    **dict.fromkeys(("matrix_rank", "matrix_rank_atol_rtol", "matrix_rank_tol"), _rank),
    "nanmedian": _middle,
    "repeat_interleave_with_tensor_index": _repeated,
    "split": _pieces,
    "split_with_num": _pieces,
    "unbind": _alone("unbind"),
    "unique": _distinct("unique", ("return_index", "return_inverse", "return_counts")),
    "unique_consecutive": _distinct("unique_consecutive", ("return_inverse", "return_counts")),
    "unstack": _alone("unstack"),
    "viterbi_decode": _decoded,
}
