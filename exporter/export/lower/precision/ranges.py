"""Trained ranges in a file: each layer's input has the range that it had in training, whatever a calibration saw.

What only moves values about (a max pool, a reshape) has one range on both sides: where nothing else reads what goes in,
that takes the range of what comes out, since engines let such operators work on the codes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exporter.base.errors import ModelError
from exporter.export.lower.precision.rounded import RoundedLayer

Range = tuple[float, float]


@dataclass(frozen=True)
class Flow:
    """What of a program matters here, in its order.

    `layers` are pairs of a layer's weight and the value that it takes, `moves` pairs of what an operator that only
    moves values takes and gives, `readers` counts who reads a value; being put out counts too.
    """

    layers: Sequence[tuple[str, str]]
    moves: Sequence[tuple[str, str]]
    readers: Mapping[str, int]


def trained_ranges(flow: Flow, by_weight: Mapping[str, Range]) -> dict[str, Range]:
    """The range of every value that training knows one for; the wider where layers that share a value differ."""
    found: dict[str, Range] = {}
    for weight, value in flow.layers:
        if weight in by_weight:
            pairs = [by_weight[weight], found.get(value, (0.0, 0.0))]
            found[value] = (min(low for low, _ in pairs), max(high for _, high in pairs))
    for taken, given in reversed(flow.moves):
        if given in found and flow.readers.get(taken) == 1:
            found.setdefault(taken, found[given])
    return found


def rounded_by(layers: Mapping[str, RoundedLayer], ranges: Mapping[str, Range], where: str) -> dict[str, list[str]]:
    """Return which layers of a written file round by `trained` ranges and which by `calibrated` ones.

    Raises:
        ModelError: none by a trained one, so that the file is not what was asked for.
    """
    trained = [name for name, layer in layers.items() if _spans(layer, ranges.get(layer.input))]
    if not trained:
        raise ModelError(
            "no layer of the written file has the range that was trained for it",
            where=where,
            hint="leave `ranges: trained` out: the layers that were trained are not those of this program",
        )
    return {"trained": trained, "calibrated": [name for name in layers if name not in trained]}


def _spans(layer: RoundedLayer, trained: Range | None) -> bool:
    """Whether the outermost code stands, but for two steps, where the trained range ends."""
    if trained is None:
        return False
    reach = max(abs(code - layer.zero_point) for code in layer.range) * layer.scale
    return abs(reach - max(-trained[0], trained[1])) <= 2 * layer.scale
