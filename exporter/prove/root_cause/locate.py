"""Find the sublayer to blame, given what the source and the failed program compute. Pure: no engine takes part."""

from __future__ import annotations

import math

from exporter.base.numbers.norms import WORST_E_REF
from exporter.base.tensors import TensorMap
from exporter.prove.root_cause.align import Distance, Followed, Observed, Place, Shown, descend, loudest, visible, worst
from exporter.prove.root_cause.witness import Witness

#: Inside a network a sound value may be somewhat further off than the budget for outputs allows.
SLACK = 4.0
#: Errors beyond eager's own, within the budget or not, are looked into sublayer by sublayer.
_NARROW = 1.0


def is_narrow(error_ratio: float) -> bool:
    """Whether an output is further off than eager itself, so that its sublayers are to be compared as well.

    A fault that is small at the output is large at its own layer.
    """
    return error_ratio > _NARROW


def locate(witness: Witness, values: TensorMap, budget: float, *, folded: bool = False) -> tuple[Place | None, str]:
    """Where the values of a program part from the source's; else the reason why no place was found.

    `folded` says that the program's layers are folded into each other, so that it does not show all that they put out.
    Where its outputs are within the budget all the same, the sublayers are searched for one that is not: a fault that
    is small at the output is large at its own layer.
    """
    return locate_by(witness.observed, distances(witness, values, budget), budget, folded=folded)


def locate_inside(witness: Witness, values: TensorMap, budget: float, *, folded: bool = False) -> Place | None:
    """The sublayer that stands out in a program whose outputs were judged right; None where there is none.

    The outputs are not judged again. A witness has three float32 runs and no allowance for small outputs, so its error
    ratio of the same output may exceed the budget where the golden's does not (softmax on 784 inputs: 4.44 and 3.92).
    """
    observed, threshold = witness.observed, budget * SLACK
    shown = Shown(observed, values)
    if all(worst(shown, call.outputs) <= threshold for call in observed.calls):
        return None  # and no program has to be traced to say what a sound one shows
    return loudest(observed, _by_what_is_visible(witness, shown, values, budget), threshold, folded=folded)


def distances(witness: Witness, values: TensorMap, budget: float) -> Distance:
    """How far each of the source's tensors is off in a program; None where even a sound program does not show it.

    One that the program hides, since it is computed together with a constant behind it, is off as far as what that
    makes of it.
    """
    return _by_what_is_visible(witness, Shown(witness.observed, values), values, budget)


def _by_what_is_visible(witness: Witness, shown: Distance, values: TensorMap, budget: float) -> Distance:
    """Leave out of what the values show the tensors that even a sound program does not show."""
    observed, threshold = witness.observed, budget * SLACK
    fresh = witness.program
    if fresh.values is None or not witness.sound(budget):
        return shown
    seen, followed = visible(observed, fresh.values, threshold), Followed(observed, values, fresh, threshold)

    def distance(key: int) -> float | None:
        if key not in seen:
            return None
        off = shown(key)
        return off if off is None or off <= threshold else min(off, followed(key))

    return distance


def locate_by(
    observed: Observed, distance: Distance, budget: float, *, folded: bool = False
) -> tuple[Place | None, str]:
    """The same, by the distances of the source's tensors."""
    off = worst(distance, observed.calls[0].outputs)
    if off > budget:
        threshold = max(budget, math.sqrt(off * budget)) if math.isfinite(off) else budget * SLACK
        return descend(observed, distance, threshold), ""
    return _within_budget(observed, distance, budget, folded=folded)


def _within_budget(observed: Observed, distance: Distance, budget: float, *, folded: bool) -> tuple[Place | None, str]:
    place = loudest(observed, distance, budget * SLACK, folded=folded)
    if place is not None:
        return place, ""
    return None, (
        "with its intermediate values put out the program is right, sublayer by sublayer: the fault comes with what "
        "the engine fuses, or with what the artifact keeps from call to call"
    )


def eager_distances(observed: Observed) -> Distance:
    """The relative error of each of eager's own tensors."""

    def distance(key: int) -> float | None:
        fact = observed.facts.get(key)
        if fact is None:
            return None
        return max(fact.e_ref) if fact.finite else math.inf

    return distance


def locate_eager(observed: Observed) -> tuple[Place | None, str]:
    """The first sublayer where rounding alone does the damage; else the reason why no place was found."""
    distance = eager_distances(observed)
    if not worst(distance, observed.calls[0].outputs) > WORST_E_REF / 4:
        return None, "eager float32 agrees with float64 here, so it is the recorded golden that differs"
    return descend(observed, distance, WORST_E_REF / 4), ""
