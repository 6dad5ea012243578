"""What a run says of itself in its folder: `run.json`, and a row for each epoch in `metrics.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from exporter.base.errors import UsageError
from exporter.base.files import write_json
from exporter.process.job import from_json

RUN, BEST = "run.json", "best.safetensors"
_BEGUN = ("recipe", "recipe_digest", "recipe_epochs", "epochs", "seed", "device", "paddle", "finished")
#: Left out of `run.json` where they are as in most runs.
_USUAL: Mapping[str, Any] = {"start": None, "qat": False, "args": {}, "ranks": 1}

Goal: TypeAlias = Literal["max", "min"]


@dataclass(frozen=True)
class Row:
    """One epoch, counted from 1: its number of steps, what was measured by name, and whether it is the best so far.

    `values` hold the losses, the metric and the learning rate, or what a loop of the recipe's own logs.
    """

    epoch: int
    steps: int
    values: Mapping[str, float | None]
    best: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in `metrics.jsonl`."""
        return {"epoch": self.epoch, "steps": self.steps, **self.values, "best": self.best}

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Row:
        """Read what :meth:`to_json` gave."""
        values = {name: value for name, value in content.items() if name not in ("epoch", "steps", "best")}
        return cls(content["epoch"], content["steps"], values, content["best"])

    def metric(self, name: str) -> float:
        """Return the metric of that name, which every row has."""
        value = self.values[name]
        assert value is not None  # noqa: S101  # only a loss may be missing
        return value


@dataclass(frozen=True)
class Metric:
    """The recipe's metric of a checkpoint: its name, its value, and which side of it is good.

    `epoch` is the one whose weights were measured; None where they are not of a run that is known. `floor` is the
    recipe's, None where none counts. `interval` is the one of 95 %, None where the metric is no mean over samples.
    """

    name: str
    goal: Goal
    value: float
    epoch: int | None = None
    floor: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def missed(self) -> float | None:
        """The floor that it does not reach; None where it does, or there is none."""
        if self.floor is None:
            return None
        worse = self.value > self.floor if self.goal == "min" else self.value < self.floor
        return self.floor if worse else None

    @property
    def rank(self) -> float:
        """The value, the larger the better."""
        return self.value * (-1 if self.goal == "min" else 1)


@dataclass(frozen=True)
class RunDescription:
    """The content of `run.json`. A finished run has its metric, and the digest of its checkpoint.

    `start` is the digest of the checkpoint that it began with, None where the recipe's `build` gave the weights.
    """

    recipe: str
    recipe_digest: str
    recipe_epochs: int
    epochs: int
    seed: int
    device: str
    paddle: str
    finished: bool = False
    start: str | None = None
    qat: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)
    ranks: int = 1
    metric: Metric | None = None
    checkpoint_sha256: str = ""

    def end(self, metric: Metric, checkpoint_sha256: str) -> RunDescription:
        """Return that of the finished run."""
        return replace(self, finished=True, metric=metric, checkpoint_sha256=checkpoint_sha256)

    def write(self, folder: Path) -> None:
        """Write it into the run's folder; raises as :func:`exporter.base.files.write_json`."""
        content = {"schema": 1, **{name: getattr(self, name) for name in _BEGUN}}
        content |= {name: getattr(self, name) for name, usual in _USUAL.items() if getattr(self, name) != usual}
        if self.metric is not None:
            measured = {name: getattr(self.metric, name) for name in ("name", "goal", "value", "epoch")}
            more = {"floor": self.metric.floor, "interval": self.metric.interval}
            content["metric"] = {**measured, **{name: value for name, value in more.items() if value is not None}}
            content["checkpoint"] = {"file": BEST, "sha256": self.checkpoint_sha256}
        write_json(folder / RUN, content)

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> RunDescription:
        """Read what :meth:`write` has written, or an earlier version, which wrote less of a metric.

        Raises:
            LookupError, TypeError, ValueError: it is not of a run.
        """
        fields = {name: content[name] for name in _BEGUN}
        fields |= {name: content.get(name, usual) for name, usual in _USUAL.items()}
        metric, sha256 = None, ""
        if content["finished"]:
            measured, sha256 = content["metric"], content["checkpoint"]["sha256"]
            optional = {"goal": "max", "floor": None, "interval": None}
            metric = {name: measured[name] for name in ("name", "value", "epoch")}
            metric |= {name: measured.get(name, usual) for name, usual in optional.items()}
        return from_json(cls, {**fields, "metric": metric, "checkpoint_sha256": sha256})


def read_run(folder: Path) -> RunDescription | None:
    """Return what the `run.json` in a folder says; None where there is none.

    Raises:
        UsageError: it is not ours.
    """
    path = folder / RUN
    if not path.is_file():
        return None
    try:
        return RunDescription.of_json(json.loads(path.read_bytes()))
    except (LookupError, TypeError, ValueError) as error:
        hint = "remove the folder and train again"
        raise UsageError("not the description of a run", where=str(path), hint=hint) from error
