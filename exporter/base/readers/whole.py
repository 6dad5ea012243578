"""Whether a PIR program holds together: each value is given once, before it is read, and of a kind that there is.

Whoever runs a program believes it in this, Paddle too: what is not so ends there in an error that names no operator,
or in a crash. What is asked for here holds of all that Paddle 3.3.1 was seen to write (3,059 files of networks and
operators).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporter.base.errors import BundleError

HINT = "get a fresh copy of it, or save the model again by paddle.jit.save"
#: Types of values by Paddle's headers (`include/paddle`, 3.3.1); those of an element are in a table of their own.
_TYPES = frozenset(
    "t_dtensor t_vec t_dense_tensor_array t_selected_rows t_sparse_coo_tensor t_sparse_csr_tensor t_stack t_inlet "
    "t_outlet t_index".split()
)
#: What Paddle calls dtypes in an attribute (`phi/common/data_type.h`, 3.3.1), but one that says "any of them".
_DTYPES = frozenset(
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float8_e4m3fn float8_e5m2 bfloat16 float16 float32 float64 "
    "complex64 complex128 pstring".split()
)
_NOT_FINITE = frozenset(("INF", "-INF", "+INF", "NAN"))
#: What an attribute of a kind holds in JSON; True of the kinds that nothing here reads.
_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    "a_str": lambda value: isinstance(value, str),
    "a_bool": lambda value: isinstance(value, bool),
    "a_i32": lambda value: type(value) is int,
    "a_i64": lambda value: type(value) is int,
    "a_f32": lambda value: type(value) in (int, float),
    "a_f64": lambda value: type(value) in (int, float),
    "a_array": lambda value: isinstance(value, list),
    "a_intarray": lambda value: isinstance(value, list) and all(type(size) is int for size in value),
    "a_dtype": lambda value: value in _DTYPES or str(value).lower().startswith("undefined"),
    **dict.fromkeys(
        "a_index a_c64 a_c128 a_pointer a_type a_tensorname a_place a_layout a_scalar a_kernel a_symbol".split(),
        lambda _value: True,
    ),
}
#: How many blocks an operator has, by its name; what each of them has to yield besides the operator's results.
_BLOCKS = {"1.if": (2, 0), "1.while": (1, 1)}


def refuse_broken(program: Any, where: str, elements: Iterable[str]) -> None:
    """Make sure that the program of a file holds together; `elements` are the names of the types of elements.

    Raises:
        BundleError: it does not; the first operator is named.
        LookupError, TypeError, ValueError, AttributeError: it is JSON of another shape.
    """
    blocks = [block for region in program["regions"] for block in region["blocks"]]
    if len(blocks) != 1:
        raise _broken(f"the program has {len(blocks)} blocks, not one", where)
    _Walk(where, frozenset(elements)).block(blocks[0])


def _broken(what: str, where: str) -> BundleError:
    return BundleError(what, where=where, hint=HINT)


@dataclass
class _Walk:
    """What the operators so far have given: values by number (`visible`: those that may be read), and names."""

    where: str
    elements: frozenset[str]
    given: set[int] = field(default_factory=set)
    visible: dict[int, Any] = field(default_factory=dict)
    names: set[tuple[str, object]] = field(default_factory=set)
    count: int = 0

    def block(self, block: Any, place: str = "") -> None:
        """Go through the operators of a block; what they give is not visible after it."""
        own: list[int] = []
        for argument in block["args"]:
            self._give(argument["#"], argument["TT"], f"an argument of a block{place}", own)
        for operator in block["ops"]:
            self._operator(operator, own)
        for number in own:
            del self.visible[number]

    def _operator(self, operator: Any, own: list[int]) -> None:
        name = str(operator["#"])
        place = f"operator {self.count}, {name.partition('.')[2] or 'parameter'}"
        self.count += 1
        if name == "p":
            self._called("parameters are called", operator["A"][3], place)
            self._give(operator["O"]["%"], operator["O"]["TT"], place, own)
            return
        for attribute in operator["A"]:
            self._attribute(attribute["AT"], f"{place}: its attribute {attribute['N']!r}")
        if name in ("1.data", "1.fetch"):
            kind, key = ("inputs are called", "name") if name == "1.data" else ("outputs have the place", "col")
            named = {str(attribute["N"]): attribute["AT"].get("D") for attribute in operator["A"]}
            self._called(kind, named[key], place)
        for operand in operator["I"]:
            if operand["%"] != 0 and operand["%"] not in self.visible:
                raise self._wrong(f"{place}, reads the value {operand['%']}, which nothing before it gives")
        if name in _BLOCKS or operator.get("regions"):
            self._blocks(operator, name, place)
        for result in operator["O"]:
            self._give(result["%"], result.get("TT"), place, own)

    def _called(self, kind: str, name: object, place: str) -> None:
        if (kind, name) in self.names:
            raise self._wrong(f"two of its {kind} {name!r}, the second by {place}")
        self.names.add((kind, name))

    def _give(self, number: int, kind: Any, place: str, own: list[int]) -> None:
        for name in _types(kind):
            dialect, _, plain = name.partition(".")
            if plain not in _TYPES and plain not in self.elements and dialect in ("0", "1", "2"):
                raise self._wrong(f"{place}, gives a value of the type {name!r}, which there is not")
        if kind and kind["#"] == "0.t_dtensor" and not _HOLDS["a_intarray"](kind["D"][1]):
            raise self._wrong(f"{place}, gives a tensor of the sizes {str(kind['D'][1])[:40]}, which are none")
        if number == 0:  # a result that nobody asked for
            return
        if number in self.given:
            raise self._wrong(f"{place}, gives the value {number}, which was given before")
        self.given.add(number)
        self.visible[number] = kind
        own.append(number)

    def _attribute(self, attribute: Any, place: str) -> None:
        dialect, _, kind = str(attribute["#"]).partition(".")
        holds = _HOLDS.get(kind)
        if holds is None and dialect in ("0", "1"):
            raise self._wrong(f"{place} is of the kind {attribute['#']!r}, which there is not")
        if "D" not in attribute and str(attribute.get("VD")).upper() in _NOT_FINITE:
            return
        value = attribute.get("D")
        if holds is not None and not holds(value):
            raise self._wrong(f"{place} is of the kind {kind!r} and holds {str(value)[:40]!r}")
        for part in value if kind == "a_array" else ():
            self._attribute(part, place)

    def _blocks(self, operator: Any, name: str, place: str) -> None:
        blocks = [block for region in operator.get("regions", ()) for block in region["blocks"]]
        due, more = _BLOCKS.get(name, (len(blocks), 0))
        if len(blocks) != due:
            raise self._wrong(f"{place}, has {len(blocks)} blocks, not {due}")
        handed = len(operator["I"]) - 1 if name == "1.while" else 0
        for block in blocks:
            if name in _BLOCKS and len(block["args"]) != handed:
                raise self._wrong(f"{place}: its block takes {len(block['args'])} arguments, not {handed}")
            self.block(block, f" of {place}")
            last = block["ops"][-1] if block["ops"] else {"#": "", "I": ()}
            yielded, wanted = len(last["I"]), len(operator["O"]) + more
            if name in _BLOCKS and (last["#"] != "2.yield" or yielded != wanted):
                what = f"yields {yielded} values" if last["#"] == "2.yield" else "ends without a yield"
                raise self._wrong(f"{place}: its block {what}, and {wanted} are due")
        if name in _BLOCKS and "0.t_bool" not in _types(self.visible[operator["I"][0]["%"]]):
            raise self._wrong(f"{place}, decides by the value {operator['I'][0]['%']}, which is no bool")

    def _wrong(self, what: str) -> BundleError:
        return _broken(what, self.where)


def _types(kind: Any) -> Iterator[str]:
    """The names of a type and of those in it: of a tensor's elements, of each of a list."""
    if not kind:
        return
    name = str(kind["#"])
    if name != "NULL":
        yield name
    if name == "0.t_vec":
        for part in kind["D"]:
            yield from _types(part)
    elif name == "0.t_dtensor":
        yield str(kind["D"][0]["#"])
