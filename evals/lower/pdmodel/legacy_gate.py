"""One case of the tables before the gate's own parity: goldens by the float64 oracle, judged with negative controls.

A case is drawn several times. Each draw is a probing case of the gate: where eager's own answer would not pass (zeros,
a constant, infinities), the draw is left out, as in a release; what remains must match, and something must remain.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import FLOOR
from exporter.engines.base import EngineRefused
from exporter.prove.compare.informative import eager_judged
from exporter.prove.compare.outputs import compare_case
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.child import _record_case
from exporter.prove.goldens.finish import goldens_of
from exporter.prove.goldens.oracle import make_oracle
from exporter.prove.verdict.claim import Outcome

Values = dict[str, Any]


BUDGET = 4.0


def narrow_budget(source: str) -> float:
    """Four units in the last place of the narrowest type that the case computes in, as an error ratio."""
    bits = 8 if "bfloat16" in source else 11 if "float16" in source else 22
    return 4 * 2.0**-bits / FLOOR if bits < 22 else BUDGET


def _telling_nothing(goldens: Sequence[GoldenCase]) -> dict[str, str]:
    """Return the draws in which eager's own answer would not pass, and why."""
    drawn = {name: [golden.outputs[name] for golden in goldens] for name in goldens[0].outputs}
    reasons: dict[str, str] = {}
    for golden in goldens:
        for evidence in eager_judged(golden, BUDGET, drawn).values():
            if evidence.outcome is not Outcome.MATCH:
                reasons.setdefault(golden.name, evidence.reason)
    return reasons


def verdict(
    layer: Any, outputs: tuple[str, ...], draws: list[Values], run: Callable[[Values], list[Any]], most: float
) -> tuple[str, bool, str]:
    """(stage, bit for bit, what is wrong). Stage is done, compare, or constant where no draw tells anything.

    `most` is the error ratio allowed where a narrow type's rounding, which the oracle cannot lift, is all there is.
    """
    oracle = make_oracle(layer, tuple(draws[0]), outputs, 0)
    recorded = []
    for number, values in enumerate(draws):
        try:
            case = Case(f"draw{number}", {}, number, "drawn")
            with tempfile.TemporaryDirectory() as place:
                recorded.append(_record_case(oracle, case, values, Path(place) / "0.safetensors"))
        except EngineRefused:
            if not number:
                raise
    goldens = goldens_of(recorded)
    left_out = _telling_nothing(goldens)
    goldens = [golden for golden in goldens if golden.name not in left_out] or goldens
    others = {name: [golden.outputs[name] for golden in goldens] for name in outputs}
    equal, wrong = True, ""
    for golden in goldens:
        found = run(draws[int(golden.name[len("draw") :])])
        if len(found) != len(outputs):
            return "compare", False, f"{len(found)} outputs, not {len(outputs)}"
        got = dict(zip(outputs, found, strict=True))
        equal = equal and all(_alike(golden.outputs[name].eager, got[name]) for name in outputs)
        for one in compare_case(golden, got, BUDGET, others).values():
            near = one.outcome is Outcome.MISMATCH and one.metrics.get("error_ratio", math.inf) <= most
            if one.outcome is not Outcome.MATCH and not near:
                wrong = wrong or f"{one.outcome.value}: {one.reason}"
    if len(left_out) == len(recorded):
        return ("constant" if equal else "compare"), equal, "; ".join(dict.fromkeys(left_out.values()))
    return ("compare" if wrong else "done"), equal, wrong


def _alike(one: Any, other: Any) -> bool:
    return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
