"""The page of a comparison: Markdown, and its charts as SVG files beside it, since GitHub shows none inside."""

from __future__ import annotations

from pathlib import Path

from exporter.files import write_bytes
from exporter.modes.result import Comparison
from exporter.modes.text import as_markdown
from exporter.report._curves import curves


def write_page(path: Path, found: Comparison) -> None:
    """Write `path` and `images/<name>-losses.svg` beside it.

    Raises:
        UsageError, EnvironmentLacks: as :func:`exporter.files.write_bytes`.
    """
    picture = Path("images", f"{path.stem}-losses.svg")
    shown = {found.titles[mode]: rounds[0].losses for mode, rounds in found.rounds.items()}
    title = "The loss of each training step"
    write_bytes(path.parent / picture, curves(title, "training step", shown).encode())
    write_bytes(path, as_markdown(found, f"![{title}]({picture})").encode())
