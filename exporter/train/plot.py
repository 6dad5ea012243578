"""In a child: the losses and the metric of a run as a picture; the same history gives the same bytes."""

from __future__ import annotations

import io
import math
from pathlib import Path

from exporter.base.files import write_bytes
from exporter.process.workers import Json
from exporter.spec.recipe.base import Recipe
from exporter.train.loop import best_row


def write_plot(path: Path, history: list[Json], recipe: Recipe, title: str) -> None:
    """Draw both losses on a logarithmic axis and the metric beside them, its best epoch marked, as PNG.

    Raises:
        UsageError, EnvironmentLacks: as :func:`exporter.base.files.write_bytes`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)  # no pyplot: it would look for a display
    losses, metric = figure.subplots(1, 2)
    epochs = [row["epoch"] for row in history]
    known = {name: key for name, key in (("training", "loss"), ("held out", "held_out_loss")) if key in history[0]}
    for name, key in known.items():  # a loop of the recipe's own may log neither
        losses.plot(epochs, [row.get(key, math.nan) for row in history], label=name, marker=".")
    if known and all(row.get(key, 1) > 0 for row in history for key in known.values()):
        losses.set_yscale("log")
    losses.set(title=f"{title}: loss", xlabel="epoch")
    if known:
        losses.legend()
    best = best_row(history, recipe)
    metric.plot(epochs, [row[recipe.metric_name] for row in history], marker=".")
    metric.axvline(best["epoch"], linestyle=":", color="gray")
    metric.set(title=f"{recipe.metric_name}: best {best[recipe.metric_name]:.4f}", xlabel="epoch")
    for axes in (losses, metric):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})  # matplotlib writes its version there
    write_bytes(path, picture.getvalue())
