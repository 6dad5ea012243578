"""Sizes in a program: numbers where they are known while tracing, tensors where the program computes them."""

from __future__ import annotations

from typing import Any, TypeAlias

from exporter.paddle.values import in_program, is_variable

#: A tensor of a program, an operator's attribute, a number: Paddle has no types for them.
Value: TypeAlias = Any
#: Operators that make sizes of sizes, and comparisons of them; a legacy program's have numbers in their names.
_OF_SIZES = frozenset(
    "add assign cast combine divide equal floor_divide maximum minimum multiply not_equal remainder scale slice "
    "squeeze stack subtract elementwise_add elementwise_mul elementwise_sub elementwise_floordiv elementwise_max "
    "elementwise_min squeeze2".split()
)
_NUMBERS = frozenset(("full", "full_int_array", "fill_constant"))
_SIZES = frozenset(("shape", "shape64"))
#: Operators that only pass one number on.
_PASS_ON = frozenset("assign cast squeeze squeeze2 reshape reshape2".split())


def known(sizes: Value) -> bool:
    """Return whether all sizes are numbers, and none of them the -1 of a dynamic dim."""
    return all(isinstance(size, int) and size >= 0 for size in sizes)


def computed(sizes: Value) -> bool:
    """Return whether it is a list with a tensor of a program in it."""
    return isinstance(sizes, (list, tuple)) and any(map(in_program, sizes))


def listed(value: Value, count: int) -> list[Value]:
    """One number for all dims, or one for each."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def sizes_of(x: Value) -> list[Value]:
    """The sizes of a tensor: a number where it is known, else a tensor that the program computes."""
    import paddle

    return [size if size >= 0 else paddle.shape(x)[at] for at, size in enumerate(x.shape)]


def is_of_sizes(value: Value) -> bool:
    """Return whether a tensor of a program is one number that sizes of tensors decide, as `x.shape[0] * 2`."""
    return list(value.shape) in ([], [1]) and _made_of(value) in ({"sizes"}, {"sizes", "numbers"})


def is_size_of(value: Value, x: Value, axis: int) -> bool:
    """Return whether a tensor of a program is the size of `x` at an axis, as `x.shape[axis]` reads it."""
    kind, sources, attributes = _passed_on(value)
    if kind != "slice":
        return False
    place = attributes["starts"] if "starts" in attributes else constant_list(sources[1])
    kind, vectors, _ = _passed_on(sources[0])
    return (
        kind in _SIZES and place is not None and [at % len(x.shape) for at in place] == [axis] and _same(vectors[0], x)
    )


def _maker(value: Value) -> tuple[str, list[Value], dict[str, Value]]:
    """Return the operator that makes a tensor of a program: its name, what it reads, its attributes."""
    if is_variable(value):
        operator = value.op
        if operator is None:
            return "", [], {}
        sources = [value.block._var_recursive(name) for name in operator.input_arg_names]
        return operator.type, sources, {name: operator.attr(name) for name in operator.attr_names}
    operator = value.get_defining_op()  # None of an argument of a loop's body
    if operator is None:
        return "", [], {}
    return operator.name().rpartition(".")[2], operator.operands_source(), operator.attrs()


def _passed_on(value: Value) -> tuple[str, list[Value], dict[str, Value]]:
    """Return the same of what computed the numbers that others only pass on."""
    kind, sources, attributes = _maker(value)
    while kind in _PASS_ON and len(sources) == 1:
        kind, sources, attributes = _maker(sources[0])
    return kind, sources, attributes


def constant_list(value: Value) -> list[int] | None:
    """Return the numbers of a constant list of a PIR program; None of one that is computed."""
    kind, _, attributes = _maker(value)
    return list(attributes["value"]) if kind == "full_int_array" else None


def _same(value: Value, other: Value) -> bool:
    return bool(value.name == other.name if is_variable(value) else value.is_same(other))


def _made_of(value: Value) -> set[str]:
    """Tell what a tensor of a program depends on: sizes, numbers, data."""
    kind, sources, _ = _maker(value)
    if kind in _SIZES:
        return {"sizes"}
    if kind in _NUMBERS and not sources:
        return {"numbers"}
    if kind not in _OF_SIZES or not sources:
        return {"data"}
    return set().union(*map(_made_of, sources))
