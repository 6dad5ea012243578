"""The inputs of a model: as a spec gives them, or as lists of input specs in the code declare them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from exporter.check.domain.values import Extent, Size
from exporter.check.source.project import ParsedModule
from exporter.check.source.syntax import last_name, of_kind


class Input(NamedTuple):
    """An input of `forward`, as a spec gives it."""

    name: str
    sizes: tuple[Size, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = ", ".join(str(size) if isinstance(size, int) else "None" for size in self.sizes)
        return f"{self.dtype}[{sizes}]"


#: In the order of `forward`.
Inputs: TypeAlias = tuple[Input, ...]
#: Likewise; None for what may be no tensor.
Suggested: TypeAlias = tuple[Input | None, ...]


class Declared(NamedTuple):
    """A list of input specs found in the code: names, sizes and nodes."""

    inputs: Inputs
    nodes: tuple[ast.AST, ...]


@lru_cache(maxsize=1)
def declared_specs(module: ParsedModule) -> tuple[Declared, ...]:
    """Lists of input specs that the module declares: `InputSpec` calls, or dicts with name, shape and dtype."""
    if "InputSpec" not in module.text and "dtype" not in module.text:
        return ()
    found = []
    for node in _lists(module):
        entries = [_entry(each) for each in node.elts]
        if entries and all(each is not None for each in entries):
            inputs = tuple(each for each in entries if each is not None)
            found.append(Declared(inputs, tuple(node.elts)))
    return tuple(found)


def _lists(module: ParsedModule) -> Iterator[ast.List]:
    if "InputSpec" in module.text:
        yield from of_kind(module.tree, ast.List)
        return
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            yield statement.value


def _entry(node: ast.expr) -> Input | None:
    if isinstance(node, ast.Call) and last_name(node.func).endswith("InputSpec"):
        parts = {each.arg: each.value for each in node.keywords}
        shape = parts.get("shape", node.args[0] if node.args else None)
        name = parts.get("name", node.args[2] if len(node.args) > 2 else None)
        dtype = parts.get("dtype", node.args[1] if len(node.args) > 1 else None)
    elif isinstance(node, ast.Dict):
        keys = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
        if not {"name", "shape", "dtype"} <= set(keys):
            return None
        parts_by_key = dict(zip(keys, node.values, strict=True))
        shape, name, dtype = (parts_by_key[key] for key in ("shape", "name", "dtype"))
    else:
        return None
    sizes = _sizes(shape)
    if sizes is None:
        return None
    return Input(_text(name), sizes, _text(dtype) or "float32")


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _sizes(shape: ast.expr | None) -> tuple[Size, ...] | None:
    if not isinstance(shape, (ast.List, ast.Tuple)):
        return None
    sizes: list[Size] = []
    for each in shape.elts:
        try:
            value: Any = each.value if isinstance(each, ast.Constant) else ast.literal_eval(each)
        except (ValueError, TypeError):
            value = False
        fixed = isinstance(value, int) and not isinstance(value, bool) and value > 0
        sizes.append(value if fixed else Extent.UNKNOWN if value is False else Extent.DYNAMIC)
    return tuple(sizes)
