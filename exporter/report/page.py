"""The frame of a page that needs nothing but itself."""

from __future__ import annotations

from exporter.report.markup import text
from exporter.report.style import STYLE

#: The browser itself is told that nothing may be loaded or run, whatever a name or a reason contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, body: str, *, pictures: bool = False) -> str:
    """A whole file; `body` is markup. With `pictures` those that the file itself holds (`data:`) are shown."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}{"; img-src data:" if pictures else ""}">
<title>{text(title)}</title>
<style>
{STYLE}
</style>
</head>
<body>
{body}</body>
</html>
"""
