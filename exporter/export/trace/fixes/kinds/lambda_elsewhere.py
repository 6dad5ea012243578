"""`self.act = lambda t: …`, made in `__init__` or at the top of a module, and called by `forward`."""

from __future__ import annotations

import ast
import linecache
import types
from itertools import count

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches

_NUMBERS = count()


def _flat(x: Tensor, rows: int = 2) -> Tensor:
    return x.reshape([x.shape[0] * x.shape[1], 1]) * rows


def _gated(self: Layer, x: Tensor) -> Tensor:
    return self.gate(x) + self.gate(-x)


def _called(self: Layer, x: Tensor) -> Tensor:
    call = self.flat
    return call(x)


def _closure() -> Value:
    rows = 4
    return lambda x, half=0.5: _flat(x, rows) * half


class LambdaElsewhere(Fix):
    """dy2static leaves a lambda as it is that does not stand in converted code, and all that it calls.

    A condition on a tensor fails there, or takes one side in a legacy program, and a dim that varies is -1
    (jit/dy2static/convert_call_func.py, 3.3.1). Its expression becomes the body of a function, which is converted.
    Where two lambdas on one line look alike, they stay as they are.
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_gated, (("n", 4),), {"gate": lambda: lambda t: t * 2.0 if t.mean() > 0 else t - 1.0}),
        Example(_called, (("n", "h"),), {"flat": _closure}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_call_func, convert_to_static

        def call(stock: Value, function: Value) -> Value:
            if isinstance(function, types.FunctionType) and function.__name__ == "<lambda>":
                named = None if "_jst" in function.__globals__ else _as_function(function)
                return function if named is None else convert_to_static(named)
            return stock(function)

        patches.body(convert_call_func.convert_call, call)


def _as_function(function: types.FunctionType) -> types.FunctionType | None:
    """Return a function of the same parameters, closure and globals with source of its own; None if it is not known."""
    code = function.__code__
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename, function.__globals__)))
    except SyntaxError:
        return None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    nodes = [node for node in nodes if _parameters(node) == own and _names(node) == _names_of(code)]
    if len(nodes) != 1 or "__class__" in code.co_freevars:
        return None
    parameters = nodes[0].args
    text = f"def lambda_({ast.unparse(parameters)}):\n    return {ast.unparse(nodes[0].body)}\n"
    free = code.co_freevars
    if free:
        inner = "".join(f"    {line}\n" for line in text.splitlines())
        text = f"def make({', '.join(free)}):\n{inner}    return lambda_\n"
    file = f"<lambda {next(_NUMBERS)} of {code.co_filename}:{code.co_firstlineno}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = dict(function.__globals__)
    exec(compile(text, file, "exec"), space)  # noqa: S102 - the user's own expression, as it was imported
    named: types.FunctionType = space["lambda_"] if not free else _closed(space["make"], function)
    named.__defaults__, named.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return named


def _closed(make: Value, function: types.FunctionType) -> Value:
    return make(*[cell.cell_contents for cell in function.__closure__ or ()])


def _parameters(node: ast.Lambda) -> tuple[str, ...]:
    every = node.args
    return tuple(part.arg for part in (*every.posonlyargs, *every.args, *every.kwonlyargs))


def _names(node: ast.Lambda) -> set[str]:
    """Every name, attribute and parameter in a lambda's expression, without its defaults."""
    parts = [*ast.walk(node.body), *(part for part in ast.walk(node.args) if isinstance(part, ast.arg))]
    return {
        name
        for part in parts
        if (name := getattr(part, "id", "") or getattr(part, "attr", "") or getattr(part, "arg", ""))
        and not isinstance(part, ast.keyword)
    }


def _names_of(code: types.CodeType) -> set[str]:
    inner = (_names_of(part) for part in code.co_consts if isinstance(part, types.CodeType))
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return {name for name in names.union(*inner) if not name.startswith(".")}


plugin: Fix = LambdaElsewhere()
