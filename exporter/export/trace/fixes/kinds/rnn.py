"""paddle.nn.RNN, BiRNN and LSTM with a projection: one step of a cell, over and over."""

from __future__ import annotations

from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    return self.rnn(x)[0]


def _rnn() -> Any:
    import paddle

    return paddle.nn.RNN(paddle.nn.SimpleRNNCell(4, 3))


class Rnn(Fix):
    """In PIR stock counts the steps in place, which a program of a file does not see: it never ends."""

    apis = ("paddle.nn.RNN", "paddle.nn.BiRNN", "paddle.nn.LSTM")
    formats = ("pir",)
    seen = ("3.2.2", "3.3.1")
    examples = (Example(_forward, (("n", "w", 4),), {"rnn": _rnn}),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Replace the loop that they share; it refuses nothing that stock takes."""
        del refuse
        import paddle

        from exporter.paddle.private import Value, rnn

        stock = rnn._rnn_static_graph

        def loop(cell: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(inputs, Value):
                return _loop(cell, inputs, *args, **kwargs)
            return stock(cell, inputs, *args, **kwargs)

        paddle.jit.not_to_static(_loop)
        paddle.jit.not_to_static(_stepped)
        patches.attribute(rnn, "_rnn_static_graph", loop)


def _loop(
    cell: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> Any:
    """The outputs of all steps, and the states after the last. What a step puts out is written into its row."""
    import paddle

    if initial_states is None:
        initial_states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 if time_major else 0)
    x = inputs if time_major else _turned(inputs)
    steps = paddle.shape(x)[0].astype("int64")
    alive = None
    if sequence_length is not None:
        places = paddle.arange(0, steps, 1, "int64")
        alive = paddle.less_than(paddle.unsqueeze(places, 1), sequence_length.astype("int64")).astype(x.dtype)
    if is_reverse:
        x, alive = paddle.flip(x, [0]), alive if alive is None else paddle.flip(alive, [0])

    def step(at: Any, rows: Any, *flat: Any) -> list[Any]:
        before = paddle.utils.pack_sequence_as(initial_states, list(flat))
        out, after = _stepped(cell, x, at, before, alive, kwargs)
        return [at + 1, paddle.scatter(rows, at, paddle.unsqueeze(out, 0)), *paddle.utils.flatten(after)]

    first = paddle.zeros([1], "int64")
    out, states = _stepped(cell, x, first, initial_states, alive, kwargs)
    rows = paddle.zeros([steps, *(paddle.shape(out)[at].astype("int64") for at in range(len(out.shape)))], out.dtype)
    rows = paddle.scatter(rows, first, paddle.unsqueeze(out, 0))
    start = [first + 1, rows, *paddle.utils.flatten(states)]
    _, rows, *flat = paddle.static.nn.while_loop(lambda at, *_: paddle.less_than(at, steps)[0], step, start)
    rows = paddle.flip(rows, [0]) if is_reverse else rows
    states = paddle.utils.pack_sequence_as(initial_states, flat)
    return rows if time_major else _turned(rows), states


def _stepped(cell: Any, x: Any, at: Any, before: Any, alive: Any, more: dict[str, Any]) -> tuple[Any, Any]:
    """What the cell puts out at one step, and its states; where a sequence has ended they stay as they are."""
    import paddle

    out, after = cell(paddle.squeeze(paddle.gather(x, at), 0), before, **more)
    if alive is not None:
        keep = paddle.unsqueeze(paddle.squeeze(paddle.gather(alive, at), 0), -1)
        after = paddle.utils.map_structure(lambda new, old: new * keep + old * (1.0 - keep), after, before)
    return out, after


def _turned(x: Any) -> Any:
    import paddle

    return paddle.transpose(x, [1, 0, *range(2, len(x.shape))])


plugin: Fix = Rnn()
