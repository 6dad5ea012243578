"""The blank of a CTC head at the other end, repeats that are kept, a text turned round, or characters out of order."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Blank(Cause):
    """Moves the blank to either end, keeps or joins repeats, turns the text round, sorts and shifts the characters."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("ctc"):
            options = link.step.options()
            characters = tuple(options["characters"])
            for blank in (0, len(characters)):
                yield from situation.changed(at, blank=blank)
            yield from situation.changed(at, repeats=not options.get("repeats", False))
            yield from situation.changed(at, reverse=not options.get("reverse", False))
            shifted = (characters[1:] + characters[:1], characters[-1:] + characters[:-1])
            for other in (*shifted, tuple(sorted(characters)), characters[::-1]):
                yield from situation.changed(at, characters=other)
            joined = "".join(characters)
            yield from situation.changed(at, characters=tuple(joined.lower()))
            yield from situation.changed(at, characters=tuple(joined.swapcase()))


plugin: Cause = Blank()
