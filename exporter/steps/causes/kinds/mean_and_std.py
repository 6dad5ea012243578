"""Means and deviations of another order, of another data set, or of another range than the values have."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial

#: What nets are commonly trained with: ImageNet's in RGB and BGR, halves, none.
_COMMON = (
    ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ((0.406, 0.456, 0.485), (0.225, 0.224, 0.229)),
    ((0.5,), (0.5,)),
    ((0.0,), (1.0,)),
)


class MeanAndStd(Cause):
    """Turns them round, leaves one out, exchanges them, takes them times 255, or takes those of a common data set."""

    rank = 2

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("normalize"):
            options = link.step.options()
            mean, std = (tuple(options.get(key, (default,))) for key, default in (("mean", 0.0), ("std", 1.0)))
            yield from situation.changed(at, mean=mean[::-1], std=std[::-1])
            yield from situation.changed(at, mean=mean[::-1])
            yield from situation.changed(at, std=std[::-1])
            yield from situation.changed(at, std=(1.0,))
            yield from situation.changed(at, mean=(0.0,))
            yield from situation.changed(at, mean=std, std=mean)
            for factor in (255.0, 1 / 255):
                more = {"mean": tuple(one * factor for one in mean), "std": tuple(one * factor for one in std)}
                yield from situation.changed(at, **more)
                yield from situation.changed(at, mean=more["mean"])
                yield from situation.changed(at, std=more["std"])
            for given, deviation in _COMMON:
                yield from situation.changed(at, mean=given, std=deviation)


plugin: Cause = MeanAndStd()
