"""The page of a comparison: Markdown with its charts as SVG files beside it (GitHub shows none inside), or HTML."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.files import write_bytes
from exporter.deploy.modes.html import as_html
from exporter.deploy.modes.parts import LOSSES
from exporter.deploy.modes.result import Comparison
from exporter.deploy.modes.text import as_markdown
from exporter.report.curves import curves

_HTML = (".html", ".htm")


def require_page(path: Path) -> None:
    """Refuse a file of neither form, before anything is measured.

    Raises:
        UsageError: its name ends otherwise.
    """
    if path.suffix not in (".md", *_HTML):
        hint = "name a file that ends in .html or .md"
        raise UsageError(f"'{path}' is neither an HTML nor a Markdown file", where="--page", hint=hint)


def write_page(path: Path, found: Comparison) -> None:
    """Write `path`: one HTML file, or Markdown and `images/<name>-losses.svg` beside it.

    Raises:
        UsageError, EnvironmentLacks: as :func:`exporter.base.files.write_bytes`.
    """
    shown = {found.titles[mode]: rounds[0].losses for mode, rounds in found.rounds.items()}
    losses = curves(LOSSES, "training step", shown)
    if path.suffix in _HTML:
        write_bytes(path, as_html(found, losses).encode())
        return
    picture = Path("images", f"{path.stem}-losses.svg")
    write_bytes(path.parent / picture, losses.encode())
    write_bytes(path, as_markdown(found, f"![{LOSSES}]({picture})").encode())
