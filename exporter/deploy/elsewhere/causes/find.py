"""Try every cause on the wrong answers, and name the one that explains most of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from exporter.base.errors import ExporterError
from exporter.base.words import plain, some
from exporter.deploy.elsewhere.causes.fit import causes_by_fit
from exporter.deploy.elsewhere.causes.inputs import Runs, causes_by_running
from exporter.deploy.elsewhere.causes.inside import causes_inside
from exporter.deploy.elsewhere.causes.near import Explained
from exporter.deploy.elsewhere.causes.outputs import Wrong, causes_of

T = TypeVar("T")
#: Wrong answers that are looked into by arithmetic, and by runs of our own.
_BY_ARITHMETIC, _BY_RUNNING = 64, 6
#: Numbers of all that are looked into: each order of the axes is tried on each.
_MOST = 1 << 22
#: The share of them that a cause has to explain, to be named at all.
_ENOUGH = 1 / 3


@dataclass(frozen=True)
class Cause:
    """What most likely went wrong: its name, a sentence, and the cases that it explains, of those looked into."""

    name: str
    sentence: str
    cases: tuple[str, ...]
    looked_into: int

    @property
    def explains_enough(self) -> bool:
        """Tell whether it explains a good part of the wrong answers."""
        return len(self.cases) >= _ENOUGH * self.looked_into

    def __str__(self) -> str:
        cases = some(list(self.cases), 4)
        share = f"explains {len(self.cases)} of {self.looked_into} wrong answers that were looked into: {cases}"
        return plain(f"likely cause: {self.name}: {self.sentence} ({share})")


def find_cause(wrongs: Sequence[Wrong], runs: Runs | None, lower: Cause | None = None) -> Cause | None:
    """Return the likely cause of wrong answers, promised cases first; None where none was found.

    What shows in the answers comes first; then `lower`, that they are those of a lower precision; then what runs of our
    own show, which are left out without `runs`. What explains few of them by chance is not named.
    """
    with np.errstate(all="ignore"):  # a stranger's numbers may be of any size
        return _found(wrongs, runs, lower)


def _found(wrongs: Sequence[Wrong], runs: Runs | None, lower: Cause | None) -> Cause | None:
    ordered = sorted(wrongs, key=lambda wrong: (":" in wrong.case.name, wrong.truth.size))
    sizes = itertools.accumulate(wrong.truth.size for wrong in ordered)
    ordered = [
        wrong for place, (wrong, size) in enumerate(zip(ordered, sizes, strict=True)) if place < 2 or size < _MOST
    ]
    plainest = _most([(wrong, list(causes_of(wrong))) for wrong in ordered[:_BY_ARITHMETIC]])
    if plainest is not None and plainest.name == "all NaN":
        return _by_running(ordered, runs) or plainest
    if plainest is not None and plainest.explains_enough:
        return plainest
    return lower or _by_running(ordered, runs)


def _by_running(ordered: Sequence[Wrong], runs: Runs | None) -> Cause | None:
    if runs is None:
        return None
    runs.setting.say("looking for the likely cause")
    for look in (causes_inside, causes_by_running):
        cause = _most([(wrong, _tried(partial(look, wrong, runs))) for wrong in ordered[:_BY_RUNNING]])
        if cause is not None and cause.explains_enough:
            return cause
    fitted: dict[int, list[Explained]] = {}
    for wrong, explained in _tried(partial(causes_by_fit, ordered, runs)):
        fitted.setdefault(id(wrong), []).append(explained)
    explained_by = [(wrong, fitted[id(wrong)]) for wrong in ordered if id(wrong) in fitted]
    return _most(explained_by)


def _tried(look: Callable[[], Iterator[T]]) -> list[T]:
    """List what a look finds; nothing where our own engine cannot run so."""
    try:
        return list(look())
    except (ExporterError, np.linalg.LinAlgError):  # or a fit of numbers that no line goes through
        return []


def _most(explained_by: Sequence[tuple[Wrong, Sequence[Explained]]]) -> Cause | None:
    """The cause that explains most; of equals the one that fits best, and the plainest."""
    votes: dict[str, list[tuple[Wrong, Explained]]] = {}
    for wrong, causes in explained_by:
        best: dict[str, Explained] = {}
        for cause in causes:
            if cause.name not in best or cause.score > best[cause.name].score:
                best[cause.name] = cause
        for name, cause in best.items():
            votes.setdefault(name, []).append((wrong, cause))
    if not votes:
        return None

    def rank(name: str) -> tuple[int, float]:
        scores = [min(cause.score, 60.0) for _, cause in votes[name]]
        return len(scores), round(sum(scores) / len(scores))

    name = max(votes, key=rank)
    cases = tuple(dict.fromkeys(f"{wrong.case.name}/{wrong.output}" for wrong, _ in votes[name]))
    sentence = max((cause for _, cause in votes[name]), key=lambda cause: cause.score).sentence
    return Cause(name, sentence, cases, len(explained_by))
