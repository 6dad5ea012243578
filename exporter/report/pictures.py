"""The pictures of the page: the model's graph where values part, errors and noise by layer, size against latency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from exporter.base.numbers.norms import WORST_E_REF
from exporter.base.words import count
from exporter.prove.judge.facts import Facts, Tried
from exporter.prove.judge.report import Report
from exporter.prove.verdict.blame import Blame, Layer
from exporter.report import graph as pictures_of_graph
from exporter.report.decision import Product, at, compared_size, front, products
from exporter.report.first_screen import megabytes, milliseconds
from exporter.report.markup import breakable, section, table, tag, text
from exporter.report.plot import MOST_BARS, Bar, Point, bars, points
from exporter.report.summary import number

_TONES = {"right": "good", "wrong here": "bad", "off": "off", "not shown": "plain"}


# ---- where a failure came in
def of_blames(report: Report) -> str:
    """Of each failure whose values were compared: the graph, and the error of each layer."""
    shown = [blame for blame in report.blames if blame.layers]
    parts = [_blame(blame, report.budget, f"blame-{number}") for number, blame in enumerate(shown)]
    lead = "Each call of a sublayer, compared with the same call of the source: where its values part is where to look."
    return section("divergence", "Where the model goes wrong", "".join(parts), lead)


def _blame(blame: Blame, budget: float, name: str) -> str:
    eager = blame.stage == "eager"
    allowed = WORST_E_REF / 4 if eager else budget  # of eager itself the errors are relative
    graph = pictures_of_graph.picture(blame, allowed, f"{name}-graph")
    unit = "relative error" if eager else "error ratio"
    return (
        f"<h3>{breakable(blame.claim.variant)} by {text(blame.claim.engine)}, case {text(blame.claim.case)}</h3>\n"
        f'<div class="charts"><figure>{graph}<figcaption>The graph, from the inputs down; a dashed line is code '
        f"between the calls.</figcaption></figure>\n{_errors(blame.layers, allowed, name, unit)}</div>\n"
    )


def _errors(layers: Sequence[Layer], allowed: float, name: str, unit: str) -> str:
    """The error of each innermost call that can be told, in the order in which they ran, and all of them as a table."""
    parents, named = {layer.parent for layer in layers}, pictures_of_graph.names(layers)
    layers = [replace(layer, path=path) for layer, path in zip(layers, named, strict=True)]
    known = [
        layer for at, layer in enumerate(layers) if layer.ratio is not None and (at not in parents or layer.blamed)
    ]
    rows = [
        [text(layer.path), text(layer.kind), text(layer.size), _said(layer.ratio), _state(layer, allowed)]
        for layer in layers
    ]
    sheet = table(f"{unit} by layer", ("layer", "class", "shape", f"#{unit}", "state"), rows)
    details = f"<details><summary>{count(len(rows), 'call')} as a table</summary>\n{sheet}</details>"
    if not known:
        return details
    near = _near(known)
    shown = [
        Bar(layer.path, _finite(layer.ratio), _said(layer.ratio), _TONES[pictures_of_graph.state(layer, allowed)])
        for layer in near
    ]
    left = f" {len(known) - len(near)} calls further away are in the table." if len(near) < len(known) else ""
    chart = bars(f"{name}-errors", f"{unit} by layer", shown, allowed, log=True)
    caption = f"{unit[:1].upper()}{unit[1:]} at the output of each layer, in the order in which they run.{left}"
    return f"<figure>{chart}<figcaption>{caption}</figcaption>{details}</figure>\n"


def _near(known: Sequence[Layer]) -> Sequence[Layer]:
    """As many as one chart holds, with some before the one to blame."""
    place = next((at for at, layer in enumerate(known) if layer.blamed), 0)
    start = max(0, min(place - MOST_BARS // 4, len(known) - MOST_BARS))
    return known[start : start + MOST_BARS]


def _finite(ratio: float | None) -> float:
    return 0.0 if ratio is None else ratio


def _said(ratio: float | None) -> str:
    if ratio is None:
        return "not shown"
    return "nothing like it" if math.isinf(ratio) else number(ratio)


def _state(layer: Layer, allowed: float) -> str:
    word = pictures_of_graph.state(layer, allowed)
    if word == "not shown":
        return '<span class="soft">not shown</span>'
    return tag("good" if word == "right" else "bad", word)


# ---- what is large, and what is slow
def of_products(report: Report) -> str:
    """Size against latency with the Pareto front, and latency by engine; where speeds were measured."""
    everything, facts = products(report), report.facts or Facts()
    parts = [*_pareto(everything), *_latency(everything), *_fronts(facts)]
    charts = f'<div class="charts">{"".join(parts)}</div>\n' if parts else ""
    return section("speed", "Size, speed and noise", charts + _sizes_table(everything))


def _pareto(everything: Sequence[Product]) -> list[str]:
    size, best = compared_size(list(everything)), front(list(everything))
    shown = [
        Point(
            product.bytes / 1e6,
            1e3 * here.seconds,
            str(number + 1),
            f"{number + 1}: {product.run.name}, {megabytes(product.bytes)}, {milliseconds(here.seconds)}"
            f"{'' if product.holds else ', does not hold'}",
            product in best,
            "good" if product in best else "calm" if product.holds else "bad",
        )
        for number, product in enumerate(everything)
        if product.bytes is not None and (here := at(product, size))
    ]
    if not shown:
        return []
    chart = points("pareto", "Size against latency", ("MB", "ms a call"), shown)
    names = "; ".join(point.whole for point in shown)
    caption = f"Size against latency at {size}; the line joins what nothing that holds beats in both. {names}."
    return [f"<figure>{chart}<figcaption>{text(caption)}</figcaption></figure>\n"]


def _latency(everything: Sequence[Product]) -> list[str]:
    size = compared_size(list(everything))
    known = sorted(
        ((here.seconds, product) for product in everything if (here := at(product, size))),
        key=lambda pair: (pair[0], pair[1].run.name),
    )
    if not known:
        return []
    shown = [
        Bar(
            product.run.name,
            seconds,
            milliseconds(seconds),
            "good" if "fastest" in product.marks else "calm" if product.holds else "bad",
        )
        for seconds, product in known
    ]
    chart = bars("latency", f"Latency at {size}", shown)
    caption = f"Median latency of one call at {size}, the fastest first."
    return [f"<figure>{chart}<figcaption>{text(caption)}</figcaption></figure>\n"]


def _sizes_table(everything: Sequence[Product]) -> str:
    """Latency and throughput at every size that was measured, as one table."""
    rows = [
        [
            breakable(product.run.name),
            text(here.size),
            milliseconds(here.seconds),
            milliseconds(here.p95),
            f"{here.rows_per_second:,.0f}" if here.rows_per_second else "-",
        ]
        for product in everything
        for here in product.latencies
    ]
    if not rows:
        return ""
    sheet = table(
        "Latency at every size", ("variant by engine", "size", "#median", "#p95", "#rows/s"), rows, "cardsheet"
    )
    return f"<details><summary>Every size that was measured</summary>\n{sheet}</details>\n"


def _fronts(facts: Facts) -> list[str]:
    return [
        _front(variant, steps, f"front-{number}")
        for number, (variant, steps) in enumerate(sorted(facts.fronts.items()))
    ]


def _front(variant: str, steps: Sequence[Tried], name: str) -> str:
    """What a search of the layers to keep has tried: bytes against noise."""
    shown = [
        Point(
            step.bytes / 1e6,
            step.snr_db,
            str(step.kept),
            f"{step.kept} kept: {megabytes(step.bytes)}, {step.snr_db:g} dB",
            True,
        )
        for step in steps
    ]
    chart = points(name, f"Search of {variant}", ("MB", "dB"), shown)
    caption = (
        f"{variant}: the search's Pareto front. Each point: how many layers compute in float32; higher is less noise."
    )
    return f"<figure>{chart}<figcaption>{text(caption)}</figcaption></figure>\n"


# ---- what low precision adds
def of_noise(report: Report) -> str:
    """The noise that rounding adds to each layer, the worst first."""
    parts = []
    for number_of, (variant, layers) in enumerate(sorted(report.noise.items())):
        worst = sorted(layers, key=lambda name: (layers[name].rounding, name))
        shown = [_noise_bar(name, layers[name].rounding) for name in worst[:MOST_BARS]]
        rows = [[text(name), f"{layers[name].rounding:.1f}", _overflow(layers[name].overflow)] for name in worst]
        headings = ("layer", "#signal to noise, dB", "#products cut off at 16 bits, dB")
        sheet = table(f"Noise by layer of {variant}", headings, rows)
        chart = bars(f"noise-{number_of}", f"Noise by layer of {variant}", shown)
        caption = f"{variant}: what rounding adds to each layer alone, as a share of its signal, the noisiest first."
        parts.append(
            f"<figure>{chart}<figcaption>{text(caption)}</figcaption>"
            f"<details><summary>{count(len(rows), 'layer')} as a table</summary>\n{sheet}</details></figure>\n"
        )
    charts = f'<div class="charts">{"".join(parts)}</div>\n' if parts else ""
    return section("noise", "Noise by layer", charts)


def _noise_bar(name: str, decibel: float) -> Bar:
    share = 10 ** (-decibel / 20)
    return Bar(name, share, f"{100 * share:.2g} %", "calm", f"{name}: {decibel:.1f} dB, noise of {100 * share:.2g} %")


def _overflow(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f}"
