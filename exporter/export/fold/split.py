"""Which steps of a pipeline can be in the graph: before a model those at the end, after it those at the beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from exporter.export.fold.base import Operator
from exporter.spec.pipeline import Pipeline
from exporter.steps.chain import Chain, Declared, Link

OPERATORS: Registry[Operator[Any]] = Registry("exporter.export.fold", "step in a graph")


@dataclass(frozen=True)
class Parts:
    """The steps of a deployment in their order; those in the middle two are in the graph with the model."""

    before_outside: Chain
    before: Chain
    after: Chain
    after_outside: Chain

    def said(self) -> list[str]:
        """The steps that stay outside, each with the reason."""
        outside = (*self.before_outside, *self.after_outside)
        return [f"{link} is not in the graph: {why}" for link in outside if (why := why_outside(link))]


def parts(pipeline: Pipeline) -> Parts:
    """The deployment of a spec, in full.

    Raises:
        UsageError: no step of it can be in a graph; or a file that it names is not there.
    """
    before, after = pipeline.deployed()
    outside = max((at + 1 for at, link in enumerate(before) if why_outside(link)), default=0)
    inside = next((at for at, link in enumerate(after) if why_outside(link)), len(after))
    found = Parts(before[:outside], before[outside:], after[:inside], after[inside:])
    if not (found.before or found.after):
        why = "; ".join(found.said()) or "the deployment has no steps"
        raise UsageError(f"nothing can be folded in: {why}", where="pipeline.fold", hint="leave out `fold`")
    return found


def why_outside(link: Link) -> str:
    """Why a step cannot be in a graph; empty where it can."""
    if not isinstance(link, Declared):
        return "it is a function in Python"
    if link.name not in OPERATORS.names():
        return "what it makes of a sample is no tensor of a size that the graph could know"
    return OPERATORS[link.name].refuses(link.step)
