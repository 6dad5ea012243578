"""Texts that are cut or numbered otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial

#: Numbers that commonly stand for what a vocabulary lacks; the sample that is tried may hold none such.
_UNKNOWN = (0, 1, 2, 3, 100)
#: How many ids of training are looked at.
_MOST = 256


class Tokenizer(Cause):
    """Tries small letters, other pieces, other numbers at the ends, other fillings, and a shift of all numbers."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        targets = [target for target in situation.targets() if target.ndim == 1 and target.dtype.kind in "iu"]
        for at, link in situation.steps("tokenize"):
            now = link.step.options()
            yield from situation.changed(at, lower=not now.get("lower", False))
            for by in ("characters", "words", "pieces"):
                yield from situation.changed(at, by=by)
            first = int(now.get("first", 0))
            for start in (first + 1, max(first - 1, 0), first + 2, 0):
                yield from situation.changed(at, first=start)
            for target in targets:
                yield from self._ends(situation, at, [int(one) for one in target])

    def _ends(self, situation: Situation, at: int, wanted: list[int]) -> Iterator[Trial]:
        """What the ids of training have at their ends."""
        length = len(wanted)
        if not length:
            return
        last = wanted[-1]
        yield from situation.changed(at, length=length)
        yield from situation.changed(at, padding=last)
        yield from situation.changed(at, length=length, padding=last)
        seen = dict.fromkeys(wanted[:_MOST])
        for number in seen:
            yield from situation.changed(at, unknown=number)
        for number in _UNKNOWN:
            yield from situation.changed(at, unknown=number)
        yield from situation.changed(at, unknown=None)
        for before in ((), (wanted[0],)):
            for after in ((), *((one,) for one in seen)):
                yield from situation.changed(at, before=before, after=after)
                yield from situation.changed(at, before=before, after=after, length=length, padding=last)


plugin: Cause = Tokenizer()
