"""Judge generated networks: several in one release, halves of them where that does not pass; shorten what fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evals.generated.network import Network, together, whose
from evals.small.__main__ import Truth, measured, stock_of
from evals.small.catalogue import SmallLayer
from evals.small.cells import Row

#: Cells of evals/small/cells.py, by what they say of us.
HOLE, ALARM, FAIR, FIND, LIMIT = "hole", "alarm", "right", "find", "limit"
_CLASSES = {
    "wrong, passed": HOLE,
    "sound, refused": ALARM,
    "sound, passed": FAIR,
    "stock fails, passed and right": FIND,
    "stock fails, refused": LIMIT,
    "no layer": "no layer",
}
_INTERNAL = 70


@dataclass
class Judged:
    """What came of one network: its class, and the kind, which is the same for what fails alike."""

    seed: int
    verdict: str
    kind: str = ""
    statements: list[str] = field(default_factory=list)
    row: dict[str, Any] = field(default_factory=dict)
    short: str = ""

    @property
    def internal(self) -> bool:
        """Say whether the exporter ended by an error of its own."""
        return self.row.get("exit") == _INTERNAL

    @property
    def bad(self) -> bool:
        """Say whether it is ours to mend."""
        return self.verdict in (HOLE, ALARM) or self.internal


def judge(networks: Sequence[Network], folder: Path, truth: Truth) -> Iterator[Judged]:
    """Judge networks in few releases: those that stock exports rightly together, and the others together."""
    stock = {}
    for network in networks:
        network.layer().write(folder)
        stock[network.seed] = stock_of(network.layer(), truth)
    judged: dict[int, Judged] = {}
    for sound in (True, False):
        alike = [network for network in networks if (stock[network.seed] == "sound") is sound]
        judged |= {answer.seed: answer for answer in _judge_group(alike, stock, folder, truth)}
    yield from (judged[network.seed] for network in networks)


def _judge_group(networks: Sequence[Network], stock: Mapping[int, str], folder: Path, truth: Truth) -> Iterator[Judged]:
    """Judge networks in one release; where they do not all pass in all formats, those that it names, and the rest.

    Where none is named, they are halved. Every network that is said to be right is so in a release that passed.
    """
    if len(networks) > 1:
        whole = together(networks)
        row = measured(whole, folder, truth, stock[networks[0].seed], whole=True)  # alike: all sound, or none
        if class_of(row) in (FAIR, FIND):
            yield from (_passed(network, stock[network.seed]) for network in networks)
            return
        named = {network.seed for place in row.blamed if (network := whose(place, networks, whole.source))}
        for part in _parts(networks, named):
            yield from _judge_group(part, stock, folder, truth)
        return
    for network in networks:
        row = measured(network.layer(), folder, truth, stock[network.seed])
        verdict = class_of(row)
        kind = "" if verdict == FAIR else kind_of(row)
        yield Judged(network.seed, verdict, kind, _statements(network), {} if verdict == FAIR else asdict(row))


def _parts(networks: Sequence[Network], named: Collection[int]) -> list[Sequence[Network]]:
    """Those that are named, each alone, and the rest; two halves where none is named, or most."""
    if not named or len(named) > len(networks) // 2:
        half = len(networks) // 2
        return [networks[:half], networks[half:]]
    rest = [network for network in networks if network.seed not in named]
    return [*([network] for network in networks if network.seed in named), rest]


def _passed(network: Network, stock: str) -> Judged:
    if stock == "sound":
        return Judged(network.seed, FAIR, statements=_statements(network))
    layer = network.layer()
    row = Row(layer.family, layer.name, "runs", stock, files={"all": "right"})
    return Judged(network.seed, FIND, kind_of(row), _statements(network), asdict(row))


def _statements(network: Network) -> list[str]:
    return [step.statement for step in network.steps]


def class_of(row: Row) -> str:
    """The class of a row; one that was released without a format that stock cannot write either is right."""
    return _CLASSES[row.cell]


def kind_of(row: Row) -> str:
    """What a failure has in common with others of its kind: its class and message without names and numbers."""
    wrong = sorted({answer for answer in row.files.values() if answer != "right"})
    text = (wrong or row.messages or [row.stock])[0]
    if class_of(row) in (FIND, "no layer"):
        text = row.stock if class_of(row) == FIND else row.eager
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\S+\.py:\d+", "…", text)
    text = re.sub(r"\b[a-z]\d+\b|-?\d[\d.e+-]*", "N", text)
    return f"{class_of(row)}, exit {row.exit}: {text[:160]}"


def shrink(network: Network, fails: Callable[[SmallLayer], bool], most: int = 40) -> Network:
    """The shortest network that still fails alike: fewer outputs first, then step by step; at most `most` trials."""
    trials = 0

    def try_it(smaller: Network | None) -> bool:
        nonlocal trials
        if smaller is None or not smaller.steps or trials >= most:
            return False
        trials += 1
        return fails(smaller.layer())

    if len(network.outputs) > 1:
        for output in network.outputs:
            alone = network.with_outputs([output])
            if try_it(alone):
                network = alone
                break
    place = len(network.steps) - 1
    while place >= 0:
        for smaller in _smaller(network, place):
            if smaller is not None and len(smaller.steps) < len(network.steps) and try_it(smaller):
                network = smaller
                break
        place = min(place, len(network.steps)) - 1
    return network


def _smaller(network: Network, place: int) -> Iterator[Network | None]:
    yield network.without(place)
    for name in network.steps[place].reads:
        yield network.bypassing(place, name)
