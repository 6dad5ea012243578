"""Charts as inline SVG without scripts: bars by name, and points by two sizes. Each has a title and a description.

Drawn as wide as a phone; where there is more room they grow, and keep their shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exporter.report._markup import text

WIDTH = 440
_ROW, _NAMES, _VALUES = 24, 150, 86
#: Characters of 12 px that fit beside a bar.
_NAME = 23
#: Bars of one chart; the rest is counted.
MOST_BARS = 48
_HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 250, 56, 40, 16, 20


@dataclass(frozen=True)
class Bar:
    """A name, how long its bar is (an infinite one as long as can be), what stands at its end, and its tone."""

    name: str
    value: float
    said: str
    tone: str = "calm"
    whole: str = ""


@dataclass(frozen=True)
class Point:
    """A place by two sizes with its label; `whole` is what it tells when pointed at, `best` those on the front."""

    x: float
    y: float
    label: str
    whole: str
    best: bool = False
    tone: str = "calm"


def bars(name: str, title: str, shown: Sequence[Bar], limit: float | None = None, *, log: bool = False) -> str:
    """Horizontal bars, with a line at the limit."""
    place = _scale([bar.value for bar in shown] + ([limit] if limit else []), log=log)
    height = _ROW * len(shown) + (22 if limit else 6)
    parts = []
    if limit is not None:
        x = place(limit)
        parts.append(f'<line class="limit" x1="{x}" x2="{x}" y1="0" y2="{height - 20}"/>')
        parts.append(f'<text class="allowed" x="{x}" y="{height - 5}" text-anchor="middle">≤ {limit:g}</text>')
    parts += [_bar(bar, at, place(bar.value)) for at, bar in enumerate(shown)]
    longest = max(shown, key=lambda bar: bar.value if math.isfinite(bar.value) else math.inf)
    said = f"{len(shown)} bars; the longest is {longest.name}, {longest.said}."
    return svg(name, title, said, height, "".join(parts))


def _bar(bar: Bar, at: int, end: float) -> str:
    y, width = at * _ROW + 3, max(round(end - _NAMES, 1), 1.5)
    shown = bar.name if len(bar.name) <= _NAME else f"…{bar.name[1 - _NAME :]}"
    return (
        f'<g class="{bar.tone}"><title>{text(bar.whole or f"{bar.name}: {bar.said}")}</title>'
        f'<text x="{_NAMES - 6}" y="{y + 13}" text-anchor="end">{text(shown)}</text>'
        f'<rect class="bar" x="{_NAMES}" y="{y}" width="{width}" height="{_ROW - 6}" rx="2"/>'
        f'<text class="ink" x="{round(end, 1) + 6}" y="{y + 13}">{text(bar.said)}</text></g>'
    )


def _scale(values: Sequence[float], *, log: bool) -> Callable[[float], float]:
    """From a value to a place; a logarithmic one begins a tenth below the smallest that is more than nothing."""
    known = [value for value in values if math.isfinite(value) and value > 0]
    most, least = max(known, default=1.0), min(known, default=1.0)
    room = WIDTH - _VALUES - _NAMES

    def place(value: float) -> float:
        if not math.isfinite(value):
            return float(_NAMES + room)
        if not log:
            return round(_NAMES + room * max(value, 0.0) / most, 1)
        if value <= 0:
            return float(_NAMES)
        decades = math.log10(most / least) + 0.3
        return round(_NAMES + room * (math.log10(value / least) + 0.3) / decades, 1)

    return place


def points(name: str, title: str, axes: tuple[str, str], shown: Sequence[Point]) -> str:
    """Points on linear axes from nothing, and the front of the best as a line."""
    most = max(point.x for point in shown) * 1.12 or 1.0, max(point.y for point in shown) * 1.15 or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = _LEFT + (WIDTH - _LEFT - _RIGHT) * x / most[0]
        return round(across, 1), round(_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * y / most[1], 1)

    parts = []
    for share in (0.25, 0.5, 0.75, 1.0):
        x, y = place(most[0] * share, most[1] * share)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{most[1] * share:.2g}</text>')
        parts.append(f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{most[0] * share:.2g}</text>')
    parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
    best = sorted((point for point in shown if point.best), key=lambda point: (point.x, -point.y))
    if len(best) > 1:
        way = " ".join(f"{x},{y}" for x, y in (place(point.x, point.y) for point in best))
        parts.append(f'<polyline class="front" points="{way}"/>')
    for point in shown:
        x, y = place(point.x, point.y)
        shape = "best" if point.best else ""
        parts.append(
            f'<g class="{point.tone}"><title>{text(point.whole)}</title>'
            f'<circle class="spot {shape}" r="10" cx="{x}" cy="{y}"/>'
            f'<text class="label" x="{x}" y="{y + 4}" text-anchor="middle">{text(point.label)}</text></g>'
        )
    across, up = axes
    parts.append(f'<text x="{WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">{text(across)}</text>')
    parts.append(f'<text x="4" y="11">{text(up)}</text>')
    said = f"{len(shown)} points by {across} and {up}; best: {', '.join(point.whole for point in best) or 'none'}."
    return svg(name, title, said, _HEIGHT, "".join(parts))


def svg(name: str, title: str, said: str, height: float, inside: str) -> str:
    """A picture that says what it shows to those who do not see it."""
    return (
        f'<svg class="plot" role="img" aria-labelledby="{name}-title {name}-text" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" height="{height:g}"><title id="{name}-title">{text(title)}</title>'
        f'<desc id="{name}-text">{text(said)}</desc>{inside}</svg>'
    )
