"""Recurrent layers: one operator a layer, and lengths that ONNX Runtime sees.

paddle2onnx 2.1.0 drops `sequence_length` without a word, gives the last layer's final state for all layers', and writes
nothing for SimpleRNN. The lengths travel in the initial state: a sum of it, the lengths and `MARK`, which stands for
the input `sequence_lens` of ONNX's operator until `exporter.lower._lengths` puts it there. A sum that is left saturates
every gate, which no comparison passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.common import constant
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite
from exporter.trace.legacy.refusal import cannot_lower

#: No state is this large. Exact in float32; PIR's JSON cannot hold NaN.
MARK = -(2.0**101)
#: A gate of SimpleRNN's stand-in that is shut, in float32.
_SHUT = -1e4


def _rnn(entry: Entry, call: Arguments) -> Any:
    import paddle

    mode, directions = call["mode"], 2 if call["is_bidirec"] else 1
    if mode == "RNN_RELU":
        raise cannot_lower("paddle.nn.SimpleRNN", "paddle2onnx has no recurrent relu", "use tanh, a GRU or an LSTM")
    x, lengths, layers = call["x"], call["sequence_length"], int(call["num_layers"])
    weights, states = list(call["weight_list"]), list(call["pre_state"])
    final: list[list[Any]] = []
    for layer in range(layers):
        at = slice(layer * 2 * directions, (layer + 1) * 2 * directions)
        own = [*weights[: len(weights) // 2][at], *weights[len(weights) // 2 :][at]]
        begin = [_rows(state, layer * directions, directions) for state in states]
        if mode == "RNN_TANH":
            own = [_as_gru(one) for one in own]
        if lengths is not None:
            begin[0] = _marked(begin[0], lengths)
        x, ended = _one_layer(entry, call, x, begin, own)
        final.append(ended)
    joined = [parts[0] if layers == 1 else paddle.concat(list(parts), axis=0) for parts in zip(*final, strict=True)]
    return x, call["dropout_state_in"], joined


def _one_layer(entry: Entry, call: Arguments, x: Any, begin: list[Any], weights: list[Any]) -> tuple[Any, list[Any]]:
    mode = "GRU" if call["mode"] == "RNN_TANH" else call["mode"]
    size, hidden = int(x.shape[-1]), int(call["hidden_size"])
    out, _dropout, ended = entry(
        x, begin, weights, None, call["dropout_state_in"], 0.0, call["is_bidirec"], size, hidden, 1, mode, 0, True
    )
    return out, list(ended)


def _rows(state: Any, start: int, count: int) -> Any:
    import paddle

    return state if state.shape[0] == count else paddle.slice(state, [0], [start], [start + count])


def _marked(state: Any, lengths: Any) -> Any:
    """The state, the lengths in its shape, and the mark: `exporter.lower._lengths` takes them apart."""
    import paddle

    shaped = lengths.astype(state.dtype).reshape([1, -1, 1])
    spread = paddle.add(paddle.zeros_like(state), shaped)
    return paddle.add_n([state, spread, paddle.full_like(state, MARK)])


def _as_gru(weight: Any) -> Any:
    """SimpleRNN as a GRU whose update gate is shut and whose reset gate is open: h = tanh(W x + b + 1 * (U h + c))."""
    import paddle

    rows = int(weight.shape[0])
    if len(weight.shape) == 2:
        return paddle.concat([paddle.zeros([2 * rows, int(weight.shape[1])], weight.dtype), weight], axis=0)
    gates = np.repeat(np.array([-_SHUT, _SHUT], "float32"), rows)
    return paddle.concat([constant(gates).astype(weight.dtype), weight], axis=0)


_SIGNATURE = (
    "x, pre_state, weight_list, sequence_length, dropout_state_in, dropout_prob, is_bidirec, input_size, hidden_size, "
    "num_layers, mode, seed, is_test"
)
RECURRENT: Mapping[str, Rewrite] = {"rnn": Rewrite(_rnn, _SIGNATURE)}
