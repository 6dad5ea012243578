"""A loop of the program: what it carries has other names, or is an input or a weight."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.declared import declare
from exporter.paddle.in_place import followed, latest, with_writes
from exporter.paddle.patches import Patches
from exporter.paddle.private import found
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.values import in_program, is_variable


def _named_twice(self: Layer, x: Tensor) -> Tensor:
    before = turned = x * 2
    while turned.mean() < 9:
        turned = turned + x * x
    return turned - before


def _weight(self: Layer, x: Tensor) -> Tensor:
    power = self.weight
    while power.mean() < 9:
        power = power * self.weight
    return x * power


def _swapped(self: Layer, x: Tensor) -> Tensor:
    low, high = x, x * x + 1
    while low.mean() < 9:
        low, high = high, low + 5
    return low - high


def _set_within(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    while y.mean() < 9:
        y[:, 0] = y[:, 1] * y[:, 1]
        y = y + 1
    return y


def _condition(self: Layer, x: Tensor) -> Tensor:
    import paddle

    first = going = x.mean() < 9
    turns = paddle.zeros([1])
    while going:
        turns = turns + 1
        going = (turns < 3).all()
    return x * turns + first.astype("float32")


def _never_assigned(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    while y.mean() < 9:
        y.add_(x * x + 1)
    return y - x


def _never_assigned_within(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    while y.mean() < 9:
        while y.max() < 4:
            y.add_(x * x + 1)
        y = y + 1
        if y.min() < 2:
            y.scale_(2.0)
    return y - x


def _growing(self: Layer, x: Tensor) -> Tensor:
    import paddle

    seen = x[:, :1]
    while seen.mean() < 9:
        squares = seen.reshape([-1, seen.shape[1], 1]) * seen.shape[1]
        seen = paddle.concat([seen, squares.sum(1) + 4], 1)
    return seen.mean(-1)


def _parameter() -> Value:
    import paddle

    return paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(1.5))


class WhileLoop(Fix):
    """Stock loses what a body changes in place and never assigns; in PIR a condition with another name changes.

    In a legacy program it writes what a loop carries into the variables that it starts from, one after the other. A
    value changes under its other names, an input is written, and a weight is another one in the next run. Of two values
    that trade places one is lost (static/nn/control_flow.py). What a turn sets in place means the same after the loop,
    whatever the turn assigned later. What grows keeps in each turn of a PIR program the size that it had in the first.
    """

    apis = ("paddle.static.nn.while_loop",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_named_twice, (("n", 4),), formats=("pdmodel",)),
        Example(_condition, (("n", 4),)),
        Example(_never_assigned, (("n", 4),), formats=("pir",)),
        Example(_never_assigned_within, (("n", 4),), formats=("pir",)),
        Example(_growing, (("n", 4),), formats=("pir",)),
        Example(_weight, (("n", 4),), {"weight": _parameter}, ("pdmodel",)),
        Example(_swapped, (("n", 4),), formats=("pdmodel",)),
        Example(_set_within, (("n", 4),), formats=("pdmodel",)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Of a loop that carries no tensor of the program, too."""
        import paddle

        from exporter.paddle.private import inplace_utils

        cure = self.within_programs(self.instead, refuse, lambda _: not paddle.in_dynamic_mode())
        patches.body(found(self.apis[0]), cure)
        if hasattr(inplace_utils, "check_view_value"):
            patches.body(inplace_utils.check_view_value, _is_view)

    def instead(
        self, stock: Value, cond: Value, body: Value, loop_vars: Value, is_test: bool = False, name: Value = None
    ) -> Value:
        """The loop over copies; within a turn, what takes the place of another is copied before that is written."""
        from paddle.utils import flatten, map_structure

        from exporter.paddle.private import ProgramTranslator, in_pir_mode

        if in_pir_mode():
            return _in_pir(stock, cond, body, loop_vars)
        if not any(map(is_variable, flatten(loop_vars))):
            return stock(cond, body, loop_vars, is_test, name)
        meanings: Value = ProgramTranslator.get_instance()._inplace_map
        before: Value = None

        def asked(*carried: Value) -> Value:
            """The loop writes each later answer into the first. What the body set in place has no meaning behind it."""
            nonlocal before
            answer = cond(*carried)
            if before is None:
                before = meanings.save_checkpoint()
                return _copied(answer)
            _demand_carried(_ids(before), meanings.params_dict, start)
            meanings.restore_checkpoint(before)
            return answer

        def turn(*carried: Value) -> Value:
            given = {id(value) for value in flatten(list(carried))}
            result = body(*carried)
            if not isinstance(result, (list, tuple)) or len(result) != len(carried):
                return result
            result = map_structure(lambda value: _latest(value, meanings), list(result))
            return [
                value
                if value is own
                else map_structure(lambda leaf: _copied(leaf) if id(leaf) in given else leaf, value)
                for value, own in zip(result, carried, strict=True)
            ]

        start = map_structure(lambda value: _carried(_latest(value, meanings)), loop_vars)
        return stock(asked, turn, start, is_test, name)


def _is_view(stock: Value, value: Value) -> Value:
    """Whether a value may be a view, or has one; what a loop carries has no operator, of which stock asks the name."""
    from exporter.paddle.private import inplace_utils

    if value.get_defining_op() is not None:
        return stock(value)
    views = [operator for operator in value.all_used_ops() if operator.name() in inplace_utils.stride_ops]
    return any(view.operand_source(0).is_same(value) for view in views)


def _in_pir(stock: Value, cond: Value, body: Value, loop_vars: Sequence[Value]) -> Value:
    """The loop carries what its body writes, too; what grows is traced without the size that it begins with."""
    start = _apart(cond(*loop_vars))
    count = len(loop_vars)
    growth = _Growth(loop_vars)

    def write(values: Sequence[Value]) -> tuple[Value, Sequence[Value]] | None:
        now: dict[int, Value] = {}
        turned = False

        def asked(*carried: Value) -> Value:
            if not turned:
                return start
            before = dict(now)
            answer = followed(lambda: _apart(cond(*carried[:count])), now)
            if any(latest(value, now) is not latest(value, before) for value in (*values, *carried)):
                raise cannot_lower("while", "its condition changes a tensor in place", "change it in the body")
            return answer

        def turn(*carried: Value) -> Value:
            nonlocal turned
            turned = True
            arguments = carried[count : count + len(values)]
            now.update((value.id, argument) for value, argument in zip(values, arguments, strict=True))
            result = followed(lambda: body(*carried[:count]), now)
            result = result if isinstance(result, (list, tuple)) else [result]
            growth.see(carried[:count], result)
            return [*result, *(latest(value, now) for value in values), *carried[count + len(values) :]]

        filler = [] if count or values else [start]  # a loop of nothing is none
        made = stock(asked, turn, [*growth.opened(), *values, *filler])
        if growth.sizes:
            return None
        return made[:count], made[count : count + len(values)]

    return with_writes(write)


class _Growth:
    """What a loop begins with, with those sizes open that its turns change.

    `seq = paddle.concat([seq, next], 1)` begins with one column: stock traces every turn with one (3.3.1), so that what
    the body does by `seq.shape[1]` is right in the first turn only.
    """

    def __init__(self, loop_vars: Sequence[Value]) -> None:
        #: By the place of a value: its sizes, with those open that the last trace changed.
        self.sizes: dict[int, list[int]] = {}
        self._loop_vars = list(loop_vars)
        self._first: list[list[int]] = []

    def see(self, carried: Sequence[Value], result: Sequence[Value]) -> None:
        """Compare the sizes before a turn with those behind it.

        A size that becomes open is not known to change, unless it does so because another one was opened.
        """
        from paddle.utils import flatten

        before, after = flatten(list(carried)), flatten(list(result))
        self.sizes = {}
        if len(before) != len(after):
            return
        sizes = [list(value.shape) if in_program(value) else [] for value in after]
        self._first = self._first or sizes
        for place, (value, behind, first) in enumerate(zip(before, sizes, self._first, strict=True)):
            own = list(value.shape) if in_program(value) and getattr(value, "shape", None) else []
            if len(own) != len(behind) or len(own) != len(first):
                continue
            opened = [
                -1 if size != now and (now != -1 or once != -1) else size
                for size, now, once in zip(own, behind, first, strict=True)
            ]
            if opened != own:
                self.sizes[place] = opened

    def opened(self) -> list[Value]:
        """Return what the loop begins with, as the traces so far show that it has to be declared."""
        from paddle.utils import flatten, pack_sequence_as

        if self.sizes:
            values = flatten(self._loop_vars)
            for place, sizes in self.sizes.items():
                values[place] = _apart(values[place])
                declare(values[place], values[place].dtype, sizes)
            self._loop_vars = pack_sequence_as(self._loop_vars, values)
        return self._loop_vars


def _apart(value: Value) -> Value:
    """A copy of a tensor of PIR; Python's own values stay."""
    import paddle

    return paddle.assign(value) if in_program(value) else value


def _latest(value: Value, meanings: Value) -> Value:
    """What an operator in place made of a value; what has only one meaning itself."""
    now = meanings.get(value.block.program, value.desc.id()) if is_variable(value) else None
    return value if now is None else now


def _ids(meanings: Value) -> set[int]:
    """The variables that were changed in place."""
    return {number for program in meanings.values() for number in program}


def _demand_carried(before: set[int], meanings: Value, start: Value) -> None:
    """Refuse a body that changes in place what the loop does not carry.

    Raises:
        CannotLower: dy2static carries only what is assigned (3.3.1).
    """
    import paddle

    program = paddle.static.default_main_program()
    block, outside = program.current_block(), set[int]()
    while block.parent_idx >= 0:
        block = program.block(block.parent_idx)
        outside |= {variable.desc.id() for variable in block.vars.values()}
    made = {variable.desc.id() for of_program in meanings.values() for variable in of_program.values()}
    carried = {value.desc.id() for value in paddle.utils.flatten(start) if is_variable(value)}
    if (_ids(meanings) - before) & outside - made - carried:
        raise cannot_lower(
            "while",
            "the body changes a tensor in place that it never assigns, so that each turn starts from the same value",
            "assign the result, as in y = y.tanh()",
        )


def _carried(value: Value) -> Value:
    """A copy that is no constant, though the value may be one."""
    copy = _copied(value)
    if copy is not value:
        copy.carried = True
    return copy


def _copied(value: Value) -> Value:
    """A copy of a tensor of the program; arrays of tensors and Python's own values stay."""
    import paddle

    from exporter.paddle.private import core

    if not is_variable(value) or value.type != core.VarDesc.VarType.LOD_TENSOR:
        return value
    return paddle.assign(value)


plugin: Fix = WhileLoop()
