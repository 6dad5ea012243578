"""What a report shows of every sublayer of a model that failed: how far its output is off, and from where it reads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from exporter.prove.root_cause.align import Distance, Observed, Place, SublayerCall, is_wrong
from exporter.prove.verdict.blame import CODE, Layer


def layers_of(observed: Observed, distance: Distance, place: Place, allowed: float) -> tuple[Layer, ...]:
    """All calls in the order in which they begin, with their distances; one of them is the `place` to blame.

    A call whose output looks further off than is allowed, while what reads it is right, is not shown: a program may
    have folded it. So is one before the place of which no value is to be found.
    """
    makers: dict[int, list[int]] = defaultdict(list)
    for number, call in enumerate(observed.calls):
        for key in call.outputs:
            makers[key].append(number)
    around = {place.call, *_ancestors(observed.calls, place.call)}

    def hidden(number: int) -> bool:
        off = _ratio(distance, observed.calls[number].outputs) or 0.0
        if number in around or off <= allowed:
            return False
        return not is_wrong(observed, number, distance, allowed) or (math.isinf(off) and number < place.call)

    return tuple(
        Layer(
            path=call.path or ".",
            kind=call.kind,
            parent=call.parent,
            reads=tuple(sorted({one for key in call.inputs for one in _from(observed.calls, number, key, makers)})),
            ratio=None if hidden(number) else _ratio(distance, call.outputs),
            size=_size(observed, call.outputs),
            blamed=number == place.call,
        )
        for number, call in enumerate(observed.calls)
    )


def _from(calls: Sequence[SublayerCall], number: int, key: int, makers: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Who has put out what goes into a call: earlier calls, calls around it that were given it, or else code."""
    around = [outer for outer in _ancestors(calls, number) if key in calls[outer].inputs]
    earlier = [maker for maker in makers.get(key, ()) if maker < number]
    yield from (around or earlier or [CODE])


def _ancestors(calls: Sequence[SublayerCall], number: int) -> Iterator[int]:
    parent = calls[number].parent
    while parent is not None:
        yield parent
        parent = calls[parent].parent


def _ratio(distance: Distance, keys: Sequence[int]) -> float | None:
    return max((off for off in map(distance, keys) if off is not None), default=None)


def _size(observed: Observed, keys: Sequence[int]) -> str:
    shapes = [observed.facts[key].shape for key in keys if key in observed.facts]
    return " x ".join(map(str, shapes[0])) if shapes else ""
