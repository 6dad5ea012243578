"""EX122: a tensor is changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Tensor
from exporter.check.facts import Called, Facts, Overwritten
from exporter.check.rules.base import Fault, Rule, Shown

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
_MISSING = ("set_value", "zero_", "fill_", "copy_", "fill_diagonal_", "uniform_", "normal_")


class InPlace(Rule):
    """A tensor is changed in place.

    What:
        A method or function whose name ends in `_` is called for its effect, or while another name stands for the same
        tensor; or one that a traced tensor does not have (`set_value`, `zero_`, `fill_`); or any of a tensor that is a
        view (of `reshape`, `transpose`, a slice, …) or has one. Or a part of a tensor is set, and a view of the same
        data is read afterwards.

    Why:
        A value of a program never changes: the call gives a new value, and every name keeps the old one. Nothing warns.
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
            cure = f"work on a copy (`.clone()`), or write into the tensor that `{fact.shared}` is"
            yield self.at(fact.site, message, cure)
        for call in facts.in_forward(Called):
            name = call.name.rpartition(".")[2]
            target = call.owner if call.owner is not None else (call.arguments[0] if call.arguments else None)
            known = call.name.startswith(("Tensor.", "paddle."))
            if call.name == "paddle.assign" and len(call.arguments) + len(call.keywords) > 1:
                target, name = (*call.arguments[1:], *call.keywords.values())[0], "assign_"
            if not known or not isinstance(target, Tensor) or target.origin in ("buffer", "parameter", "eager"):
                continue
            yield from self._judge(call, target, name)

    def _judge(self, fact: Called, target: Tensor, name: str) -> Iterator[Diagnostic]:
        cure = f"use the value: y = y.{name.rstrip('_')}(...)"
        if name in _MISSING:
            yield self.at(fact.site, f"a tensor of the trace has no `{name}`: the export fails", cure)
        elif name[:-1] not in _IN_PLACE:
            return  # a function whose name only looks like that: `scaled_dot_product_attention_`
        elif name.endswith("_") and not name.endswith("__") and (fact.dropped or fact.aliased):
            why = "and its result is dropped" if fact.dropped else "while another name stands for the same tensor"
            yield self.at(fact.site, f"`{name}` changes a tensor in place {why}; in a program nothing changes", cure)
        elif name.endswith("_") and not name.endswith("__") and name != "assign_" and fact.shared:
            message = f"`{name}` of a tensor that shares its data with another: Paddle refuses to trace it"
            yield self.at(fact.site, message, cure)


plugin: Rule = InPlace()
