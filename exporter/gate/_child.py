"""In a child: which files a model's factory and its recipe's data read."""

from __future__ import annotations

from pathlib import Path

from exporter.recipe.load import load_data, load_recipe
from exporter.trace.layer import load_layer
from exporter.watch import watch as watch_all
from exporter.workers import Json, doing


def watch(request: Json) -> Json:
    """Build the layer and load the data; the files below `within` that were read, and the folders that were listed.

    Raises:
        UsageError, ModelError: the model cannot be built, or its data cannot be loaded.
    """
    seen = watch_all()
    doing("building the model, to see which files it opens")
    load_layer(request["model"], None, request["seed"])
    if request["recipe"]:
        doing("loading the data, to see which files it opens")
        load_data(load_recipe(request["recipe"]), request["recipe"])
    found = seen()
    return {"read": _below(found.read, request["within"]), "listed": _below(found.listed, request["within"])}


def _below(paths: set[str], folder: str) -> list[str]:
    resolved = {Path(path).resolve() for path in paths}
    return sorted(str(path) for path in resolved if path.is_relative_to(folder))
