"""Asked and effective: under which settings engines computed, and where these are not what the variant calls for.

An engine that does not do as it was asked is refused when it starts (`exporter.engines.session`). What is left to say
is what nobody asked of it: the defaults of an engine that runs as it comes, and the opset that a converter raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exporter.engines.base import Settings
from exporter.export.lower.base import Artifact
from exporter.prove.verdict.claim import Verdict

#: How engines call the precision that a variant is written in.
_SAME = {"fp32": ("f32", "float32", "fp32")}


@dataclass(frozen=True)
class Condition:
    """One session of an engine on a variant, and how it computed there."""

    variant: str
    engine: str
    precision: str
    settings: Settings

    @property
    def name(self) -> str:
        """`onnx/onnxruntime`."""
        return f"{self.variant}/{self.engine}"


def conditions(verdict: Verdict) -> tuple[Condition, ...]:
    """Every session that a verdict rests on, by variant and engine; one for each number of threads."""
    found: list[Condition] = []
    for claim in sorted(verdict.plan):
        under = verdict.of(claim).under
        if under is not None:
            one = Condition(claim.variant, claim.engine, claim.precision, under)
            found += [one] if one not in found else []
    return tuple(found)


def differences(verdict: Verdict, artifacts: Mapping[str, Artifact]) -> list[str]:
    """A note for each setting in effect that is not what was asked for, or not what the variant is written in."""
    notes = []
    for name, artifact in sorted(artifacts.items()):
        asked, opset = artifact.details.get("opset_asked"), artifact.details.get("opset")
        if asked != opset:
            notes.append(f"{name}: opset {asked} was asked for, and the converter wrote opset {opset}")
        notes += [f"{name}: {told}" for told in artifact.details.get("declared_otherwise", ())]
    for one in conditions(verdict):
        computed = one.settings.effective.get("precision")
        if computed is not None and computed not in _SAME.get(one.precision, (computed,)):
            notes.append(f"{one.name} computes in {computed} by its own default; the variant is {one.precision}")
        if elsewhere := one.settings.effective.get("values_elsewhere"):
            asked = one.settings.asked["provider"]
            notes.append(f"{one.name}: {asked} was asked for, and these computed values elsewhere: {elsewhere}")
        notes += [f"{one.name}: {unmet}" for unmet in one.settings.unmet()]
    return list(dict.fromkeys(notes))
