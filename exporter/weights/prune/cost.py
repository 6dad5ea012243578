"""FLOPs of the traced program as a function of how many classes each group keeps.

Two for each multiplication with its addition in convolutions and matrix products, one for each element that another
operator puts out; moving data about counts nothing.
"""

from __future__ import annotations

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.groups import Group
from exporter.weights.prune.tracker import Tracker


class Cost:
    """The size of each axis is a constant and so much for each class that a group keeps; FLOPs are sums of products."""

    def __init__(self, tracker: Tracker, groups: list[Group], root: Array) -> None:
        home = np.full(tracker.used, len(groups))
        for number, group in enumerate(groups):
            home[np.isin(root, group.roots)] = number
        many = np.array([len(group.roots) for group in groups] + [1])
        rows: dict[bytes, int] = {}
        sizes: list[Array] = [np.zeros(len(groups) + 1)]
        sizes[0][-1] = 1.0  # row 0: an axis that is always of size 1
        longest = max((len(term.axes) for term in tracker.terms), default=0)
        at = np.zeros((len(tracker.terms), longest), dtype=int)
        for line, term in enumerate(tracker.terms):
            for column, labels in enumerate(term.axes):
                key = labels.tobytes()
                if key not in rows:
                    rows[key] = len(sizes)
                    sizes.append(np.bincount(home[labels], minlength=len(groups) + 1) / many)
                at[line, column] = rows[key]
        self._sizes, self._at = np.array(sizes), at
        self._factors = np.array([term.factor for term in tracker.terms])

    def flops(self, kept: Array) -> Array:
        """FLOPs for each row of `kept`, which holds how many classes each group keeps: [ways, groups] to [ways]."""
        kept = np.atleast_2d(kept)
        sizes = self._sizes @ np.concatenate([kept, np.ones((len(kept), 1))], axis=1).T
        return np.asarray(self._factors @ sizes[self._at].prod(axis=1))
