"""Where a release leaves what it makes besides the bundle, which the cache must not take for what it reads."""

from __future__ import annotations

from pathlib import Path

from exporter.spec.model import Spec
from exporter.spec.recipe.source import default_folder
from exporter.train import qat
from exporter.weights.prune import run as pruning


def on_the_way(spec: Spec) -> tuple[Path, ...]:
    """The runs of training, quantisation and pruning of a spec, each finished or not."""
    folders = [qat.default_folder(spec), pruning.default_folder(spec)]
    if spec.recipe is not None:
        folders.append(default_folder(spec.recipe))
    return (*folders, *(folder.with_name(f"{folder.name}.partial") for folder in folders))
