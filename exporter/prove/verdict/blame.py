"""What localisation says of one failed run: where the fault came in, or why that could not be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exporter.prove.verdict.claim import Claim

#: In the place of a call: the code between the calls.
CODE = -1
#: Error ratios of operators end here: of what has another shape or dtype, is not finite, or does not run at all.
BEYOND = 1e18


@dataclass(frozen=True)
class Layer:
    """One call of a sublayer in the case that failed, in the order in which calls begin.

    `parent` is the number of the call inside which it happened, None for the root's. `reads` holds the numbers of the
    calls that its inputs come from: earlier ones that put them out, those around it that were given them, or `CODE`,
    where the code between the calls has computed them. `ratio` is
    the error ratio of its worst output (of `eager` a relative error), infinite where no value of the program is like
    it, None where that cannot be told. `size` is the shape of its first output.
    """

    path: str
    kind: str
    parent: int | None
    reads: tuple[int, ...]
    ratio: float | None
    size: str = ""
    blamed: bool = False


@dataclass(frozen=True)
class OperatorError:
    """One operator of the file that failed, in the file's order, with its own error and the one that it hands on.

    `own` is its error ratio when it is fed the right inputs: what it adds itself, in units of the error that the same
    operator makes in eager float32. `total` is that of what it puts out in the file as it is, so what it inherited is
    in it. Both are None where nothing tells them, and at most `BEYOND`. `name` is the node's name in an ONNX file,
    and the operator's number in others; `values` names what it puts out, by the file's own names, and `reads` are the
    places, among all operators, of those whose values go in. `sublayer` and `line` are of the user's code, empty where
    that is not known; `size` is the shape of its first result.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    reads: tuple[int, ...]
    own: float | None
    total: float | None
    size: str = ""
    sublayer: str = ""
    line: str = ""

    def wrong(self, allowed: float) -> bool:
        """Return whether it errs by itself more than is allowed."""
        return self.own is not None and self.own > allowed


def first_wrong(operators: Sequence[OperatorError], allowed: float) -> OperatorError | None:
    """The first operator that errs by itself more than is allowed."""
    return next((operator for operator in operators if operator.wrong(allowed)), None)


def darkest(operators: Sequence[OperatorError]) -> OperatorError | None:
    """The operator whose own error is the largest; of equal ones the first, None where no error is known."""
    known = [operator for operator in operators if operator.own is not None]
    return max(known, key=lambda operator: operator.own or 0.0, default=None)


@dataclass(frozen=True)
class Blame:
    """A failed claim and what is to blame.

    `stage` is where the fault came in: `eager`, `trace`, `lower` (the artifact's file) or `engine`; empty where it is
    not known. `path` is the sublayer in the layer tree (`encoder.layers.3.norm1`; the root is `.`), `kind` its class,
    `line` the code that called it, or, with `own`, the code in its own `forward` around which values part.
    `inputs` are the tensors that went into it, as `float32[1, 64]`; the ratios are error ratios at its output and at
    the worst of its inputs (of `eager`, which is what they are measured by, plain relative errors), None where it is
    not finite or no value of the program is like it. Without the source `path` and `kind` may be those of an operator,
    as the program recorded them. `reason` is a sentence. `layers` are all calls of sublayers, where
    the program's values could be compared; `operators` those of the file, where each could be fed the right inputs.
    """

    claim: Claim
    stage: str
    reason: str
    path: str = ""
    kind: str = ""
    line: str = ""
    own: bool = False
    inputs: tuple[str, ...] = ()
    error_ratio: float | None = None
    inputs_ratio: float | None = None
    repro: str = ""
    layers: tuple[Layer, ...] = ()
    operators: tuple[OperatorError, ...] = ()

    @property
    def located(self) -> bool:
        """Whether a sublayer was found."""
        return bool(self.path)

    def __str__(self) -> str:
        if not self.located:
            known = "" if self.stage else "not localised: "
            return f"{self.claim.variant}/{self.claim.engine}: {known}{self.reason}"
        part = f"own code of {self.path}" if self.own else self.path
        where = f"{self.claim.variant}/{self.claim.engine}: {part} ({self.kind}) at {self.line or 'an unknown line'}"
        unit = "relative error" if self.stage == "eager" else "error ratio"
        ratios = f"{unit} {_ratio(self.error_ratio)} at its output, {_ratio(self.inputs_ratio)} at its inputs"
        return f"{where}: {ratios}; stage {self.stage}: {self.reason}"

    def to_json(self) -> dict[str, object]:
        """The object under `blame` in parity.json."""
        return {
            "claim": str(self.claim),
            "located": self.located,
            "stage": self.stage,
            "path": self.path,
            "class": self.kind,
            "line": self.line,
            "own_code": self.own,
            "inputs": list(self.inputs),
            "error_ratio": self.error_ratio,
            "inputs_ratio": self.inputs_ratio,
            "reason": self.reason,
            "repro": self.repro,
        }


def _ratio(value: float | None) -> str:
    return "beyond measure" if value is None else f"{value:.3g}"
