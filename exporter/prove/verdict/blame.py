"""What localisation says of one failed run: where the fault came in, or why that could not be found."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.prove.verdict.claim import Claim

#: In the place of a call: the code between the calls.
CODE = -1


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
class Blame:
    """A failed claim and what is to blame.

    `stage` is where the fault came in: `eager`, `trace`, `lower` (the artifact's file) or `engine`; empty where it is
    not known. `path` is the sublayer in the layer tree (`encoder.layers.3.norm1`; the root is `.`), `kind` its class,
    `line` the code that called it, or, with `own`, the code in its own `forward` around which values part.
    `inputs` are the tensors that went into it, as `float32[1, 64]`; the ratios are error ratios at its output and at
    the worst of its inputs (of `eager`, which is what they are measured by, plain relative errors), None where it is
    not finite or no value of the program is like it. Without the source `path` and `kind` may be those of an operator,
    as the program recorded them. `reason` is a sentence. `layers` are all calls of sublayers, where
    the program's values could be compared.
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
