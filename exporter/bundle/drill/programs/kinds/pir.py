"""PIR `.json`, edited as the JSON it is. What its letters mean stands in exporter/base/readers/kinds/pir.py."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from exporter.bundle.drill.programs.base import NOISE, Attribute, Node, Operation, Program, Unplantable

_Json: TypeAlias = dict[str, Any]
#: An attribute as PIR writes it: name, type, value.
_Typed: TypeAlias = tuple[str, str, Any]

_NOT_NODES = ("p", "1.data", "1.fetch")
_F16, _F32, _F64, _I32, _I64 = "0.t_f16", "0.t_f32", "0.t_f64", "0.t_i32", "0.t_i64"
_DTYPES = {_F32: "float32", _F64: "float64", _I64: "int64", _I32: "int32"}
_PLACE = ("place", "1.a_place", [1, 0, ""])
_UNIFORM: tuple[_Typed, ...] = (
    ("dtype", "1.a_dtype", "float32"),
    ("seed", "0.a_i32", 0),
    ("place", "1.a_place", [0, 0, ""]),
)
#: Operators of one input, and their attributes (Paddle 3.3.1; looked up in files that it wrote).
_SIMPLE: dict[Operation, tuple[str, tuple[_Typed, ...]]] = {
    Operation.IDENTITY: ("assign", ()),
    Operation.RELU: ("relu", ()),
    Operation.RELU6: ("relu6", ()),
    Operation.SIGMOID: ("sigmoid", ()),
    Operation.HARD_SIGMOID: ("hardsigmoid", (("slope", "0.a_f32", 0.1666667), ("offset", "0.a_f32", 0.5))),
    Operation.HARD_SWISH: ("hardswish", ()),
    Operation.SOFTSIGN: ("softsign", ()),
    Operation.TANH: ("tanh", ()),
}


class PirProgram(Program):
    """The JSON tree; values are numbers."""

    constants = frozenset({"full", "full_int_array", "assign_value"})

    def __init__(self, tree: _Json) -> None:
        self._index(tree)

    def _index(self, tree: _Json) -> None:
        self._tree = tree
        places = list(_places(tree["program"]))
        self._types = {one["%"]: one["TT"] for ops, at in places for one in _results(ops[at])}
        self._operators = [(ops, ops[at]) for ops, at in places if ops[at]["#"] not in _NOT_NODES]
        self._fetches = [ops[at] for ops, at in places if ops[at]["#"] == "1.fetch"]
        self._inputs = [ops[at] for ops, at in places if ops[at]["#"] == "1.data"]
        self._next: int = max(self._types) + 1

    @classmethod
    def parse(cls, content: bytes) -> PirProgram:
        return cls(json.loads(content))

    def encode(self) -> bytes:
        return json.dumps(self._tree, separators=(",", ":")).encode()

    def nodes(self) -> Sequence[Node]:
        return [_node(at, operator) for at, (_, operator) in enumerate(self._operators)]

    def dtype(self, value: str) -> str:
        return _DTYPES.get(_element(self._types.get(int(value), {})), "")

    def set(self, node: Node, name: str, value: Attribute) -> None:
        _, operator = self._at(node)
        (attribute,) = [one["AT"] for one in operator["A"] if one["N"] == name]
        if attribute["#"] == "0.a_array":
            assert isinstance(value, list)  # noqa: S101  # a fault keeps an attribute's type
            attribute["D"] = [{**old, "D": new} for old, new in zip(attribute["D"], value, strict=True)]
        else:
            attribute["D"] = value

    def follow(self, node: Node, operation: Operation) -> None:
        operators, operator = self._at(node)
        result = operator["O"][0]
        old, kind = result["%"], result["TT"]
        fresh = self._fresh(kind)
        inserted = self._operation(operation, fresh, old, kind)
        result["%"] = fresh
        at = operators.index(operator)
        operators[at + 1 : at + 1] = inserted
        new_kind = inserted[-1]["O"][0]["TT"]
        self._types[old] = new_kind
        for fetch in self._fetches:
            if fetch["I"][0]["%"] == old:
                fetch["O"][0]["TT"] = new_kind

    def become(self, node: Node, operation: Operation, operand: int = 0) -> None:
        operators, operator = self._at(node)
        result, source = operator["O"][0], operator["I"][operand]["%"]
        at = operators.index(operator)
        operators[at : at + 1] = self._operation(operation, source, result["%"], result["TT"])

    def outputs(self) -> dict[str, str]:
        return {_attribute(one, "name")["D"]: str(one["I"][0]["%"]) for one in self._fetches}

    def rename_outputs(self, names: dict[str, str]) -> None:
        for fetch in self._fetches:
            attribute = _attribute(fetch, "name")
            attribute["D"] = names.get(attribute["D"], attribute["D"])

    def repeat_output(self, name: str, again: str) -> None:
        fetch = next(one for one in self._fetches if _attribute(one, "name")["D"] == name)
        twin = copy.deepcopy(fetch)
        _attribute(twin, "name")["D"] = again
        _attribute(twin, "col")["D"] = len(self._fetches)
        twin["O"][0]["%"] = self._fresh(fetch["O"][0]["TT"])
        self._block().append(twin)

    def freeze_batch(self, rows: int) -> None:
        found = False
        for one in self._inputs:
            for dims in (one["O"][0]["TT"]["D"][1], _attribute(one, "shape")["D"]):
                if dims and dims[0] == -1:
                    dims[0], found = rows, True
        if not found:
            raise Unplantable("no input has a first size that varies")

    def cut_rows(self, output: str, rows: int) -> None:
        fetch = next(one for one in self._fetches if _attribute(one, "name")["D"] == output)
        operators, operator = self._at(self.maker(str(fetch["I"][0]["%"])))
        result = operator["O"][0]
        old, kind = result["%"], result["TT"]
        begin, end, fresh = self._fresh(_one_int()), self._fresh(_one_int()), self._fresh(kind)
        result["%"] = fresh
        at = operators.index(operator)
        operators[at + 1 : at + 1] = [
            _operator("full_int_array", (), (begin, _one_int()), _int_array(0)),
            _operator("full_int_array", (), (end, _one_int()), _int_array(rows)),
            _operator("slice", (fresh, begin, end), (old, kind), _slice()),
        ]

    def train(self, norm: Node) -> None:
        for name in ("is_test", "use_global_stats"):
            self.set(norm, name, False)

    def wear(self, tensor: str) -> None:
        parameter = next(one for one in self._block() if one["#"] == "p" and one["A"][3] == tensor)["O"]
        factor = self._fresh(_one_float())
        worn = self._fresh(parameter["TT"])
        scaled = _operator(
            "scale_",
            (parameter["%"], factor),
            (worn, parameter["TT"]),
            (("bias", "0.a_f32", 0.0), ("bias_after_scale", "0.a_bool", True)),
        )
        self._block().extend((_full(factor, 1.5), scaled))

    def widen(self) -> None:
        text = self.encode().decode()
        wide = text.replace(f'"{_F32}"', f'"{_F64}"')
        wide = wide.replace('{"#":"1.a_dtype","D":"float32"}', '{"#":"1.a_dtype","D":"float64"}')
        self._index(json.loads(wide))

    def _at(self, node: Node) -> tuple[list[_Json], _Json]:
        return self._operators[int(node.site.partition("@")[2])]

    def _block(self) -> list[_Json]:
        block: list[_Json] = self._tree["program"]["regions"][0]["blocks"][0]["ops"]
        return block

    def _fresh(self, kind: _Json) -> int:
        self._next += 1
        self._types[self._next] = kind
        return self._next

    def _operation(self, operation: Operation, source: int, target: int, kind: _Json) -> list[_Json]:
        """The operators that make `target` of `source`, a value of this kind."""
        if operation in _SIMPLE:
            name, attributes = _SIMPLE[operation]
            return [_operator(name, (source,), (target, kind), attributes)]
        if operation is Operation.HALF:
            half = self._fresh(_retyped(kind, _F16))
            return [_cast(source, half, _retyped(kind, _F16)), _cast(half, target, kind)]
        if operation is Operation.NOISE:
            shape, (low, high, noise) = self._fresh(_one_int()), [self._fresh(_one_float()) for _ in range(3)]
            return [
                _operator("full_int_array", (), (shape, _one_int()), _int_array(1)),
                _full(low, NOISE[0]),
                _full(high, NOISE[1]),
                _operator("uniform", (shape, low, high), (noise, _one_float()), _UNIFORM),
                _operator("add", (source, noise), (target, kind), ()),
            ]
        other = {_F32: _F64, _I64: _I32}.get(_element(kind))
        if other is None:
            raise Unplantable("only float32 and int64 outputs get another dtype")
        return [_cast(source, target, _retyped(kind, other))]


def _places(owner: _Json) -> Iterator[tuple[list[_Json], int]]:
    """Every operator, as its block and its place in it; those of nested regions after their owner."""
    for region in owner.get("regions", ()):
        for block in region["blocks"]:
            for at, operator in enumerate(block["ops"]):
                yield block["ops"], at
                yield from _places(operator)


def _node(at: int, operator: _Json) -> Node:
    kind = operator["#"].partition(".")[2].removesuffix("_")
    attributes = {one["N"]: _plain(one["AT"]) for one in operator["A"] if isinstance(one, dict) and "D" in one["AT"]}
    outputs = tuple(str(one["%"]) for one in _results(operator))
    return Node(kind, f"{kind}@{at}", tuple(str(one["%"]) for one in operator["I"]), outputs, attributes)


def _results(operator: _Json) -> list[_Json]:
    results = operator.get("O", [])
    return results if isinstance(results, list) else [results]


def _plain(attribute: _Json) -> Any:
    value = attribute["D"]
    return [one["D"] for one in value] if attribute["#"] == "0.a_array" else value


def _attribute(operator: _Json, name: str) -> _Json:
    found: _Json = next(one["AT"] for one in operator["A"] if one["N"] == name)
    return found


def _element(kind: _Json) -> str:
    """The type of a tensor's elements; empty for what is no tensor."""
    return str(kind["D"][0]["#"]) if kind.get("#") == "0.t_dtensor" else ""


def _retyped(kind: _Json, element: str) -> _Json:
    return {**kind, "D": [{"#": element}, *kind["D"][1:]]}


def _one_float() -> _Json:
    return {"#": "0.t_dtensor", "D": [{"#": _F32}, [1], "NCHW", [], 0]}


def _one_int() -> _Json:
    return {"#": "0.t_dtensor", "D": [{"#": _I64}, [1], "NCHW", [], 0]}


def _operator(name: str, inputs: tuple[int, ...], output: tuple[int, _Json], attributes: tuple[_Typed, ...]) -> _Json:
    stop_gradient = {"AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}]}, "N": "stop_gradient"}
    return {
        "#": f"1.{name}",
        "A": [{"AT": {"#": kind, "D": value}, "N": word} for word, kind, value in attributes],
        "I": [{"%": one} for one in inputs],
        "O": [{"%": output[0], "TT": output[1]}],
        "OA": [stop_gradient],
    }


def _cast(source: int, target: int, kind: _Json) -> _Json:
    name = {_F16: "float16", **_DTYPES}[_element(kind)]
    return _operator("cast", (source,), (target, kind), (("dtype", "1.a_dtype", name),))


def _full(target: int, value: float) -> _Json:
    attributes = (("shape", "1.a_intarray", [1]), ("value", "0.a_f64", value), ("dtype", "1.a_dtype", "float32"))
    return _operator("full", (), (target, _one_float()), (*attributes, _PLACE))


def _int_array(value: int) -> tuple[_Typed, ...]:
    return (("value", "0.a_array", [{"#": "0.a_i64", "D": value}]), ("dtype", "1.a_dtype", "int64"), _PLACE)


def _slice() -> tuple[_Typed, ...]:
    def array(*values: int) -> list[_Json]:
        return [{"#": "0.a_i64", "D": one} for one in values]

    return (
        ("axes", "0.a_array", array(0)),
        ("infer_flags", "0.a_array", array(1)),
        ("decrease_axis", "0.a_array", array()),
    )


plugin: type[Program] = PirProgram
