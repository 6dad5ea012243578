"""Which model a call of a library has: that of its name, else that of its package."""

from __future__ import annotations

from exporter.check.domain.call import Call
from exporter.check.domain.values import REMOVE_HOOK, External, Value
from exporter.check.interpret.events import emit_call
from exporter.check.state.run import Run


def _external(run: Run, function: External, call: Call) -> Value:
    name = call.name = function.name
    if name != REMOVE_HOOK:
        emit_call(run, name, call)
    model = run.tables.functions.get(name) or run.tables.packages.get(name.partition(".")[0], Run.unmodelled)
    return model(run, call)


CALLERS = {External: _external}
