"""What a pruning plan says of itself, for people and reports: how it was chosen, what it leaves, and its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from exporter.process.job import from_json


@dataclass(frozen=True)
class Amount:
    """How much there was, and how much is left."""

    before: int
    after: int


@dataclass(frozen=True)
class CutGroup:
    """Channels that go or stay together: the weights that make them, how many there were, and how many are kept.

    `refused` says why it cannot be cut; None where it can.
    """

    makers: tuple[str, ...]
    channels: int
    kept: int
    refused: str | None = None


@dataclass(frozen=True)
class CutProof:
    """That the smaller model equals the masked one: the error ratio, how much is allowed, and how it was judged."""

    error_ratio: float
    budget: float
    truth: str


@dataclass(frozen=True)
class Choice:
    """What was asked: the share of the FLOPs to leave, what goes first, and the digest of all that the plan is of."""

    asked: float
    importance: str
    request: str


@dataclass(frozen=True)
class Cut:
    """What was cut from a model, and the proof. `not_understood` are operators around which channels stay whole."""

    model: str
    flops: Amount
    elements: Amount
    groups: tuple[CutGroup, ...]
    not_understood: tuple[str, ...]
    proof: CutProof


@dataclass(frozen=True)
class About:
    """A cut, and the choice that has led to it."""

    cut: Cut
    choice: Choice

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in a plan."""
        content = {**asdict(self.cut), **asdict(self.choice)}
        groups = [asdict(group) for group in self.cut.groups]
        for group in groups:
            if group["refused"] is None:
                del group["refused"]
            group["makers"] = list(group["makers"])
        return {**content, "groups": groups, "not_understood": list(self.cut.not_understood)}

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> About:
        """Read what :meth:`to_json` gave.

        Raises:
            LookupError, TypeError, ValueError: it is not of a plan.
        """
        cut = {name: content[name] for name in ("model", "flops", "elements", "not_understood", "proof")}
        cut["groups"] = [{"refused": None, **group} for group in content["groups"]]
        choice = {name: content[name] for name in ("asked", "importance", "request")}
        return from_json(cls, {"cut": cut, "choice": choice})
