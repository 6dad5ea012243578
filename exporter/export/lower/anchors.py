"""What stands behind an output of a PIR program so that Paddle fetches that value, under a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from exporter.export.trace.structure import leaves
from exporter.export.trace.traced import Traced
from exporter.paddle.declared import declare

if TYPE_CHECKING:
    import paddle

    from exporter.paddle.private import Value

#: The number of an operator among those that compute something else, and the place of a result.
Number: TypeAlias = tuple[int, int]

#: Attributes that say where an operator was written or who needs its gradient, not what it computes.
_SAY_NOTHING = ("op_callstack", "stop_gradient")

#: Operators that are not fetched as they are.
_ANCHORED = ("pd_op.scale", "pd_op.index_put", "pd_op.index_put_")


def anchor_outputs(traced: Traced) -> None:
    """Put an `assign` behind each output whose operator Paddle would take for another's, and declare what is promised.

    `x + 1` is a scale by 1 with a bias. `normalize_pir_program` takes any scale by 1 of an input or parameter for
    nothing but a name, and fetches `x` itself: the file then puts out another value than eager, without a word
    (`paddle/static/pir_io.py:318`, 3.3.1). It looks at the operator behind the fetch only.

    What `index_put` gives keeps its memory from run to run where it is fetched, and the kernel copies `x` only into
    memory that is new: the second run finds what the first has left (phi/kernels/cpu/index_put_kernel.cc, 3.3.1).

    Two outputs that are computed alike, `x % y` and `paddle.mod(x, y)`, become one value when the predictor loads the
    file (`common_subexpression_elimination_pass`), and the name of one of them is lost: of those each has one `assign`
    more than the last.
    """
    import paddle

    from exporter.paddle.private import Value

    program = traced.layer.forward.concrete_program

    def anchored(value: Value) -> Value:
        operator = value.get_defining_op() if isinstance(value, Value) else None
        return paddle.assign(value) if operator is not None and operator.name() in _ANCHORED else value

    def apart(value: Value) -> Value:
        for _ in range(repeats[value.id] if isinstance(value, Value) else 0):
            value = paddle.assign(value)
        return value

    paddle.enable_static()
    try:
        with paddle.static.program_guard(program.main_program):
            program.outputs = paddle.utils.map_structure(anchored, program.outputs)
            values = [value for value in paddle.utils.flatten(program.outputs) if isinstance(value, Value)]
            repeats = dict(zip([value.id for value in values], _repeats(program.main_program, values), strict=True))
            program.outputs = paddle.utils.map_structure(apart, program.outputs)
            for (_, value), promised in zip(leaves(program.outputs), traced.outputs, strict=True):
                other_rank = len(value.shape) != len(promised.shape)
                declare(value, promised.dtype, [-1 for _ in promised.shape] if other_rank else None)
    finally:
        paddle.disable_static()


def _repeats(program: paddle.static.Program, outputs: Sequence[Value]) -> list[int]:
    """Count, for each output, those before it that are computed as it is: by equal operators of equal values."""
    kinds = Counter(value.get_defining_op().name() for value in outputs if value.get_defining_op() is not None)
    if not any(count > 1 for count in kinds.values()):
        return [0] * len(outputs)
    numbers: dict[str, Number] = {}
    known: dict[object, int] = {}
    for place, operator in enumerate(program.global_block().ops):
        number = known.setdefault(_content(place, operator, numbers), len(known))
        numbers.update({result.id: (number, at) for at, result in enumerate(operator.results())})
    seen: Counter[Number] = Counter()
    repeats = []
    for value in outputs:
        repeats.append(seen[numbers[value.id]] if value.id in numbers else 0)
        if value.id in numbers:
            seen[numbers[value.id]] += 1
    return repeats


def _content(place: int, operator: Value, numbers: Mapping[str, Number]) -> object:
    """Return what an operator computes of what; one with blocks of its own is like no other."""
    if any(True for _ in operator.blocks()):
        return place
    attributes = {name: repr(value) for name, value in operator.attrs().items() if name not in _SAY_NOTHING}
    sources = [numbers.get(value.id) if value.initialized() else None for value in operator.operands_source()]
    return operator.name(), tuple(sorted(attributes.items())), tuple(sources)
