"""The inputs of a model: as a spec gives them, or as lists of input specs in the code declare them."""

from __future__ import annotations

import ast
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
        inputs = tuple(entry for each in node.elts if (entry := _entry(each)) is not None)
        if node.elts and len(inputs) == len(node.elts):
            found.append(Declared(inputs, tuple(node.elts)))
    return tuple(found)


def _lists(module: ParsedModule) -> list[ast.List]:
    if "InputSpec" in module.text:
        return of_kind(module.tree, ast.List)
    assigned = [each.value for each in module.tree.body if isinstance(each, ast.Assign)]
    return [value for value in assigned if isinstance(value, ast.List)]


def _entry(node: ast.expr) -> Input | None:
    parts: dict[Any, ast.expr] = {}
    if isinstance(node, ast.Call) and last_name(node.func).endswith("InputSpec"):
        given = zip(("shape", "dtype", "name"), node.args, strict=False)
        parts = dict(given) | {each.arg: each.value for each in node.keywords}
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
        if not {"name", "shape", "dtype"} <= parts.keys():
            return None
    sizes = _sizes(parts.get("shape"))
    return Input(_text(parts.get("name")), sizes, _text(parts.get("dtype")) or "float32") if sizes is not None else None


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
