"""Another threshold of scores, or boxes in another form."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial

_USUAL = (0.5, 0.3, 0.25, 0.4, 0.6, 0.05, 0.1, 0.7, 0.01, 0.001, 0.0)


class Threshold(Cause):
    """Tries usual thresholds, each form of boxes, and another number of boxes."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("threshold", "boxes"):
            for value in _USUAL:
                yield from situation.changed(at, **{"above" if link.name == "threshold" else "score": value})
        for at, _ in situation.steps("boxes"):
            for form in ("xyxy", "xywh", "cxcywh"):
                yield from situation.changed(at, form=form)
            for most in (100, 300, 1000):
                yield from situation.changed(at, most=most)
            for most in {target.shape[0] for target in situation.targets() if target.ndim == 2}:
                yield from situation.changed(at, most=most)


plugin: Cause = Threshold()
