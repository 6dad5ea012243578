"""Compare the chain of deployment with that of training, name the first step that differs, and try what it comes of.

All of this runs in a child that imports none of the user's code. The steps of deployment are computed anew; what a
function of the user's gave is read from a file that another child wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.steps.base import VALUE, State
from exporter.steps.chain import Chain, Function, read_chain
from exporter.steps.compare import Agreement, Measure, agreement
from exporter.steps.controls import controlled
from exporter.steps.material import Material
from exporter.steps.replay import Replayed, replay
from exporter.steps.run import save_states
from exporter.steps.search import likely_causes

if TYPE_CHECKING:
    from exporter.base.tensors import Array


@dataclass(frozen=True)
class Compared:
    """One side of the model: both chains on all samples."""

    training: Chain
    deployment: Chain
    recorded: Sequence[Sequence[State]]
    replayed: Sequence[Replayed]
    by: Measure


@dataclass
class Finding:
    """What came out: `outcome` is a word of a verdict, `elements` how many numbers were compared."""

    outcome: str
    reason: str = ""
    elements: int = 0
    notes: list[str] = field(default_factory=list)
    ends: Sequence[State] = ()


@dataclass(frozen=True)
class SideRequest:
    """Both chains on one side of the model (`before` or `after`), as the spec has them, and the file of the samples.

    `fresh` is the file of what the user's functions give now, if they ran. `names` are the arrays that are compared.
    What deployment's last step gives of each sample goes to the file `into`.
    """

    side: str
    training: tuple[Any, ...]
    deployment: tuple[Any, ...]
    material: Path
    fresh: Path | None
    tolerance: float
    names: tuple[str, ...]
    into: Path | None


@dataclass(frozen=True)
class Judged:
    """The finding, without what was compared."""

    outcome: str
    reason: str
    elements: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, finding: Finding) -> Judged:
        """What is said of a finding."""
        return cls(finding.outcome, finding.reason, finding.elements, tuple(finding.notes))


@job
def judge(request: SideRequest) -> Judged:
    """Judge one side of the model.

    Raises:
        BundleError, UsageError: the file of the samples is damaged, or a chain cannot be read.
    """
    material = Material.read(request.material)
    fresh = Material.read(request.fresh) if request.fresh else material
    finding = judged(request, material, fresh)
    if request.into and finding.ends:
        save_states(request.into, finding.ends)
    return Judged.of(finding)


def judged(request: SideRequest, material: Material, fresh: Material) -> Finding:
    """The finding on one side; `fresh` holds what the functions of deployment give now."""
    side = request.side
    training, deployment = read_chain(request.training), read_chain(request.deployment)
    by = Measure(request.names, request.tolerance)
    recorded = [material.states(side, "training", number, len(training)) for number in material.numbers]
    if lacking := _unrecorded(recorded, training):
        return Finding("missing", f"{lacking}; release it anew")
    doing(f"comparing the steps {side} the model")
    if strange := _untrue(training, recorded, by):
        return Finding("mismatch", strange)
    replayed = [
        replay(deployment, material.start(side, number), fresh.states(side, "deployment", number, len(deployment)))
        for number in material.numbers
    ]
    compared = Compared(training, deployment, recorded, replayed, by)
    reached = agreement(recorded, replayed, by)
    if not reached.whole:
        return Finding("mismatch", _difference(compared, reached))
    return _noticed(compared)


def _unrecorded(recorded: Sequence[Sequence[State]], training: Chain) -> str:
    """What the file lacks: outputs, or the last state of a sample."""
    if not training:
        return "the chain of training has no step"
    if any(not states[0] for states in recorded):
        return "no outputs were recorded for the samples"
    if any(VALUE not in states[-1] for states in recorded):
        return "what training made of the samples was not recorded"
    return ""


def _untrue(training: Chain, recorded: Sequence[Sequence[State]], by: Measure) -> str:
    """Where the recorded values of training are not what its steps give; empty where they are.

    A step is computed anew from the recorded state before it; functions of the user's cannot be.
    """
    for number, states in enumerate(recorded):
        for at, link in enumerate(training):
            before, after = states[at], states[at + 1]
            if isinstance(link, Function) or not (before and after):
                continue
            try:
                difference = by.unlike(after, link.apply(before))
            except UsageError as error:
                difference = error.what
            if difference:
                return (
                    f"the recorded values of sample {number + 1} are not what training's step {at + 1} ({link}) gives: "
                    f"{difference}; they were changed after the release, or this machine computes otherwise"
                )
    return ""


def _difference(compared: Compared, reached: Agreement) -> str:
    """The first step that differs, by how much, and what it likely comes of.

    Where training is cut into fewer steps, its values cannot tell the step; a change that makes the chains agree can:
    what deployment does before the step that it changes is right.
    """
    causes = likely_causes(compared.training, compared.deployment, compared.recorded, compared.replayed, compared.by)
    at, beside = reached.deployment, reached.training
    coarser = len(compared.training) - beside < len(compared.deployment) - at
    if causes.whole and coarser:
        at = max(at, causes.at)
    elif not causes.told and (at, beside) == (0, 0) and len(compared.training) < len(compared.deployment):
        return (
            f"the chains differ: {_amount(compared, len(compared.deployment), len(compared.training))}; training is "
            "cut into fewer steps, so which of deployment's differs first cannot be told: name those of training one "
            f"by one; {causes}"
        )
    deployed = f"step {at + 1} ({compared.deployment[at]})" if at < len(compared.deployment) else ""
    trained = f"step {beside + 1} ({compared.training[beside]})" if beside < len(compared.training) else ""
    if deployed and trained:
        where = f"the first step that differs is deployment's {deployed}, where training has {trained}"
    elif deployed:
        where = f"the first step that differs is deployment's {deployed}, which training has not"
    else:
        where = f"the first step that differs is training's {trained}, which deployment has not"
    return f"{where}: {_amount(compared, at, beside)}; {causes}"


def _amount(compared: Compared, at: int, beside: int) -> str:
    """By how much the values after the first differing steps differ; else those at the end."""
    for number, (wanted, one) in enumerate(zip(compared.recorded, compared.replayed, strict=True)):
        if at + 1 >= len(one.states) and one.error:
            return f"it cannot run on sample {number + 1}: {one.error}"
        here = wanted[min(beside + 1, len(wanted) - 1)], one.states[min(at + 1, len(one.states) - 1)]
        for after, given in (here, (wanted[-1], one.states[-1])):
            if after and (difference := compared.by.unlike(after, given, dtypes=True)):
                return f"{difference} (sample {number + 1})"
    return "the values differ"


def _noticed(compared: Compared) -> Finding:
    """The chains agree. That counts where changes of them would have been noticed."""
    if all(_constant(sample.states) for sample in compared.replayed):
        return Finding("vacuous", "every sample is constant, so most mistakes would change nothing: give real ones")
    unseen, notes = controlled(compared.deployment, compared.recorded, compared.replayed, compared.by)
    if unseen:
        return Finding(
            "vacuous",
            f"the samples tell nothing about {unseen}: without it, or with other options, deployment gives the same; "
            "leave it out of deployment if it is to change nothing, or add samples that it changes",
        )
    ends = [states[-1] for states in compared.recorded]
    elements = sum(state[name].size for state in ends for name in compared.by.names if name in state)
    if not elements:
        return Finding("vacuous", "the chains end in arrays without a number")
    last = [sample.states[-1] for sample in compared.replayed]
    return Finding("match", elements=int(elements), notes=list(notes), ends=last)


def _constant(states: Sequence[State]) -> bool:
    """Whether the first value that is an array, after decoding, holds one number only."""
    value: Array = next((state[VALUE] for state in states if state[VALUE].ndim > 1), states[0][VALUE])
    return bool(value.size == 0 or (value == value.flat[0]).all())
