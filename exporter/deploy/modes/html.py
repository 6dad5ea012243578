"""A comparison as one HTML file that needs nothing but itself, in the looks of report.html."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from exporter.deploy.modes.claims import NOT_SUPPORTED, SUPPORTED, Said
from exporter.deploy.modes.parts import LOSSES, Part, how, parts, title
from exporter.deploy.modes.result import Comparison
from exporter.report.markup import prose, section, table, tag, text
from exporter.report.page import document

_TONES = {SUPPORTED: "good", NOT_SUPPORTED: "bad"}


def as_html(found: Comparison, losses: str) -> str:
    """The page; `losses` is an SVG file, which keeps its own colours as a picture."""
    head = f'<header class="banner plain"><div class="inside"><h1>{text(title(found))}</h1>\n'
    lead = "".join(f'<p class="more">{prose(paragraph)}</p>\n' for paragraph in how(found))
    body = "".join(
        section(f"part-{number}", text(part.heading), "".join(_blocks(part, losses)))
        for number, part in enumerate(parts(found))
    )
    return document(title(found), f"{head}{lead}</div></header>\n<main>\n{body}</main>\n", pictures=True)


def _blocks(part: Part, losses: str) -> Iterator[str]:
    if part.lead:
        yield f'<p class="lead">{prose(part.lead)}</p>\n'
    if part.claims:
        yield f'<ul class="plain">{"".join(map(_claim, part.claims))}</ul>\n'
    if part.table:
        headings = [part.table.headings[0], *(f"#{heading}" for heading in part.table.headings[1:])]
        yield table(part.heading, headings, [[text(cell) for cell in row] for row in part.table.rows])
    if part.losses:
        data = base64.b64encode(losses.encode()).decode()
        yield f'<figure><img style="max-width:100%" alt="{LOSSES}, by mode" src="data:image/svg+xml;base64,{data}">'
        yield f"<figcaption>{LOSSES}</figcaption></figure>\n"
    if part.points:
        yield f'<ul class="plain">{"".join(f"<li>{text(point)}</li>" for point in part.points)}</ul>\n'


def _claim(said: Said) -> str:
    tone = _TONES.get(said.verdict, "open")
    return f"<li>{tag(tone, text(said.verdict))} <b>{text(said.claim)}</b>: {text(said.measured)}.</li>\n"
