"""Operator by operator, from the block of a program to the nodes of a graph; control flow owns further blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from exporter.base.readers.program import Block, Operator, TensorType, Type, Value
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.call import UNWRITTEN, Call, Lowered, Lowering, OperatorRefused
from exporter.export.lower.onnx_program.constants import Constants
from exporter.export.lower.onnx_program.effects import (
    changed_inside,
    dtypes_of_members,
    needed,
    readers,
    written_in_place,
)
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Graph, Growing, Pair, Tensor, value_name
from exporter.export.lower.onnx_program.ops import FOLDED, NUMBERS, OF_PAIRS, OPERATORS, TO_BOTH, VALUES, lists
from exporter.export.lower.onnx_program.values import (
    common_sizes,
    gives_complex,
    inside,
    is_complex,
    is_complex_type,
    joined,
    like,
    listed,
    number_of_part,
    of_one_kind,
    parts_of,
    real_type,
)

#: PIR declares the operand's dtype, and the kernel gives bool, float32, or an integer (3.3.1).
_DECLARED_WRONG = (
    *("all", "any", "equal_all", "allclose", "log", "log2", "log10", "log1p", "exp", "expm1"),
    *("unique", "unique_consecutive", "viterbi_decode", "generate_proposals"),
)
#: PIR declares five dims of a grid whose sizes are computed, of a product the longer operand's outer dims where those
#: of both broadcast, of decoded scores and paths one as the other, and of two results or vectors of a batch one
#: (3.3.1). A fetch declares what its operand does.
_SHAPE_DECLARED_WRONG = ("affine_grid", "matmul", "viterbi_decode", "slogdet", "solve", "fetch")


class Walk:
    """The values of a program by their number, as far as they are written; a block inside sees those outside."""

    def __init__(
        self, builder: Builder, weights: Mapping[str, Array], constants: Constants, sublayers: bool = True
    ) -> None:
        self.b = builder
        self._sublayers = sublayers  # whether a node says which sublayer called it
        self.weights = weights
        self._constants = constants
        self.inputs: list[Tensor] = []
        self.outputs: dict[int, tuple[str, Tensor]] = {}
        self.results: dict[str, Tensor] = {}
        self._scopes: list[dict[int, Lowered]] = [{}]
        self._read: dict[int, set[str]] = {}
        self._parts: dict[int, tuple[int, ...]] = {}  # of each list: what stands for its members
        self._members: dict[int, str] = {}  # the dtype of the members of each list that grows
        self._ends: dict[int, int] = {}  # of each length that was asked for: the list that still has it

    def block(self, block: Block) -> None:
        """Write the operators that something needs."""
        wanted = None
        if len(self._scopes) == 1:
            self._read = readers(block)
            wanted = needed(block)
            self._members = dtypes_of_members(block)
        self._parts |= {
            operator.operands[0]: tuple(value.id for value in operator.results)
            for operator in block.operators
            if operator.name == "builtin.split"
        }
        for operator in block.operators:
            if wanted is None or operator.index in wanted:
                self.operator(operator)

    def operator(self, operator: Operator) -> None:
        """Write one operator and keep its results as PIR declares them.

        Raises:
            ModelError: ONNX, or this writer, cannot say it; the message names it.
        """
        self.b.about = {"pir_operator": f"{operator.index} {operator.name}"}
        if self._sublayers and operator.layer.strip("/"):
            self.b.about["sublayer"] = operator.layer.strip("/")
        operands = [self.value(number, operator) for number in operator.operands]
        call, start = Call(operator, operands, self.b, self._read), len(self.b.graph.nodes)
        stored = self._constants.of(operator) if operator.name in FOLDED else None
        try:
            made = [self._stored(array) for array in stored] if stored else self._lowered(call, operator, operands)
        except OperatorRefused:
            del self.b.graph.nodes[start:]
            stored = self._constants.of(operator)
            if stored is None:
                raise
            made = [self._stored(array) for array in stored]
        for value, found in zip(operator.results, made, strict=True):
            if value.id:
                checked = self._checked(call, value.type, found)
                self._scopes[-1][value.id] = self._named(checked, value.id, start)
        self._in_place(call, operator)

    def value(self, number: int, operator: Operator) -> Lowered:
        """Return the lowered value of a PIR value."""
        if not number:
            return None
        for scope in reversed(self._scopes):
            if number in scope:
                return scope[number]
        raise Call(operator, [], self.b).refuse(f"value {number} is made nowhere")

    def _lowered(self, call: Call, operator: Operator, operands: Sequence[Lowered]) -> Sequence[Lowered]:
        own: dict[str, Callable[[Call, Operator], Sequence[Lowered]]] = {
            "parameter": self._parameter,
            "data": self._data,
            "fetch": lambda *_: self._fetch(call, operator, operands),
            "builtin.combine": lambda *_: [listed(operands)],
            "builtin.split": lambda *_: list(operands[0]) if isinstance(operands[0], tuple) else [],
            "create_array": lambda *_: [lists.empty(self.b, self._members.get(operator.results[0].id, "float32"))],
            "array_write_": lambda *_: self._append(call, operator),
            "if": self._if,
            "while": lambda *_: self._while(call, operator, operands),
        }
        if operator.name in own:
            return own[operator.name](call, operator)
        plain, given = operator.name.removesuffix("_"), any(map(is_complex, operands))
        if (given or gives_complex(operator)) and not TO_BOTH.isdisjoint((operator.name, plain)):
            return self._both(operator, operands)
        if given:
            return self._by(OF_PAIRS.get(plain), call, operator, " of complex values")
        return self._by(OPERATORS.get(operator.name) or OPERATORS.get(plain), call, operator)

    def _stored(self, array: Array) -> Lowered:
        """What was computed beforehand; the two parts of what is complex."""
        if array.dtype.kind != "c":
            return self.b.constant(array, array.dtype.name)
        floats = FLOATS_OF[array.dtype.name]
        return Pair(self.b.constant(array.real, floats), self.b.constant(array.imag, floats))

    def _by(self, lowering: Lowering | None, call: Call, operator: Operator, of: str = "") -> Sequence[Lowered]:
        """The results of a lowering, which must have looked at every operand and attribute."""
        if lowering is None:
            raise call.refuse(f"has no conversion{of}")
        made = lowering(call)
        if self.b.lacking:
            lacking = ", ".join(sorted(self.b.lacking))
            raise call.refuse(f"ONNX Runtime does not compute {lacking} in float64; cast the tensor to float32")
        if missed := call.unread():
            raise call.refuse(missed)
        results: list[Lowered] = [made] if made is None or isinstance(made, (Tensor, Pair)) else list(made)
        return [*results, *[None] * (len(operator.results) - len(results))]

    def _both(self, operator: Operator, operands: Sequence[Lowered]) -> Sequence[Lowered]:
        """An operator that does the same to both parts, done to each; to the real one, where the result is real."""
        halves, plain = [], operator.name.removesuffix("_")
        results = tuple(Value(value.id, real_type(value.type)) for value in operator.results)
        for at in (0, 1) if gives_complex(operator) else (0,):
            attributes = {
                name: number_of_part(held, at) if name in NUMBERS else held
                for name, held in operator.attributes.items()
            }
            part = replace(operator, results=results, attributes=attributes)
            given = [self._part(operand, at, place in VALUES.get(plain, ())) for place, operand in enumerate(operands)]
            call = Call(part, given, self.b, self._read)
            halves.append(self._by(OPERATORS.get(operator.name) or OPERATORS[plain], call, part))
        if len(halves) == 1:
            return halves[0]
        if plain == "eye":
            halves[1] = [self._zeros(one) if isinstance(one, Tensor) else one for one in halves[1]]
        return [joined(real, imag) for real, imag in zip(*halves, strict=True)]

    def _zeros(self, x: Tensor) -> Tensor:
        return self.b.expand(self.b.constant(0, x.dtype), self.b.shape_of(x), x.shape)

    def _part(self, operand: Lowered, at: int, is_value: bool) -> Lowered:
        """The real (0) or imaginary part (1); of a real tensor that is one of the values the latter is zero."""
        if isinstance(operand, tuple):
            return tuple(part for one in operand if isinstance(part := self._part(one, at, is_value), Tensor))
        if isinstance(operand, Pair):
            return (operand.real, operand.imag)[at]
        return self._zeros(operand) if at and is_value and isinstance(operand, Tensor) else operand

    def _checked(self, call: Call, declared: Type, found: Lowered) -> Lowered:
        """The one check after each operator: dtype and rank are those that PIR declares, by Cast and Reshape if not."""
        if isinstance(found, tuple):
            kinds = declared if isinstance(declared, tuple) else (declared,) * len(found)
            parts = [self._checked(call, kind, part) for kind, part in zip(kinds, found, strict=True)]
            return listed(parts)
        if isinstance(found, Pair):
            both = [self._checked(call, real_type(declared), part) for part in (found.real, found.imag)]
            return joined(*both)
        if isinstance(found, Growing):
            return found
        if not isinstance(found, Tensor) or not isinstance(declared, TensorType):
            return UNWRITTEN
        if is_complex_type(declared):
            raise call.refuse(f"has no conversion that gives complex values ({declared.dtype})")
        if call.operator.name not in _DECLARED_WRONG or (found.is_float and "float" in declared.dtype):
            found = self.b.cast(found, declared.dtype)
        if call.operator.name in _SHAPE_DECLARED_WRONG:
            declared = TensorType(declared.dtype, found.shape)
        if found.rank != len(declared.shape):
            if sum(size < 0 for size in declared.shape) > 1:
                raise call.refuse(f"it comes out with {found.rank} dims, and not with {len(declared.shape)}")
            found = self.b.reshape(found, list(declared.shape))
        made = Tensor(found.name, found.dtype, declared.shape, found.array)
        self.results[made.name] = made
        return made

    def _named(self, found: Lowered, number: int, start: int) -> Lowered:
        """What an operator made since node `start`, called by PIR's number, so that both programs tell it alike."""
        if isinstance(found, tuple):
            numbers = self._parts.get(number, ())
            if len(numbers) != len(found):
                return found
            return listed([self._named(part, one, start) for part, one in zip(found, numbers, strict=True)])
        if not isinstance(found, Tensor):
            return found
        named = self.b.rename(found, value_name(number), start)
        self.results[named.name] = named
        return named

    def _append(self, call: Call, operator: Operator) -> Sequence[Lowered]:
        """A list with one more member; its own number means the longer one from then on, see `_in_place`."""
        grown, x = call.growing(0), call.raw(1)
        if self._ends.get(operator.operands[2]) != operator.operands[0]:
            raise call.refuse("it writes elsewhere than at the end of the list")
        self._ends = {length: number for length, number in self._ends.items() if number != operator.operands[0]}
        return [lists.appended(self.b, grown, x)]

    def _in_place(self, call: Call, operator: Operator) -> None:
        """What an operator in place gave is what its operand means from then on."""
        at = written_in_place(operator)
        if operator.name == "array_length":
            self._ends[operator.results[0].id] = operator.operands[0]
        if at is None:
            return
        written = operator.operands[at]
        self._scopes[-1][written] = self._scopes[-1][operator.results[0].id]

    def _parameter(self, call: Call, operator: Operator) -> Sequence[Lowered]:
        name, (result,) = str(operator.attributes["name"]), operator.results
        declared = result.type
        if name not in self.weights:  # the dropout state of a recurrent layer, which nothing reads
            return [UNWRITTEN]
        if not isinstance(declared, TensorType) or declared.dtype == "bfloat16":
            raise call.refuse(f"parameter {name} has a dtype that is not stored")
        array = self.weights[name]
        self.b.constants[name] = array
        return [Tensor(name, declared.dtype, tuple(array.shape))]

    def _data(self, call: Call, operator: Operator) -> Sequence[Lowered]:
        declared = call.result()
        made = Tensor(str(operator.attributes["name"]), declared.dtype, declared.shape)
        if made.name in self.weights:  # ONNX would take the weight for the input's default
            raise call.refuse(f"input {made.name} has the name of a parameter")
        self.inputs.append(made)
        return [made]

    def _fetch(self, call: Call, operator: Operator, operands: Sequence[Lowered]) -> Sequence[Lowered]:
        if any(map(is_complex, operands)):
            raise call.refuse(
                "an output is of complex values, which ONNX Runtime does not compute; put out as_real of it"
            )
        found = call.raw()
        named = Tensor(str(operator.attributes["name"]), found.dtype, found.shape)
        self.outputs[int(operator.attributes["col"])] = (found.name, named)
        return [found]

    def _if(self, call: Call, operator: Operator) -> Sequence[Lowered]:
        """Both branches give the results, and then what either writes into values from outside."""
        condition = call.b.reshape(call.raw(), [], [])
        changed = self._outer(changed_inside(operator))
        yields = zip(*(block.operators[-1].operands for block in operator.blocks), strict=False)
        results = {one: at for at, (one, *others) in enumerate(yields) if others == [one] and one in changed}
        extra = [number for number in changed if number not in results]
        bodies = [self._body(call, block, {}, (), extra) for block in operator.blocks]
        if len(bodies) != 2 or not of_one_kind(bodies[0][1], bodies[1][1]):
            raise call.refuse("both branches do not give as many values, of the same dtypes")
        (then, given), (other, _) = bodies
        shapes = [common_sizes(*pair) for pair in zip(then.outputs, other.outputs, strict=True)]
        made = call.b.many("If", condition, shapes=shapes, then_branch=then, else_branch=other)
        parts = iter([Tensor(x.name, out.dtype, x.shape) for x, out in zip(made, then.outputs, strict=True)])
        values = [like(value, parts) for value in given]
        end = len(values) - len(extra)
        self._scopes[-1].update(zip(extra, values[end:], strict=True))
        self._scopes[-1].update({number: values[at] for number, at in results.items()})
        return values[:end]

    def _while(self, call: Call, operator: Operator, operands: Sequence[Lowered]) -> Sequence[Lowered]:
        """Loop without a bound on its turns; the body puts out the condition first, as PIR's does.

        What it writes into values from outside goes in and out last.
        """
        b = call.b
        condition, (block,) = b.reshape(call.raw(0), [], []), operator.blocks
        changed = self._outer(changed_inside(operator))
        carried = [operand if parts_of(operand) else call.raw(at) for at, operand in enumerate(operands[1:], 1)]
        carried += [self.value(number, operator) for number in changed]
        declared = [(argument.id, value_name(argument.id), argument.type) for argument in block.arguments]
        declared += [(number, b.name("changed"), None) for number in changed]
        scope = {
            number: inside(b, value, name, kind) for value, (number, name, kind) in zip(carried, declared, strict=True)
        }
        own = (Tensor(b.name("turn"), "int64", ()), Tensor(b.name("running"), "bool", ()))
        before = [scope[number] for number in changed]
        body, (_, *given) = self._body(call, block, scope, own, changed)
        end = len(given) - len(changed)
        if any(not _is_as_before(*pair) for pair in zip(before, given[end:], strict=True)):
            raise call.refuse("it changes the dtype or the sizes of a tensor from outside the loop")
        shapes = [part.shape for part in body.outputs[1:]]
        inputs = [part for value in carried for part in parts_of(value)]
        made = b.many("Loop", None, condition, *inputs, shapes=shapes, body=body)
        parts = iter([Tensor(x.name, out.dtype, out.shape) for x, out in zip(made, body.outputs[1:], strict=True)])
        values = [like(value, parts) for value in given]
        self._scopes[-1].update(zip(changed, values[end:], strict=True))
        return values[:end]

    def _outer(self, numbers: set[int]) -> list[int]:
        """Those of these values that exist already."""
        return sorted(number for number in numbers if any(number in scope for scope in self._scopes))

    def _body(
        self, call: Call, block: Block, scope: dict[int, Lowered], own: Sequence[Tensor], changed: Sequence[int]
    ) -> tuple[Graph, list[Lowered]]:
        """A block as a graph of its own, and the values it puts out: its own and those of the numbers `changed`.

        It takes in `own` and the values of `scope`. What it puts out is made in it, since ONNX asks for that.
        """
        outer, about = self.b.graph, self.b.about
        inner = self.b.graph = Graph(inputs=[*own, *(part for value in scope.values() for part in parts_of(value))])
        self._ends = {}
        self._scopes.append(scope)
        *operators, last = block.operators
        self.block(Block(block.arguments, tuple(operators)))
        given: list[Lowered] = []
        for value in [self.value(number, last) for number in (*last.operands, *changed)]:
            if not parts_of(value):
                raise call.refuse("its body gives what is no tensor, such as a list of a fixed length")
            parts = [self.b.emit("Identity", part, shape=part.shape) for part in parts_of(value)]
            given.append(like(value, iter(parts)))
            inner.outputs += parts
        self._ends = {}
        if own:  # the condition of a loop is a scalar
            inner.outputs[0] = self.b.reshape(inner.outputs[0], [], [])
        self._scopes.pop()
        self.b.graph, self.b.about = outer, about
        return inner, given


def _is_as_before(before: Lowered, after: Lowered) -> bool:
    """Return whether a loop may carry a value: a list that grows, or a tensor that keeps its dtype and sizes."""
    if isinstance(before, Growing) and isinstance(after, Growing):
        return before.numbers.dtype == after.numbers.dtype
    both = [[(part.dtype, part.shape) for part in parts_of(value)] for value in (before, after)]
    return both[0] == both[1]
