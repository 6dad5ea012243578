"""The picture of own errors: the operators of a file that failed, from its inputs down, darker the more each adds.

What an operator hands on is told in words and adds no colour. Operators that follow one another in one sublayer are one
row, unless one of them is wrong or stands beside it; where there are still too many, the outer sublayer is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from exporter.base.words import count, plain
from exporter.prove.judge.report import Report
from exporter.prove.root_cause.locate import SLACK
from exporter.prove.verdict.blame import BEYOND, Blame, OperatorError, darkest, first_wrong
from exporter.report.graph import Edge, lanes
from exporter.report.markup import breakable, section, table, tag, text
from exporter.report.summary import number

#: Rows of one picture, and how many wrong operators are never folded.
MOST_ROWS, _MOST_KEPT = 48, 16
#: Operators that the table below it lists.
_MOST_LISTED = 1500
_WIDTH, _SAID, _ROW, _BOX, _LANE, _LEFT = 500, 128, 48, 40, 9, 12
#: Characters that fit into the two lines of a box.
_FIRST, _SECOND = 42, 48
#: From which own error on a box has which shade; the darkest of all that are wrong has one of its own.
_SHADES = (1.0, 4.0, 16.0, 1000.0)


@dataclass(frozen=True)
class Row:
    """One operator, or several that follow one another; `name` is the sublayer that those have in common."""

    places: tuple[int, ...]
    name: str = ""


def of_operators(report: Report) -> str:
    """Draw each file that failed: which of its operators errs by itself, and how much each of the others does."""
    shown = {(blame.claim.variant, blame.claim.case): blame for blame in reversed(report.blames) if blame.operators}
    parts = [
        _blame(blame, report.budget * SLACK, f"own-{number}")
        for number, blame in enumerate(reversed(list(shown.values())))
    ]
    lead = (
        "Each operator of the file was fed the right inputs, so that what it errs is its own. Error ratios count in "
        "units of what the same operator errs in eager float32."
    )
    return section("own", "Which operator errs by itself", "".join(parts), lead)


def _blame(blame: Blame, allowed: float, name: str) -> str:
    listed = blame.operators[:_MOST_LISTED]
    rows = [_listed(operator, allowed) for operator in listed]
    heads = ("operator", "sublayer", "line", "#own error", "#with what came in", "state")
    sheet = table("Own error of each operator", heads, rows, "cardsheet")
    left = len(blame.operators) - len(listed)
    more = f"<p>{count(left, 'further operator')} not listed.</p>" if left else ""
    caption = (
        "From the inputs down. The fuller a box, the more its operator errs by itself, in steps of 1, 4, 16 and 1,000; "
        "quite full: the largest that is wrong. Dashed: not judged."
    )
    return (
        f"<h3>{breakable(blame.claim.variant)}, case {text(blame.claim.case)}</h3>\n"
        f'<p class="cause">{text(in_words(blame.operators, allowed))}</p>\n'
        f"<figure>{picture(blame.operators, allowed, name)}<figcaption>{caption}</figcaption>"
        f"<details><summary>{count(len(blame.operators), 'operator')} as a table</summary>\n{sheet}{more}</details>"
        "</figure>\n"
    )


def in_words(operators: Sequence[OperatorError], allowed: float) -> str:
    """Say which operator is wrong first, where it stands, and how many others there are."""
    first = first_wrong(operators, allowed)
    judged = sum(operator.own is not None for operator in operators)
    if first is None:
        return (
            f"None of {count(judged, 'operator')} that could be judged errs by itself on its own: the fault comes with "
            "what the engine fuses, or was traced already."
        )
    wrong = sum(operator.wrong(allowed) for operator in operators)
    on = sum(_hands_on(operator, allowed) for operator in operators)
    where = "".join((f" of {first.sublayer}" if first.sublayer else "", f", {first.line}" if first.line else ""))
    others = f"{wrong} of {count(judged, 'operator')} {'errs by itself' if wrong == 1 else 'err by themselves'}"
    handed = f"; {on} only {'hands' if on == 1 else 'hand'} on what came in wrong" if on else ""
    return f"Wrong first: {_named(first)}{where}. Fed the right inputs it errs {_times(first.own)}. {others}{handed}."


def _named(operator: OperatorError) -> str:
    return f"{operator.kind} ({operator.values[0]})" if operator.values else operator.kind


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "not judged"
    return "beyond measure" if ratio >= BEYOND else f"{number(ratio)} times what eager float32 errs there"


def _short(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return "beyond" if ratio >= BEYOND else f"{number(ratio)}×"


def _hands_on(operator: OperatorError, allowed: float) -> bool:
    return not operator.wrong(allowed) and operator.total is not None and operator.total > allowed


def _state(operator: OperatorError, allowed: float) -> str:
    if operator.wrong(allowed):
        return "errs itself"
    if _hands_on(operator, allowed):
        return "hands on"
    return "not judged" if operator.own is None else "right"


def _listed(operator: OperatorError, allowed: float) -> list[str]:
    word = _state(operator, allowed)
    state = f'<span class="soft">{word}</span>' if word == "not judged" else tag(_tone(word), word)
    return [
        f"<b>{text(operator.kind)}</b> {text(', '.join(operator.values[:1]))}",
        breakable(operator.sublayer.replace(".", "/")).replace("/", ".") or "-",
        breakable(operator.line) or "-",
        text(_short(operator.own)),
        text(_short(operator.total)),
        state,
    ]


def _tone(word: str) -> str:
    return {"errs itself": "bad", "hands on": "open", "right": "good"}[word]


# ---- which operators share a row
def rows_of(operators: Sequence[OperatorError], allowed: float) -> list[Row]:
    """At most about `MOST_ROWS` rows in the order of the file."""
    kept = _kept(operators, allowed)
    paths = [tuple(part for part in re.split(r"[./]", operator.sublayer) if part) for operator in operators]
    rows = [Row((at,)) for at in range(len(operators))]
    for depth in range(max(map(len, paths), default=0), 0, -1):
        if len(rows) <= MOST_ROWS:
            return rows
        rows = _folded(len(operators), kept, lambda at, depth=depth: ".".join(paths[at][:depth]))  # type: ignore[misc]
    if len(rows) > MOST_ROWS:
        rows = _folded(len(operators), kept, lambda _: "")
    return rows


def _folded(number_of: int, kept: set[int], name: Callable[[int], str]) -> list[Row]:
    rows = []
    for (own, place), run in groupby(range(number_of), lambda at: (name(at), at if at in kept else -1)):
        places = tuple(run)
        rows.append(Row(places, own if place < 0 and len(places) > 1 else ""))
    return rows


def _kept(operators: Sequence[OperatorError], allowed: float) -> set[int]:
    """The wrong operators, those that they read, and those that read them."""
    wrong = [at for at, operator in enumerate(operators) if operator.wrong(allowed)][:_MOST_KEPT]
    dark = darkest(operators)
    wrong += [operators.index(dark)] if dark is not None and dark.wrong(allowed) else []
    beside = {read for at in wrong[:2] for read in operators[at].reads}
    beside |= {at for at, operator in enumerate(operators) if set(operator.reads) & set(wrong[:2])}
    return {*wrong, *beside}


# ---- the picture
def picture(operators: Sequence[OperatorError], allowed: float, name: str) -> str:
    """The rows as an inline SVG, with a title and a description for those who do not see it; `name` is its own."""
    rows = rows_of(operators, allowed)
    row_of = {place: at for at, row in enumerate(rows) for place in row.places}
    edges = {
        Edge(row_of[read], at, dashed=False)
        for at, row in enumerate(rows)
        for place in row.places
        for read in operators[place].reads
        if row_of[read] < at
    }
    arcs, left_out = lanes([edge for edge in edges if edge.end - edge.start > 1])
    gutter = _LEFT + _LANE * (max(arcs.values(), default=-1) + 1)
    parts = [_line(edge, gutter) for edge in sorted(edges, key=_ends) if edge.end - edge.start == 1]
    parts += [_arc(edge, lane, gutter) for edge, lane in sorted(arcs.items(), key=lambda arc: _ends(arc[0]))]
    dark, first = darkest(operators), first_wrong(operators, allowed)
    marks = (dark if dark is not None and dark.wrong(allowed) else None), first
    parts += [
        _box([operators[place] for place in row.places], row, at, gutter, (allowed, *marks))
        for at, row in enumerate(rows)
    ]
    summary = in_words(operators, allowed) + (f" {left_out} further connections are not drawn." if left_out else "")
    height = _ROW * len(rows)
    return (
        f'<svg class="graph" role="img" aria-labelledby="{name}-title {name}-text" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}"><title id="{name}-title">Own error of each operator</title>'
        f'<desc id="{name}-text">{text(summary)}</desc>{"".join(parts)}</svg>'
    )


def _ends(edge: Edge) -> tuple[int, int]:
    return edge.start, edge.end


def _line(edge: Edge, gutter: int) -> str:
    return f'<path class="edge" d="M{gutter + 18} {edge.start * _ROW + _BOX + 3}V{edge.end * _ROW + 3}"/>'


def _arc(edge: Edge, lane: int, gutter: int) -> str:
    start, end = (at * _ROW + 3 + _BOX // 2 for at in (edge.start, edge.end))
    return f'<path class="edge" d="M{gutter} {start + 6}H{gutter - 4 - _LANE * lane}V{end - 6}H{gutter}"/>'


def _box(
    operators: Sequence[OperatorError],
    row: Row,
    at: int,
    gutter: int,
    marks: tuple[float, OperatorError | None, OperatorError | None],
) -> str:
    allowed, dark, first = marks
    known = [operator.own for operator in operators if operator.own is not None]
    own = max(known, default=None)
    solid = dark is not None and dark in operators
    shade = "solid" if solid else "none" if own is None else f"shade-{sum(own > least for least in _SHADES)}"
    word = _word(operators, allowed, first)
    single = operators[0]
    title = f"{count(len(operators), 'operator')}" if len(operators) > 1 else _named(single)
    beside = row.name or single.sublayer
    line = next((operator.line for operator in operators if operator.line), "") if len(operators) == 1 else ""
    whole = f"{title} of {beside or 'the model'}, {line or 'line unknown'}: own error {_short(own)}, {word[2:]}"
    return _drawn((gutter, at * _ROW + 3), shade, (title, beside, line), (_short(own), word), whole)


def _word(operators: Sequence[OperatorError], allowed: float, first: OperatorError | None) -> str:
    if first is not None and first in operators:
        return "✗ wrong first"
    states = {_state(operator, allowed) for operator in operators}
    for state, sign in (("errs itself", "✗"), ("hands on", "↓"), ("right", "✓")):
        if state in states:
            return f"{sign} {state}"
    return "? not judged"


def _drawn(place: tuple[int, int], shade: str, name: tuple[str, str, str], notes: tuple[str, str], whole: str) -> str:
    x, y = place
    width = _WIDTH - x - _SAID
    title, beside, line = (plain(part) for part in name)
    beside = _cut(beside, _FIRST - len(title))
    return (
        f'<g class="own {shade}"><title>{text(whole)}</title>'
        f'<rect x="{x}" y="{y}" width="{width}" height="{_BOX}" rx="5"/>'
        f'<text x="{x + 10}" y="{y + 17}"><tspan class="kind">{escape(title)}</tspan>'
        f'<tspan dx="8">{escape(beside)}</tspan></text>'
        f'<text class="where" x="{x + 10}" y="{y + 33}">{escape(_cut(line, _SECOND))}</text>'
        f'<text class="said" x="{x + width + 10}" y="{y + 17}">{text(notes[0])}</text>'
        f'<text class="said" x="{x + width + 10}" y="{y + 33}">{text(notes[1])}</text></g>'
    )


def _cut(value: str, room: int) -> str:
    return value if len(value) <= max(room, 1) else f"…{value[len(value) - max(room, 2) + 1 :]}"
