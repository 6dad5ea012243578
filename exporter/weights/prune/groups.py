"""Channels that can only go together, and groups of such: those that stand in the same places of the same tensors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.tracker import Tracker


@dataclass(frozen=True)
class Group:
    """`roots` names each class of channels by the label that stands for it; all stand in the same `places`.

    A place is a parameter's value and an axis. `makers` weights make the channels; one class takes `repeat` of each.
    `literal` says that the channels pass code which may name their number.
    """

    roots: Array
    places: tuple[tuple[int, int], ...]
    repeat: int
    makers: int
    literal: bool

    @property
    def width(self) -> int:
        """How many channels the group has in all."""
        return len(self.roots) * self.repeat


def find_groups(tracker: Tracker) -> tuple[list[Group], Array]:
    """The groups that may lose channels, in the order of the program; and for each label the one that stands for it."""
    root = tracker.classes()
    made = [root[labels] for labels in tracker.made]
    repeats: dict[int, list[int]] = defaultdict(list)
    for own in made:
        for one, count in zip(*np.unique(own, return_counts=True), strict=True):
            repeats[int(one)].append(int(count))
    repeats.pop(0, None)
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for value in tracker.program.parameters:
        for axis, labels in enumerate(tracker.of(value)):
            for one in np.unique(root[labels]) if labels is not None else ():
                if int(one) in repeats:
                    places[int(one)].append((value, axis))
    literal = set(np.unique(root[np.concatenate(tracker.literal)]).tolist()) if tracker.literal else set()
    alike: dict[tuple[tuple[tuple[int, int], ...], tuple[int, ...]], list[int]] = defaultdict(list)
    for one in sorted(places):
        alike[tuple(places[one]), tuple(repeats[one])].append(one)
    groups = [
        Group(np.array(ones), at, max(counts), len(counts), bool(literal & set(ones)))
        for (at, counts), ones in alike.items()
    ]
    return sorted(groups, key=lambda group: int(group.roots[0])), root


def scores(group: Group, tracker: Tracker, root: Array, of_filters: dict[tuple[int, int], Array]) -> Array:
    """For each class of a group the sum of its filters' importance; each tensor counts the same."""
    at = {int(one): position for position, one in enumerate(group.roots)}
    total = np.zeros(len(group.roots))
    for place, measured in of_filters.items():
        if place in group.places:
            labels = tracker.of(place[0])[place[1]]
            for one, score in zip(root[labels].tolist(), measured.tolist(), strict=True):
                if one in at:
                    total[at[one]] += score
    return total
