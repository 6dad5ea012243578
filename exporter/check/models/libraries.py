"""Which model a call of a library has: that of its name, else that of its package."""

from __future__ import annotations

import ast

from exporter.check.domain.call import Call
from exporter.check.domain.values import REMOVE_HOOK, External, Value
from exporter.check.interpret.events import emit_call
from exporter.check.models.standard_library import unmodelled
from exporter.check.state.run import Run


def _external(
    run: Run, function: External, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    name = function.name
    if name != REMOVE_HOOK:
        emit_call(run, node, name, None, arguments, keywords)
    tables = run.tables
    model = tables.functions.get(name) or tables.packages.get(name.partition(".")[0], unmodelled)
    return model(run, Call(name, arguments, keywords, node))


CALLERS = {External: _external}
