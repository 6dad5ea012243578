"""The graph of a model that failed, as a picture: its calls from top to bottom, and where values part.

One call is one row. A container is opened where it holds the call to blame, and one row otherwise. A solid line leads
from call to call, a dashed one where code between the calls has computed what goes in, and an arc past other calls.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from exporter.base.words import plain
from exporter.prove.verdict.blame import CODE, Blame, Layer
from exporter.report.summary import number

#: Rows of one picture; calls beyond them are folded, far from the one to blame first.
MOST_ROWS = 40
#: Arcs side by side; those beyond are counted, and left out.
_LANES = 6
_WIDTH, _SAID, _ROW, _INDENT, _LANE, _BOX = 500, 124, 34, 14, 9, 26
#: Characters of 12.5 px that fit into a box: of the name, and of all that stands there.
_NAME, _TEXT = 28, 42


@dataclass(frozen=True)
class Node:
    """A row: one call, a container that is open (`opened`), or several calls that follow one another."""

    calls: tuple[int, ...]
    depth: int
    opened: bool = False

    @property
    def number(self) -> int:
        """Its call, or the first of them."""
        return self.calls[0]


@dataclass(frozen=True)
class Edge:
    """From a row to a later one; `dashed` where code between the calls computes."""

    start: int
    end: int
    dashed: bool


def state(layer: Layer, budget: float) -> str:
    """One of `right`, `wrong here`, `off` (by what came before) and `not shown`."""
    if layer.blamed:
        return "wrong here"
    if layer.ratio is None:
        return "not shown"
    return "right" if layer.ratio <= budget else "off"


def names(layers: Sequence[Layer]) -> list[str]:
    """The path of each call; of one that is called more than once with its number: `relu #2`."""
    often, found = Counter(layer.path for layer in layers), []
    seen: Counter[str] = Counter()
    for layer in layers:
        seen[layer.path] += 1
        found.append(f"{layer.path} #{seen[layer.path]}" if often[layer.path] > 1 else layer.path)
    return found


def nodes(layers: Sequence[Layer]) -> list[Node]:
    """The rows, from the model's inputs down."""
    children: dict[int | None, list[int]] = {}
    for at, layer in enumerate(layers):
        children.setdefault(layer.parent, []).append(at)
    blamed = next((at for at, layer in enumerate(layers) if layer.blamed), 0)
    opened, above = set[int](), layers[blamed].parent
    while above is not None:
        opened.add(above)
        above = layers[above].parent
    opened |= {0, blamed} if blamed in children else {0}
    rows: list[Node] = []

    def add(at: int, depth: int) -> None:
        rows.append(Node((at,), depth, at in opened))
        for child in children.get(at, ()) if at in opened else ():
            add(child, depth + 1)

    add(0, 0)
    return _folded(rows, blamed)


def _folded(rows: list[Node], blamed: int) -> list[Node]:
    """At most so many rows: runs of closed ones of one depth become one, the furthest from the blamed first."""
    if len(rows) <= MOST_ROWS:
        return rows
    place = next(at for at, node in enumerate(rows) if node.number == blamed)
    near = MOST_ROWS // 2 - 4
    short: list[Node] = []
    folding = False
    for at, node in enumerate(rows):
        far = abs(at - place) > near and not node.opened
        if far and folding and short[-1].depth == node.depth:
            short[-1] = Node((*short[-1].calls, *node.calls), node.depth)
        else:
            short.append(node)
        folding = far
    return short


def edges(layers: Sequence[Layer], rows: Sequence[Node]) -> list[Edge]:
    """Which row feeds which: of the calls that a call reads, the rows that stand for them."""
    row_of = {number: at for at, node in enumerate(rows) for number in node.calls}
    found: set[Edge] = set()
    for at, node in enumerate(rows[1:], 1):
        reads = [(read, number) for number in node.calls for read in layers[number].reads]
        sources = {_row(layers, row_of, rows, read, number) for read, number in reads}
        solid = {Edge(source, at, False) for source in sources if source is not None and source < at}
        found |= solid
        if not solid or any(read == CODE for read, _ in reads):
            found.add(Edge(at - 1, at, True))
    return sorted(_plainest(found), key=lambda edge: (edge.start, edge.end))


def _plainest(found: set[Edge]) -> set[Edge]:
    """Where a solid and a dashed line join two rows, the solid one says it."""
    solid = {(edge.start, edge.end) for edge in found if not edge.dashed}
    return {edge for edge in found if not edge.dashed or (edge.start, edge.end) not in solid}


def _row(layers: Sequence[Layer], row_of: dict[int, int], rows: Sequence[Node], read: int, reader: int) -> int | None:
    """The row that stands for a call which is read: its own, or that of the closed container that holds it."""
    if read == CODE:
        return None
    above, at = layers[reader].parent, read
    around = set[int]()
    while above is not None:
        around.add(above)
        above = layers[above].parent
    while at not in row_of:
        parent = layers[at].parent
        if parent is None:
            return None
        at = parent
    if rows[row_of[at]].opened and at not in around:
        return None  # what a container puts out, one of its calls or its own code has put out
    return row_of[at]


# ---- the picture
def picture(blame: Blame, budget: float, name: str) -> str:
    """The graph as an inline SVG, with a title and a description for those who do not see it; `name` is its own."""
    layers = blame.layers
    rows = nodes(layers)
    joined = edges(layers, rows)
    arcs, left_out = lanes([edge for edge in joined if edge.end - edge.start > 1])
    gutter = 12 + _LANE * (max(arcs.values(), default=-1) + 1)
    height = _ROW * len(rows) + _ROW
    parts = [_line(edge, rows, gutter) for edge in joined if edge.end - edge.start == 1]
    parts += [_arc(edge, lane, rows, gutter) for edge, lane in sorted(arcs.items(), key=lambda one: one[1])]
    named = names(layers)
    parts += [_box(layers, named, _place(node, at, gutter), node, budget) for at, node in enumerate(rows)]
    parts.append(_outcome(layers[0], len(rows), gutter, budget))
    title = f"Graph of {layers[0].kind}, with the call where {blame.claim.variant} goes wrong"
    said = _described(layers, budget) + (f" {left_out} further connections are not drawn." if left_out else "")
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    label = f'aria-labelledby="{name}-title {name}-text"'
    return (
        f'<svg class="graph" role="img" {label} {size}><title id="{name}-title">{_text(title)}</title>'
        f'<desc id="{name}-text">{_text(said)}</desc>{"".join(parts)}</svg>'
    )


def _described(layers: Sequence[Layer], budget: float) -> str:
    states = [state(layer, budget) for layer in layers[1:]]
    blamed = next((layer for layer in layers if layer.blamed), layers[0])
    counts = ", ".join(f"{states.count(word)} {word}" for word in ("right", "off", "not shown") if word in states)
    return f"Of {len(layers) - 1} calls of sublayers: {counts or 'none was compared'}. Wrong first: {blamed.path}."


def lanes(arcs: Sequence[Edge]) -> tuple[dict[Edge, int], int]:
    """A lane for each arc, so that none covers another; and how many found none."""
    ends: list[int] = []
    taken: dict[Edge, int] = {}
    left_out = 0
    for edge in sorted(arcs, key=lambda one: (one.start, -one.end)):
        lane = next((at for at, end in enumerate(ends) if end <= edge.start), len(ends))
        if lane >= _LANES:
            left_out += 1
            continue
        ends[lane : lane + 1] = [edge.end]
        taken[edge] = lane
    return taken, left_out


def _left(node: Node, gutter: int) -> int:
    return gutter + _INDENT * min(node.depth, 6)


def _place(node: Node, at: int, gutter: int) -> tuple[int, int]:
    return _left(node, gutter), at * _ROW + 4


def _line(edge: Edge, rows: Sequence[Node], gutter: int) -> str:
    x = _left(rows[edge.end], gutter) + 18
    top, bottom = edge.start * _ROW + 4 + _BOX, edge.end * _ROW + 4
    dashed = ' stroke-dasharray="3 3"' if edge.dashed else ""
    return f'<path class="edge" d="M{x} {top}V{bottom}"{dashed}/>'


def _arc(edge: Edge, lane: int, rows: Sequence[Node], gutter: int) -> str:
    x = gutter - 4 - _LANE * lane
    start, end = (at * _ROW + 4 + _BOX // 2 for at in (edge.start, edge.end))
    left, right = _left(rows[edge.start], gutter), _left(rows[edge.end], gutter)
    return f'<path class="edge" d="M{left} {start + 5}H{x}V{end - 5}H{right}"/>'


def _box(layers: Sequence[Layer], named: Sequence[str], place: tuple[int, int], node: Node, budget: float) -> str:
    if len(node.calls) > 1:
        return _row_of(place, "plain", (f"… {len(node.calls)} calls", ""), "")
    layer, path = layers[node.number], named[node.number]
    word = state(layer, budget)
    tone = {"right": "good", "wrong here": "bad", "off": "off", "not shown": "plain"}[word]
    said = (
        f"✗ {word}"
        if layer.blamed
        else "? not shown"
        if layer.ratio is None
        else f"{_sign(word)} {_ratio(layer.ratio)}"
    )
    if layer.blamed and node.opened:
        said = "✗ its own code"
    elif node.opened:
        tone, said = "open", ""
    whole = f"{path} ({layer.kind}), {layer.size or 'no tensor'}: {word}, error ratio {_ratio(layer.ratio)}"
    name = (layer.kind, "") if layer.path == "." else (path, f"{layer.kind}  {layer.size}")
    return _row_of(place, tone, name, said, whole)


def _row_of(place: tuple[int, int], tone: str, name: tuple[str, str], said: str, whole: str = "") -> str:
    """A box with a name and what it is, and at its right what is said of it."""
    x, y = place
    width = _WIDTH - x - _SAID
    first, second = (plain(part) for part in name)
    first = first if len(first) <= _NAME else f"…{first[1 - _NAME :]}"
    room = _TEXT - len(first)
    second = second if len(second) <= room else f"{second[: max(room - 1, 0)]}…"
    title = f"<title>{_text(whole)}</title>" if whole else ""
    return (
        f'<g class="node {tone}">{title}<rect x="{x}" y="{y}" width="{width}" height="{_BOX}" rx="5"/>'
        f'<text x="{x + 10}" y="{y + 17}">{escape(first)}<tspan class="kind" dx="8">{escape(second)}</tspan></text>'
        f'<text class="said" x="{x + width + 10}" y="{y + 17}">{_text(said)}</text></g>'
    )


def _outcome(root: Layer, at: int, gutter: int, budget: float) -> str:
    word = "right" if root.ratio is not None and root.ratio <= budget else "off"
    tone = "good" if word == "right" else "off"
    said = f"{_sign(word)} {_ratio(root.ratio)}"
    place = _place(Node((0,), 0), at, gutter)
    return _row_of(place, tone, ("what the model puts out", ""), said, f"error ratio {_ratio(root.ratio)}")


def _sign(word: str) -> str:
    return {"right": "✓", "off": "✗"}[word]


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return "not shown"
    return "no value like it" if math.isinf(ratio) else f"{number(ratio)}×"


def _text(text: str) -> str:
    return escape(plain(text))
