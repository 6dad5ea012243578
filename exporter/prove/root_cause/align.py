"""Find a sublayer's value among the values of a program by what it holds, and descend to where they part.

Names differ from format to format; contents do not. A tensor of the same shape whose error ratio is within the
threshold is the counterpart. The layer tree is walked from the root down: the first child whose output has none,
while its inputs have, is descended into; where its inputs have none either, the parent's own code is to blame.
An operator that a program has too many between two sublayers leaves both values in place, so the reader is blamed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from exporter.base.numbers.norms import FLOOR, ratio
from exporter.base.tensors import Array, TensorMap
from exporter.prove.root_cause.constants import MadeOf, scaled_error


@dataclass(frozen=True)
class TensorArgument:
    """An argument of a call that is a tensor: the number of the input that it is."""

    tensor: int


#: What a call can be made again with.
Argument: TypeAlias = TensorArgument | bool | int | float | str | None


@dataclass(frozen=True)
class Arguments:
    """How to make a call again: its positional and its named arguments."""

    positional: tuple[Argument, ...]
    named: Mapping[str, Argument]


@dataclass(frozen=True)
class SublayerCall:
    """One call of a sublayer. `path` is its place in the layer tree (empty: the root), `line` the code that called it.

    `parent` is the number of the call inside which it happened. `inputs` and `outputs` are the keys of tensors.
    `arguments` is None where they hold more than tensors, numbers, text and None. An `operator` of a program that was
    replayed stands for a sublayer where the model is a file.
    """

    path: str
    kind: str
    line: str
    parent: int | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    arguments: Arguments | None = None
    operator: bool = False


@dataclass(frozen=True)
class TensorFact:
    """What is known of a tensor: `e_ref` is eager's own error by the largest value and by the L2 norm.

    No error is taken to be smaller than `floor`, which is lower where all inputs are float64.
    """

    shape: tuple[int, ...]
    dtype: str
    finite: bool
    e_ref: tuple[float, float]
    floor: float = FLOOR

    def off(self, truth: Array, value: Array) -> float:
        """The error ratio of a value; of whole numbers and booleans 0 where all are equal, else infinity."""
        if truth.dtype.kind != "f":
            return 0.0 if np.array_equal(truth, value) else math.inf
        return ratio(truth, value, self.e_ref, self.floor)


@dataclass(frozen=True)
class FirstOff:
    """What is wrong first in a program traced anew: its operators in words, and the user's line that calls the last."""

    operators: str
    line: str


@dataclass(frozen=True)
class Trace:
    """The calls of the sublayers in one case, and what is known of each of their tensors by its key."""

    calls: tuple[SublayerCall, ...]
    facts: Mapping[int, TensorFact]


@dataclass(frozen=True)
class FreshProgram:
    """What a program that was traced anew puts out in one case: `values`, by their names there.

    They are None where none could be traced, and `why_not` says why. `derived` is what operators with constants make of
    values, and `first_off` what is wrong in the program, if anything is.
    """

    values: TensorMap | None = None
    why_not: str = ""
    derived: MadeOf = field(default_factory=dict)
    first_off: FirstOff | None = None


@dataclass(frozen=True)
class Observed:
    """One case as the source computes it: its trace, and the tensors (`<key>/truth` and `<key>/eager`)."""

    trace: Trace
    values: TensorMap

    @property
    def calls(self) -> tuple[SublayerCall, ...]:
        """The calls of the sublayers, in the order in which they begin."""
        return self.trace.calls

    @property
    def facts(self) -> Mapping[int, TensorFact]:
        """What is known of each tensor, by its key."""
        return self.trace.facts

    def truth(self, key: int) -> Array:
        """What the tensor should be, in float64."""
        return self.values[f"{key}/truth"]


@dataclass(frozen=True)
class Place:
    """Where values part: the number of the call, its error ratio, the worst of its inputs, and the line if it is known.

    `own` says that no sublayer of it is to blame but the code of its own `forward`.
    """

    call: int
    error_ratio: float
    inputs_ratio: float
    line: str
    own: bool


#: What values have in common that may be the same: whether they are floats, and their shape.
Look: TypeAlias = tuple[bool | int, ...]
#: How far a tensor is off, by its key: an error ratio; infinity where no value is like it, None where it cannot tell.
Distance = Callable[[int], "float | None"]


class Shown:
    """The values that a program has put out, to be searched by content."""

    def __init__(self, observed: Observed, values: TensorMap) -> None:
        self._observed = observed
        given = (observed.values[f"{key}/eager"] for key in observed.calls[0].inputs if key in observed.facts)
        self._by_look = _by_look((*values.values(), *given))
        self._known: dict[int, float | None] = {}

    def __call__(self, key: int) -> float | None:
        """The smallest error ratio of any value of this shape; infinite where there is none. None: cannot be judged."""
        if key not in self._known:
            self._known[key] = self._search(key)
        return self._known[key]

    def _search(self, key: int) -> float | None:
        fact = self._observed.facts.get(key)
        if fact is None or not fact.finite or not math.prod(fact.shape):
            return None
        truth = self._observed.truth(key)
        ratios = [fact.off(truth, value) for value in self._by_look[look(truth)]]
        return min((off for off in ratios if not math.isnan(off)), default=math.inf)


class Followed:
    """Tensors that a program hides, by what operators with constants make of them in a program that was traced anew."""

    def __init__(self, observed: Observed, values: TensorMap, fresh: FreshProgram, threshold: float) -> None:
        self._observed, self._threshold = observed, threshold
        self._fresh, self._derived = fresh.values or {}, fresh.derived
        self._by_look = _by_look(values.values())

    def __call__(self, key: int) -> float:
        """How far off what is made of the tensor is; infinity where nothing is, or it is hidden as well."""
        fact, truth = self._observed.facts[key], self._observed.truth(key)
        same = [
            name
            for name, value in self._fresh.items()
            if name in self._derived and look(value) == look(truth) and fact.off(truth, value) <= self._threshold
        ]
        return min((self._made_of(name, fact.e_ref) for name in same), default=math.inf)

    def _made_of(self, name: str, e_ref: tuple[float, float]) -> float:
        """The worst of all that is made of a value: a fault of the value is in each of them."""
        return max(self._distance(derived, name, e_ref) for derived in self._derived[name])

    def _distance(self, name: str, before: str, e_ref: tuple[float, float]) -> float:
        if name not in self._fresh:
            return math.inf
        value = self._fresh[name]
        scaled = scaled_error(self._fresh[before], value, e_ref)
        ratios = [ratio(value, other, scaled) for other in self._by_look[look(value)]]
        off = min((one for one in ratios if not math.isnan(one)), default=math.inf)
        if off <= self._threshold or name not in self._derived:
            return off
        return min(off, self._made_of(name, scaled))


def _by_look(values: Iterable[Array]) -> Mapping[Look, list[Array]]:
    alike: dict[Look, list[Array]] = defaultdict(list)
    for value in values:
        alike[look(value)].append(value)
    return alike


def look(value: Array) -> Look:
    """What a value has in common with any that may be the same."""
    return (value.dtype.kind == "f", *value.shape)


def visible(observed: Observed, fresh: TensorMap, threshold: float) -> frozenset[int]:
    """The tensors that a sound program shows: dead code and what a control-flow block hides are not among them."""
    shown = Shown(observed, fresh)
    found = set()
    for key in observed.facts:
        off = shown(key)
        if off is not None and off <= threshold:
            found.add(key)
    return frozenset(found)


def descend(observed: Observed, distance: Distance, threshold: float) -> Place:
    """The innermost call to blame, beginning with the root, whose output is known to be wrong."""
    calls = observed.calls
    children: dict[int, list[int]] = defaultdict(list)
    for number, call in enumerate(calls):
        if call.parent is not None:
            children[call.parent].append(number)
    at, line = 0, ""
    while True:
        wrong = next((one for one in children[at] if is_wrong(observed, one, distance, threshold)), None)
        if wrong is None:
            break
        if worst(distance, calls[wrong].inputs) > threshold:
            line = calls[wrong].line
            break
        at = wrong
    own = bool(children[at])
    return Place(at, worst(distance, calls[at].outputs), worst(distance, calls[at].inputs), line or calls[at].line, own)


def loudest(observed: Observed, distance: Distance, threshold: float, *, folded: bool = False) -> Place | None:
    """The innermost call whose output stands out most over its inputs, if any is off by more than the threshold.

    In a program with `folded` layers a convolution shows its own output nowhere, and what its batch norm puts out may
    look like it: it is off only where what reads it is off as well.
    """
    best, place = 0.0, None
    for number, call in enumerate(observed.calls):
        if call.operator:  # a sound file may show no value of one, if it computes several at once
            continue
        off, before = worst(distance, call.outputs), worst(distance, call.inputs)
        gain = off / max(before, 1.0) if math.isfinite(off) else 0.0
        hidden = folded and not is_wrong(observed, number, distance, threshold)
        if off > threshold and gain >= best and not hidden:
            best, place = gain, Place(number, off, before, call.line, own=False)
    return place


def worst(distance: Distance, keys: Sequence[int]) -> float:
    """The largest distance among tensors that can be judged; 0 where none can."""
    return max((off for off in map(distance, keys) if off is not None), default=0.0)


def is_wrong(observed: Observed, number: int, distance: Distance, threshold: float) -> bool:
    """Whether some output of a call is off, and nothing that read it came out right all the same.

    An operator that was computed together with those behind it shows no value either; the last of them does.
    """
    call = observed.calls[number]
    wrong = {key for key in call.outputs if not _within(distance(key), threshold)}
    if not wrong:
        return False
    for later in observed.calls[number + 1 :]:
        if not set(later.inputs) & wrong or not later.outputs:
            continue
        if all(_within(distance(key), threshold) for key in later.outputs):
            if not later.operator or _tells(observed, later):
                return False
        elif later.operator:
            wrong |= set(later.outputs)
    return True


def _tells(observed: Observed, operator: SublayerCall) -> bool:
    """Return whether an operator that comes out right says something of the numbers that it read: a size does not."""
    return any(observed.facts[key].dtype.startswith("float") for key in operator.outputs if key in observed.facts)


def _within(off: float | None, threshold: float) -> bool:
    return off is None or off <= threshold
