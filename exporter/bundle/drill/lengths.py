"""Recurrent operators over rows of different lengths, for the reference evaluator of the onnx package.

Its own ones take `sequence_lens` and ignore it (onnx 1.23: `sequence_lens=None,  # noqa: ARG002` in
onnx/reference/ops/op_lstm.py, op_gru.py, op_rnn.py): without a fault a program with lengths would differ from the
truth, and the effect of a fault could not be told.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exporter.base.tensors import Array


def recurrent() -> list[Any]:
    """LSTM, GRU and RNN that heed lengths, as `new_ops` of a `ReferenceEvaluator`."""
    from onnx.reference.ops.op_gru import GRU
    from onnx.reference.ops.op_lstm import LSTM
    from onnx.reference.ops.op_rnn import RNN_14

    bases = {"LSTM": LSTM, "GRU": GRU, "RNN": RNN_14}
    # The evaluator knows an operator by the name of its class.
    return [type(name, (_heeding(base),), {"op_domain": ""}) for name, base in bases.items()]


def _heeding(base: Any) -> Any:
    class Heeding(base):  # type: ignore[misc]  # its base has no types
        def _run(self, x: Array, w: Array, r: Array, *given: Any, **attributes: Any) -> tuple[Array, ...]:
            """`given`: B, sequence_lens, initial_h and, of an LSTM, initial_c and P."""
            bias, lengths, *begin = (*given, None, None)[: max(2, len(given))]
            if lengths is None:
                return tuple(super()._run(x, w, r, bias, None, *begin, **attributes))
            if attributes.get("layout"):
                raise NotImplementedError("lengths of a recurrent operator whose batch comes first")
            return _joined(
                [
                    super(Heeding, self)._run(
                        x[:length, [row]], w, r, bias, None, *(_of_row(one, row) for one in begin), **attributes
                    )
                    for row, length in enumerate(lengths)
                ],
                len(x),
            )

    return Heeding


def _of_row(value: Array | None, row: int) -> Array | None:
    """A state [directions, batch, hidden] of one row; the weights of peepholes [directions, 3 hidden] are for all."""
    return value[:, [row]] if value is not None and value.ndim == 3 else value


def _joined(rows: list[tuple[Array, ...]], steps: int) -> tuple[Array, ...]:
    """The results of all rows: Y [steps, directions, batch, hidden], zeros after a row's end, and the last states."""
    outputs, *states = zip(*rows, strict=True)
    padded = [np.pad(one, [(0, steps - len(one)), (0, 0), (0, 0), (0, 0)]) for one in outputs]
    return (np.concatenate(padded, axis=2), *(np.concatenate(each, axis=1) for each in states))
