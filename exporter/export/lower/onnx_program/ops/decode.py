"""Decoding of sequences by the best path."""

from __future__ import annotations

import numpy as np

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Tensor
from exporter.export.lower.onnx_program.ops.scan import scan

_END = int(np.iinfo("int32").max)


def _viterbi(c: Call) -> list[Tensor]:
    """The score of the best path of each sequence, and its tags, with 0 beyond the length; as wide as the longest.

    One Scan goes forward over the scores of each tag and keeps which tag each comes from, one goes back over these
    (viterbi_decode_kernel.cc, 3.3.1). Turns beyond a sequence's length change nothing, so both have one turn more than
    there are steps, as ONNX Runtime fails on a Scan without turns. An emission of minus infinity is never taken; Paddle
    multiplies it by 0, and what it makes of the NaN is no best path.
    """
    b, x, moves, lengths = c.b, c.x(0), c.x(1), c.raw(2)
    tagged = bool(c.attr("include_bos_eos_tag"))  # the last tag begins each sequence, the one before ends it
    longest = b.reduce("ReduceMax", lengths, [0], keep=True)
    rows = b.transpose(x, [1, 0, 2])
    first = b.slice(rows, [0], [1], [0])
    later = b.emit("Slice", rows, b.constant([1]), longest, b.constant([0]), shape=[-1, *rows.shape[1:]])
    rows = b.concat([later, first])
    steps = b.unsqueeze(b.places(b.size_of(rows, 0)), [1])
    left = b.emit("Sub", b.unsqueeze(lengths, [0]), b.emit("Add", steps, b.constant(1)))  # [steps, batch]
    end = b.slice(moves, [-2], [-1], [0])

    def ended(score: Tensor, left: Tensor) -> Tensor:
        """The score with the move to the end, where one step is left."""
        last = b.emit("Equal", b.unsqueeze(left, [1]), b.constant(1))
        return b.emit("Where", last, b.emit("Add", score, end), score, shape=score.shape) if tagged else score

    def forward(state: list[Tensor], seen: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (score,), (emission, left) = state, seen
        ways = b.emit("Add", b.unsqueeze(score, [2]), moves)
        origin = b.emit("ArgMax", ways, axis=1, keepdims=0, shape=score.shape)
        new = b.emit("Add", b.reduce("ReduceMax", ways, [1], keep=False), emission, shape=score.shape)
        goes_on = b.emit("Greater", b.unsqueeze(left, [1]), b.constant(0))
        return [ended(b.emit("Where", goes_on, new, score, shape=score.shape), left)], [origin]

    def back(state: list[Tensor], seen: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (tag,), (origin, left) = state, seen
        before = b.emit("GatherElements", origin, b.unsqueeze(tag, [1]), axis=1, shape=[tag.shape[0], 1])
        tag = b.emit("Where", b.emit("Greater", left, b.constant(0)), b.squeeze(before, [1]), tag, shape=tag.shape)
        return [tag], [b.emit("Where", b.emit("Less", left, b.constant(0)), b.constant(0), tag, shape=tag.shape)]

    start = b.squeeze(first, [0])
    if tagged:
        start = ended(b.emit("Add", start, b.slice(moves, [-1], [_END], [0]), shape=start.shape), lengths)
    (score,), (origins,) = scan(b, [start], [rows, left], forward)
    tag = b.emit("ArgMax", score, axis=1, keepdims=0, shape=score.shape[:1])
    _, (path,) = scan(b, [tag], [origins, left], back, backwards=True)
    return [b.reduce("ReduceMax", score, [1], keep=False), b.transpose(path, [1, 0])]


OPERATORS: dict[str, Lowering] = {"viterbi_decode": _viterbi}
