"""Curves over steps as an SVG file of its own: colours stand in it, since no style sheet of a page reaches it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from exporter.report.markup import text

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 320, 64, 16, 30, 36
#: Told apart without colours, too (Okabe and Ito's palette, and a dash of its own for each).
_LOOKS = (
    ("#0072b2", "none"),
    ("#d55e00", "8 3"),
    ("#009e73", "3 3"),
    ("#cc79a7", "10 3 2 3"),
    ("#8a6d00", "1 3"),
)


def curves(title: str, axis: str, shown: Mapping[str, Sequence[float]]) -> str:
    """Lines by name on one logarithmic axis, over the number of the step; what is not above 0 is left out."""
    known = [value for values in shown.values() for value in values if value > 0 and math.isfinite(value)]
    low, high = math.log10(min(known, default=1.0)), math.log10(max(known, default=10.0))
    room, longest = max(high - low, 1e-3), max(map(len, shown.values()), default=1)

    def place(step: int, value: float) -> str:
        right = _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / max(longest - 1, 1)
        return f"{right:.1f},{_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * (math.log10(value) - low) / room:.1f}"

    parts = []
    for share in (0.0, 0.5, 1.0):
        value, step = 10 ** (low + share * room), round(share * (longest - 1))
        y = place(0, value).partition(",")[2]
        x = place(step, value).partition(",")[0]
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="#ccc"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y}" text-anchor="end">{value:.3g}</text>')
        parts.append(f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{step + 1}</text>')
    for at, (name, values) in enumerate(shown.items()):
        colour, dash = _LOOKS[at % len(_LOOKS)]
        look = f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"'
        line = " ".join(place(step, value) for step, value in enumerate(values) if value > 0 and math.isfinite(value))
        parts.append(f'<polyline points="{line}" {look}/>')
        begin = _LEFT + at * (_WIDTH - _LEFT) / max(len(shown), 1)
        parts.append(f'<line x1="{begin:.0f}" x2="{begin + 24:.0f}" y1="14" y2="14" {look}/>')
        parts.append(f'<text x="{begin + 30:.0f}" y="18" fill="{colour}">{text(name)}</text>')
    parts.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end">{text(axis)}</text>')
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    style = 'font-family="sans-serif" font-size="12" style="background:#fff"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style} role="img"><title>{text(title)}</title>'
    return f"{head}{''.join(parts)}</svg>\n"
