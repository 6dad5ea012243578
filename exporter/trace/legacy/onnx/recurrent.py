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
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite, is_value
from exporter.trace.legacy.patches import Patches
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


def install_cells(patches: Patches) -> None:
    """`nn.RNN` around one of Paddle's own cells is one operator; else it is a loop with a list that grows.

    LSTM and GRU without a bias go through it too.
    """
    import paddle

    stock = paddle.nn.layer.rnn.rnn

    def rnn(
        cell: Any,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Any = None,
        time_major: bool = False,
        is_reverse: bool = False,
        **more: Any,
    ) -> Any:
        made = None
        if sequence_length is None and not more:
            made = _one_operator(cell, inputs, initial_states, time_major, is_reverse)
        if made is None:
            made = stock(cell, inputs, initial_states, sequence_length, time_major, is_reverse, **more)
        return made

    paddle.jit.not_to_static(_one_operator)
    patches.attribute(paddle.nn.layer.rnn, "rnn", rnn)


def _one_operator(cell: Any, inputs: Any, initial: Any, time_major: bool, is_reverse: bool) -> Any:
    """The outputs and the final states of the cell over all steps; None where the cell is not one of Paddle's."""
    import paddle

    mode = {"LSTMCell": "LSTM", "GRUCell": "GRU", "SimpleRNNCell": "RNN_TANH"}.get(type(cell).__name__)
    ours = type(cell).__module__ == "paddle.nn.layer.rnn" and not getattr(cell, "proj_size", 0)
    if mode is None or not ours or getattr(cell, "activation", "tanh") != "tanh" or not is_value(inputs):
        return None
    x = inputs if time_major else paddle.transpose(inputs, [1, 0, 2])
    if initial is None:
        initial = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 if time_major else 0)
    states = list(initial) if isinstance(initial, (list, tuple)) else [initial]
    gates = int(cell.weight_ih.shape[0])
    biases = [one if one is not None else paddle.zeros([gates], x.dtype) for one in (cell.bias_ih, cell.bias_hh)]
    weights = [cell.weight_ih, cell.weight_hh]
    begin = [paddle.unsqueeze(one, 0) for one in states]
    sizes = (int(cell.weight_ih.shape[1]), int(cell.weight_hh.shape[1]), 1)
    if is_reverse:  # both directions with the same weights; the second is the one that runs backwards
        weights, biases, begin = weights * 2, biases * 2, [paddle.concat([one, one], 0) for one in begin]
    out, _, ended = paddle._C_ops.rnn(x, begin, [*weights, *biases], None, x, 0.0, is_reverse, *sizes, mode, 0, True)
    out = out[:, :, sizes[1] :] if is_reverse else out
    final = [one[-1] for one in ended]
    return out if time_major else paddle.transpose(out, [1, 0, 2]), tuple(final) if mode == "LSTM" else final[0]
