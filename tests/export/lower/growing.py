"""Functions whose loops append to lists; a module of their own, since pytest changes those of tests."""

from __future__ import annotations

from typing import Any

import paddle


def kinds(x: Any) -> Any:
    doubled = []
    sums = []
    places = []
    for at in range(x.shape[0]):
        doubled.append(x[at] * 2)
        sums.append(x[at].sum())
        places.append(x[at].argmax(axis=0))
    return paddle.stack(doubled, axis=1), paddle.concat(doubled), paddle.stack(sums), paddle.stack(places, axis=0)


def lengths(x: Any, counts: Any) -> Any:
    parts = []
    for at in range(counts.shape[0]):
        parts.append(x[: counts[at]])
    return paddle.concat(parts, axis=0)


def nested(x: Any) -> Any:
    tables = []
    for at in range(x.shape[0]):
        total = x[at, :, 0] * 0
        for place in range(x.shape[2]):
            total = total + x[at, :, place] * place
        tables.append(total)
    return paddle.stack(tables)


def second_axis(x: Any) -> Any:
    parts = []
    for at in range(x.shape[0]):
        parts.append(x[at])
    return paddle.concat(parts, axis=1)


def in_a_branch(x: Any) -> Any:
    parts = []
    for at in range(x.shape[0]):
        if x[at].sum() > 0:
            parts.append(x[at])
        else:
            parts.append(-x[at])
    return paddle.stack(parts)


def in_one_branch(x: Any) -> Any:
    parts = [x[0].argmax(axis=0)]
    for at in range(x.shape[0]):
        if x[at].sum() > 0:
            parts.append(x[at].argmax(axis=0))
    return paddle.stack(parts), paddle.concat(parts)


def in_a_branch_alone(x: Any) -> Any:
    parts = [x[0] * 2]
    if x.sum() > 0:
        parts.append(x[-1])
        parts.append(x[0])
    else:
        parts.append(-x[-1])
    parts.append(x[0])
    return paddle.stack(parts)


def in_a_branch_of_an_inner_loop(x: Any) -> Any:
    parts = []
    for at in range(x.shape[0]):
        for place in range(x.shape[2]):
            if x[at, 0, place] > 0:
                parts.append(x[at, :, place])
            else:
                parts.append(x[at, :, place] * 3)
        parts.append(x[at, :, 0])
    return paddle.stack(parts)
