"""`paddle.text.viterbi_decode`: what a legacy program declares of scores and path."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Value
from exporter.paddle.values import is_variable


def _forward(self: Value, x: Value) -> Value:
    import paddle

    lengths = paddle.full([x.shape[0]], 2, "int64")
    scores, path = paddle.text.viterbi_decode(x.reshape([-1, 2, 2]), self.transition, lengths, False)
    return scores * 0.5, path.astype("float32").sum(-1)


def _transition() -> Value:
    import paddle

    return paddle.to_tensor([[0.1, 0.7], [0.4, 0.2]])


class ViterbiDecode(Fix):
    """Type inference takes the scores for the path, and gives the path no axes: `path.sum(-1)` sums nothing (3.3.1)."""

    apis = ("paddle.text.viterbi_decode",)
    formats = ("pdmodel",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 4),), {"transition": _transition}),)

    def instead(self, stock: Value, potentials: Value, *args: Value, **kwargs: Value) -> Value:
        scores, path = stock(potentials, *args, **kwargs)
        if is_variable(scores):
            from exporter.paddle.private import core

            scores.desc.set_dtype(potentials.dtype)
            scores.desc.set_shape([potentials.shape[0]])
            path.desc.set_dtype(core.VarDesc.VarType.INT64)
            path.desc.set_shape([potentials.shape[0], -1])
        return scores, path


plugin: Fix = ViterbiDecode()
