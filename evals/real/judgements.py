"""What people said of findings in real code, as data: `judged.jsonl`, a line for each finding and sample.

`right`: whoever exports the layer meets the fault at this line, whatever it was configured with. `conditional`: only
with arguments or a configuration that is not the default. `false`: nobody does. `why` is the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from evals.real.sample import Found, Place
from evals.real.sources import HERE

FILE = HERE / "judged.jsonl"


class Judgement(str, Enum):
    """Whether the fault that an error predicts is there."""

    RIGHT = "right"
    CONDITIONAL = "conditional"
    FALSE = "false"


@dataclass(frozen=True)
class Judged:
    """An error of the sample of one seed, with the judgement on it."""

    seed: int
    place: Place
    judgement: Judgement
    why: str


def read(path: Path = FILE) -> tuple[Judged, ...]:
    """Every judgement.

    Raises:
        ValueError: a line has no reason, or another judgement than the three.
    """
    return tuple(_read(line) for line in path.read_text().splitlines())


def _read(line: str) -> Judged:
    entry = json.loads(line)
    seed, judgement, why = entry.pop("seed"), Judgement(entry.pop("judgement")), entry.pop("why")
    if not why.strip():
        raise ValueError(f"a judgement without a reason: {line}")
    return Judged(seed, Place(**entry), judgement, why)


def written(judged: Iterable[Judged]) -> str:
    """The file, by seed and place."""
    ordered = sorted(judged, key=lambda each: (each.seed, each.place))
    lines = (
        {"seed": each.seed, **asdict(each.place), "judgement": each.judgement.value, "why": each.why}
        for each in ordered
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def counts(judged: Iterable[Judged], seed: int) -> Counter[Judgement]:
    """How many errors of a sample were right, conditional and false when it was drawn."""
    return Counter(each.judgement for each in judged if each.seed == seed)


def since(judged: Iterable[Judged], found: Iterable[Found]) -> Mapping[Judgement, Counter[str]]:
    """What became of the judged places of all samples: how many are an error, a warning or silent now."""
    now = {each.place: "error" if each.error else "warning" for each in found}
    places = {each.place: each.judgement for each in judged}
    outcome = {judgement: Counter[str]() for judgement in Judgement}
    for place, judgement in places.items():
        outcome[judgement][now.get(place, "silent")] += 1
    return outcome
