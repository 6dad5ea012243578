"""EX122: a tensor is changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Tensor
from exporter.check.facts import Called, Facts, Overwritten
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.source.syntax import definition_around

#: What Paddle 3.3.1 changes in place: methods of `paddle.Tensor`, functions of `paddle` and `paddle.nn.functional`.
_IN_PLACE = frozenset(
    "abs acos acosh add addmm apply asin asinh assign atan atanh baddbmm bernoulli bitwise_and bitwise_invert "
    "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cast cauchy ceil clamp clip copy "
    "copysign cos cosh cumprod cumsum detach digamma div divide elu embedding_renorm equal erf erfinv exp expm1 "
    "exponential fill fill_diagonal fill_diagonal_tensor flatten floor floor_divide floor_mod frac gammainc "
    "gammaincc gammaln gcd geometric greater_equal greater_than hardtanh hypot i0 index_add index_fill index_put "
    "lcm ldexp leaky_relu lerp less less_equal less_than lgamma log log10 log1p log2 log_normal logical_and "
    "logical_not logical_or logical_xor logit masked_fill masked_scatter mod mul multigammaln multiply nan_to_num "
    "neg normal not_equal polygamma pow put_along_axis random reciprocal reconstruct_from relu remainder renorm "
    "reshape resize round rsqrt scale scatter scatter_add set sigmoid sin sinc sinh softmax sqrt square squeeze sub "
    "subtract t tan tanh thresholded_relu transpose tril triu trunc uniform unsqueeze where zero".split()
)
#: What a traced tensor does not have in place, and what gives the same; `{y}` is the tensor, `{0}` the first argument.
_MISSING = {
    "set_value": "paddle.assign({0})",
    "copy_": "paddle.assign({0})",
    "zero_": "paddle.zeros_like({y})",
    "fill_": "paddle.full_like({y}, {0})",
    "fill_diagonal_": "paddle.where(paddle.arange({y}.shape[0]).unsqueeze(1) == paddle.arange({y}.shape[1]),"
    " paddle.full_like({y}, {0}), {y})",
    "uniform_": "paddle.uniform({y}.shape)",
    "normal_": "paddle.standard_normal({y}.shape)",
}
_FOLLOWED = " (stock Paddle; exporter's own export follows it)"


class InPlace(Rule):
    """A tensor is changed in place.

    What:
        A method or function whose name ends in `_` is called for its effect, or while another name stands for the same
        tensor; or one that a traced tensor does not have (`set_value`, `zero_`, `fill_`); or any of a tensor that is a
        view (of `reshape`, `transpose`, a slice, …) or has one. Or a part of a tensor is set, and a view of the same
        data is read afterwards.

    Why:
        A value of a program never changes: the call gives a new value, and every name keeps the old one. Nothing warns.
        The exporter's own export follows a call that changes a tensor which shares its data with no other: there it is
        a warning about stock Paddle.
        `y[:, 0] = 0`, `y += 1` and `y = y.add_(1)` (with no other name for y) are converted well.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                y.scale_(3.0)  # <- here
                return y + 1.0

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                y = y.scale(3.0)
                return y + 1.0

    Source:
        Measured on Paddle 3.3.1 ('check_view_value' in 'utils/inplace_utils.py').
    """

    code = "EX122"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Overwritten):
            message = f"`{fact.shared}`, read further on, shares this data: in a program it does not change"
            cure = (
                f"write into the tensor that `{fact.shared}` is, or compute `{fact.shared}` again from what was written"
            )
            yield self.at(fact.site, message, cure)
        for call in facts.in_forward(Called):
            name = call.name.rpartition(".")[2]
            target = call.owner if call.owner is not None else (call.arguments[0] if call.arguments else None)
            known = call.name.startswith(("Tensor.", "paddle."))
            if call.name == "paddle.assign" and len(call.arguments) + len(call.keywords) > 1:
                target, name = (*call.arguments[1:], *call.keywords.values())[0], "assign_"
            if not known or not isinstance(target, Tensor) or target.origin in ("buffer", "parameter", "eager"):
                continue
            yield from self._judge(call, name)

    def _judge(self, fact: Called, name: str) -> Iterator[Diagnostic]:
        cure = _cure(fact, name)
        if name in _MISSING:
            yield self.at(fact.site, f"a tensor of the trace has no `{name}`: the export fails", cure)
        elif name[:-1] not in _IN_PLACE or not name.endswith("_") or name.endswith("__"):
            return  # a function whose name only looks like that: `scaled_dot_product_attention_`
        elif fact.shared and name != "assign_":
            message = f"`{name}` of a tensor that shares its data with another: Paddle refuses to trace it"
            yield self.at(fact.site, message, cure)
        elif fact.dropped or fact.aliased:
            why = "and its result is dropped" if fact.dropped else "while another name stands for the same tensor"
            message = f"`{name}` changes a tensor in place {why}; in a program nothing changes"
            followed = name != "assign_"
            severity = Severity.WARNING if followed else None
            yield self.at(fact.site, message + _FOLLOWED * followed, cure, severity)


def _cure(fact: Called, name: str) -> str:
    """Say what to write instead, as a statement that can be run where the tensor has a name."""
    node = fact.site.node
    if not isinstance(node, ast.Call):
        return "use the value that the call gives"
    method = isinstance(node.func, ast.Attribute) and fact.owner is not None
    if name == "assign_":
        target, given = node.args[1] if len(node.args) > 1 else node.keywords[-1].value, node.args[:1]
    else:
        target = node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0]
        given = node.args if method else node.args[1:]
    plain = name in _MISSING or name == "assign_"  # what stands instead takes them by their places
    named = [ast.unparse(keyword.value if plain else keyword) for keyword in node.keywords]
    arguments = [*map(ast.unparse, given), *(named if name != "assign_" else ())]
    tensor = ast.unparse(target)
    if name in _MISSING and (arguments or "{0}" not in _MISSING[name]):
        value = _MISSING[name].format(*arguments, y=tensor)
    elif name == "assign_":
        value = f"paddle.assign({arguments[0]})" if arguments else "the value"
    elif method:
        value = f"{tensor}.{name.rstrip('_')}({', '.join(arguments)})"
    else:
        value = f"{ast.unparse(node.func).rstrip('_')}({', '.join([tensor, *arguments])})"
    base = _base(fact.site.module.tree, node, target) if fact.shared else ""
    if base:
        return f"write into the tensor that it is part of: `{base} = {value}; {tensor} = {base}`"
    if fact.shared:
        return f"compute the new value, `{value}`, and what shares its data from that"
    if not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return f"use the value: `{value}`"
    return f"use the value, under each name of the tensor: `{tensor} = {value}`"


def _base(tree: ast.Module, node: ast.AST, target: ast.expr) -> str:
    """The `y[0]` that a name was last given above a node, in the same function; empty where it is another view."""
    function = definition_around(tree, node)
    given = [
        part.value
        for part in ast.walk(function)
        if isinstance(part, ast.Assign)
        and part.lineno < getattr(node, "lineno", 0)
        and [ast.unparse(name) for name in part.targets] == [ast.unparse(target)]
    ]
    last = given[-1] if given and isinstance(target, ast.Name) else None
    return ast.unparse(last) if isinstance(last, ast.Subscript) and isinstance(last.value, ast.Name) else ""


plugin: Rule = InPlace()
