"""How many channels each group keeps for a share of the FLOPs: greedily, where a FLOP saved costs the least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.tensors import Array
from exporter.weights.prune.cost import Cost
from exporter.weights.prune.groups import Group

#: No group is cut below an eighth of its channels: then little is left to train.
LEAST = 8
#: Where a step would end further below the target than this, a shorter one is looked for.
TOO_MUCH = 0.9


def ladder(group: Group, block: int) -> list[int]:
    """The numbers of classes that a group may keep, falling: all, or whole blocks of channels.

    Kernels work in blocks, and other counts are slower than more channels: in ONNX Runtime 1.31 with AVX512 the digits'
    first convolution with 24 channels instead of 32 takes 1.2 times as long, with 16 less.
    """
    step = block // math.gcd(block, group.repeat)
    least = max(step, -(-len(group.roots) // LEAST))
    return [len(group.roots), *range((len(group.roots) - 1) // step * step, least - 1, -step)]


def choose(groups: Sequence[Group], scores: Sequence[Array], cost: Cost, share: float, block: int) -> list[int]:
    """Return how many classes each group keeps so that at most `share` of the FLOPs are left, in whole blocks.

    Removing the least of a group costs the logarithm of the share of its importance that is kept, for each weight that
    makes it: so no group is emptied while others are whole. In the end whatever fits under the target is given back.

    Raises:
        ModelError: even the least that may be kept takes more.
    """
    worth = [np.concatenate([[0.0], np.cumsum(np.sort(one)[::-1])]) for one in scores]
    whole = float(cost.flops(np.array([len(group.roots) for group in groups]))[0])
    ladders = [ladder(group, block) for group in groups]
    prices = [_prices(*three) for three in zip(groups, ladders, worth, strict=True)]
    kept = _descend(ladders, prices, cost, share * whole)
    left = float(cost.flops(np.array(kept))[0]) / whole
    if left > share:
        raise ModelError(
            f"{left:.0%} of the FLOPs stay whatever is pruned, and {share:.0%} were asked for",
            where="prune",
            hint=f"ask for --flops {math.ceil(left * 100) / 100} or more",
        )
    return kept


def _prices(group: Group, ladder: list[int], worth: Array) -> list[float]:
    """What each step down the ladder costs: 0 where what goes tells nothing."""
    steps = [(float(worth[one]), float(worth[other])) for one, other in pairwise(ladder)]
    losses = [0.0 if one == other else math.log(one / other) if other > 0 else math.inf for one, other in steps]
    return [loss * group.makers for loss in losses]


def _descend(ladders: list[list[int]], prices: list[list[float]], cost: Cost, target: float) -> list[int]:
    """Go down by the cheapest steps until the target is met or nothing is left; then back up as far as it holds."""
    rungs = [0] * len(ladders)
    while (now := float(cost.flops(_kept(ladders, rungs))[0])) > target:
        ways = [number for number, one in enumerate(rungs) if one + 1 < len(ladders[number])]
        if not ways:
            return [int(one) for one in _kept(ladders, rungs)]
        after = cost.flops(np.array([_kept(ladders, _moved(rungs, number, 1)) for number in ways])).tolist()
        each = [
            prices[number][rungs[number]] / max(now - flops, 1e-9) for number, flops in zip(ways, after, strict=True)
        ]
        cheapest = int(np.argmin(each))
        ends = [at for at, flops in enumerate(after) if target * TOO_MUCH <= flops <= target]
        if ends and after[cheapest] < target * TOO_MUCH:  # the last step need not be a long one
            cheapest = min(ends, key=lambda at: each[at])
        rungs = _moved(rungs, ways[cheapest], 1)
    while fits := [
        number
        for number, one in enumerate(rungs)
        if one and cost.flops(_kept(ladders, _moved(rungs, number, -1)))[0] <= target
    ]:
        gains = [prices[number][rungs[number] - 1] for number in fits]
        rungs = _moved(rungs, fits[int(np.argmax(gains))], -1)
    return [int(one) for one in _kept(ladders, rungs)]


def _kept(ladders: list[list[int]], rungs: list[int]) -> Array:
    return np.array([ladder[rung] for ladder, rung in zip(ladders, rungs, strict=True)])


def _moved(rungs: list[int], number: int, by: int) -> list[int]:
    return [rung + by if at == number else rung for at, rung in enumerate(rungs)]
