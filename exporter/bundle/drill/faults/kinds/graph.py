"""Faults of the program: another operator, attribute or constant, with the same tensors stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exporter.bundle.drill.faults.base import Family, Kind, at_node, edited
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Attribute, Node, Operation, Program, Unplantable

_TO = " -> "
#: Near relatives of an activation, by the words of all formats; names without underscores.
_RELATIVES = {
    "relu": Operation.RELU6,
    "relu6": Operation.RELU,
    "clip": Operation.RELU,
    "sigmoid": Operation.HARD_SIGMOID,
    "hardsigmoid": Operation.SIGMOID,
    "swish": Operation.HARD_SWISH,
    "silu": Operation.HARD_SWISH,
    "tanh": Operation.SOFTSIGN,
    "softsign": Operation.TANH,
    "leakyrelu": Operation.RELU,
}
_ADDITIONS = ("add", "elementwise_add")
_AXES = ("axis", "perm", "dim", "begin_norm_axis")
#: Their `axis` says how to broadcast and is -1.
_ELEMENTWISE = "elementwise_"
#: Attributes of training, of quantisation, or with a kind of fault of their own.
_NO_CONSTANTS = ("epsilon", "momentum", "dropout_prob", "Scale_", "seed", "value_", "fuse_")


def floats(material: Material) -> Iterator[Node]:
    """The nodes that compute a float32 tensor."""
    for node in material.program.computing():
        if node.outputs and material.program.dtype(node.outputs[0]) == "float32":
            yield node


def _epsilons(material: Material) -> Iterable[str]:
    return [node.site for node in material.program.live if "epsilon" in node.attributes]


def _raise_epsilon(program: Program, node: Node) -> None:
    epsilon = node.attributes["epsilon"]
    assert isinstance(epsilon, float)  # noqa: S101  # so all formats define it
    program.set(node, "epsilon", 10 * epsilon)


def _axes(material: Material) -> Iterator[str]:
    for node in material.program.live:
        for name in _AXES:
            if name in node.attributes and not node.kind.startswith(_ELEMENTWISE):
                yield f"{node.site} {name}"


def _change_axis(program: Program, site: str) -> None:
    place, name = site.split()
    node = program.at(place)
    value = node.attributes[name]
    if isinstance(value, list) and len(value) > 1:
        value = [int(axis) for axis in (*value[:-2], value[-1], value[-2])]
    elif isinstance(value, list):
        value = [_next_axis(int(axis)) for axis in value]
    else:
        value = _next_axis(int(value))
    if value == node.attributes[name] and not isinstance(value, list):
        raise Unplantable("there is no other axis")
    program.set(node, name, value)


def _next_axis(axis: int) -> int:
    return axis + 1 if axis == 0 else axis - 1


def _activations(material: Material) -> Iterator[str]:
    for node in floats(material):
        if relative := _RELATIVES.get(node.kind.replace("_", "")):
            yield f"{node.site}{_TO}{relative.value}"
        elif "approximate" in node.attributes:
            yield f"{node.site}{_TO}its approximation or back"


def _exchange(program: Program, site: str) -> None:
    place, word = site.split(_TO)
    node = program.at(place)
    if "approximate" in node.attributes:
        program.set(node, "approximate", not node.attributes["approximate"])
    else:
        program.become(node, Operation(word))


def _residuals(material: Material) -> Iterator[str]:
    """Sums of two computed tensors; a bias is a parameter, and no residual."""
    for node in floats(material):
        if node.kind in _ADDITIONS and all(material.program.made(value) for value in node.inputs):
            for operand, name in enumerate(("first", "second")):
                yield f"{node.site} keeps its {name}:{operand}"


def _drop_residual(program: Program, site: str) -> None:
    place, operand = site.partition(" ")[0], int(site.rpartition(":")[2])
    program.become(program.at(place), Operation.IDENTITY, operand)


def _constants(material: Material) -> Iterator[str]:
    for node in material.program.live:
        if material.stores(node.outputs):
            continue
        for name, value in node.attributes.items():
            held = node.kind in material.program.constants and name == "value" and value not in ([], "", True, False)
            if not name.startswith(_NO_CONSTANTS) and (held or isinstance(value, float)):
                yield f"{node.site} {name}"


def _change_constant(program: Program, site: str) -> None:
    place, _, name = site.rpartition(" ")
    node = program.at(place)
    value = node.attributes[name]
    program.set(node, name, [*value[:-1], _moved(value[-1])] if isinstance(value, list) else _moved(value))


def _moved(value: Attribute) -> int | float:
    assert isinstance(value, int | float)  # noqa: S101  # so `_constants` chose
    if isinstance(value, int):
        return value + 1
    return value * 1.01 if value else 0.01


def anywhere(material: Material) -> Iterable[str]:
    """The sites of all nodes that compute a float32 tensor."""
    return [node.site for node in floats(material)]


plugin: Family = (
    Kind("epsilon x10", _epsilons, at_node(_raise_epsilon)),
    Kind("another axis", _axes, edited(_change_axis)),
    Kind("near activation", _activations, edited(_exchange)),
    Kind("residual dropped", _residuals, edited(_drop_residual)),
    Kind("constant changed", _constants, edited(_change_constant)),
    Kind("half inside", anywhere, at_node(lambda program, node: program.follow(node, Operation.HALF))),
)
