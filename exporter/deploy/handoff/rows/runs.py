"""Run an artifact on rows alone and on the same rows beside others, and say whether any row heeds the others.

Two comparisons, since a product of matrices may round otherwise where there are more rows:

- the same rows at the same place among as many rows give the same **bits**, whatever the others hold;
- alone, and at other places among more rows, the rows of a case give together what the bundle recorded, by its rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import error
from exporter.base.tensors import Array, TensorMap, load, save_scratch
from exporter.deploy.handoff.rows.companions import CHANGED, OTHERS, Companions, joined
from exporter.engines.job import EngineCase, EngineJob
from exporter.process.workers import Setting
from exporter.prove.compare.outputs import compare_case


@dataclass(frozen=True)
class Subject:
    """A recorded case, its inputs by the file's names, and the rows of other cases that may stand beside its own."""

    golden: GoldenCase
    inputs: TensorMap
    beside: Companions

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(next(iter(self.inputs.values())))


@dataclass(frozen=True)
class _Part:
    """Some rows of a case in a run: which run, how many rows it has, and where in it they stand."""

    run: int
    size: int
    first: int
    count: int


@dataclass
class _Planned:
    """The runs of one subject.

    `series` are parts that make the whole case, with what they are in words; `same` are runs that differ in what stands
    beside a part, by its kind; `others` are these companions without the part.
    """

    subject: Subject
    series: list[tuple[str, list[_Part]]] = field(default_factory=list)
    same: list[tuple[_Part, dict[str, int]]] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """What was shown: how many runs, of how many rows, in which version of the engine; and what is against it."""

    runs: int
    sizes: tuple[int, ...]
    version: str
    against: str = ""


@dataclass(frozen=True)
class Rule:
    """What judges: the bundle's budget (None: reduced precision), all goldens, and the outputs' names by the file's."""

    budget: float | None
    goldens: Sequence[GoldenCase]
    outputs: Mapping[str, str]


def run_beside_others(
    subjects: Sequence[Subject], most: int, rule: Rule, job: EngineJob, place: Path, setting: Setting
) -> Shown:
    """Run subjects alone and beside other rows, up to `most` in one run; `job` says with which engine.

    Raises:
        ExporterError: the engine cannot be had here, or died.
    """
    feeds: list[dict[str, Array]] = []
    planned = [_plan(subject, most, feeds) for subject in subjects]
    inputs, into = place / "inputs.safetensors", place / "outputs"
    save_scratch(inputs, {f"{at}/input/{name}": value for at, feed in enumerate(feeds) for name, value in feed.items()})
    into.mkdir()
    cases = tuple(EngineCase(str(at), str(at)) for at in range(len(feeds)))
    answer = EngineJob(job.engine, job.artifact, inputs, cases, job.device).run(into, setting)
    version = next((str(facts.settings.effective["version"]) for facts in answer.sessions.values()), "")
    sizes = tuple(sorted({len(next(iter(feed.values()))) for feed in feeds}))
    results = _Results(into, rule, dict(answer.refused))
    against = answer.load or next((why for plan in planned if (why := results.against(plan))), "")
    return Shown(len(feeds), sizes, version, against)


def _plan(subject: Subject, most: int, feeds: list[dict[str, Array]]) -> _Planned:
    """Add a subject's runs to `feeds`: each row alone and beside others, and the whole case among few and many."""
    plan, rows = _Planned(subject), subject.rows
    alone, among = list[_Part](), list[_Part]()
    for at in range(rows):
        row = {name: value[at : at + 1] for name, value in subject.inputs.items()}
        alone.append(_Part(_added(feeds, row), 1, 0, 1))
        size = min(most, 2 + at % 3)
        among.append(_beside(feeds, subject, row, size, (OTHERS, at % size, at)))
    plan.series += [("each row alone", alone), ("each row beside rows of other cases", among)]
    kinds = subject.beside.kinds()
    few = min(most, rows + 3)
    layouts = [(few, min(1, few - rows), kinds), (most, most - rows, kinds), (rows + 1, 0, (OTHERS, CHANGED))]
    for size, place, wanted in dict.fromkeys(layouts):
        whole = {kind: _beside(feeds, subject, subject.inputs, size, (kind, place, 0)) for kind in wanted}
        plan.same.append((whole[OTHERS], {kind: part.run for kind, part in whole.items()}))
        plan.series.append((f"the case among {size} rows", [whole[OTHERS]]))
    plan.others = {kind: _added(feeds, subject.beside.take(kind, 1)) for kind in kinds}
    return plan


def _added(feeds: list[dict[str, Array]], inputs: TensorMap) -> int:
    feeds.append({name: np.ascontiguousarray(value) for name, value in inputs.items()})
    return len(feeds) - 1


def _beside(
    feeds: list[dict[str, Array]], subject: Subject, rows: TensorMap, size: int, how: tuple[str, int, int]
) -> _Part:
    """Add a run of so many rows; `how` is the kind of what stands beside, the place, and with which row it begins."""
    kind, place, start = how
    count = len(next(iter(rows.values())))
    run = _added(feeds, joined(rows, subject.beside.take(kind, size - count, start), place))
    return _Part(run, size, place, count)


class _Results:
    """What the runs gave, read when it is asked for."""

    def __init__(self, folder: Path, rule: Rule, refused: dict[str, str]) -> None:
        self._folder, self._rule, self._refused = folder, rule, refused
        self._others = {name: [case.outputs[name] for case in rule.goldens] for name in rule.goldens[0].outputs}

    def against(self, plan: _Planned) -> str:
        """Say what shows that a row heeds the others, or that nothing was shown; empty where all of it holds."""
        name = plan.subject.golden.name
        for part, runs in plan.same:
            if why := self._unlike(plan, part, runs):
                return f"in case {name} {why}"
        whole = dict[str, TensorMap]()
        for words, parts in plan.series:
            gone = next((self._refused[str(part.run)] for part in parts if str(part.run) in self._refused), "")
            if gone:
                return f"{words} of case {name} cannot be computed: {gone}"
            try:
                whole[words] = self._together(parts)
            except ValueError:
                return "an output has not one row for each row of the inputs"
            if why := self._judged(plan.subject.golden, whole[words], next(iter(whole.values()))):
                return f"{words}, case {name}: {why}"
        return ""

    def _unlike(self, plan: _Planned, part: _Part, runs: Mapping[str, int]) -> str:
        """Say which companions change the bits of a part; what is refused without it, too, changes nothing."""
        first: dict[str, Array] = {}
        for kind, run in runs.items():
            if (gone := self._refused.get(str(run))) is not None:
                if kind in (OTHERS, CHANGED) or str(plan.others[kind]) not in self._refused:
                    return f"rows cannot be computed where beside them stand {kind}: {gone}"
                continue
            got = self._read(run)
            if any(value.shape[:1] != (part.size,) for value in got.values()):
                return "an output has not one row for each row of the inputs"
            rows = {name: value[part.first : part.first + part.count] for name, value in got.items()}
            for name, value in rows.items():
                if value.tobytes() != first.setdefault(name, value).tobytes():
                    return f"{name} is another where beside the same rows stand {kind}"
        return ""

    def _judged(self, golden: GoldenCase, got: TensorMap, alone: TensorMap) -> str:
        """Say why the outputs of a whole case are not what it has to give."""
        evidence = compare_case(golden, got, self._rule.budget, self._others)
        reasons = [f"{name}: {judged.reason}" for name, judged in evidence.items() if judged.outcome.value != "match"]
        if self._rule.budget is None:
            reasons += [f"{name} moves by more than it errs" for name in got if _moves(golden, name, got, alone)]
        return "; ".join(reasons)

    def _together(self, parts: Sequence[_Part]) -> TensorMap:
        """Return the outputs of a case from its parts.

        Raises:
            ValueError: an output has not the rows of its inputs.
        """
        pieces = []
        for part in parts:
            got = self._read(part.run)
            if any(value.shape[:1] != (part.size,) for value in got.values()):
                raise ValueError
            pieces.append({name: value[part.first : part.first + part.count] for name, value in got.items()})
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    def _read(self, run: int) -> dict[str, Array]:
        values = load(self._folder / f"{run}.safetensors")
        return {self._rule.outputs[native]: value for native, value in values.items() if native in self._rule.outputs}


def _moves(golden: GoldenCase, name: str, got: TensorMap, alone: TensorMap) -> bool:
    """Say whether an output of reduced precision differs from that of each row alone by more than this errs anyway."""
    expected = golden.outputs[name]
    apart, joined_rows = expected.kept(alone[name]), expected.kept(got[name])
    if expected.exact:
        return bool((apart != joined_rows).any())
    moved, errs = error(apart, joined_rows), error(expected.truth, apart)
    return not all(step <= most for step, most in zip(moved, errs, strict=True))
