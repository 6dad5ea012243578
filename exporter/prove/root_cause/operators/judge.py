"""Judge each operator of an ONNX file that was written straight from the PIR program, in a child."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.harness import Bench
from exporter.prove.root_cause.locate import SLACK
from exporter.prove.root_cause.operators.boundary import RECORDED


@dataclass(frozen=True)
class JudgedOperator:
    """One operator of the program and the nodes of the ONNX file that compute it.

    `index` counts as in the program's file, `folded` names operators that went into the same nodes. `ratio` is the
    error ratio at `point`, the worst of the points it was asked at (None: beyond measure); `why_not` says why it was
    asked at none.
    """

    index: int
    name: str
    sublayer: str
    folded: tuple[str, ...]
    nodes: tuple[str, ...]
    judged: bool
    ratio: float | None
    point: str
    why_not: str

    def wrong(self, budget: float) -> bool:
        """Whether it is further from float64 than the budget for outputs allows of what lies inside."""
        return self.judged and not (math.inf if self.ratio is None else self.ratio) <= budget * SLACK

    def __str__(self) -> str:
        inside = f" in sublayer {self.sublayer}" if self.sublayer else ""
        folded = f", with {', '.join(self.folded)} folded in" if self.folded else ""
        nodes = ", ".join(name for name in self.nodes if name) or "of a body"
        far = "beyond measure" if self.ratio is None else f"{self.ratio:.3g}"
        point = "the recorded values" if self.point == RECORDED else f"the values '{self.point}'"
        return (
            f"operator {self.name} (number {self.index}{inside}{folded}), nodes {nodes}: "
            f"error ratio {far} at its own inputs, {point}"
        )


@dataclass(frozen=True)
class JudgeRequest:
    """The folder of a PIR program, the ONNX file that was written from it, and the recorded case to judge them at."""

    pir: Path
    onnx: Path
    golden: Path
    case: str
    budget: float


@dataclass(frozen=True)
class JudgeAnswer:
    """Every operator of the program."""

    operators: tuple[JudgedOperator, ...]


def can_judge(bench: Bench, variant: str) -> bool:
    """Whether a variant was written from a program that the bundle holds as well."""
    artifact = bench.artifacts.get(variant)
    return artifact is not None and artifact.details.get("writer_asked") == "program" and "pir" in bench.artifacts


def judge_operators(bench: Bench, variant: str, case: str, setting: Setting) -> tuple[JudgedOperator, ...]:
    """Every operator of a variant at the values that one recorded case gives it and at others around them.

    They come block by block in the program's order. The variant is one that :func:`can_judge` takes.

    Raises:
        ExporterError: as :func:`exporter.process.workers.call`.
    """
    from exporter.prove.root_cause.operators.child import judge

    pir = (bench.folder / bench.artifacts["pir"].main).parent
    onnx = bench.folder / bench.artifacts[variant].main
    request = JudgeRequest(pir, onnx, bench.golden, case, bench.budget)
    setting.say(f"judging the operators of {variant}")
    answer = call(judge, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)
    return answer.operators


def first_wrong(operators: Sequence[JudgedOperator], budget: float) -> JudgedOperator | None:
    """The first that is wrong; a branch or loop only where nothing inside it is."""
    wrong = [operator for operator in operators if operator.wrong(budget)]
    plain = [operator for operator in wrong if operator.name not in ("if", "while")]
    return min(plain or wrong, key=lambda operator: operator.index, default=None)
