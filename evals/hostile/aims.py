"""What a hostile bundle aims at, and what came of that: caught by it, passed, or not tried.

An aim names kinds of claims as `verify --json` reports them, or words of a refusal or an objection. What is refused for
another reason has not put its proof to the test; neither has what passes because it changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CAUGHT, MISSED, NOT_TRIED, NO_AIM = "caught", "missed", "not tried", "no aim"


@dataclass(frozen=True)
class Aim:
    """What has to catch a bundle: a claim of one of these `kinds` does not hold, or a refusal that `says` this.

    Without either the bundle aims at no proof: it only must not pass, crash or hang where it may not.
    """

    name: str
    kinds: frozenset[str] = frozenset()
    says: str = ""

    @property
    def at_a_proof(self) -> bool:
        """Whether there is something that has to catch it."""
        return bool(self.kinds or self.says)


def claims(*kinds: str, name: str = "", says: str = "") -> Aim:
    """The aim at proofs, called after the first unless it has a `name`."""
    return Aim(name or kinds[0], frozenset(kinds), says)


def reader(name: str, says: str) -> Aim:
    """The aim at a limit of what reads a bundle; `says` is a pattern of its refusal."""
    return Aim(f"reader: {name}", says=says)


NOTHING = Aim("nothing")
#: A program that computes something else: by the recorded cases, by inputs drawn anew, or by how its run ends.
COMPUTED = claims("outputs", "agreement", "process", name="outputs")


@dataclass(frozen=True)
class Made:
    """What was done to a bundle, and what has to catch that.

    `wrong` says that it differs from a sound one whatever its programs compute, so that passing is a miss.
    """

    said: str
    aim: Aim = NOTHING
    wrong: bool = False


@dataclass
class Told:
    """What `verify --json` told: claims that do not hold by kind, the refusal, and objections."""

    failed: dict[str, str] = field(default_factory=dict)
    refusal: str = ""
    objections: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The first reason; empty where it passed."""
        return next((text for text in (self.refusal, *self.failed.values(), *self.objections) if text), "")

    def caught(self, aim: Aim) -> bool:
        """Whether what the bundle aims at speaks against it."""
        texts = (self.refusal, *self.objections) if aim.says else ()
        return bool(aim.kinds & set(self.failed)) or any(re.search(aim.says, text) for text in texts)

    @property
    def stopped_by(self) -> str:
        """What spoke against it, in few words: kinds of claims, or a refusal without its names and numbers."""
        if self.failed:
            return "claims: " + ", ".join(sorted(self.failed))
        return re.sub(r"'[^']*'|\d[\d,.e+-]*|[0-9a-f]{16,}", "…", self.first)[:90]


def told_in(out: Path) -> Told:
    """Read the one object that the command printed."""
    try:
        content: Mapping[str, Any] = json.loads(out.read_bytes()[: 16 << 20])
    except ValueError:
        return Told(refusal="no JSON")
    if "error" in content:
        error = content["error"]
        return Told(refusal=f"{error['where'].rpartition('/')[2]}: {error['what']}")
    failed: dict[str, str] = {}
    for check in content.get("checks", ()):
        if check["outcome"] not in ("match", "waived"):
            failed.setdefault(check["kind"], str(check["reason"]))
    return Told(failed, "", list(map(str, content.get("against") or ())))
