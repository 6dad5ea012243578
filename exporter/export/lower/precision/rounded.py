"""How a layer of a written int8 file is rounded, as it stands in the manifest."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.base.bounded_json import Data


@dataclass(frozen=True)
class FoldedNorm:
    """The batch norm that was folded into a layer's weights: the names of its gain and variance, and its epsilon."""

    gain: str
    variance: str
    epsilon: float


@dataclass(frozen=True)
class RoundedLayer:
    """A layer in int8: its input with scale, zero point and range of codes; its weight with codes and scales, by name.

    `halved` says that weights are halved where there is no VNNI, `transposed` whether a linear layer's weight had to be
    turned to become a convolution (None: it is no linear layer). The stored scales are divided by `divisor`, if any.
    """

    input: str
    scale: float
    zero_point: int
    range: tuple[int, int]
    weight: str
    codes: str
    scales: str
    axis: int
    halved: bool = False
    transposed: bool | None = None
    norm: FoldedNorm | None = None
    divisor: int | None = None

    def to_json(self) -> dict[str, Data]:
        """Return it as it stands in the manifest's details."""
        norm = self.norm
        return {
            "input": self.input,
            "scale": self.scale,
            "zero_point": self.zero_point,
            "range": list(self.range),
            **({"halved": True} if self.halved else {}),
            "weight": self.weight,
            **({} if self.transposed is None else {"transposed": self.transposed}),
            **({"norm": {"gain": norm.gain, "variance": norm.variance, "epsilon": norm.epsilon}} if norm else {}),
            "codes": self.codes,
            "scales": self.scales,
            **({} if self.divisor is None else {"divisor": self.divisor}),
            "axis": self.axis,
        }


@dataclass(frozen=True)
class StoredWeight:
    """A weight alone that is stored in 8 bits, with scales, or in 16, without; its layer computes in float32."""

    weight: str
    codes: str
    scales: str = ""
    axis: int = 0

    def to_json(self) -> dict[str, Data]:
        """Return it as it stands in the manifest's details."""
        steps: dict[str, Data] = {"scales": self.scales, "axis": self.axis} if self.scales else {}
        return {"weight": self.weight, "codes": self.codes, **steps}
