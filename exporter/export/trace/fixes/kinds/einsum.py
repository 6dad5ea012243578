"""paddle.einsum of complex values in a legacy program."""

from __future__ import annotations

import itertools

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    z = paddle.fft.rfft(x)
    return paddle.as_real(paddle.einsum("bix,bio->box", z, paddle.conj(z)))


class Einsum(Fix):
    """A legacy program takes real operands alone: the product is one of each choice of parts."""

    apis = ("paddle.einsum",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4, 6),)),)

    def instead(self, stock: Value, equation: str, *operands: Value) -> Value:
        import paddle

        if not any(map(paddle.is_complex, operands)):
            return stock(equation, *operands)
        sums: list[Value] = [None, None]
        parts = [(paddle.real(operand), paddle.imag(operand)) for operand in operands]
        for chosen in itertools.product((0, 1), repeat=len(parts)):
            term = stock(equation, *(pair[at] for at, pair in zip(chosen, parts, strict=True)))
            term = paddle.scale(term, -1.0) if sum(chosen) % 4 > 1 else term
            at = sum(chosen) % 2
            sums[at] = term if sums[at] is None else paddle.add(sums[at], term)
        return paddle.complex(*sums)


plugin: Fix = Einsum()
