"""EX112: code that asks whether it runs eagerly, and gets another answer while it is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Dim, External, Sequence, Tensor, Value, options
from exporter.check.facts import Asked, Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.rules.sides import refuses, sides, surely_differ
from exporter.check.source.project import ParsedModule
from exporter.check.source.reach import may_reach
from exporter.check.source.syntax import (
    chooses_a_value,
    definition_around,
    if_around,
    inside,
    last_name,
    of_kind,
    surely_leaves,
    without_effect,
)

_MODES = ("in_dynamic_mode", "in_dygraph_mode", "in_dynamic_or_pir_mode", "in_static_mode")
_ATTRIBUTES = {
    "stop_gradient": "is set by the trace, not by the caller",
    "device": "is unknown while the model is traced",
    "place": "is unknown while the model is traced",
    "name": "is another one while the model is traced",
    "is_leaf": "is another one while the model is traced",
    "__class__": "is another one while the model is traced",
    "persistable": "is another one while the model is traced",
}


_PYTHON_TYPES = frozenset("list tuple dict set frozenset int float bool str bytes complex".split())
#: What only one of `paddle.Tensor` and `pir.Value` has (Paddle 3.3.1), names with an underscore left out.
_OF_ONE_KIND = frozenset(
    "apply_ backward clear_grad coalesce cols copy_ crows data data_ptr detach_ fill_ fill_diagonal_ "
    "fill_diagonal_tensor fill_diagonal_tensor_ get_map_tensor get_selected_rows get_strides get_tensor grad grad_ "
    "grad_fn gradient inplace_version is_dense is_leaf is_same_shape is_selected_rows is_sparse is_sparse_coo "
    "is_sparse_csr layout nnz num_shard offset pin_memory reconstruct_from_ retain_grads rows set_string_list "
    "set_tensor set_value set_vocab strides to_sparse_coo to_sparse_csr value zero_ all_used_ops "
    "all_used_ops_in_same_block append dist_attr do_model_average first_use get_defining_op has_name has_one_use hash "
    "id index initialized is_combine is_dense_tensor_array_type is_dense_tensor_type is_dist_dense_tensor_type "
    "is_distributed is_parameter is_same is_selected_row_type is_sparse_coo_tensor_type is_sparse_csr_tensor_type "
    "need_clip optimize_attr place_attr pop regularizer replace_all_uses_with replace_grad_users_with set_shape "
    "set_type trainable update_dist_attr use_empty value_assign".split()
)


class EagerQuestion(Rule):
    """The code asks something that a trace answers differently.

    What:
        `forward` asks `isinstance(x, paddle.Tensor)`, `type(x)`, `hasattr(x, …)`, `paddle.in_dynamic_mode()`, or for
        `x.stop_gradient`, `x.place`, `x.name` of a tensor; or whether a dimension is an int. It is a warning where both
        ways may give the same: either is code of the project's own, or makes an array or a tensor of what is there.

    Why:
        While the model is traced there are no eager tensors, and a dimension that varies is no int: the code goes the
        other way, and that way is exported. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if isinstance(y, paddle.Tensor):  # <- here
                    y = y / 255.0
                return y

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if paddle.is_tensor(y):
                    y = y / 255.0
                return y

    Source:
        Measured on Paddle 3.3.1: in a PIR trace values are 'paddle.base.libpaddle.pir.Value'; 'paddle.is_tensor'
        knows them.
    """

    code = "EX112"
    predicts = (Fault.VALUES, Fault.STRUCTURE)
    shown = Shown.DECISION

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for call in facts.in_forward(Called):
            if not call.site.quiet:
                yield from self._called(call)
        for fact in facts.in_forward(Asked):
            if (
                fact.name in _ATTRIBUTES
                and not fact.site.quiet
                and fact.tensor.origin not in ("parameter", "buffer")
                and _handed_on_as(fact.site.module.tree, fact.site.node) not in ("place", "device", "name")
                and may_reach(fact.site.module.tree, fact.site.node)
            ):
                message = f"`.{fact.name}` of a tensor {_ATTRIBUTES[fact.name]}"
                told = fact.name == "stop_gradient" and fact.tensor.origin != "input"  # behind a layer it is the same
                told = told or (fact.name in ("place", "device") and _only_handed_on(fact))
                told = told or (fact.name not in ("place", "device", "name") and _may_agree(fact))
                cure = "decide it by an argument or by an attribute set in __init__"
                yield self.at(fact.site, message, cure, Severity.WARNING if told else None)

    def _called(self, fact: Called) -> Iterator[Diagnostic]:
        name = fact.name.rpartition(".")[2]
        if fact.name.startswith("paddle.") and name in _MODES:
            yield from self._mode(fact, name)
        elif fact.name == "builtins.isinstance" and len(fact.arguments) == 2:
            yield from self._isinstance(fact)
        elif fact.name == "functools.singledispatch":
            if fact.arguments and any(isinstance(each, Tensor) for each in options(fact.arguments[0])):
                message = "the function is chosen by the type of a tensor, which is another one while it is traced"
                yield self.at(fact.site, message, "call the function that is meant, or ask paddle.is_tensor(x)")
        elif fact.name in ("builtins.type", "builtins.hasattr", "builtins.getattr") and fact.arguments:
            if not any(isinstance(each, Tensor) for each in options(fact.arguments[0])):
                return
            tree, node = fact.site.module.tree, fact.site.node
            if name == "type" and (
                _type_is_only_compared(tree, node) or _told_by_builtins(fact) or _told_by_tensor(fact)
            ):
                return
            if name != "type" and (len(fact.arguments) < (3 if name == "getattr" else 2) or _alike(fact.arguments[1])):
                return
            if not may_reach(tree, node):
                return
            message = f"`{name}` of a tensor gives another answer while the model is traced"
            cure = "use paddle.is_tensor(x), x.dtype or x.shape, or decide it in __init__"
            yield self.at(fact.site, message, cure, Severity.WARNING if _may_agree(fact) else None)

    def _mode(self, fact: Called, name: str) -> Iterator[Diagnostic]:
        statement = if_around(fact.site.module.tree, fact.site.node)
        if statement is not None and all(map(without_effect, [*statement.body, *statement.orelse])):
            return
        message = f"`{name}()` gives another answer while the model is traced; that branch is exported"
        both = statement is not None and (bool(statement.orelse) or surely_leaves(statement.body))
        both = both or (statement is not None and all(map(_keeps, [*statement.body, *statement.orelse])))
        both = both or chooses_a_value(fact.site.module.tree, fact.site.node)
        # where each mode has code of its own, the two may well compute the same
        yield self.at(
            fact.site, message, "write code that is the same in both modes", Severity.WARNING if both else None
        )

    def _isinstance(self, fact: Called) -> Iterator[Diagnostic]:
        value, kinds = fact.arguments
        every = kinds.items if isinstance(kinds, Sequence) else (kinds,)
        names = {each.name for each in every if isinstance(each, External)}
        if isinstance(value, Tensor) and names & _kinds_of_number(value):
            message = "a number taken from a tensor is a tensor while the model is traced; the other branch is exported"
            yield self.at(fact.site, message, "treat it as a number in every case", _mild(fact))
        if isinstance(value, Dim) and value.dynamic and "builtins.int" in names:
            message = "a dimension that varies is no int while the model is traced; the other branch is exported"
            yield self.at(fact.site, message, "treat it as a number in every case", _mild(fact))
        if not any(name.startswith("paddle.") and name.endswith((".Tensor", ".EagerTensor")) for name in names):
            return
        if any(name.endswith((".Value", ".Variable")) and name.startswith("paddle.") for name in names):
            return
        if _only_converts(fact) or _only_refuses(fact) or not may_reach(fact.site.module.tree, fact.site.node):
            return
        possible = options(value)
        message = "`isinstance(…, paddle.Tensor)` is False while the model is traced; the other branch is exported"
        if any(isinstance(each, Tensor) and not each.guessed for each in possible):
            yield self.at(fact.site, message, "ask paddle.is_tensor(x)", _mild(fact))
        elif any(type(each) is Value or isinstance(each, Tensor) for each in possible):
            yield self.at(fact.site, message, "ask paddle.is_tensor(x)", Severity.WARNING)


def _alike(name: Value) -> bool:
    """Whether an attribute is one that an eager tensor and a traced one both have, or neither."""
    return isinstance(name, Const) and not str(name.value).startswith("_") and name.value not in _OF_ONE_KIND


def _keeps(statement: ast.stmt) -> bool:
    """Whether a statement only puts into a list what asks for nothing itself: `self.names.extend(self.part.names)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and last_name(call.func) in ("append", "extend")
        and not any(each.attr in _ATTRIBUTES for each in of_kind(call, ast.Attribute))
    )


def _told_by_builtins(fact: Called) -> bool:
    """Return whether the type is only compared with Python's types or NumPy's: no tensor has one, eager or traced."""
    others = _compared_with(fact.site.module.tree, fact.site.node)
    kinds = [inner for each in others for inner in (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each])]
    return bool(kinds) and all(_of_no_tensor(kind, fact.site.module) for kind in kinds)


def _of_no_tensor(kind: ast.expr, module: ParsedModule) -> bool:
    if isinstance(kind, ast.Name) and kind.id in _PYTHON_TYPES:
        return True
    known = module.resolve(kind)
    return isinstance(known, str) and known.partition(".")[0] == "numpy" and "." in known


def _told_by_tensor(fact: Called) -> bool:
    """Whether the type is only compared with that of another value: both are of one kind, eager or traced.

    Of a parameter that is not so: eagerly it has a class of its own.
    """
    others = _compared_with(fact.site.module.tree, fact.site.node)
    asked = fact.arguments[0]
    own = isinstance(asked, Tensor) and asked.origin not in ("parameter", "buffer")
    calls = [side.func for side in others if isinstance(side, ast.Call)]
    return (
        own
        and len(calls) == len(others) > 0
        and all(isinstance(name, ast.Name) and name.id == "type" for name in calls)
    )


def _kinds_of_number(value: Tensor) -> set[str]:
    """The types that a number taken from a tensor may have eagerly: `float(x)` is never an int, `x.item()` may be."""
    number: tuple[object, ...] = value.value_number
    if number[:1] != ("number",):
        return set()
    return {f"builtins.{number[2]}"} if len(number) > 2 else {"builtins.int", "builtins.float"}


def _may_agree(fact: Called | Asked, traced: bool | None = None) -> bool:
    """Return whether both answers may well lead to the same; `traced` is the one that a trace gets, if known."""
    both = sides(fact.site.module.tree, fact.site.node)
    if both is None:
        return False
    ways = both if traced is None else (both.yes if traced else both.no,)
    return not any(map(refuses, ways)) and not surely_differ(fact.site.module, both)


def _only_refuses(fact: Called) -> bool:
    """Return whether a tensor is only refused, eagerly: what runs got past that, and the trace leaves it out."""
    both = sides(fact.site.module.tree, fact.site.node)
    return both is not None and bool(both.yes) and all(isinstance(node, ast.Raise) for node in both.yes)


def _mild(fact: Called) -> Severity | None:
    return Severity.WARNING if _may_agree(fact, traced=False) else None


def _only_converts(fact: Called) -> bool:
    """Whether all that the answer decides is `x = paddle.to_tensor(x)`, which leaves a tensor as it is."""
    statement = if_around(fact.site.module.tree, fact.site.node)
    if statement is None or statement.orelse:
        return False
    return all(_is_conversion(inner) for inner in statement.body)


def _only_handed_on(fact: Asked) -> bool:
    tree, node = fact.site.module.tree, fact.site.node
    return _is_named(tree, node) or _is_argument(tree, node)


def _type_is_only_compared(tree: ast.AST, node: ast.AST) -> bool:
    """Return whether `type(x)` only serves `isinstance(y, type(x))`, directly or by a name of the same function."""
    holder = definition_around(tree, node)
    kinds = [each.args[1] for each in of_kind(holder, ast.Call) if _is_isinstance(each)]
    compared = {one for kind in kinds for one in (kind, *inside(kind))}
    if node in compared:
        return True
    if not isinstance(holder, ast.FunctionDef):
        return False
    assigned = of_kind(holder, ast.Assign)
    held = [each for each in assigned if node in (each.value, *inside(each.value))]
    if len(held) != 1 or not isinstance(held[0].value, (ast.Call, ast.IfExp)):
        return False
    names = {each.id for each in held[0].targets if isinstance(each, ast.Name)}
    loads = [each for each in of_kind(holder, ast.Name) if each.id in names]
    return bool(names) and all(each in compared for each in loads if isinstance(each.ctx, ast.Load))


def _is_isinstance(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2


def _handed_on_as(tree: ast.AST, node: ast.AST) -> str:
    """The keyword that an expression is the value of, or in the text of: `place` of `to_tensor(1, place=x.place)`.

    What a method `to` is given first is its `device`.
    """
    tree = definition_around(tree, node)
    found = (each.arg for each in of_kind(tree, ast.keyword) if node in _told(each.value))
    moved = any(last_name(each.func) == "to" and node in each.args[:1] for each in of_kind(tree, ast.Call))
    return "device" if moved else next(found, None) or ""


def _told(value: ast.expr) -> tuple[ast.AST, ...]:
    return (value, *(inside(value) if isinstance(value, ast.JoinedStr) else ()))


def _is_argument(tree: ast.AST, node: ast.AST) -> bool:
    """Return whether an expression is a positional argument of a call."""
    return any(node in each.args for each in of_kind(definition_around(tree, node), ast.Call))


def _is_named(tree: ast.AST, node: ast.AST) -> bool:
    """Return whether an expression is assigned to a name, alone or in a tuple: `device = x.place`."""
    values = [each.value for each in of_kind(definition_around(tree, node), ast.Assign)]
    return any(value is node or (isinstance(value, ast.Tuple) and node in value.elts) for value in values)


def _compared_with(tree: ast.AST, node: ast.AST) -> list[ast.expr]:
    """Return the expressions that an expression is compared with; empty if it is not compared."""
    for each in of_kind(definition_around(tree, node), ast.Compare):
        if node in (sides := [each.left, *each.comparators]):
            return [one for one in sides if one is not node]
    return []


def _is_conversion(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "to_tensor" and not call.keywords
    target = list(map(ast.unparse, statement.targets))
    return named and len(call.args) == 1 and target == [ast.unparse(call.args[0])]


plugin: Rule = EagerQuestion()
