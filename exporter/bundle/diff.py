"""What is different between two bundles, from the interface down to the numbers; read from files, nothing is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from exporter.base.errors import printable
from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import error, ratio
from exporter.base.numbers.rule import unexplained
from exporter.base.readers import read
from exporter.base.tensors import TensorMap, load
from exporter.bundle import retrained
from exporter.bundle.compatible import Change, changes
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.retrained import Flips
from exporter.bundle.subject import unfit

_SAME = "the same bundle: the digests are equal"
#: How many names a text lists; `--json` has all.
_SHOWN = 6


@dataclass(frozen=True)
class Drift:
    """How far the new bundle's eager outputs are from the old one's truth: the worst case of one output.

    Of floats: `relative` is the error in the larger of two norms, `ratio` the same in units of what old eager float32
    erred, so that 4 is the usual budget. Of whole numbers: `differing` is the share that differs. Where the two cannot
    be compared, `why` says it and the rest is None. `over`: beyond the old one's budget, as the gate judges an engine;
    or not compared.
    """

    output: str
    case: str
    relative: float | None = None
    ratio: float | None = None
    differing: float | None = None
    why: str = ""
    over: bool = False


@dataclass(frozen=True)
class Difference:
    """Two bundles, compared. Each mapping holds `added`, `removed` and `changed` names."""

    old: Bundle
    new: Bundle
    interface: tuple[Change, ...]
    parameters: Mapping[str, list[str]]
    operators: Mapping[str, Mapping[str, list[int]]]
    provenance: Mapping[str, list[Any]]
    drift: tuple[Drift, ...] = ()
    notes: tuple[str, ...] = ()
    answers: tuple[Flips, ...] = ()
    cases: int = 0
    unfit: str = ""

    @property
    def retrained(self) -> bool:
        """Other parameters, by content: then numbers differ by nature, and how many answers do is what counts."""
        return any(self.parameters.values())

    @property
    def metrics(self) -> dict[str, list[float | None]]:
        """The metric of the training: [old, new]."""
        return retrained.metrics(self.old.manifest, self.new.manifest)

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The bytes of the variants that are larger or smaller now: [old, new]."""
        return retrained.sizes(self.old.manifest, self.new.manifest)

    @property
    def spec(self) -> dict[str, list[Any]]:
        """The dotted keys of the spec whose value changed: [old, new]."""
        was, now = (one.manifest.spec for _, one in self._sides())
        return {key: pair for key, pair in _changed("", was, now) if key != "version"}

    @property
    def same(self) -> bool:
        """One and the same bundle: the digests say so."""
        return self.old.manifest.digest == self.new.manifest.digest

    @property
    def breaks(self) -> tuple[str, ...]:
        """Why the new one cannot take the place of the old one; empty where it can."""
        found = [self.unfit] if self.unfit else []
        found += [change.what for change in self.interface if change.breaks]
        return (*found, *([] if self.retrained or self.same else self._other_numbers()))

    def _other_numbers(self) -> Iterator[str]:
        """Of the same parameters: outputs whose numbers are others than the old one's, or were not compared."""
        drifts, present = {drift.output: drift for drift in self.drift}, {one.name for one in self.new.manifest.outputs}
        for name in [one.name for one in self.old.manifest.outputs if one.name in present]:
            if name not in drifts:
                yield f"the parameters are the same, and no number of output {name} was compared"
            elif drifts[name].over:
                yield f"the parameters are the same, and the numbers are not: {_drift_text(drifts[name], False)}"

    def to_json(self) -> dict[str, object]:
        """The object that `diff --json` prints."""
        told = ("name", "version", "digest", "verdict")
        return {
            **{side: {key: getattr(one.manifest, key) for key in told} for side, one in self._sides()},
            "same": self.same,
            "breaks": list(self.breaks),
            "interface": [asdict(one) for one in self.interface],
            "parameters": dict(self.parameters),
            "operators": {name: dict(one) for name, one in self.operators.items()},
            "provenance": dict(self.provenance),
            "retrained": self.retrained,
            "answers": [{**asdict(one), "share": one.share} for one in self.answers],
            "metrics": self.metrics,
            "sizes": self.sizes,
            "spec": self.spec,
            "cases": self.cases,
            "drift": [asdict(one) for one in self.drift],
            "notes": list(self.notes),
        }

    def _sides(self) -> tuple[tuple[str, Bundle], tuple[str, Bundle]]:
        return ("old", self.old), ("new", self.new)


def diff(old: Path, new: Path) -> Difference:
    """Compare two bundles.

    Raises:
        UsageError: one is not there.
        BundleError: one is damaged.
    """
    one, other = open_bundle(old), open_bundle(new)
    was, now = one.manifest, other.manifest
    drift, answers, notes, cases = _numbers(one, other)
    why = "" if now.released else f"the verdict of the new bundle is {now.verdict}"
    if not why and (contradiction := unfit(other)):
        why = f"of the new bundle, {contradiction}"
    return Difference(
        old=one,
        new=other,
        interface=tuple(changes(was, now)),
        parameters=_names(was.parameters, now.parameters),
        operators=_operators(one, other),
        provenance=dict(_changed("", was.provenance, now.provenance)),
        drift=drift,
        notes=notes,
        answers=answers,
        cases=cases,
        unfit=why,
    )


def _names(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        "added": sorted(set(new) - set(old)),
        "removed": sorted(set(old) - set(new)),
        "changed": sorted(name for name in set(old) & set(new) if old[name] != new[name]),
    }


def _operators(old: Bundle, new: Bundle) -> dict[str, dict[str, list[int]]]:
    """For each variant of both, the operators whose number changed: [old, new]."""
    found = {}
    for name in sorted(set(old.manifest.variants) & set(new.manifest.variants)):
        was, now = _counts(old, name), _counts(new, name)
        counts = {each: [was.get(each, 0), now.get(each, 0)] for each in sorted(set(was) | set(now))}
        found[name] = {each: pair for each, pair in counts.items() if pair[0] != pair[1]}
    return found


def _counts(bundle: Bundle, variant: str) -> Mapping[str, int]:
    """The operators of the variant's file that holds the program."""
    facts = [read(bundle.folder / name) for name in bundle.manifest.variants[variant].files]
    return max((one.operators for one in facts), key=len)


def _changed(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Dotted keys whose value changed: [old, new], None where there is none."""
    for key in sorted(set(old) | set(new)):
        was, now = old.get(key), new.get(key)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from _changed(f"{prefix}{key}.", was, now)
        elif was != now:
            yield f"{prefix}{key}", [was, now]


def _numbers(old: Bundle, new: Bundle) -> tuple[tuple[Drift, ...], tuple[Flips, ...], tuple[str, ...], int]:
    """Compare the recorded outputs of every case that both record with the very same inputs; the last is how many."""
    if not old.manifest.cases or not new.manifest.cases:
        return (), (), ("a bundle records no case, so their numbers were not compared",), 0
    before, after = {case.name: case for case in old.goldens()}, {case.name: case for case in new.goldens()}
    common = [name for name in before if name in after]
    inputs = _golden_inputs(old), _golden_inputs(new)
    alike = [name for name in common if _of(inputs[0], name) == _of(inputs[1], name)]
    notes = []
    if len(alike) < len(common):
        notes.append(
            f"{len(common) - len(alike)} of {len(common)} common cases have other inputs and were not compared"
        )
    if not alike:
        return (), (), (*notes, "no case is common to both, so their numbers were not compared"), 0
    worst: dict[str, Drift] = {}
    for case in alike:
        for name, one in before[case].outputs.items():
            if name in after[case].outputs:
                found = _one_drift(before[case], one, after[case].outputs[name], old.manifest.budget)
                if name not in worst or _rank(found) > _rank(worst[name]):
                    worst[name] = found
    outputs = [one.name for one in old.manifest.outputs if one.name in worst]
    return tuple(worst.values()), retrained.flips(before, after, alike, outputs), tuple(notes), len(alike)


def _one_drift(golden: GoldenCase, old: GoldenOutput, new: GoldenOutput, budget: float) -> Drift:
    """Error of the new eager output against the old truth; of large outputs, at the elements that were kept."""
    case = golden.name
    if old.shape != new.shape or old.dtype != new.dtype:
        return Drift(old.name, case, why=f"{new.dtype}{list(new.shape)}, was {old.dtype}{list(old.shape)}", over=True)
    same_elements = (old.index is None) == (new.index is None) and (
        old.index is None or (new.index is not None and old.index.tobytes() == new.index.tobytes())
    )
    if not same_elements:
        return Drift(old.name, case, why="other elements of it were recorded", over=True)
    if old.exact:
        share = float((old.eager != new.eager).mean()) if old.eager.size else 0.0
        over = unexplained(old, new.eager, golden.outputs, budget) > 0
        return Drift(old.name, case, differing=share, over=over)
    relative, times = max(error(old.truth, new.eager)), ratio(old.truth, new.eager, old.unit, old.floor)
    measurable = not old.gate and math.isfinite(relative) and math.isfinite(times)
    if not measurable and old.eager.tobytes() == new.eager.tobytes():
        return Drift(old.name, case, 0.0, 0.0)
    if old.gate:
        return Drift(old.name, case, why=f"the old bundle could not judge it: {old.gate}", over=True)
    if not measurable:
        why = "the old truth is zero throughout, or the new value is not finite"
        return Drift(old.name, case, why=why, over=True)
    return Drift(old.name, case, relative, times, over=not times <= budget)


def _rank(drift: Drift) -> tuple[bool, bool, float]:
    """What cannot be compared is worse than any number."""
    return bool(drift.why), drift.over, drift.ratio or drift.differing or 0.0


def _golden_inputs(bundle: Bundle) -> TensorMap:
    return {name: value for name, value in load(bundle.folder / GOLDEN).items() if "/input/" in name}


def _of(inputs: TensorMap, case: str) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {
        name: (value.dtype.name, value.shape, value.tobytes())
        for name, value in inputs.items()
        if name.startswith(f"{case}/input/")
    }


def as_text(found: Difference, more: Sequence[str] = ()) -> str:
    """The same for a person, with `more` lines before the answer. Names come from foreign files, and are escaped."""
    lines = []
    for side, one in found._sides():
        about = one.manifest
        lines.append(f"{side} {about.name} {about.version}, {about.verdict}, digest {about.digest[:16]}, {one.folder}")
    if found.same:
        return _escaped([*lines, *map("INCOMPATIBLE: {}".format, found.breaks), _SAME])
    lines += [f"{'BREAKS   ' if one.breaks else 'interface'} {one.what}" for one in found.interface]
    lines += [f"parameter {_names_text(kind, names)}" for kind, names in found.parameters.items() if names]
    for variant, counts in found.operators.items():
        lines += [f"operator  {variant}: {name} {was} -> {now}" for name, (was, now) in counts.items()]
    lines += retrained.as_lines(found.answers, found.metrics, found.sizes)
    lines += [f"drift     {_drift_text(one, found.retrained)}" for one in found.drift]
    lines += [f"spec      {key}: {was} -> {now}" for key, (was, now) in found.spec.items()]
    origin = [(key, pair) for key, pair in found.provenance.items() if not key.startswith("training.metric.")]
    lines += [f"origin    {key}: {was} -> {now}" for key, (was, now) in origin]
    lines += [*more, *(f"note      {note}" for note in found.notes)]
    if found.breaks:
        lines.append(
            f"INCOMPATIBLE: {found.breaks[0]}" + (f", and {len(found.breaks) - 1} more" * (len(found.breaks) > 1))
        )
    else:
        lines.append(f"compatible: {_compatible(found)}")
    return _escaped(lines)


def _compatible(found: Difference) -> str:
    """What was compared, and what was not."""
    if found.retrained:
        return (
            "whoever calls the old one can call the new one, without a change; its parameters are others, so that its"
            " numbers are, which nothing here judges"
        )
    return (
        "whoever runs the old one can run the new one, without a change; the parameters are the same, and eager's"
        f" numbers lie within its budget in all cases with the same inputs, {found.cases}"
    )


def _names_text(kind: str, names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} {kind}: {', '.join(names[:_SHOWN])}{more}"


def _drift_text(drift: Drift, retrained: bool) -> str:
    """Of another training every number is another: then it is no error, and has no ratio."""
    where = f"{drift.output}, worst in case {drift.case}:"
    if drift.why:
        return f"{where} not compared: {drift.why}"
    if drift.differing is not None:
        return f"{where} {drift.differing:.2%} of the whole numbers differ"
    return f"{where} {drift.relative:.3g} of its size" + ("" if retrained else f", error ratio {drift.ratio:.3g}")


def _escaped(lines: list[str]) -> str:
    return "".join(printable(line) + "\n" for line in lines)
