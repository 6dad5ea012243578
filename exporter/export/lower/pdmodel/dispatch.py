"""What stands in for the C++ entries of Paddle while a legacy program is built.

Each replacement looks at its arguments: a call with Variables is lowered, or refused with a reason; any other call goes
to the C++ entry untouched, so that eager code keeps working beside the export.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from packaging.version import Version

from exporter.export.lower.pdmodel import described
from exporter.export.lower.pdmodel.composed import COMPOSED
from exporter.export.lower.pdmodel.lowering import lower
from exporter.export.lower.pdmodel.table import TABLE
from exporter.paddle.functions import parameters_of
from exporter.paddle.patches import Patches
from exporter.paddle.private import NAMES
from exporter.paddle.refusal import CannotLower
from exporter.paddle.sunk import sunk_apis, sunk_methods
from exporter.paddle.values import is_variable

#: What to do instead of a call that only C++ knows.
NEAREST: Mapping[str, str] = {
    "share_data": "use paddle.assign, since no legacy program shares memory; or export this model as `pir`",
    "view_dtype": "use Tensor.astype if a conversion of values is meant; there is no legacy operator for a bit cast",
}


def install(patches: Patches, target: Version | None, refuse: Callable[[CannotLower], None]) -> list[tuple[Any, Any]]:
    """Replace the C++ entries in `_C_ops` and Variable; `refuse` is told of each refusal.

    Returns (entry, replacement) of those that are referred to elsewhere, too.
    """
    from exporter.paddle.private import Variable, c_ops

    handlers = {api: functools.partial(_lowered, api, target) for api in sunk_apis()} | dict(COMPOSED)
    held = []
    for name, entry in vars(c_ops).copy().items():
        if name.startswith("_") or not callable(entry):
            continue
        handler = handlers.get(name) or functools.partial(_by_description, name)
        replacement = _dispatcher(name, entry, handler, refuse)
        if name in handlers:
            held.append((entry, replacement))
        patches.attribute(c_ops, name, replacement)
    replacement_of = {id(entry): replacement for entry, replacement in held}
    for name, member in vars(Variable).copy().items():
        if id(member) in replacement_of:
            patches.attribute(Variable, name, replacement_of[id(member)])
    for name in sunk_methods():
        if not hasattr(Variable, name):
            patches.attribute(Variable, name, vars(c_ops)[name])
    return held


def _lowered(api: str, target: Version | None, *args: Any, **kwargs: Any) -> Any:
    return lower(TABLE[api], args, kwargs, target)


def _by_description(name: str, *args: Any, **kwargs: Any) -> Any:
    """Lower a call as Paddle describes the operator; one with keywords, or with an output of its own, is refused."""
    if not kwargs and name not in NEAREST:
        return described.lower(name, args)
    raise described.only_in_c(name, NEAREST[name]) if name in NEAREST else described.only_in_c(name)


def _dispatcher(
    name: str, entry: Callable[..., Any], handler: Callable[..., Any], refuse: Callable[[CannotLower], None]
) -> Callable[..., Any]:
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if not _meets_program(args) and not _meets_program(kwargs.values()) and not _makes(name):
            return entry(*args, **kwargs)
        try:
            return handler(*args, **kwargs)
        except CannotLower as refusal:
            refuse(refusal)
            raise

    replacement.__name__ = replacement.__qualname__ = name
    # dy2static leaves functions of Paddle's own modules alone and transcribes all others (dy2static/utils.py,
    # is_paddle_func, 3.3.1); this one has nothing in it to transcribe.
    replacement.__module__ = NAMES["c_ops"].path
    return replacement


def _makes(name: str) -> bool:
    """Return whether a function makes a tensor of none, as `eye`, while a program is traced: C++ would write PIR."""
    from exporter.paddle.private import in_dygraph_mode, in_pir_mode

    if in_dygraph_mode() or in_pir_mode():
        return False
    parameters = parameters_of(name)
    if not parameters or any(parameter.is_tensor for parameter in parameters):
        return False
    return described.described(name) is not None


def _meets_program(values: Any) -> bool:
    """A Variable among the arguments; while a program is traced, an eager tensor (of a closure, a list) counts too."""
    from exporter.paddle.private import core, in_dygraph_mode

    eager = core.eager.Tensor if not in_dygraph_mode() else None
    for value in values:
        if is_variable(value) or (eager is not None and eager in type(value).__mro__):
            return True
        if isinstance(value, (list, tuple)) and _meets_program(value):
            return True
    return False
