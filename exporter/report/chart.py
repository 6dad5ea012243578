"""Error ratios as dots on one logarithmic scale, a strip for each run; plain SVG without scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from exporter.base.words import plain
from exporter.prove.judge.report import Report
from exporter.report.summary import Run, error_ratio, number, runs

WIDTH, HEIGHT, MARGIN = 344, 46, 16
_AXIS = 16
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """From an error ratio to a place; what lies outside, infinity and NaN too, is drawn at the edge."""

    decades: int
    budget: float

    def x(self, ratio: float) -> float:
        """The place in pixels; 0.1 is at the left edge."""
        steps = self.decades if not math.isfinite(ratio) else math.log10(max(ratio, 1e-9)) + 1
        inner = WIDTH - 2 * MARGIN
        return round(MARGIN + inner * min(max(steps, 0), self.decades) / self.decades, 1)


def scale_of(report: Report) -> Scale:
    """One scale for all runs: from 0.1 to beyond the budget and the largest ratio that is a number."""
    ratios = [error_ratio(evidence) or 0.0 for run in runs(report) for _, evidence in run.rows]
    largest = max((ratio for ratio in ratios if math.isfinite(ratio)), default=0.0)
    return Scale(math.ceil(math.log10(max(largest, 4 * report.budget))) + 1, report.budget)


def _axis(scale: Scale) -> str:
    """The scale's numbers and the budget, below the dots."""
    step = math.ceil(scale.decades / 6)
    place = scale.x(scale.budget)
    marks = [
        f'<text x="{scale.x(10.0**power)}" y="{HEIGHT + 12}" text-anchor="middle">{_power(power)}</text>'
        for power in range(-1, scale.decades, step)
        if abs(scale.x(10.0**power) - place) > 28  # the budget's own number needs room
    ]
    marks.append(f'<text x="{place}" y="{HEIGHT + 12}" text-anchor="middle" class="allowed">≤ {scale.budget:g}</text>')
    return "".join(marks)


def strip(run: Run, scale: Scale) -> str:
    """The dots of one run; each tells its claim and its number when pointed at."""
    limit = scale.x(scale.budget)
    parts = [f'<rect class="over" x="{limit}" y="0" width="{WIDTH - limit}" height="{HEIGHT}"/>']
    for power in range(-1, scale.decades):
        place = scale.x(10.0**power)
        parts.append(f'<line class="grid" x1="{place}" x2="{place}" y1="0" y2="{HEIGHT}"/>')
    parts.append(f'<line class="limit" x1="{limit}" x2="{limit}" y1="0" y2="{HEIGHT}"/>')
    for index, (claim, evidence) in enumerate(run.rows):
        ratio = error_ratio(evidence)
        if ratio is None:
            continue
        tone = "good" if ratio <= scale.budget else "bad"
        height = HEIGHT / 2 + (index % 5 - 2) * 6  # spread, or equal ratios would hide one another
        said = escape(plain(f"{claim.case}/{claim.output}: {number(ratio)}"))
        dot = f'class="dot {tone}" r="4.5" cx="{scale.x(ratio)}" cy="{height:g}"'
        parts.append(f"<circle {dot}><title>{said}</title></circle>")
    return _svg(f"error ratios of {run.name}", "".join(parts) + _axis(scale))


def _power(power: int) -> str:
    return f"{10.0**power:g}" if power < 4 else f"10{str(power).translate(_SUPERSCRIPTS)}"


def _svg(label: str, inside: str) -> str:
    size = f'width="{WIDTH}" height="{HEIGHT + _AXIS}" viewBox="0 0 {WIDTH} {HEIGHT + _AXIS}"'
    return f'<svg class="strip" {size} role="img" aria-label="{escape(label)}">{inside}</svg>'
