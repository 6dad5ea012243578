"""Who is measured next."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator


def turns(names: Iterable[str], rounds: int, seed: int) -> Iterator[tuple[int, str]]:
    """Each name once in each round, counted from 0, in an order that is drawn anew; the same seed gives the same."""
    listed, dice = list(names), random.Random(seed)  # noqa: S311 - an order, and no secret
    for number in range(rounds):
        for name in dice.sample(listed, len(listed)):
            yield number, name
