"""The float64 oracle: what the layer would compute without rounding, and how far eager float32 is from it.

For each float output of each case: the truth, and e_ref, the largest relative error of eager and of two eager runs
whose weights are moved by one ulp at random, in the max norm and in L2. Moving weights shows how much rounding the
network amplifies; moving inputs would not do, since masks and flags are not noise. An output of few independent numbers
gets more runs, up to sixteen, and an allowance for what they still leave to chance
(exporter/base/numbers/allowance.py). Where the weights do not move the output, or there are none, inputs are moved in
these further runs: those elements of them that are no whole numbers.

A plain float64 copy is tried first, then one with casts lifted. Where neither is truly float64, the centre and the
spread of the float32 runs take the place of truth and e_ref. The method's name says which it was, and why.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from exporter.base.numbers.allowance import ENOUGH, MOST_RUNS
from exporter.base.numbers.golden import SPREAD
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused
from exporter.engines.paddle import border, call_layer, named_arrays
from exporter.paddle.choices import FIRST, LAST, choosing
from exporter.prove.goldens.copies import lent_moved, lent_wide, moved, moves, moving, wide
from exporter.prove.goldens.domain import checked_places
from exporter.prove.goldens.float64 import (
    FAKE,
    boxes_decoded,
    lifted,
    narrow_kernels,
    raise_plain_tensors,
    second_difference,
)
from exporter.prove.goldens.positions import exact_positions
from exporter.prove.goldens.truth import UNTOLD, Truth, measured, measured_in_part, same_bits, unmoved
from exporter.prove.goldens.values import content

if TYPE_CHECKING:
    import paddle

#: How the truth is called of a case in which float64 has no answer and eager has one.
NOT_FINITE = f"{SPREAD} (float64 is not finite)"
#: So many numbers the copies of a layer may hold for further runs; of a large layer there are two, made for each case.
#: Of one that holds more itself forms are lent: five copies, one of them in float64, would fill a machine.
AFFORDABLE = 64_000_000

#: The layer as it is, and its form in float64, among the forms that ran ahead.
_EAGER, _EXACT = "eager", "float64"

T = TypeVar("T")
#: A form of the layer as a function of named inputs.
Run: TypeAlias = "Callable[[TensorMap], dict[str, Array]]"


class _NotExactError(Exception):
    """No way is left that runs these inputs truly in float64."""


@dataclass(eq=False)
class _Place:
    """Where a copy of the layer lies. Large ones share a place, so that there is one of them at a time."""

    of: object = None
    layer: Any = None


@dataclass(eq=False)
class _Form:
    """A copy of the layer, made when it is asked for, and again where another one has taken its place since."""

    make: Callable[[], Any]
    place: _Place
    #: What is done to the copy while it is used.
    lending: Callable[[Any], AbstractContextManager[None]] = contextlib.nullcontext

    @contextlib.contextmanager
    def used(self) -> Iterator[Any]:
        """The copy; while a lent one is used, no other form and not the layer itself may run."""
        layer = self.layer()
        with self.lending(layer):
            yield layer

    def layer(self) -> Any:
        """The copy, as it is while it is not used."""
        if self.place.of is not self:
            self.place.of = self.place.layer = None  # before the next is made: there may be no room for both
            self.place.layer = self.make()
            self.place.of = self
        return self.place.layer


@dataclass(eq=False)
class _Way(_Form):
    """One way to run in float64: its name, what surrounds a run, whether it was proven true."""

    name: str = ""
    around: AbstractContextManager[None] = field(default_factory=contextlib.nullcontext)
    proven: bool = False
    #: That it is found wanting is not told: a copy goes the same way after it.
    lent: bool = False


@dataclass
class Oracle:
    """Several copies of one layer: as it is, in float64, and with weights moved by one ulp."""

    eager: Any
    ways: list[_Way]
    moved: tuple[_Form, ...]
    order: tuple[str, ...]
    outputs: tuple[str, ...]
    why_not: list[str] = field(default_factory=list)
    further: tuple[_Form, ...] = ()
    #: What surrounds a run of eager, once for each case.
    watch: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    #: The operators that chose between equal elements in the case that was asked last.
    tied: frozenset[str] = frozenset()
    #: What forms gave before :meth:`ask`, by the form and the inputs.
    _ahead: dict[tuple[_Form | str, str], dict[str, Array] | None] = field(default_factory=dict)
    #: Whether rows of the case that is asked may have no answer.
    _partial: bool = field(init=False)

    def ahead(self, cases: Iterable[TensorMap]) -> None:
        """Run copies that share a place on all these inputs, so that each is made once, and not for every case."""
        if len({form.place for form in self.moved}) > 1:
            return
        runs = {}
        for inputs in cases:
            with contextlib.suppress(EngineRefused):  # `ask` runs it again, and tells of the case
                key = content(inputs)
                self._ahead[_EAGER, key] = self.answer(inputs)
                runs[key] = inputs
        tried = None
        while tried != self.ways:  # what a way gave that is found wanting later is no truth of any case
            tried = list(self.ways)
            self._ahead |= {(_EXACT, key): self._exact(inputs) for key, inputs in runs.items()}
        for form in self.moved:
            with form.used() as layer:
                for key, inputs in runs.items():
                    with contextlib.suppress(EngineRefused):  # `ask` runs it again, and tells of the case
                        self._ahead[form, key] = self._run(layer, inputs)

    def let_go(self) -> None:
        """Free the copies; each is made again when it is asked for."""
        for form in (*self.ways, *self.moved, *self.further):
            form.place.of = form.place.layer = None

    def ask(self, inputs: TensorMap, partial: bool = False) -> tuple[dict[str, Array], dict[str, Truth], str]:
        """Run one case; return eager's outputs, the truths, and why eager cannot be trusted (empty where it can).

        Of a `partial` case rows may have no answer: the truth of the others is measured.

        Raises:
            EngineRefused: the eager layer itself does not run on these inputs; `OutOfRange` where they are to blame.
        """
        with self.watch(), checked_places(self.eager, inputs), choosing() as tied:
            eager = self._run(self.eager, inputs)
        self.tied = frozenset(tied)
        key = content(inputs) if self._ahead else ""
        again = self._ahead.pop((_EAGER, key), None) or self._run(self.eager, inputs)
        unstable = [name for name in eager if not same_bits(eager[name], again[name])]
        gate = f"eager gives other values when run twice: {', '.join(unstable)}" if unstable else ""
        moved = [self._ahead.pop((form, key), None) or self._used(form, inputs) for form in self.moved]
        exact = self._ahead.pop((_EXACT, key)) if (_EXACT, key) in self._ahead else self._exact(inputs)
        others = moved if exact is None else [*moved, exact]
        shifting = {
            name for name, value in eager.items() if any(outputs[name].shape != value.shape for outputs in others)
        }
        if shifting:  # rows that a threshold lets through, as non-maximum suppression does
            gate = gate or f"rounding alone changes the shape of {', '.join(sorted(shifting))}"
        self._partial = partial
        floats = [name for name, value in eager.items() if value.dtype.kind == "f" and name not in shifting]
        runs = self._enough([eager, *moved], exact, floats, inputs)
        truths = {}
        for name, value in eager.items():
            if name in shifting:
                truths[name] = _untold(value)
            else:
                truths[name] = self._truth(name, runs, exact)
        return eager, truths, gate

    def otherwise(self, inputs: TensorMap) -> list[dict[str, Array]]:
        """What eager gives if the first, and if the last of equal elements is chosen; nothing where none were tied.

        Any of them is right, so an output that they differ in is not determined by the model.
        """
        answers = []
        for pick in (FIRST, LAST) if self.tied else ():
            with contextlib.suppress(EngineRefused), choosing(pick):
                answers.append(self._run(self.eager, inputs))
        return answers

    def _enough(
        self, runs: list[dict[str, Array]], exact: dict[str, Array] | None, floats: list[str], inputs: TensorMap
    ) -> list[dict[str, Array]]:
        """Add runs, twice as many moved ones each time, until e_ref of each output of `floats` is known well enough."""
        runs, further = list(runs), list(self.further)
        while further:
            open_ends = [name for name in floats if self._truth(name, runs, exact).allowance > ENOUGH]
            if not open_ends:
                break
            still = any(unmoved([run[name] for run in runs]) for name in open_ends)
            count = min(len(runs) - 1, len(further))
            for form in further[:count]:
                again = self._used(form, _moved_inputs(inputs, len(runs)) if still else inputs)
                if all(again[name].shape == runs[0][name].shape for name in floats):
                    runs.append(again)
            del further[:count]
        return runs

    def try_out(self, inputs: TensorMap) -> None:
        """Run eager alone, for the sake of the lines that it reaches; raises as :meth:`ask`."""
        self.answer(inputs)

    def answer(self, inputs: TensorMap) -> dict[str, Array]:
        """Return what eager alone gives; raises as :meth:`ask`."""
        with checked_places(self.eager, inputs):
            return self._run(self.eager, inputs)

    def moved_runs(self) -> Generator[Run, None, None]:
        """Each form whose weights are moved, as a function of inputs, which ends when the next is asked for.

        Whoever does not want them all closes the iterator: before that no other form runs.
        """
        for form in (*self.moved, *self.further):
            with form.used() as layer:
                yield partial(self._run, layer)

    def exactly(self, steps: Callable[[Run], T]) -> tuple[T | None, str]:
        """Let `steps` run step after step in float64, all by one true way; its result, None without one, and how.

        It is called again where a step finds its way wanting.
        """
        while self.ways:
            way = self.ways[0]
            with contextlib.suppress(_NotExactError):
                result = steps(self._exact_or_raise)
                if self.ways[:1] == [way]:
                    return result, way.name
        return None, f"{SPREAD} ({'; '.join(self.why_not)})"

    def _exact_or_raise(self, inputs: TensorMap) -> dict[str, Array]:
        exact = self._exact(inputs)
        if exact is None:
            raise _NotExactError
        return exact

    def _used(self, form: _Form, inputs: TensorMap) -> dict[str, Array]:
        with form.used() as layer:
            return self._run(layer, inputs)

    def _run(self, layer: Any, inputs: TensorMap) -> dict[str, Array]:
        with border():
            return named_arrays(call_layer(layer, self.order, inputs), self.outputs)

    def _exact(self, inputs: TensorMap) -> dict[str, Array] | None:
        """Run in float64 by the first way that is true; a way found wanting is never tried again."""
        wide = {name: value.astype("float64") if value.dtype.kind == "f" else value for name, value in inputs.items()}
        while self.ways:
            way = self.ways[0]
            try:
                layer = way.layer()
                with way.around, narrow_kernels() as narrow:
                    exact = self._run(layer, wide)
                doubt = f"float32 in {', '.join(sorted(narrow))}" if narrow else self._prove(way, layer, wide)
                if not doubt:
                    return exact
            except EngineRefused as refusal:
                doubt = str(refusal)
            if not way.lent:
                self.why_not.append(f"{way.name}: {doubt}")
            self.ways.pop(0)
            way.place.of = way.place.layer = None
        return None

    def _prove(self, way: _Way, layer: Any, inputs: TensorMap) -> str:
        """Take the second difference, once for each way; return what is wrong, or nothing."""
        if way.proven:
            return ""
        with way.around:
            difference = second_difference(lambda moved: self._run(layer, moved), inputs)
        way.proven = difference <= FAKE
        return "" if way.proven else f"a second difference of {difference:.2g} shows float32 inside"

    def _truth(self, name: str, runs: list[dict[str, Array]], exact: dict[str, Array] | None) -> Truth:
        """The truth of one output, and what the float32 runs err; without a float64 run, their mean and spread."""
        method = f"{SPREAD} ({'; '.join(self.why_not)})" if exact is None else self.ways[0].name
        if self._partial:
            held = None if exact is None else exact[name]
            return measured_in_part([run[name] for run in runs], held, method, NOT_FINITE)
        return measured([run[name] for run in runs], None if exact is None else exact[name], method)


def make_oracle(
    layer: paddle.nn.Layer, order: tuple[str, ...], outputs: tuple[str, ...], seed: int, *, lean: bool = False
) -> Oracle:
    """Say how the layer is copied into its float64 and its moved forms.

    They run on the CPU, whose float64 kernels are complete. Those of a lean oracle are lent, as is done for a layer of
    more than `AFFORDABLE` numbers; where no lent form is truly in float64, there is one copy at a time.
    """
    held = max(1, sum(math.prod(parameter.shape) for parameter in layer.parameters()))
    if lean or held > AFFORDABLE:
        place = _Place()
        lent = [replace(way, lent=True) for way in _ways(partial(lent_wide, layer), place)]
        ways = [*lent, *_ways(partial(wide, layer), place)]
        seeds = range(seed + 1, seed + 5)
        forms = [_Form(partial(lent_moved, layer), place, partial(moving, seed=seed)) for seed in seeds]
        return Oracle(layer, ways, tuple(forms[:2]), order, outputs, further=tuple(forms[2:]))
    moved_forms = tuple(_Form(partial(moved, layer, seed + step), _Place()) for step in (1, 2))
    count = max(2, min(MOST_RUNS - 3, AFFORDABLE // held))
    common = _Place() if count * held > AFFORDABLE else None
    steps = range(3, 3 + count)
    further = tuple(_Form(partial(moved, layer, seed + step), common or _Place()) for step in steps)
    return Oracle(layer, _ways(partial(wide, layer), None), moved_forms, order, outputs, further=further)


def _ways(make: Callable[[], Any], place: _Place | None) -> list[_Way]:
    """The plain way to run in float64 what `make` gives, and the one in which casts are lifted."""
    return [
        _Way(make, place or _Place(), name="float64", around=_Around(exact_positions, boxes_decoded)),
        _Way(
            lambda: raise_plain_tensors(make()),
            place or _Place(),
            name="float64 with casts lifted",
            around=_Around(exact_positions, boxes_decoded, lifted),
        ),
    ]


class _Around(AbstractContextManager[None]):
    """Contexts that may be entered again and again."""

    def __init__(self, *contexts: Callable[[], AbstractContextManager[None]]) -> None:
        self._contexts = contexts

    def __enter__(self) -> None:
        self._stack = contextlib.ExitStack()
        for context in self._contexts:
            self._stack.enter_context(context())

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _untold(eager: Array) -> Truth:
    """Of an output whose shape depends on rounding there is no truth; its case has a gate."""
    if eager.dtype.kind != "f":
        return Truth(eager, 0.0, 0.0, "exact")
    return Truth(eager.astype("float64"), math.inf, math.inf, UNTOLD)


def _moved_inputs(inputs: TensorMap, seed: int) -> dict[str, Array]:
    """Each float that is no whole number goes one ulp up or down: whole ones may be masks, flags or indices."""
    generator = np.random.default_rng(seed)
    moved = dict(inputs)
    for name, value in inputs.items():
        if moves(value):
            side = np.where(generator.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
            moved[name] = np.where(value == np.rint(value), value, np.nextafter(value, side))
    return moved
