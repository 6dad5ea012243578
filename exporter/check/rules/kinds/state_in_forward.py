"""EX103: `forward` changes something that outlives the call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Sequence
from exporter.check.facts import Called, Changed, Facts, Site
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.source.syntax import definition_around, inside, last_name, of_kind

#: Methods that leave the values of a tensor as they are, or of a list that was changed by them before.
_SAME_VALUES = ("unsqueeze_", "squeeze_", "reshape_", "flatten_", "sort")
_WHAT = {
    "attribute": "an attribute",
    "buffer": "a buffer",
    "global": "a global",
    "container": "a container",
    "closure": "a variable of an enclosing function",
}


class StateInForward(Rule):
    """State is carried from one call of `forward` to the next.

    What:
        `forward` changes an attribute, a buffer, a global, a variable of an enclosing function or a container, and its
        outputs depend on what an earlier call left there. Writing first and reading afterwards in the same call is not
        meant, but of a buffer: a program reads the old one. State that no output seems to need is a warning, and so is
        a cast or another shape of what was there, and state that another method sets anew (`reset`).

    Why:
        A program has no memory between two runs: Python state keeps the value it had at export, and an update of a
        buffer is dropped. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.step = 0

            def forward(self, x):
                self.step += 1  # <- here
                return x / self.step

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, step):
                step = step + paddle.ones_like(step)
                return x / step, step

    Source:
        Measured on Paddle 3.3.1: attributes, globals and buffers that 'forward' writes are not written back between
        runs.
    """

    code = "EX103"
    predicts = (Fault.VALUES,)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "pass the state in and return it; or change it outside forward, or only under self.training"
        for fact in facts.of(Changed):
            for finding in self._changed(fact, cure):
                mild = finding.severity is Severity.ERROR and (
                    not fact.reaches or _holds_the_same(fact.site) or _is_set_elsewhere(fact)
                )
                yield replace(finding, severity=Severity.WARNING) if mild else finding
        for call in facts.of(Called):
            if call.name in ("builtins.next", "generator.send") and call.site.forward:
                kept = call.owner if call.owner is not None else call.arguments[0] if call.arguments else None
                if isinstance(kept, Sequence) and kept.home:
                    message = f"`{kept.home}` is an iterator that outlives the call; the program keeps what it gave"
                    yield self.at(call.site, message, cure)

    def _changed(self, fact: Changed, cure: str) -> Iterator[Diagnostic]:
        if fact.kind == "lazy" and fact.varies == "data":
            message = (
                f"`{fact.what}` is made from the inputs of the first call and kept; a program makes it anew each time"
            )
            yield self.at(fact.site, message, "make it in each call, or in __init__")
        elif fact.kind == "lazy" and fact.varies:
            message = (
                f"`{fact.what}` is made for the shape of an early call and kept; a program makes it anew each time"
            )
            yield self.at(fact.site, message, "make it in each call, or in __init__", Severity.WARNING)
        elif fact.kind == "lazy":
            message = f"`{fact.what}` is made by the first call and kept: the program holds what the export made of it"
            yield self.at(fact.site, message, "make it in __init__, or anew in each call", Severity.INFO)
        elif fact.kind == "own":
            message = (
                f"`{fact.what}` is changed in forward; a program does not change it, and no output seems to need it"
            )
            yield self.at(fact.site, message, cure, Severity.WARNING)
        elif fact.kind == "once":
            message = f"`{fact.what}` is set by the first call: the program holds what the export made of it"
            yield self.at(fact.site, message, "do it in __init__", Severity.WARNING)
        elif fact.kind == "rebound":
            message = f"`{fact.what}`, a buffer, is given a new value and read again; the program reads the old one"
            # a table by size has the same values in both, and so has what is made of the weights alone
            same = fact.varies == "shape" or not (fact.varies or fact.stale)
            mild = Severity.WARNING if same else None
            yield self.at(fact.site, message, "keep the new value in a local name and use that", mild)
        elif fact.stale:
            message = f"`{fact.what}`, {_WHAT[fact.kind]}, is changed in forward and read by the next call"
            yield self.at(fact.site, message, cure)
        elif fact.kind in ("buffer", "container", "global"):
            message = f"`{fact.what}`, {_WHAT[fact.kind]}, is changed in forward; a program does not change it"
            yield self.at(fact.site, message, cure, Severity.INFO if fact.kind == "container" else Severity.WARNING)


def _is_set_elsewhere(fact: Changed) -> bool:
    """Return whether another method gives the attribute a value that it has no part in: `reset` between two calls."""
    name = fact.what.removeprefix("self.")
    around = definition_around(fact.site.module.tree, fact.site.node)
    for function in of_kind(fact.site.module.tree, ast.FunctionDef):
        if function is around or function.name in ("__init__", "forward"):
            continue
        for assign in of_kind(function, ast.Assign):
            sets = any(isinstance(target, ast.Attribute) and target.attr == name for target in assign.targets)
            parts = (part for part in (assign.value, *inside(assign.value)) if isinstance(part, ast.Attribute))
            if sets and all(part.attr != name for part in parts):
                return True
    return False


def _holds_the_same(site: Site) -> bool:
    """Return whether a write keeps the values: `self.mean = self.mean.cast(x.dtype)`, `self.mask.unsqueeze_(0)`."""
    if isinstance(site.node, ast.Call):
        return last_name(site.node.func) in _SAME_VALUES
    written = (each for each in of_kind(site.module.tree, ast.Assign) if site.node in each.targets)
    value = next((each.value for each in written), None)
    if _chosen(value) == ast.unparse(site.node):
        return True
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("cast", "astype")
        and ast.unparse(value.func.value) == ast.unparse(site.node)
    )


def _chosen(value: ast.expr | None) -> str:
    """Name what items are chosen of, all that a condition lets through: of what is left it lets through all again."""
    if isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple") and len(value.args) == 1:
        return _chosen(value.args[0])
    if isinstance(value, ast.Call) and last_name(value.func) == "filter" and len(value.args) == 2:
        return ast.unparse(value.args[1])
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)) and len(value.generators) == 1:
        only = value.generators[0]
        return ast.unparse(only.iter) if only.ifs and ast.unparse(value.elt) == ast.unparse(only.target) else ""
    return ""


plugin: Rule = StateInForward()
