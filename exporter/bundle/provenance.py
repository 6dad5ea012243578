"""Where a bundle comes from: which checkpoint, which code, which toolchain; and whether these are at hand again."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from exporter import __version__, machine
from exporter.errors import UsageError
from exporter.files import sha256_file
from exporter.prune.plan import plan_in
from exporter.prune.search import run as pruning
from exporter.recipe.source import default_folder
from exporter.references import find_source, split
from exporter.spec.model import Spec
from exporter.train import qat
from exporter.train.run import TrainRequest, finished

PACKAGES = ("paddlepaddle", "paddlepaddle-gpu", "paddle2onnx", "onnxruntime", "onnxruntime-gpu", "numpy")
#: Keys of the manifest that another machine or toolchain may fill otherwise for the same input.
NOT_REPRODUCIBLE = ("provenance.machine", "provenance.packages", "provenance.python")


def find_checkpoint(spec: Spec) -> Path | None:
    """The checkpoint whose weights are exported: the whole one, what pruning has left of it, or fine-tuned for int8.

    Raises:
        UsageError: as :func:`find_whole`; or it was not pruned or fine-tuned yet.
    """
    whole = find_whole(spec)
    return qat.finished(spec, pruning.finished(spec, whole).checkpoint if spec.prune else whole)


def find_whole(spec: Spec) -> Path | None:
    """The checkpoint that the spec names, or that its recipe has left; None where the factory's own weights stay.

    Raises:
        UsageError: it is named and not there, or the recipe was not trained yet.
    """
    if spec.checkpoint is not None:
        path = Path(spec.checkpoint)
        if not path.is_file():
            raise UsageError("no such checkpoint", where=str(path), hint="check the path, or train it first")
        return path
    if spec.recipe is None:
        return None
    found = finished(training_of(spec.recipe, spec.seed))
    if found is None:
        raise UsageError(
            "the recipe has left no finished checkpoint",
            where=spec.recipe,
            hint=f"run: exporter train {spec.recipe} --seed {spec.seed}",
        )
    return found.checkpoint


def training_of(recipe: str, seed: int, device: str = "auto") -> TrainRequest:
    """The run that a spec's recipe asks for; its device does not count where a finished one is looked for."""
    return TrainRequest(recipe, default_folder(recipe), seed, device=device)


def provenance(spec: Spec, checkpoint: Path | None) -> dict[str, Any]:
    """What the manifest records of the origin."""
    source, cpu = find_source(split(spec.model)[0]), machine.cpu()
    return {
        "model": spec.model,
        "code": {source.name: sha256_file(source)} if source else {},
        "weights": _weights(checkpoint) if checkpoint else {"factory": spec.model, "seed": spec.seed},
        "exporter": __version__,
        "python": platform.python_version(),
        "packages": _versions(),
        "machine": {"cpu": cpu["model"], "abilities": cpu["abilities"], "system": platform.system(), "threads": 1},
    }


def recorded_checkpoint(recorded: dict[str, Any]) -> Path | None:
    """The checkpoint that a bundle was made from, where :func:`source_at_hand` has found it unchanged."""
    weights = recorded["weights"]
    return Path(weights["checkpoint"]) if "checkpoint" in weights else None


def _weights(checkpoint: Path) -> dict[str, Any]:
    weights: dict[str, Any] = {"checkpoint": checkpoint.as_posix(), "sha256": sha256_file(checkpoint)}
    if (plan := plan_in(checkpoint)) is not None:
        told = {name: plan.about[name] for name in ("flops", "elements", "importance", "proof") if name in plan.about}
        weights["pruned"] = {**told, "plan": plan.digest}
    if ranges := qat.told(checkpoint):
        weights["rounded_in_training"] = ranges
    return weights


def source_at_hand(recorded: dict[str, Any], spec: Spec) -> tuple[bool, list[str]]:
    """Whether the model's code and the very checkpoint are here; if not, a note that says what is missing."""
    if find_source(split(spec.model)[0]) is None:
        return False, [f"{spec.model} is not importable here, so eager itself was not run again"]
    weights = recorded["weights"]
    if "checkpoint" in weights:
        path = Path(weights["checkpoint"])
        if not path.is_file() or sha256_file(path) != weights["sha256"]:
            return False, [f"the checkpoint {path} is not here as it was, so eager itself was not run again"]
    return True, []


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
