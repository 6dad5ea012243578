"""Names of classes in another order, or shifted by a class of the background."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Labels(Cause):
    """Shifts the names by one, sorts them, and turns them round; another number of best classes."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("labels"):
            names = tuple(link.step.options()["names"])
            ways = (names[1:] + names[:1], names[-1:] + names[:-1], names[1:], ("", *names))
            for other in (*ways, tuple(sorted(names)), names[::-1]):
                yield from situation.changed(at, names=other)
        for at, _ in situation.steps("topk"):
            for k in {target.shape[0] for target in situation.targets() if target.ndim == 1}:
                yield from situation.changed(at, k=k)


plugin: Cause = Labels()
