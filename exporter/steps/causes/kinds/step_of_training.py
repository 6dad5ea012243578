"""A step that training took with other options, or that deployment lacks; of training's steps, as far as declared."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial
from exporter.steps.chain import Declared


class StepOfTraining(Cause):
    """Takes training's own steps over: in the place of one of the same kind, or as one more."""

    rank = 5

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for link in situation.training:
            if not isinstance(link, Declared):
                continue
            for at, _ in situation.steps(link.name):
                yield from situation.instead(at, link.name, **link.step.options())
            for at, _ in situation.places():
                yield from situation.inserted(at, link.name, **link.step.options())


plugin: Cause = StepOfTraining()
