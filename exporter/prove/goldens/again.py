"""Promised cases that tell nothing by chance are drawn again, and where no draw tells anything, the sizes decide.

Of four numbers up to 8 often none is 5, and `x == 5` is zero then: the next draw tells more. A softmax over one element
is 1 whatever that holds, and a column that is repeated along four has one number in its one row: no draw tells more,
and at these sizes there is nothing to tell. Such a case is judged all the same if the output tells at other sizes that
are promised. What is the same in every case stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from exporter.base.tensors import Array
from exporter.engines.base import EngineRefused
from exporter.prove.compare.informative import doubts
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.finish import Recorded, goldens_of
from exporter.prove.goldens.oracle import Oracle
from exporter.prove.goldens.truth import same_bits
from exporter.prove.goldens.values import Rows, content, draw, trials
from exporter.spec.model import Spec

#: How often a case is drawn again: of few numbers a value that is asked for is rare, and a forward costs little.
DRAWS, DRAWS_OF_FEW, FEW = 16, 64, 4096
#: How often its values are scaled and shifted, to see whether anything changes then.
_TRIALS = 16
#: Forwards of eager on few numbers that all cases may take; one on more counts for four.
_MOST = 800


@dataclass(frozen=True)
class Steps:
    """How a case is recorded in its place once more, and how what is known of all is noted in them."""

    record: Callable[[int, Case, dict[str, Array]], Recorded]
    note: Callable[[], None]


@dataclass
class Again:
    """The draws of a model's cases: by the name of a promised one, which of its draws is taken."""

    oracle: Oracle
    spec: Spec
    rows: Rows | None
    taken: dict[str, int] = field(default_factory=dict)
    left: int = _MOST

    def inputs(self, case: Case, attempt: int | None = None) -> dict[str, Array]:
        """The inputs of a case; what probes is made of the draw that was taken of the case it is named after."""
        number = self.taken.get(case.name.partition(":")[0], 0) if attempt is None else attempt
        return draw(self.spec, case, self.rows, number)

    def improve(self, recorded: list[Recorded], steps: Steps, more_to_come: bool) -> None:
        """Draw the cases again in which an output is one number by chance, and note where the sizes settle it."""
        for _ in range(2):  # what the typical case tells, others may tell as well
            steps.note()
            silent = _silent(recorded, self.spec.budget, more_to_come)
            everywhere = set.intersection(*(silent.get(at, set()) for at in range(len(recorded))))
            moved = False
            for at, names in silent.items():
                inputs = self._drawn_again(recorded[at], names if at == 0 else names - everywhere)
                if inputs is not None:
                    recorded[at], moved = steps.record(at, recorded[at].case, inputs), True
            if not moved:
                break

    def _drawn_again(self, record: Recorded, names: set[str]) -> dict[str, Array] | None:
        """The inputs of a draw in which more of these outputs tell; None if there is none."""
        before = {name: record.tensors[f"{record.case.name}/eager/{name}"] for name in record.facts.outputs}
        mute = {name: muteness(value) for name, value in before.items()}
        flat, best = names - set(record.settled), sum(mute[name] for name in names)
        same, kept, chosen, seen = set(flat), before, None, set[str]()
        draws = DRAWS if sum(value.size for value in record.inputs().values()) > FEW else DRAWS_OF_FEW
        for attempt, inputs in enumerate(self._attempts(record, draws if flat else 0), start=1):
            outputs = self._outputs(inputs, 1 if draws > DRAWS else 4)
            if outputs is None:
                continue
            seen.add(content(inputs))
            same &= {name for name in same if same_bits(outputs[name], before[name])}
            now = {name: muteness(value) for name, value in outputs.items()}
            flat &= {name for name in flat if now[name]}
            better = sum(now[name] for name in names) < best and all(now[name] <= mute[name] for name in now)
            if attempt <= draws and better:
                best, chosen, kept = sum(now[name] for name in names), inputs, outputs
                self.taken[record.case.name] = attempt
            if not best:
                break
        if len(seen) > draws:  # enough of them to say so
            record.settled = (*record.settled, *sorted(name for name in flat if name in same or kept[name].any()))
        return chosen

    def _attempts(self, record: Recorded, draws: int) -> Iterator[dict[str, Array]]:
        """Further draws at the sizes of a case, then the first one scaled and shifted."""
        case = record.case
        for attempt in range(1, draws + 1):
            yield self.inputs(case, attempt)
        for _, varied in trials(self.spec, case, record.inputs(), _TRIALS if draws else 0):
            yield varied

    def _outputs(self, inputs: dict[str, Array], cost: int) -> dict[str, Array] | None:
        if self.left <= 0:
            return None
        self.left -= cost
        try:
            return self.oracle.answer(inputs)
        except EngineRefused:
            return None


def _silent(recorded: list[Recorded], budget: float, more_to_come: bool) -> dict[int, set[str]]:
    """The cases, by their places, with the outputs that hold one number there and by which eager would not pass."""
    places = {record.case.name: at for at, record in enumerate(recorded)}
    silent: dict[int, set[str]] = {}
    for doubt in doubts(goldens_of(recorded), budget, more_to_come=more_to_come):
        at = places[doubt.case]
        if not doubt.tied and muteness(recorded[at].tensors[f"{doubt.case}/eager/{doubt.output}"]):
            silent.setdefault(at, set()).add(doubt.output)
    return dict(sorted(silent.items()))


def muteness(value: Array) -> int:
    """Return how little a tensor tells: 2 if it is zero throughout, 1 if it is another finite number, 0 else."""
    if not value.size or not np.isfinite(value.flat[0]) or not (value == value.flat[0]).all():
        return 0
    return 1 if value.flat[0] else 2
