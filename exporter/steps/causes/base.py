"""The contract of a cause: changes of the deployment chain that would undo it.

The cause that is named is the one whose change makes the chains agree. The same changes, made to a chain that agrees,
are the controls: a comparison that notices none of them shows nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationError

from exporter.steps.base import VALUE, State
from exporter.steps.chain import KINDS, Chain, Declared, replaced, with_options

if TYPE_CHECKING:
    from exporter.base.tensors import Array


@dataclass(frozen=True)
class Trial:
    """A chain that differs at the step `at`, and what was changed, in words that follow "with".

    `edit` tells other options (0) from steps left out or exchanged (1) and from a step more (2).
    """

    chain: Chain
    at: int
    said: str
    edit: int = 0


@dataclass(frozen=True)
class Situation:
    """A deployment chain whose first `agreed` steps give what training gave, on one sample.

    `states` are those before each of its steps and after the last, as far as it ran. `wanted` are the states of
    training behind the last that agrees, and `training` the steps that made them.
    """

    chain: Chain
    agreed: int
    states: Sequence[State]
    wanted: Sequence[State]
    training: Chain

    def steps(self, *names: str) -> Iterator[tuple[int, Declared]]:
        """The steps of these kinds that may be to blame, with their places."""
        for at, link in enumerate(self.chain):
            if at >= self.agreed and isinstance(link, Declared) and link.name in names:
                yield at, link

    def places(self) -> Iterator[tuple[int, Array]]:
        """Where a step could be put, with the value that it would get."""
        for at in range(self.agreed, min(len(self.states), len(self.chain) + 1)):
            yield at, self.states[at][VALUE]

    def targets(self) -> Iterator[Array]:
        """The values of training that are not reached yet, each where it was recorded."""
        for state in self.wanted:
            if state:
                yield state[VALUE]

    def changed(self, at: int, **options: Any) -> Iterator[Trial]:
        """The chain with other options of a step; none where they do not fit, or are those that it has."""
        link = self.chain[at]
        if not isinstance(link, Declared):
            return
        try:
            other = with_options(link, **options)
        except ValidationError:
            return
        if other.step != link.step:
            told = ", ".join(
                f"{name}={_short(getattr(other.step, name))} instead of {_short(getattr(link.step, name))}"
                for name in options
                if getattr(other.step, name) != getattr(link.step, name)
            )
            yield Trial(replaced(self.chain, at, other), at, f"{told} in {_place(self.chain, at)}")

    def instead(self, at: int, name: str, **options: Any) -> Iterator[Trial]:
        """The chain with another step in the place of one; none where the options do not fit."""
        for link in _made(name, options):
            if link != self.chain[at]:
                said = f"`{_told(link)}` instead of {_place(self.chain, at)}"
                yield Trial(replaced(self.chain, at, link), at, said)

    def inserted(self, at: int, name: str, **options: Any) -> Iterator[Trial]:
        """The chain with a step more, in front of the step at `at` or at the end; none where the options do not fit."""
        for link in _made(name, options):
            where = f"before {_place(self.chain, at)}" if at < len(self.chain) else "at the end"
            yield Trial((*self.chain[:at], link, *self.chain[at:]), at, f"`{_told(link)}` {where}", edit=2)

    def removed(self, at: int) -> Iterator[Trial]:
        """The chain without a step."""
        yield Trial(replaced(self.chain, at), at, f"{_place(self.chain, at)} left out", edit=1)

    def moved(self, at: int) -> Iterator[Trial]:
        """The chain with a step and the one behind it in the other order."""
        if at + 1 < len(self.chain):
            one, other = self.chain[at : at + 2]
            chain = (*self.chain[:at], other, one, *self.chain[at + 2 :])
            yield Trial(chain, at, f"{_place(self.chain, at + 1)} before {_place(self.chain, at)}", edit=1)


def _made(name: str, options: dict[str, Any]) -> Iterator[Declared]:
    with suppress(ValidationError):
        yield Declared(name, KINDS[name].model_validate(options))


def _place(chain: Chain, at: int) -> str:
    return f"step {at + 1} ({chain[at]})"


def _told(link: Declared) -> str:
    options = ", ".join(f"{name}: {_short(value)}" for name, value in link.step.options().items())
    return f"{link.name}: {{{options}}}" if options else link.name


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_short(one) for one in value[:4])
        return f"[{inside}{', …' if len(value) > 4 else ''}]"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def channels_of(value: Array) -> str:
    """Where a picture's channels are: `last`, `first`, or empty where the value is no picture of a few channels."""
    if value.ndim != 3:
        return ""
    few = (1, 3, 4)
    return "last" if value.shape[2] in few else "first" if value.shape[0] in few else ""


class Cause(ABC):
    """A kind of mistake. Of several that would explain a difference, the one of lowest `rank` is named.

    Those that say most come first: 1 to 3 change one thing by a known mistake, 4 and more are fitted to the values that
    training gave, or take over its steps.
    """

    rank: ClassVar[int] = 2

    @abstractmethod
    def trials(self, situation: Situation) -> Iterator[Trial]:
        """The changes that would undo it, most likely first."""
