"""Scores that are made probabilities twice, not at all, or by the other function."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Probabilities(Cause):
    """Adds, leaves out and exchanges softmax and sigmoid, and tries the other axis."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("softmax", "sigmoid"):
            yield from situation.instead(at, "sigmoid" if link.name == "softmax" else "softmax")
            yield from situation.removed(at)
        for at, _ in situation.steps("softmax", "argmax"):
            for axis in (0, 1, -1, 2):
                yield from situation.changed(at, axis=axis)
        for at, value in situation.places():
            if value.dtype.kind == "f" and value.ndim in (1, 2, 3):
                yield from situation.inserted(at, "softmax")
                yield from situation.inserted(at, "sigmoid")


plugin: Cause = Probabilities()
