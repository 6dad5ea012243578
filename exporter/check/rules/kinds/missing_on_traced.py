"""EX137: something of an eager tensor that a traced one does not have."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Tensor, only_tensor
from exporter.check.facts import Asked, Called, Facts, Operated
from exporter.check.rules.base import Fault, Rule

#: Attributes of `paddle.Tensor` that `pir.Value` lacks; other rules tell of `tolist`, `backward`, `set_value` and such.
_ATTRIBUTES = frozenset(
    "data data_ptr strides get_strides layout offset inplace_version value grad grad_fn gradient detach_ apply_ "
    "fill_diagonal_tensor fill_diagonal_tensor_ is_dense is_sparse is_sparse_coo is_sparse_csr is_selected_rows "
    "is_same_shape nnz rows cols crows coalesce to_sparse_coo to_sparse_csr get_tensor pin_memory retain_grads "
    "_clear_data _share_buffer_to _md5sum __array__ view view_as as_strided".split()
)
_FUNCTIONS = (
    "paddle.view",
    "paddle.view_as",
    "paddle.as_strided",
    "paddle.utils.dlpack.to_dlpack",
    "copy.copy",
    "builtins.complex",
)


class MissingOnTraced(Rule):
    """A traced tensor does not have what is asked of it.

    What:
        `forward` uses an attribute, method or function that only eager tensors know: `x.data`, `x.grad`, `x.strides`,
        `x.view(...)`, `paddle.as_strided(x, ...)`, `copy.copy(x)`. A comparison `x == None` is a
        warning: only legacy variables (`.pdmodel`) refuse it.

    Why:
        While the model is traced tensors are of another class, which lacks them: the export fails.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y.data + 1.0  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y.detach() + 1.0

    Source:
        Paddle 3.3.1: what 'paddle.Tensor' has and 'paddle.base.libpaddle.pir.Value' has not, and what is marked
        'dygraph_only'.
    """

    code = "EX137"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "use an operator that both modes know, e.g. `detach`, `reshape`, `clone`"
        for fact in facts.in_forward(Asked):
            if fact.name in _ATTRIBUTES and not fact.site.quiet:
                given = fact.tensor.guessed and fact.tensor.origin == "input" and fact.name == "view"
                if (not fact.tensor.guessed or given) and fact.tensor.origin not in ("parameter", "buffer"):
                    message = f"a tensor of the trace has no `{fact.name}`: the export fails"
                    yield self.at(fact.site, message, cure, Severity.WARNING if given else None)
        for call in facts.in_forward(Called):
            if call.name in _FUNCTIONS and not call.site.quiet and _given_one(call):
                message = f"`{call.name}` does not take a tensor of the trace: the export fails"
                yield self.at(call.site, message, cure)
        for compared in facts.in_forward(Operated):
            pair = (compared.left, compared.right)
            if compared.operator in ("Eq", "NotEq") and Const(None) in pair and any(map(only_tensor, pair)):
                message = "`==` makes a number of None beside a tensor: a legacy export (`.pdmodel`) fails"
                yield self.at(compared.site, message, "ask `x is None`", Severity.WARNING)


def _given_one(fact: Called) -> bool:
    return any(isinstance(each, Tensor) and not each.guessed for each in fact.arguments[:1])


plugin: Rule = MissingOnTraced()
