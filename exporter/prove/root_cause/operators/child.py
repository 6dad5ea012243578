"""The child's side: go through both programs block by block, and ask each operator at values that Paddle recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from exporter.base.readers.program import Block, read_operators
from exporter.base.tensors import Array, recorded_inputs
from exporter.engines.base import EngineRefused
from exporter.export.lower.onnx_program.excerpt import latest
from exporter.export.lower.onnx_program.graph import value_name
from exporter.paddle.choices import CHOOSE
from exporter.paddle.threads import run_programs_in_place
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.root_cause.operators.boundary import BOUNDS, RECORDED, TIES, points
from exporter.prove.root_cause.operators.judge import JudgeAnswer, JudgedOperator, JudgeRequest
from exporter.prove.root_cause.operators.pieces import Piece, operators_for, pieces_of
from exporter.prove.root_cause.operators.scopes import Scope
from exporter.prove.root_cause.operators.sessions import Programs, trial

#: Those of them whose places differ wherever two elements are equal.
_ORDER = ("argsort", "kthvalue", "topk")
#: ONNX Runtime 1.31 computes Sigmoid to 1e-7 of 1, which is much of a value that is small.
_TAIL = ("negative", "far below")
#: Points at which sound files differ from Paddle 3.3.1: its log_softmax ends at -64, the written atan2 takes -0 for 0,
#: and ONNX Runtime rounds a position of grid_sample at a half elsewhere. A spectrum of equal numbers is exactly zero in
#: Paddle, and a sum of cosines and sines is zero but for rounding.
_NOT_ASKED = {
    "log_softmax": ("large",),
    "atan2": ("negative zero",),
    "grid_sample": TIES,
    **dict.fromkeys(("fft_r2c", "fft_c2c", "fft_c2r"), (BOUNDS,)),
    **dict.fromkeys(("sigmoid", "swish", "silu"), _TAIL),
}


@job
def judge(request: JudgeRequest) -> JudgeAnswer:
    """Judge every operator of one ONNX file at the values that one case gives it, and at others around them.

    The answer says how far each is off at its worst point (None: beyond measure), where, and which nodes compute it.
    """
    doing("importing paddle")
    import onnx

    run_programs_in_place()
    block = read_operators(request.pir / "model.json")
    names = [str(one.attributes["name"]) for one in block.operators if one.name == "data"]
    inputs = recorded_inputs(request.golden, request.case, names)
    doing("reading the programs")
    programs = Programs.of(request.pir, onnx.load_model(str(request.onnx)))
    scope = whole(block, programs)
    given = {number: inputs[name] for number, name in scope.given.items()}
    return JudgeAnswer(tuple(_Judge(programs, request.budget).block(scope, given)))


def whole(block: Block, programs: Programs) -> Scope:
    """The main block beside the main graph."""
    nodes, constants = programs.model.graph.node, frozenset(programs.initializers)
    given = {one.results[0].id: str(one.attributes["name"]) for one in block.operators if one.name == "data"}
    means = Scope(block, nodes, constants, given, {}).means
    fetches = [one for one in block.operators if one.name == "fetch"]
    puts_out = {latest(one.operands[0], means[one.index]): str(one.attributes["name"]) for one in fetches}
    return Scope(block, nodes, constants, given, puts_out)


@dataclass(frozen=True)
class _Judge:
    programs: Programs
    budget: float

    def block(self, scope: Scope, given: Mapping[int, Array]) -> Iterator[JudgedOperator]:
        """The operators of a block, then those of the blocks inside it, in their first turn."""
        values = {**given, **self._recorded(scope, given)}
        for piece in pieces_of(scope):
            doing(f"judging {piece.operator.name}")
            yield _judged(piece, *self._worst(piece, scope, values))
        for owner, inner in scope.bodies():
            operands = [latest(number, scope.means[owner.index]) for number in owner.operands[1:]]
            carried = zip(inner.block.arguments, operands, strict=False)
            arguments = {one.id: values[number] for one, number in carried if number in values}
            if len(arguments) == len(inner.block.arguments):
                yield from self.block(inner, {**values, **arguments})

    def _recorded(self, scope: Scope, given: Mapping[int, Array]) -> dict[int, Array]:
        """What Paddle computes of every value of a block that both programs show, or that an inner block is given."""
        own = {value.id for operator in scope.block.operators for value in operator.results}
        carried = {number for owner, _ in scope.bodies() for number in scope.read(owner)}
        shown = sorted(({*scope.names, *carried} & own) - set(given))
        wanted = [number for number in shown if self.programs.source.dtype(number)]
        operators, leaves = operators_for(wanted, given, scope)
        try:
            with self.programs.paddle(operators, leaves, wanted, scope, wide=False) as session:
                found = session.run(self.programs.fed(operators, leaves, given))
        except EngineRefused:
            return {}
        return {number: found[value_name(number)] for number in wanted}

    def _worst(self, piece: Piece, scope: Scope, values: Mapping[int, Array]) -> tuple[float | None, str, str]:
        """The largest error ratio and the point where it was seen; or why there is none."""
        needed = sorted({*piece.reads, *piece.takes})
        unknown = [*piece.lost, *(value_name(number) for number in needed if number not in values)]
        if unknown:
            return None, "", f"its nodes read {unknown[0]}, of which nothing is known"
        read = {number: values[number] for number in needed}
        try:
            with trial(self.programs, piece, scope, read, self.budget) as ready:
                asked = points(read, self.programs.constants(piece))
                found = [(ready.off(point), name) for name, point in asked if _asked(piece, name, point)]
        except EngineRefused as refusal:
            return None, "", f"Paddle does not run it alone: {refusal}"
        known = [(off, name) for off, name in found if off is not None]
        if not known:
            return None, "", "at no point it gives a number that tells anything"
        return (*max(known, key=lambda pair: pair[0]), "")


def _asked(piece: Piece, point: str, values: Mapping[int, Array]) -> bool:
    """Whether an operator must be right at a point: not where its nodes read what the operator itself does not.

    The recorded values are no exception to the rule that of equal elements any may be taken.
    """
    name = piece.operator.name.removesuffix("_")
    if name in _ORDER and any(_repeats(value, piece.operator.attributes.get("axis")) for value in values.values()):
        return False
    left_out = TIES if name in CHOOSE else _NOT_ASKED.get(name, ())
    return point == RECORDED or (point not in left_out and set(piece.takes) <= set(piece.reads))


def _repeats(value: Array, axis: Any) -> bool:
    """Whether two elements along an axis are equal."""
    along = axis if isinstance(axis, int) else -1
    return bool(value.ndim and (np.diff(np.sort(value, along), axis=along) == 0).any())


def _judged(piece: Piece, ratio: float | None, point: str, why_not: str) -> JudgedOperator:
    operator = piece.operator
    return JudgedOperator(
        index=operator.index,
        name=operator.name,
        sublayer=operator.layer.strip("/"),
        folded=tuple(folded.name for folded in piece.folded),
        nodes=tuple(node.name for node in piece.nodes),
        judged=ratio is not None,
        ratio=ratio if ratio is not None and math.isfinite(ratio) else None,
        point=point,
        why_not=why_not,
    )
