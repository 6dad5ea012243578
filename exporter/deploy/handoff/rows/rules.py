"""Where an ONNX operator leaves the axis that counts rows: a rule for each operator that computes every row by itself.

A rule returns the axis of each output, and raises `Mixes` where one row of a result follows from several rows. An
operator without a rule mixes: what is not known is not independent. Axes and defaults are those of ONNX's operator
specification (onnx/onnx, docs/Operators.md, opsets 7 to 25).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exporter.deploy.handoff.rows.moving import MOVING
from exporter.deploy.handoff.rows.operator import Mixes, Operator, Value, axis_of, normal, one_axis

_COUNTED = "its result follows from how many rows there are"
_RANDOM = "it draws at random"

Rule = Callable[[Operator], int | Sequence[int]]


def axes_after(operator: Operator) -> Sequence[int]:
    """Return the axis that counts rows in each output; in those that are left out rows may be mixed.

    Raises:
        Mixes: rows are mixed, or the operator has no rule.
    """
    if operator.rows():
        rule = rule_of(operator.kind)
        if any(value is not None and value.counted for value in operator.inputs) and operator.kind not in _SIZED:
            raise Mixes(_COUNTED)
        axes = rule(operator)
        axes = [axes] * len(operator.shapes) if isinstance(axes, int) else axes
    else:
        axes = [_filled(operator)]
    for axis, grown in zip(axes, operator.grown, strict=False):
        if axis != grown:
            raise Mixes("its result has not one row for each row")
    return axes


def rule_of(kind: str) -> Rule:
    """Return the rule of an operator.

    Raises:
        Mixes: there is none.
    """
    if kind not in _RULES:
        raise Mixes(_KNOWN.get(kind, "nothing is known of what it does with rows"))
    return _RULES[kind]


def fills(operator: Operator) -> bool:
    """Say whether it makes as many equal rows as there are, of nothing but constants."""
    value = operator.taken(0)
    repeats = operator.kind in ("Expand", "Tile") and value is not None and not value.counted
    return (operator.kind == "ConstantOfShape" or repeats) and operator.grown[0] is not None


def _filled(operator: Operator) -> int:
    value, axis = operator.taken(0), operator.grown[0]
    if value is None or axis is None:
        raise Mixes(_COUNTED)
    place = len(operator.shapes[0]) - axis
    if operator.kind != "ConstantOfShape" and value.size_from_end(place) != 1:
        raise Mixes("a constant has another value for each row")
    return axis


def draws(kind: str) -> bool:
    """Say whether an operator draws at random."""
    return _KNOWN.get(kind) == _RANDOM


# ---- element by element ----
def _aligned(operator: Operator) -> int:
    """Element by element, with broadcasting."""
    return len(operator.shapes[0]) - _place(operator.inputs)


def _place(values: Sequence[Value | None]) -> int:
    """Return where the rows lie, counted from the last axis; constants are the same in every row."""
    held = [value for value in values if value is not None]
    places = {value.from_end for value in held if value.axis is not None}
    if len(places) != 1:
        raise Mixes("rows meet rows of another axis")
    (place,) = places
    if any(value.axis is None and value.size_from_end(place) != 1 for value in held):
        raise Mixes("a constant has another value for each row")
    return place


def _quantized(operator: Operator) -> int:
    (value,) = operator.only(0)
    scale = operator.taken(1)
    if scale is not None and scale.rank and scale.shape != (1,) and value.axis == axis_of(operator, 1, value.rank):
        raise Mixes("each row has a scale of its own")
    return one_axis([value])


def _dropout(operator: Operator) -> int:
    training = operator.taken(2)
    if training is not None and (training.data is None or training.data.any()):
        raise Mixes(_RANDOM)
    return one_axis(operator.only(0))


# ---- along axes ----
def _first(*places: int) -> Rule:
    """Images, whose first axis counts them; other inputs at `places` are one for each image, too."""

    def rule(operator: Operator) -> list[int]:
        if operator.integer("training_mode", 0):
            raise Mixes("it normalises by the mean of all rows")
        if one_axis(operator.only(*places)) != 0:
            raise Mixes("it computes along the axis that counts rows")
        return [0]

    return rule


def _along(default: int) -> Rule:
    """One axis is computed along (a softmax, a sort); the others stay apart."""

    def rule(operator: Operator) -> int:
        (value,) = operator.only(0)
        if value.axis == axis_of(operator, default, value.rank):
            raise Mixes("it computes along the axis that counts rows")
        return one_axis([value])

    return rule


def _softmax(operator: Operator) -> int:
    if operator.opset >= 13:
        return _single(_along(-1)(operator))
    return _from_axis(1)(operator)  # type: ignore[return-value]  # this rule gives one axis


def _single(axes: int | Sequence[int]) -> int:
    return axes if isinstance(axes, int) else axes[0]


def _from_axis(default: int) -> Rule:
    """It computes over an axis and all behind it."""

    def rule(operator: Operator) -> int:
        (value,) = operator.only(0)
        axis = one_axis([value])
        if axis >= axis_of(operator, default, value.rank):
            raise Mixes("it computes along the axis that counts rows")
        return axis

    return rule


def _cumulated(operator: Operator) -> int:
    (value,) = operator.only(0)
    axes = operator.numbers("axis", 1) or [0]
    if value.axis in [normal(axis, value.rank) for axis in axes]:
        raise Mixes("it adds up along the axis that counts rows")
    return one_axis([value])


def _reduced(operator: Operator) -> int:
    (value,) = operator.only(0)
    axis, axes = one_axis([value]), operator.numbers("axes", 1)
    if not axes and operator.integer("noop_with_empty_axes", 0):
        return axis
    gone = {normal(number, value.rank) for number in axes or range(value.rank)}
    if axis in gone:
        raise Mixes("it reduces over the rows")
    return axis if operator.integer("keepdims", 1) else axis - sum(number < axis for number in gone)


def _picked(operator: Operator) -> int:
    """The place of the largest or smallest along an axis."""
    (value,) = operator.only(0)
    axis, along = one_axis([value]), axis_of(operator, 0, value.rank)
    if axis == along:
        raise Mixes("it looks for the largest or smallest of all rows")
    return axis if operator.integer("keepdims", 1) or axis < along else axis - 1


# ---- products ----
def _matmul(operator: Operator) -> int:
    left, right = operator.pair()
    operator.only(0, 1)
    if min(left.rank, right.rank) < 2:
        raise Mixes("it multiplies a tensor of one axis")
    for value, summed in ((left, 1), (right, 2)):
        if value.axis is not None and value.from_end == summed:
            raise Mixes("it adds up products over the rows")
    if left.axis is not None and right.axis is not None and min(left.from_end, right.from_end) < 3:
        raise Mixes("it multiplies rows by other rows")
    if left.axis is not None and left.from_end == 2:
        return len(operator.shapes[0]) - 2
    if right.axis is not None and right.from_end == 1:
        return len(operator.shapes[0]) - 1
    return len(operator.shapes[0]) - _place(operator.inputs[:2])


def _gemm(operator: Operator) -> int:
    (left, right), added = operator.pair(), operator.taken(2)
    if left.axis is not None and right.axis is not None:
        raise Mixes("it multiplies rows by other rows")
    places = {0: bool(operator.integer("transA", 0)), 1: not operator.integer("transB", 0)}
    axis = 0 if left.axis is not None else 1
    if (left, right)[axis].axis != int(places[axis]):
        raise Mixes("it adds up products over the rows")
    return len(operator.shapes[0]) - _place([Value(operator.shapes[0], axis), added])


def _einsum(operator: Operator) -> int:
    text = str(operator.attributes.get("equation", "")).replace(" ", "")
    terms, arrow, result = text.partition("->")
    letters = terms.split(",")
    if not arrow or "." in text or len(letters) != len(operator.inputs):
        raise Mixes("nothing is known of what it does with rows")
    pairs = [(term, value) for term, value in zip(letters, operator.inputs, strict=True) if value is not None]
    rows = {term[value.axis] for term, value in pairs if value.axis is not None}
    (letter, *more) = sorted(rows)
    others = [term for term, value in pairs if value.axis is None]
    if more or letter not in result or any(letter in term for term in others):
        raise Mixes("it multiplies rows by other rows, or adds them up")
    if any(term.count(letter) > 1 for term in (*letters, result)):
        raise Mixes("it takes a diagonal over the rows")
    return result.index(letter)


def _recurrent(operator: Operator) -> list[int]:
    """Inputs [steps, rows, …] and states [directions, rows, …]; the lengths of the rows are one each."""
    wanted = {0: 1, 4: 0, 5: 1, 6: 1}
    operator.only(*wanted)
    held = [(at, value) for at, value in enumerate(operator.inputs) if value is not None and value.axis is not None]
    if operator.integer("layout", 0) or any(value.axis != wanted[at] for at, value in held):
        raise Mixes("its steps lie along the axis that counts rows")
    return [2, 1, 1]


_ELEMENTWISE = """
Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu
Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN
LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid
Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor
""".split()
_REDUCING = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
_OF_IMAGES = """
AveragePool BatchNormalization Col2Im Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool GlobalLpPool
GlobalMaxPool GroupNormalization InstanceNormalization LRN LpPool MaxPool QLinearConv SpaceToDepth
""".split()
_RULES: dict[str, Rule] = {
    **MOVING,
    **dict.fromkeys(_ELEMENTWISE, _aligned),
    **dict.fromkeys(_OF_IMAGES, _first(0)),
    **{f"Reduce{name}": _reduced for name in _REDUCING},
    **dict.fromkeys(("ArgMax", "ArgMin"), _picked),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _softmax),
    **dict.fromkeys(("MatMul", "MatMulInteger"), _matmul),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantized),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), _from_axis(-1)),
    **dict.fromkeys(("LpNormalization", "TopK"), _along(-1)),
    "CumSum": _cumulated,
    "DeformConv": _first(0, 2, 4),
    "Dropout": _dropout,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "GridSample": _first(0, 1),
    "Split": _along(0),
}
#: Those whose sizes may follow from how many rows there are: what they give is held against it.
_SIZED = ("Expand", "Reshape", "Resize", "Tile", "Upsample")
#: Why these have no rule.
_KNOWN = {
    "DynamicQuantizeLinear": "its scale is one for all rows",
    "MeanVarianceNormalization": "it normalises over the rows",
    **dict.fromkeys(("If", "Loop", "Scan"), "what it computes may hang on any row"),
    **dict.fromkeys(("NonZero", "Unique", "Compress", "NonMaxSuppression"), "how much it gives hangs on the rows"),
    **dict.fromkeys(
        ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"),
        _RANDOM,
    ),
}
