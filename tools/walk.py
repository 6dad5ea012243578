"""Follow one parameter through the calls that pass it on, and count how far the code sends it up and down.

    python -m tools.walk exporter/pipeline.py:release:spec [--root CHECKOUT] [--show]

The way is read from the code, in the order in which it is written; nothing runs. The parameter is followed into each
function of ours that gets it, or a part of it (an attribute or an element, or a loop over it), as an argument; by the
name that it has there. Its way ends where it is put into another object, and what a call returns is another value,
unless the result takes its name (`spec = with_defaults(spec)`). Each function is entered once. A function that is held
in a variable cannot be followed; a loop over a constant tuple of functions (`for refuse in REFUSALS`) is followed into
each, which `--static` leaves out.

A *stay* is a run of functions in one file; a *climb* is a stay on a higher floor than the one before. A file's floor is
one above the highest of those that it imports, deferred imports too. *Names* are all that the parameter and its parts
are called on the way.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Function:
    """A function of ours: its module, its name there (`Class.method`), and its definition."""

    module: str
    name: str
    node: ast.FunctionDef

    def parameters(self) -> list[str]:
        """Return the names of the parameters, without `self` and `cls`."""
        arguments = [*self.node.args.posonlyargs, *self.node.args.args, *self.node.args.kwonlyargs]
        names = [argument.arg for argument in arguments]
        return names[1:] if "." in self.name and names[:1] in (["self"], ["cls"]) else names


@dataclass
class Module:
    """A module: its functions, its classes, and what its imported names stand for (`module` or `module:name`)."""

    tree: ast.Module
    functions: dict[str, Function]
    classes: set[str]
    imported: dict[str, str]
    tuples: dict[str, list[str]]


class House:
    """The package of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        files = sorted((root / "exporter").rglob("*.py"))
        self.places = {_module(path, root): path for path in files}
        self.modules = {name: self._read(name, path) for name, path in self.places.items()}

    def _read(self, name: str, path: Path) -> Module:
        module = Module(ast.parse(path.read_text()), {}, set(), {}, {})
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                module.classes.add(node.name)
            for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
                if isinstance(inner, ast.FunctionDef):
                    own = f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name
                    module.functions[own] = Function(name, own, inner)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Tuple):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                members = [_callee(part) for part in node.value.elts]
                if isinstance(target, ast.Name) and all(members):
                    module.tuples[target.id] = members
        for imported in ast.walk(module.tree):
            if isinstance(imported, ast.ImportFrom) and (imported.module or "").startswith("exporter"):
                for alias in imported.names:
                    inner_module = f"{imported.module}.{alias.name}"
                    name_there = f"{imported.module}:{alias.name}"
                    module.imported[alias.asname or alias.name] = (
                        inner_module if inner_module in self.places else name_there
                    )
        return module

    def find(self, module: str, callee: str) -> Function | str | None:
        """Return the function that a call means, seen from a module; `class` where it makes an object."""
        here = self.modules[module]
        head, _, rest = callee.partition(".")
        if not rest and head in here.functions:
            return here.functions[head]
        if head in here.classes:
            return here.functions.get(callee) or "class"
        target = here.imported.get(head, "")
        if ":" in target:
            place, _, name = target.partition(":")
            there = self.modules.get(place)
            if there is None:
                return None
            if name in there.classes:
                return there.functions.get(f"{name}.{rest}") or "class"
            return there.functions.get(name) if not rest else None
        return self.modules[target].functions.get(rest) if target in self.modules else None

    @cached_property
    def floors(self) -> Mapping[str, int]:
        """The floor of each module; those that import each other in a circle share one."""
        below = {name: set(self._imports(name)) for name in self.modules}
        groups = _circles(below)
        of_group = {name: at for at, group in enumerate(groups) for name in group}
        floors: dict[int, int] = {}
        for at, group in enumerate(groups):  # a group stands behind all that it imports
            deeper = {of_group[other] for name in group for other in below[name]} - {at}
            floors[at] = 1 + max((floors[other] for other in deeper), default=0)
        return {name: floors[of_group[name]] for name in self.modules}

    def _imports(self, name: str) -> Iterator[str]:
        for target in self.modules[name].imported.values():
            place = target.partition(":")[0]
            if place in self.modules and place != name:
                yield place


def _circles(below: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected parts of a graph (Tarjan), each behind those that it leads to."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(below[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            groups.append(stack[at:])
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in sorted(below):
        if node not in index:
            visit(node)
    return groups


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _callee(node: ast.expr) -> str:
    """Return `a`, or `a.b`, where an expression is such a name; a lambda stands for what it calls."""
    if isinstance(node, ast.Lambda) and isinstance(node.body, ast.Call):
        return _callee(node.body.func)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


@dataclass
class Way:
    """The way of a parameter."""

    house: House
    unroll: bool = True
    stays: list[str] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    visited: set[tuple[str, str]] = field(default_factory=set)

    def enter(self, function: Function, held: frozenset[str]) -> None:
        """Follow the names `held` through a function."""
        if (function.module, function.name) in self.visited:
            return
        self.visited.add((function.module, function.name))
        if self.stays[-1:] != [function.module]:
            self.stays.append(function.module)
        self.entered.append(f"{function.module}:{function.name} as {', '.join(sorted(held))}")
        names = set(held)
        loops: dict[str, list[str]] = {}
        for node in _in_order(function.node):
            self._bind(node, names, loops, function.module)
            if isinstance(node, ast.Call):
                self._call(node, frozenset(names), loops, function.module)
        self.names |= names

    def _bind(self, node: ast.AST, names: set[str], loops: dict[str, list[str]], module: str) -> None:
        """Take up the names to which the value or a part of it is bound."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            target, value = node.target, node.iter
            texts = self.house.modules[module].tuples.get(_callee(value), [])
            if texts and isinstance(target, ast.Name):
                loops[target.id] = texts
                return
        elif isinstance(node, ast.NamedExpr):
            target, value = node.target, node.value
        else:
            return
        bound = [inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name)]
        if _is_part(value, names) or (isinstance(value, ast.Call) and set(bound) & names):
            names.update(bound)

    def _call(self, call: ast.Call, names: frozenset[str], loops: Mapping[str, list[str]], module: str) -> None:
        """Follow a call that gets the value or a part of it."""
        given = [*enumerate(call.args), *((word.arg, word.value) for word in call.keywords)]
        passed = [place for place, value in given if place is not None and _is_part(value, names)]
        if not passed:
            return
        callee = _callee(call.func)
        for text in loops.get(callee, [callee]) if self.unroll or callee not in loops else []:
            function = self.house.find(module, text)
            if not isinstance(function, Function):
                continue
            parameters = function.parameters()
            inside = {
                parameters[place] if isinstance(place, int) else place
                for place in passed
                if not isinstance(place, int) or place < len(parameters)
            }
            if inside:
                self.enter(function, frozenset(str(name) for name in inside))

    @property
    def climbs(self) -> int:
        """How often the way led to a higher floor."""
        floors = [self.house.floors[module] for module in self.stays]
        return sum(later > earlier for earlier, later in pairwise(floors))


def _is_part(value: ast.expr, names: set[str] | frozenset[str]) -> bool:
    """Whether an expression is the value, or an attribute, an element, or a view of its items."""
    while True:
        if isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred)):
            value = value.value
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
            value = value.func.value
        else:
            return isinstance(value, ast.Name) and value.id in names


def _in_order(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what is inside a function as it runs: the arguments of a call before the call, a value before its name."""

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            yield from walk(child)
        yield node

    for statement in function.body:
        loops = [node for node in ast.walk(statement) if isinstance(node, (ast.For, ast.comprehension))]
        yield from loops
        yield from walk(statement)


def main() -> int:
    """Print the way's figures, and with `--show` each function that it enters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", help="FILE:FUNCTION:PARAMETER")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--static", action="store_true", help="do not follow loops over tuples of functions")
    options = parser.parse_args()
    file, function, parameter = options.start.split(":")
    house = House(options.root.resolve())
    way = Way(house, unroll=not options.static)
    start = _module(options.root.resolve() / file, options.root.resolve())
    way.enter(house.modules[start].functions[function], frozenset({parameter}))
    if options.show:
        for line in way.entered:
            print(f"{house.floors[line.partition(':')[0]]:3} {line}")
    print(f"{options.start}: {len(way.stays)} stays, {way.climbs} climbs, {len(way.names)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
