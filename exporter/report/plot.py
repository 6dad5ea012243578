"""Charts as inline SVG without scripts: bars by name, and points by two sizes. Each has a title and a description.

Drawn as wide as a phone; where there is more room they grow, and keep their shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exporter.report.markup import text

WIDTH = 440
_ROW, _NAMES, _VALUES = 24, 170, 80
#: Characters of 12 px that fit beside a bar.
_NAME = 25
#: Bars of one chart; the rest is counted.
MOST_BARS = 48
_HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 260, 56, 40, 24, 24


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
    """Points on linear axes that span them, and the front of the best as a line."""
    across, up = (_span(values) for values in zip(*((point.x, point.y) for point in shown), strict=True))

    def place(x: float, y: float) -> tuple[float, float]:
        right = (WIDTH - _LEFT - _RIGHT) * (x - across[0]) / (across[1] - across[0])
        high = (_HEIGHT - _BOTTOM - _TOP) * (y - up[0]) / (up[1] - up[0])
        return round(_LEFT + right, 1), round(_HEIGHT - _BOTTOM - high, 1)

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        values = across[0] + share * (across[1] - across[0]), up[0] + share * (up[1] - up[0])
        x, y = place(*values)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{values[1]:.3g}</text>')
        parts.append(f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{values[0]:.3g}</text>')
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
    parts.append(f'<text x="{WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">{text(axes[0])}</text>')
    parts.append(f'<text x="4" y="11">{text(axes[1])}</text>')
    said = (
        f"{len(shown)} points by {axes[0]} and {axes[1]}; best: {', '.join(point.whole for point in best) or 'none'}."
    )
    return svg(name, title, said, _HEIGHT, "".join(parts))


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Bounds a little beyond the smallest and the largest; below nothing only where a value is."""
    least, most = min(values), max(values)
    room = 0.15 * (most - least) or 0.15 * abs(most) or 1.0
    return (max(least - room, 0.0) if least >= 0 else least - room), most + room


def svg(name: str, title: str, said: str, height: float, inside: str) -> str:
    """A picture that says what it shows to those who do not see it."""
    return (
        f'<svg class="plot" role="img" aria-labelledby="{name}-title {name}-text" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" height="{height:g}"><title id="{name}-title">{text(title)}</title>'
        f'<desc id="{name}-text">{text(said)}</desc>{inside}</svg>'
    )
