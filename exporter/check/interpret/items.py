"""Items of containers and tensors: taken by an index, walked through, added, replaced."""

from __future__ import annotations

import ast

from exporter.check.domain.call import Call
from exporter.check.domain.contents import register
from exporter.check.domain.join import element, fresh, join, join_all, pick, rest_with
from exporter.check.domain.tensors import slice_of, take, whole_slice
from exporter.check.domain.value_numbers import note_view, still_needed
from exporter.check.domain.values import (
    UNKNOWN,
    Array,
    Attributes,
    Const,
    Container,
    Dim,
    Extent,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Union,
    Value,
)
from exporter.check.facts import Indexed, Iterated, Overwritten
from exporter.check.interpret.attributes import set_named
from exporter.check.interpret.events import (
    call_unseen,
    from_container,
    is_own_key,
    read_content,
    snapshot,
    tensor_written,
    write_container,
)
from exporter.check.interpret.names import bind
from exporter.check.state.run import Run

#: Where a layer of Paddle keeps what is its own.
_OWN_TABLES = ("_parameters", "_sub_layers", "_buffers")


def iterate(run: Run, value: Value, node: ast.AST, form: str) -> Value:
    """What one turn of a walk through a value gives."""
    if run.forward:
        run.facts.append(Iterated(run.site(node), snapshot(value), form))
    read_content(run, value)
    if isinstance(value, Sequence):
        return from_container(run, value, element(value), node)
    if isinstance(value, Tensor):
        if value.guessed and form == "unpack":  # what is taken apart at once is hardly a tensor
            run.consume(value)
            return UNKNOWN
        sizes, closed = ((), False) if value.guessed else (value.sizes[1:], value.closed)
        return Tensor(sizes, closed, value.inputs, dtype=value.dtype, guessed=value.guessed)
    if isinstance(value, Shape):
        return Dim(Extent.UNKNOWN)
    if isinstance(value, Mapping):
        return Scalar("str")
    return UNKNOWN


def _subscript(run: Run, node: ast.Subscript) -> Value:
    container = run.evaluate(node.value)
    index = run.evaluate(node.slice)
    if isinstance(container, Container) and _is_own_item(run, container, index):
        run.effects.read_again(container.place)
    else:
        read_content(run, container)
    if run.forward:
        run.facts.append(Indexed(run.site(node), snapshot(container), index))
    return item(run, container, index, node)


def _is_own_item(run: Run, container: Container, index: Value) -> bool:
    """Whether this call itself put there what is taken out."""
    if isinstance(container, Mapping):
        return is_own_key(run, container, index)
    return index == Const(-1) and run.effects.of(container.place).pushed > 0


def item(run: Run, container: Value, index: Value, node: ast.AST) -> Value:
    """What indexing gives."""
    if isinstance(container, Shape):
        return _shape_item(container, index)
    if isinstance(container, Tensor):
        return _tensor_item(container, index)
    if isinstance(container, Sequence):
        return _sequence_item(run, container, index, node)
    if isinstance(container, Mapping):
        known = isinstance(index, Const) and index.value in container.items
        if container.factory is not None and isinstance(index, Const) and not known:
            return _made_on_demand(run, container, container.factory, index, node)
        found = container.items[index.value] if isinstance(index, Const) and known else pick(container, index)
        return from_container(run, container, found, node)
    if isinstance(container, Attributes):
        known = isinstance(index, Const) and isinstance(index.value, str)
        return run.attribute(container.owner, index.value, node) if known else UNKNOWN  # type: ignore[attr-defined]
    if isinstance(container, Instance) and container.cls.method("__getitem__") is not None:
        return call_unseen(run, run.attribute(container, "__getitem__", node), (index,), node)
    if isinstance(container, Union):
        possible = [each for each in container.options if not isinstance(each, Const)]
        return join_all([item(run, each, index, node) for each in possible])
    part = isinstance(index, Sequence) and index.kind == "slice"  # of one index, what has one axis gives a number
    return Array() if isinstance(container, Array) and part else UNKNOWN


def _made_on_demand(run: Run, container: Mapping, factory: Value, index: Const, node: ast.AST) -> Value:
    made = run.call(factory, Call(node))
    run.heap.change(container, items={**container.items, index.value: made})
    return made


def _tensor_item(container: Tensor, index: Value) -> Value:
    if whole_slice(index):
        return container  # `y[:]` is y
    if container.guessed:
        return _guessed_item(container, index)
    made = take(container, index)
    made.value_number = ("item", container, index)
    note_view(made)
    return made


def _guessed_item(container: Tensor, index: Value) -> Value:
    if isinstance(index, (Sequence, Tensor)):
        return take(container, index)
    if isinstance(index, Const) and isinstance(index.value, str):
        return Tensor((Extent.DYNAMIC,), False, container.inputs, guessed=True)
    return Tensor((), False, container.inputs, guessed=True)


def _shape_item(shape: Shape, index: Value) -> Value:
    tensor = shape.tensor
    if isinstance(index, Const) and isinstance(index.value, int):
        size = tensor.size(index.value)
        if isinstance(size, int):
            return Const(size)
        known = Extent.UNKNOWN if tensor.guessed and tensor.origin != "input" else size
        return Dim(known, tensor.inputs)
    if isinstance(index, Sequence) and index.kind == "slice":
        return _part_of_shape(tensor, index, "tuple" if shape.kind == "tuple" else "list")
    return Dim(Extent.UNKNOWN)


def _part_of_shape(tensor: Tensor, index: Sequence, kind: str) -> Value:
    known = slice_of(index)
    if known is None or not (tensor.closed or (known.stop is not None and 0 <= known.stop <= len(tensor.sizes))):
        return Sequence(kind, (), Dim(Extent.UNKNOWN))
    sizes = tensor.sizes[known]
    return Sequence(kind, tuple(Const(one) if isinstance(one, int) else Dim(one, tensor.inputs) for one in sizes))


def _sequence_item(run: Run, container: Sequence, index: Value, node: ast.AST) -> Value:
    if isinstance(index, Sequence) and index.kind == "slice":
        return _slice(container, index)
    found = pick(container, index)
    at = index.value if isinstance(index, Const) else None
    if isinstance(at, int) and container.rest is None and -len(container.items) <= at < len(container.items):
        found = container.items[at]
    return from_container(run, container, found, node)


def _slice(container: Sequence, index: Sequence) -> Value:
    """Part of a container; of which items, is known where all are, and the bounds."""
    if container.listed is not None and (known := slice_of(index)) is not None:
        return Sequence(container.kind, container.items[known], grown_in_branch=container.grown_in_branch)
    return Sequence(container.kind, (), fresh(element(container)), grown_in_branch=container.grown_in_branch)


def grow(run: Run, container: Sequence, items: tuple[Value, ...], node: ast.AST) -> None:
    """Items are added to a list; in a loop there is no telling how many."""
    write_container(run, container, node)
    now, began = run.now, run.frame.began
    looping = now.depth - now.unrolled > began.depth - began.unrolled
    if looping or container.rest is not None:
        every = items if container.rest is not None else (*container.items, *items)
        run.heap.change(container, rest=rest_with(container, *every) if every else container.rest, items=())
    else:
        run.heap.change(container, items=(*container.items, *items))
    if now.converted and (now.loops or now.branches > began.branches) and now.branches + now.loops > container.made:
        run.heap.change(container, grown_in_branch=True)


def set_item(run: Run, container: Value, index: Value, value: Value, node: ast.Subscript) -> None:
    """Assign to an item of a container, or to a part of a tensor."""
    own = isinstance(node.value, ast.Attribute) and node.value.attr in _OWN_TABLES
    if own or (isinstance(container, Mapping) and container.registers):
        register(value)
    if isinstance(container, Mapping):
        write_container(run, container, node, value)
        if isinstance(index, Const):
            run.effects.of(container.place).keys.add(index)
            run.memory.assign(value, node)
            run.heap.change(container, items={**container.items, index.value: value})
        else:
            run.heap.change(container, rest=rest_with(container, value))
    elif isinstance(container, Sequence):
        write_container(run, container, node)
        run.heap.change(container, rest=join(element(container), value), items=())
    elif isinstance(container, Attributes):
        set_named(run, container.owner, index, value, node)
    elif isinstance(container, Tensor):
        tensor_written(run, container, node)
        shared = still_needed((container, index), run.frame.names, run.frame.node, node)
        if shared:
            run.note(Overwritten, node, shared)
        written = Tensor(container.sizes, container.closed, container.inputs)
        tensors = [part for part in (container, value) if isinstance(part, Tensor) and part.inputs]
        written.inputs |= value.inputs if isinstance(value, Tensor) else frozenset()
        written.shaped = bool(tensors) and all(tensor.shaped for tensor in tensors)
        if isinstance(node.value, ast.Name) and node.value.id in run.frame.names:
            bind(run, node.value.id, written, node)


EXPRESSIONS = {ast.Subscript: _subscript}
