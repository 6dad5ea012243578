"""In a child: the losses and the metric of a run as a picture; the same history gives the same bytes."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

from exporter.base.files import write_bytes
from exporter.spec.recipe.base import Recipe
from exporter.train.document import Row
from exporter.train.loop import best_row


def write_plot(path: Path, history: Sequence[Row], recipe: Recipe, title: str) -> None:
    """Draw both losses on a logarithmic axis and the metric beside them, its best epoch marked, as PNG.

    Raises:
        UsageError, EnvironmentLacks: as :func:`exporter.base.files.write_bytes`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)  # no pyplot: it would look for a display
    losses, metric = figure.subplots(1, 2)
    epochs = [row.epoch for row in history]
    known = {
        name: key for name, key in (("training", "loss"), ("held out", "held_out_loss")) if key in history[0].values
    }
    for name, key in known.items():  # a loop of the recipe's own may log neither
        losses.plot(epochs, [row.values.get(key, math.nan) for row in history], label=name, marker=".")
    shown = [value for row in history for key in known.values() if (value := row.values.get(key)) is not None]
    if known and all(value > 0 for value in shown):
        losses.set_yscale("log")
    losses.set(title=f"{title}: loss", xlabel="epoch")
    if known:
        losses.legend()
    best = best_row(history, recipe)
    metric.plot(epochs, [row.metric(recipe.metric_name) for row in history], marker=".")
    metric.axvline(best.epoch, linestyle=":", color="gray")
    metric.set(title=f"{recipe.metric_name}: best {best.metric(recipe.metric_name):.4f}", xlabel="epoch")
    for axes in (losses, metric):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})  # matplotlib writes its version there
    write_bytes(path, picture.getvalue())
