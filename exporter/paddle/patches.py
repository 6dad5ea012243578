"""Replacing things in a running interpreter, and putting every one of them back."""

from __future__ import annotations

import functools
import gc
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """A log of what was replaced; `undo` restores it, the last first."""

    def __init__(self) -> None:
        # Tuples, not closures: `references` would find what a closure's cell keeps for us, and replace it.
        self._undo: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def attribute(self, owner: Any, name: str, new: Any) -> None:
        """`owner.name = new`. Undone to the very object that was there, or to nothing where nothing was."""
        old = vars(owner).get(name, _MISSING)
        setattr(owner, name, new)
        self._undo.append((delattr, (owner, name)) if old is _MISSING else (setattr, (owner, name, old)))

    def code(self, function: types.FunctionType, new: types.CodeType) -> None:
        """Another body for a function that many hold a reference to."""
        old = function.__code__
        function.__code__ = new
        self._undo.append((setattr, (function, "__code__", old)))

    def body(self, function: Any, new: Callable[..., Any]) -> None:
        """`function(…)` becomes `new(stock, …)` for whoever holds the function; decorators around it stay."""
        self.outermost(inspect.unwrap(function), new)

    def outermost(self, function: types.FunctionType, new: Callable[..., Any]) -> None:
        """As :meth:`body`, but the decorators go with the body: they are in `stock`."""
        stock = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        stock.__kwdefaults__ = function.__kwdefaults__
        name = f"_exporter_{function.__name__}"
        while name in function.__globals__:  # an earlier patch, which is now the stock of this one
            name += "_"
        self.item(function.__globals__, name, functools.partial(new, stock))
        self.code(function, _calling(name, function.__code__))

    def references(self, replacements: list[tuple[Any, Any]]) -> None:
        """Every reference to `old` that Python code can reach becomes one to `new`, for each (old, new).

        Found through the garbage collector: module globals, closures, attributes of instances and classes, items of
        dicts and lists, default arguments and functools.partial. Not reachable: items of other tuples, local variables
        of functions that are running.
        """
        new_of = {id(old): new for old, new in replacements}
        olds = [old for old, _ in replacements]
        gc.unfreeze()  # the collector does not look at what was frozen, as a command or a model's own code may do
        # A replacement remembers what it stands in for, and so do our own lists.
        own = {id(olds), *map(id, replacements), *(id(arguments) for _, arguments in self._undo)}
        own |= {id(cell) for _, new in replacements for cell in new.__closure__ or ()}
        holders = [holder for holder in gc.get_referrers(*olds) if id(holder) not in own]
        self._in_classes([holder for holder in holders if isinstance(holder, dict) and "__module__" in holder], new_of)
        for holder in holders:
            self._in_holder(holder, new_of)
        self._in_defaults({id(holder): holder for holder in holders if type(holder) is tuple}, new_of)

    def undo(self) -> None:
        """Restore everything."""
        while self._undo:
            restore, arguments = self._undo.pop()
            restore(*arguments)

    def _in_holder(self, holder: Any, new_of: dict[int, Any]) -> None:
        if isinstance(holder, dict):
            for key, value in list(holder.items()):
                if id(value) in new_of:
                    self.item(holder, key, new_of[id(value)])
        elif isinstance(holder, list):
            for index, value in enumerate(holder):
                if id(value) in new_of:
                    self.item(holder, index, new_of[id(value)])
        elif isinstance(holder, types.CellType):
            self._cell(holder, new_of[id(holder.cell_contents)])
        elif type(holder) is functools.partial:
            self._in_partial(holder, new_of)
        elif hasattr(holder, "__dict__") and not isinstance(holder, (types.FrameType, type, types.ModuleType)):
            self._in_holder(vars(holder), new_of)  # an instance whose attributes are not a dict yet

    def _in_classes(self, namespaces: list[dict[str, Any]], new_of: dict[int, Any]) -> None:
        """Class attributes are set through the class: writing to its dict would leave the type's cache stale."""
        if not namespaces:
            return
        for owner in gc.get_referrers(*namespaces):
            if isinstance(owner, type):
                for name, value in list(vars(owner).items()):
                    if id(value) in new_of:
                        self.attribute(owner, name, _unbound(owner, new_of[id(value)]))

    def item(self, holder: Any, key: object, new: object) -> None:
        """`holder[key] = new`, of a dict or a list."""
        if key in holder if isinstance(holder, dict) else True:
            self._undo.append((operator.setitem, (holder, key, holder[key])))
        else:
            self._undo.append((operator.delitem, (holder, key)))
        holder[key] = new

    def _cell(self, cell: types.CellType, new: Any) -> None:
        old = cell.cell_contents
        cell.cell_contents = new
        self._undo.append((setattr, (cell, "cell_contents", old)))

    def _in_defaults(self, tuples: dict[int, Any], new_of: dict[int, Any]) -> None:
        """Default arguments. Of all tuples at once, since the collector walks all objects to find who refers to one."""
        for function in gc.get_referrers(*tuples.values()) if tuples else ():
            if isinstance(function, types.FunctionType) and id(function.__defaults__) in tuples:
                before = function.__defaults__
                function.__defaults__ = tuple(new_of.get(id(value), value) for value in before or ())
                self._undo.append((setattr, (function, "__defaults__", before)))

    def _in_partial(self, holder: Any, new_of: dict[int, Any]) -> None:
        reduced: Any = holder.__reduce__()
        function, *rest = reduced[2]  # (func, args, keywords, attributes)
        if id(function) in new_of:
            holder.__setstate__((new_of[id(function)], *rest))
            self._undo.append((holder.__setstate__, ((function, *rest),)))


def _calling(name: str, like: types.CodeType) -> types.CodeType:
    """The code of a function that calls the global `name`, with as many variables of a closure as another code has."""
    scope: dict[str, Any] = {}
    variables = ", ".join(like.co_freevars)
    text = (
        f"def make({variables}):\n"
        f"  def {like.co_name}(*args, **kwargs):\n"
        f"    ({variables})\n"
        f"    return {name}(*args, **kwargs)\n"
        f"  return {like.co_name}\n"
    )
    exec(text, scope)  # noqa: S102 - our text
    code: types.CodeType = scope["make"](*like.co_freevars).__code__
    return code


def _unbound(owner: type, function: Any) -> Any:
    """A builtin in a class is no method, so what replaces it is none either; Variable's are meant to be methods."""
    return function if owner.__module__.startswith("paddle.") else staticmethod(function)
