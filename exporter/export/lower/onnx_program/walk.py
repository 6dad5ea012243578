"""Operator by operator, from the block of a program to the nodes of a graph; control flow owns further blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exporter.base.readers.program import Block, Operator, TensorType, Type, Value
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.call import UNWRITTEN, Call, Lowered, Lowering, OperatorRefused
from exporter.export.lower.onnx_program.constants import Constants
from exporter.export.lower.onnx_program.effects import appended, dtypes_of_members, needed, readers, written_in_place
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Graph, Growing, Pair, Tensor, value_name
from exporter.export.lower.onnx_program.ops import FOLDED, NUMBERS, OF_PAIRS, OPERATORS, TO_BOTH, VALUES, lists

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
            "builtin.combine": lambda *_: [_listed(operands)],
            "builtin.split": lambda *_: list(operands[0]) if isinstance(operands[0], tuple) else [],
            "create_array": lambda *_: [lists.empty(self.b, self._members.get(operator.results[0].id, "float32"))],
            "array_write_": lambda *_: self._append(call, operator),
            "if": self._if,
            "while": lambda *_: self._while(call, operator, operands),
        }
        if operator.name in own:
            return own[operator.name](call, operator)
        plain, given = operator.name.removesuffix("_"), any(map(_is_complex, operands))
        if (given or _gives_complex(operator)) and not TO_BOTH.isdisjoint((operator.name, plain)):
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
        results = tuple(Value(value.id, _real_type(value.type)) for value in operator.results)
        for at in (0, 1) if _gives_complex(operator) else (0,):
            attributes = {
                name: _number(held, at) if name in NUMBERS else held for name, held in operator.attributes.items()
            }
            part = replace(operator, results=results, attributes=attributes)
            given = [self._part(operand, at, place in VALUES.get(plain, ())) for place, operand in enumerate(operands)]
            call = Call(part, given, self.b, self._read)
            halves.append(self._by(OPERATORS.get(operator.name) or OPERATORS[plain], call, part))
        if len(halves) == 1:
            return halves[0]
        if plain == "eye":
            halves[1] = [self._zeros(one) if isinstance(one, Tensor) else one for one in halves[1]]
        return [_joined(real, imag) for real, imag in zip(*halves, strict=True)]

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
            return _listed(parts)
        if isinstance(found, Pair):
            both = [self._checked(call, _real_type(declared), part) for part in (found.real, found.imag)]
            return _joined(*both)
        if isinstance(found, Growing):
            return found
        if not isinstance(found, Tensor) or not isinstance(declared, TensorType):
            return UNWRITTEN
        if _is_complex_type(declared):
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
            return _listed([self._named(part, one, start) for part, one in zip(found, numbers, strict=True)])
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
        if written not in self._scopes[-1]:
            raise call.refuse("it writes into a tensor from outside the branch or loop")
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
        if any(map(_is_complex, operands)):
            raise call.refuse(
                "an output is of complex values, which ONNX Runtime does not compute; put out as_real of it"
            )
        found = call.raw()
        named = Tensor(str(operator.attributes["name"]), found.dtype, found.shape)
        self.outputs[int(operator.attributes["col"])] = (found.name, named)
        return [found]

    def _if(self, call: Call, operator: Operator) -> Sequence[Lowered]:
        condition = call.b.reshape(call.raw(), [], [])
        bodies = [self._body(call, block, (), ()) for block in operator.blocks]
        if len(bodies) != 2 or len(bodies[0].outputs) != len(bodies[1].outputs):
            raise call.refuse("both branches do not give as many values")
        shapes = [one.shape for one in bodies[0].outputs]
        attributes = {"then_branch": bodies[0], "else_branch": bodies[1]}
        made = call.b.many("If", condition, shapes=shapes, **attributes)
        outputs = [Tensor(one.name, out.dtype, out.shape) for one, out in zip(made, bodies[0].outputs, strict=True)]
        return _given(operator, outputs)

    def _while(self, call: Call, operator: Operator, operands: Sequence[Lowered]) -> Sequence[Lowered]:
        """Loop without a bound on its turns; the body puts out the condition first, as PIR's does."""
        b = call.b
        condition = b.reshape(call.raw(0), [], [])
        parts = [_parts(operands[at]) or (call.raw(at),) for at in range(1, len(operator.operands))]
        carried = [part for listed in parts for part in listed]
        grown = {number: self.value(number, operator) for number in sorted(self._outer(appended(operator)))}
        if not set(grown) <= set(self._scopes[-1]):
            raise call.refuse("it appends to a list from outside the branch")
        carried += [part for listed in grown.values() for part in _parts(listed)]
        (block,) = operator.blocks
        turn = Tensor(b.name("turn"), "int64", ())
        running = Tensor(b.name("running"), "bool", ())
        body = self._body(call, block, block.arguments, (turn, running), tuple(grown))
        shapes = [one.shape for one in body.outputs[1:]]
        made = b.many("Loop", None, condition, *carried, shapes=shapes, body=body)
        outputs = [Tensor(one.name, out.dtype, out.shape) for one, out in zip(made, body.outputs[1:], strict=True)]
        end = len(outputs) - 3 * len(grown)
        for at, number in enumerate(grown):
            self._scopes[-1][number] = Growing(*outputs[end + 3 * at : end + 3 * at + 3])
        return _given(operator, outputs[:end])

    def _outer(self, numbers: set[int]) -> set[int]:
        """Those of these lists that exist already."""
        return {number for number in numbers if any(number in scope for scope in self._scopes)}

    def _body(
        self, call: Call, block: Block, arguments: Sequence[Value], own: Sequence[Tensor], grown: Sequence[int] = ()
    ) -> Graph:
        """A block as a graph of its own; what it puts out is made in it, since ONNX asks for that.

        The lists `grown` go in and out last: the block appends to them.
        """
        outer, about = self.b.graph, self.b.about
        inner = self.b.graph = Graph(inputs=list(own))
        scope: dict[int, Lowered] = {}
        for argument in arguments:
            if not isinstance(argument.type, TensorType):
                raise call.refuse("it carries what is no tensor, such as a list that grows")
            name, dtype, shape = value_name(argument.id), argument.type.dtype, argument.type.shape
            if dtype in FLOATS_OF:
                lowered: Lowered = Pair(*(Tensor(self.b.name(name), FLOATS_OF[dtype], shape) for _ in range(2)))
            else:
                lowered = Tensor(name, dtype, shape)
            scope[argument.id] = lowered
            inner.inputs.extend(_parts(lowered))
        for number in grown:
            kinds = zip(_parts(self.value(number, call.operator)), ((-1,), (-1,), (1,)), strict=True)
            inside = Growing(*(Tensor(self.b.name("list"), part.dtype, shape) for part, shape in kinds))
            scope[number] = inside
            inner.inputs.extend(inside.parts)
        self._ends = {}
        self._scopes.append(scope)
        *operators, last = block.operators
        self.block(Block(block.arguments, tuple(operators)))
        for number in last.operands:
            parts = _parts(self.value(number, last))
            if not parts:
                raise call.refuse("its body gives what is no tensor, such as a list that grows")
            inner.outputs += [self.b.emit("Identity", part, shape=part.shape) for part in parts]
        for number in grown:
            parts = _parts(scope[number])
            inner.outputs += [self.b.emit("Identity", part, shape=part.shape) for part in parts]
        self._ends = {}
        if own:  # the condition of a loop is a scalar
            inner.outputs[0] = self.b.reshape(inner.outputs[0], [], [])
        self._scopes.pop()
        self.b.graph, self.b.about = outer, about
        return inner


def _parts(value: Lowered) -> tuple[Tensor, ...]:
    """A tensor, both parts of a complex value, the three of a list that grows; nothing of anything else."""
    if isinstance(value, Pair):
        return value.real, value.imag
    if isinstance(value, Growing):
        return value.parts
    return (value,) if isinstance(value, Tensor) else ()


def _given(operator: Operator, outputs: Sequence[Tensor]) -> list[Lowered]:
    """What a branch or loop made, as its results are declared; two outputs are one complex value."""
    left = iter(outputs)
    kinds = [_is_complex_type(value.type) for value in operator.results]
    return [Pair(next(left), next(left)) if is_complex else next(left) for is_complex in kinds]


def _is_complex_type(declared: Type) -> bool:
    if isinstance(declared, tuple):
        return any(map(_is_complex_type, declared))
    return declared is not None and declared.dtype in FLOATS_OF


def _gives_complex(operator: Operator) -> bool:
    return any(_is_complex_type(value.type) for value in operator.results)


def _number(held: Any, at: int) -> Any:
    """The real (0) or imaginary part (1) of a number of the result, or of a list of them."""
    if isinstance(held, (list, tuple)):
        return [one[at] if isinstance(one, (list, tuple)) else _number(one, at) for one in held]
    return 0.0 if at else held


def _is_complex(operand: Lowered) -> bool:
    return isinstance(operand, Pair) or (isinstance(operand, tuple) and any(map(_is_complex, operand)))


def _listed(parts: Sequence[Lowered]) -> Lowered:
    """A list of tensors, or of complex values."""
    pairs = tuple(part for part in parts if isinstance(part, Pair))
    tensors = tuple(part for part in parts if isinstance(part, Tensor))
    if len(pairs) + len(tensors) != len(parts) or (pairs and tensors):
        return UNWRITTEN
    return pairs or tensors


def _joined(real: Lowered, imag: Lowered) -> Lowered:
    """Both parts as one value; lists part by part."""
    if isinstance(real, tuple) and isinstance(imag, tuple):
        return _listed([_joined(one, two) for one, two in zip(real, imag, strict=True)])
    return Pair(real, imag) if isinstance(real, Tensor) and isinstance(imag, Tensor) else UNWRITTEN


def _real_type(declared: Type) -> Type:
    """What PIR declares of a complex value, for one of its parts."""
    if isinstance(declared, tuple):
        return tuple(map(_real_type, declared))
    if declared is None:
        return None
    return TensorType(FLOATS_OF.get(declared.dtype, declared.dtype), declared.shape)
