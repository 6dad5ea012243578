"""An ONNX graph that passes edit: nodes in order, constants as arrays, and who reads what, kept up to date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from exporter.base.errors import ModelError
from exporter.base.tensors import Array

#: They leave the numbers of a tensor as they are, in their order.
_SAME_NUMBERS = frozenset("Flatten Identity Reshape Squeeze Unsqueeze".split())

Node: TypeAlias = Any
Proto: TypeAlias = Any


class Graph:
    """The top graph of a model.

    `constants` are what it reads. `origins` names, for each constant that a pass computed, the constants of the file
    before that went into it; `computed` are those that are more than such a constant in another shape, or one layer's
    weight with one batch norm in it. A node that was dropped is gone from `nodes` at once. `inferred` is what somebody
    worked out of the graph as it stands; every edit forgets it.
    """

    def __init__(self, model: Proto, constants: Mapping[str, Array]) -> None:
        self.model = model
        self.opset = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)
        self.inputs: list[Proto] = list(model.graph.input)
        self.outputs: list[Proto] = list(model.graph.output)
        self.constants: dict[str, Array] = dict(constants)
        self.origins: dict[str, frozenset[str]] = {}
        self.computed: set[str] = set()
        self.inferred: Any = None
        self._nodes: dict[int, Node] = {}
        self._readers: dict[str, dict[int, Node]] = {}
        self._makers: dict[str, Node] = {}
        self.nodes = model.graph.node

    @property
    def nodes(self) -> list[Node]:
        """The nodes, each after those that it reads from."""
        return list(self._nodes.values())

    @nodes.setter
    def nodes(self, nodes: Iterable[Node]) -> None:
        self.inferred = None
        for held in (self._nodes, self._readers, self._makers):
            held.clear()
        for node in nodes:
            self._enter(node)

    def each(self, *kinds: str) -> Iterator[Node]:
        """The nodes of some kinds, as long as they are still there when their turn comes."""
        for key, node in list(self._nodes.items()):
            if key in self._nodes and node.op_type in kinds and node.domain in ("", "ai.onnx"):
                yield node

    @property
    def output_names(self) -> set[str]:
        """The graph's outputs, whose names must stay."""
        return {one.name for one in self.outputs}

    def maker(self, name: str) -> Node:
        """The node that computes a value; None for an input or a constant."""
        return self._makers.get(name)

    def readers(self, name: str) -> list[Node]:
        """The nodes that read a value, those with a body that reads it included."""
        return list(self._readers.get(name, {}).values())

    def only_reader(self, name: str) -> Node:
        """The one node that reads a value, once and not from within its body; None if anything else needs it."""
        readers = self.readers(name)
        if name in self.output_names or len(readers) != 1 or list(readers[0].input).count(name) != 1:
            return None
        return None if name in captured(readers[0]) else readers[0]

    def drop(self, node: Node) -> None:
        """Take a node out; whoever read its outputs must be rewired by the caller."""
        self.inferred = None
        del self._nodes[id(node)]
        for name in reads(node):
            self._readers.get(name, {}).pop(id(node), None)
        for name in node.output:
            if self._makers.get(name) is node:
                del self._makers[name]

    def become(self, node: Node, kind: str, inputs: Sequence[str], **attributes: int) -> None:
        """Make a node another operation in the same place, with the same outputs and nothing of the old attributes."""
        from onnx import helper

        self.rewire(node, inputs)
        node.op_type, node.name = kind, ""
        del node.attribute[:]
        node.attribute.extend(helper.make_attribute(name, value) for name, value in sorted(attributes.items()))

    def put_before(self, node: Node, kind: str, inputs: Sequence[str], output: str, **attributes: int) -> None:
        """Insert a new node just before another one, and with what that says of where it comes from."""
        from onnx import helper

        self.inferred = None
        made = helper.make_node(kind, inputs, [output], **attributes)
        made.metadata_props.extend(node.metadata_props)
        self._enter(made)
        order = list(self._nodes.items())
        order.insert([key for key, _ in order].index(id(node)), order.pop())
        self._nodes = dict(order)

    def rewire(self, node: Node, inputs: Sequence[str]) -> None:
        """Give a node other inputs."""
        self.inferred = None
        for name in reads(node):
            self._readers.get(name, {}).pop(id(node), None)
        node.input[:] = inputs
        for name in reads(node):
            self._readers.setdefault(name, {})[id(node)] = node

    def reads_instead(self, old: str, new: str) -> None:
        """Let everything that read `old` read `new`; bodies too."""
        for node in self.readers(old):
            for body in bodies(node):
                _rename(body, old, new)
            self.rewire(node, [new if name == old else name for name in node.input])
        self._readers.pop(old, None)

    def puts_out_instead(self, node: Node, old: str, new: str) -> None:
        """Let a node call its output `new`, and everything that read `old` read that."""
        self.inferred = None
        self.reads_instead(old, new)
        node.output[:] = [new if name == old else name for name in node.output]
        self._makers.pop(old, None)
        self._makers[new] = node

    def hold(self, name: str, value: Array, made_of: Sequence[str]) -> str:
        """Keep a computed constant under this name, or with a number behind it if another has it; return the name."""
        if name in self.constants and _equal(self.constants[name], value):
            return name
        free, inputs = name, {one.name for one in self.inputs}
        for at in count(1):
            if free not in self.constants and free not in self._makers and free not in inputs:
                break
            free = f"{name}.{at}"
        self.inferred = None
        self.origins[free] = self.origin(*made_of)
        self.constants[free] = value
        return free

    def origin(self, *names: str) -> frozenset[str]:
        """The constants of the file before that these ones were made of: themselves, if no pass computed them."""
        return frozenset(one for name in names for one in self.origins.get(name, {name}))

    def becomes_constant(self, node: Node, value: Array) -> None:
        """Put a constant in the place of a node with one output."""
        name = node.output[0]
        # A shape or an axis says how a weight is moved; it does not go into it.
        held = {one: self.constants[one] for one in node.input if one in self.constants}
        made_of = [one for one, part in held.items() if part.dtype.kind == value.dtype.kind]
        same = node.op_type in _SAME_NUMBERS or (node.op_type == "Transpose" and value.ndim == 2)
        whole = same and self.computed.isdisjoint(made_of)
        self.drop(node)
        name = self.hold(name, value, made_of)
        self.computed |= set() if whole else {name}

    def _enter(self, node: Node) -> None:
        self._nodes[id(node)] = node
        for name in reads(node):
            self._readers.setdefault(name, {})[id(node)] = node
        for name in node.output:
            if name:
                self._makers[name] = node


def attribute(node: Node, name: str, default: Any = None) -> Any:
    """The value of a node's attribute, or the default that its operator gives it."""
    from onnx import helper

    return next((helper.get_attribute_value(one) for one in node.attribute if one.name == name), default)


def captured(node: Node) -> set[str]:
    """What a node's bodies read; names within are unique in a model, so those that they make themselves do no harm."""
    return {name for body in bodies(node) for one in body.node for name in reads(one)} | {
        one.name for body in bodies(node) for one in body.output
    }


def reads(node: Node) -> set[str]:
    """Return the names that a node reads from outside, its bodies included."""
    return {name for name in node.input if name} | (captured(node) if bodies(node) else set())


def every(graph: Proto) -> Iterator[Node]:
    """The nodes of a graph and those of their bodies, however deep."""
    for node in graph.node:
        yield node
        for body in bodies(node):
            yield from every(body)


def refuse_invalid(model: Proto, what: str, leave_out: str) -> None:
    """Make sure that a model is valid ONNX; `what` it is, and what a user should `leave_out` until it is.

    Raises:
        ModelError: it is not.
    """
    import onnx

    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise ModelError(
            f"{what} is not valid: {str(error).splitlines()[0][:300]}",
            where="onnx",
            hint=f"report it with the model; until then leave {leave_out}",
        ) from error


def _equal(one: Array, other: Array) -> bool:
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()


def bodies(node: Node) -> list[Proto]:
    """The graphs that a node runs, such as the sides of an `If`."""
    found = [one.g for one in node.attribute if one.type == one.GRAPH]
    return found + [body for one in node.attribute if one.type == one.GRAPHS for body in one.graphs]


def _rename(body: Proto, old: str, new: str) -> None:
    for node in body.node:
        node.input[:] = [new if name == old else name for name in node.input]
        for inner in bodies(node):
            _rename(inner, old, new)
    for one in body.output:
        if one.name == old:
            one.name = new
