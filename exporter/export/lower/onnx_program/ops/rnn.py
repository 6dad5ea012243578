"""Recurrent layers, one ONNX operator a layer."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor

#: Of each mode: ONNX's operator, and the rows of Paddle's gates in ONNX's order
#: (LSTM i f c o -> i o f c; GRU r z c -> z r c).
_MODES = {
    "LSTM": ("LSTM", (0, 3, 1, 2)),
    "GRU": ("GRU", (1, 0, 2)),
    "RNN_TANH": ("RNN", (0,)),
    "RNN_RELU": ("RNN", (0,)),
}


def _rows(b: Builder, weight: Tensor, order: Sequence[int], hidden: int) -> Tensor:
    """Gates in another order."""
    if len(order) == 1:
        return weight
    parts = [b.slice(weight, [gate * hidden], [(gate + 1) * hidden], [0]) for gate in order]
    return b.concat(parts)


def _joined(b: Builder, parts: Sequence[Tensor]) -> Tensor:
    return b.concat([b.unsqueeze(part, [0]) for part in parts])


def _rnn(c: Call) -> list[Tensor | tuple[Tensor, ...] | None]:
    """X and states are [time, batch, …]. Weights: W and R of each layer and direction, then both biases of each."""
    b, x, states, weights = c.b, c.x(0), c.xs(1), c.xs(2)
    lengths = b.cast(c.raw(3), "int32") if c.has(3) else None
    c.idle(4)
    c.insist("is_test", True)
    c.ignore("dropout_prob", "seed", "input_size")
    mode = c.insist("mode", *_MODES)
    directions, hidden, layers = 2 if c.attr("is_bidirec") else 1, int(c.attr("hidden_size")), int(c.attr("num_layers"))
    if x.dtype == "float64":
        raise c.refuse("ONNX Runtime does not compute it in float64; cast the tensor to float32")
    kind, order = _MODES[mode]
    half = len(weights) // 2
    final: list[list[Tensor]] = [[] for _ in states]
    for layer in range(layers):
        at = range(layer * directions, (layer + 1) * directions)
        gates = [(weights[2 * one], weights[2 * one + 1]) for one in at]
        biases = [(weights[half + 2 * one], weights[half + 2 * one + 1]) for one in at]
        given = _weights(b, gates, biases, order, hidden)
        begin = [_layer(b, state, layer * directions, directions, layers) for state in states]
        out, *ended = _one_layer(c, (kind, mode), x, [*given, lengths, *begin], hidden)
        for kept, state in zip(final, ended, strict=True):
            kept.append(state)
        turned = b.transpose(out, [0, 2, 1, 3])  # [time, directions, batch, hidden]
        x = b.reshape(turned, [0, 0, directions * hidden], [*x.shape[:2], directions * hidden])
    ends = tuple(b.concat(parts) for parts in final)
    return [x, None, ends]


def _weights(
    b: Builder,
    gates: Sequence[tuple[Tensor, Tensor]],
    biases: Sequence[tuple[Tensor, Tensor]],
    order: Sequence[int],
    hidden: int,
) -> list[Tensor]:
    """W, R and B of ONNX, directions first."""
    sides = [_joined(b, [_rows(b, pair[side], order, hidden) for pair in gates]) for side in (0, 1)]
    both = [b.concat([_rows(b, part, order, hidden) for part in pair]) for pair in biases]
    return [*sides, _joined(b, both)]


def _layer(b: Builder, state: Tensor, start: int, count: int, layers: int) -> Tensor:
    return state if layers == 1 else b.slice(state, [start], [start + count], [0])


def _one_layer(c: Call, kind: tuple[str, str], x: Tensor, given: Sequence[Tensor | None], hidden: int) -> list[Tensor]:
    operator, mode = kind
    directions = 2 if c.attr("is_bidirec") else 1
    settings: dict[str, object] = {
        "hidden_size": hidden,
        "direction": "bidirectional" if directions == 2 else "forward",
    }
    if operator == "GRU":
        settings["linear_before_reset"] = 1
    if mode == "RNN_RELU":
        settings["activations"] = ["Relu"] * directions
    weight, recurrent, bias, lengths, *begin = given
    time, batch = x.shape[:2]
    state = (directions, batch, hidden)
    shapes = [(time, directions, batch, hidden), *[state] * len(begin)]
    return c.b.many(operator, x, weight, recurrent, bias, lengths, *begin, shapes=shapes, **settings)


OPERATORS: dict[str, Lowering] = {"rnn": _rnn}
