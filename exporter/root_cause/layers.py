"""What a report shows of every sublayer of a model that failed: how far its output is off, and from where it reads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exporter.root_cause.align import Distance, Observed, Place
from exporter.verdict.blame import CODE, Layer


def layers_of(observed: Observed, distance: Distance, place: Place) -> tuple[Layer, ...]:
    """All calls in the order in which they begin, with their distances; one of them is the `place` to blame.

    What ended right before the place and shows no value at all is not wrong but not shown: a program may fold it.
    """
    makers: dict[int, list[int]] = defaultdict(list)
    for number, call in enumerate(observed.calls):
        for key in call["outputs"]:
            makers[key].append(number)
    above = set(_ancestors(observed.calls, place.call))
    return tuple(
        Layer(
            path=call["path"] or ".",
            kind=call["kind"],
            parent=call["parent"],
            reads=tuple(sorted({one for key in call["inputs"] for one in _from(observed.calls, number, key, makers)})),
            ratio=_ratio(distance, call["outputs"], hidden=number < place.call and number not in above),
            size=_size(observed, call["outputs"]),
            blamed=number == place.call,
        )
        for number, call in enumerate(observed.calls)
    )


def _from(
    calls: Sequence[Mapping[str, Any]], number: int, key: int, makers: Mapping[int, Sequence[int]]
) -> Iterator[int]:
    """Who has put out what goes into a call: earlier calls, calls around it that were given it, or else code."""
    around = [outer for outer in _ancestors(calls, number) if key in calls[outer]["inputs"]]
    earlier = [maker for maker in makers.get(key, ()) if maker < number]
    yield from (around or earlier or [CODE])


def _ancestors(calls: Sequence[Mapping[str, Any]], number: int) -> Iterator[int]:
    while (number := calls[number]["parent"]) is not None:
        yield number


def _ratio(distance: Distance, keys: Sequence[int], *, hidden: bool) -> float | None:
    known = [off for off in map(distance, keys) if off is not None]
    if not known or (hidden and math.isinf(max(known))):
        return None
    return max(known)


def _size(observed: Observed, keys: Sequence[int]) -> str:
    shapes = [observed.facts[str(key)]["shape"] for key in keys if str(key) in observed.facts]
    return " x ".join(map(str, shapes[0])) if shapes else ""
