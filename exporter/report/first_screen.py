"""The first screen of the page: may it ship, and why; what ships and how fast it is; what was not proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exporter.base.tensors import TensorSpec
from exporter.base.words import count
from exporter.prove.judge.facts import Facts, Latency
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import OUTPUTS
from exporter.report.decision import TIMED_BY, Product, answer, at, compared_size, open_ends, products
from exporter.report.failure import Cause, causes
from exporter.report.markup import breakable, code, prose, section, table, tag, text
from exporter.report.summary import bits_count, headline, title, worst
from exporter.report.summary import number as three_digits

_TONES = {"passed": "good", "failed": "bad"}
_MARKS = {"fastest": "▲ fastest", "smallest": "▼ smallest"}
_NOT_MEASURED = '<span class="soft">not measured</span>'


def banner(report: Report) -> str:
    """The answer; of a failure its cause, its size, and what to try next."""
    tone = _TONES.get(report.verdict.word, "open")
    all_causes = causes(report)
    reason = report.first_reason()
    first = f'<p class="reason"><b>Reason:</b> {text(reason)}</p>' if reason and not all_causes else ""
    return f"""<header class="banner {tone}"><div class="inside">
<p class="what"><b>{text(report.name)} {text(report.version)}</b> · does what was exported compute what was trained?</p>
<h1>{title(report)}<span class="answer"> {answer(report)}.</span></h1>
<p class="why">{text(headline(report))}. {_worst(report)}</p>
{_failure(all_causes)}{first}
</div></header>
"""


def _worst(report: Report) -> str:
    """How near the limit the nearest comes, where that is within it."""
    row = worst([row for row in report.rows() if row[0].kind == OUTPUTS])
    if row is None or not report.verdict.passed:
        return ""
    ratio = three_digits(row[1].metrics["error_ratio"])
    return (
        f"The largest rounding error is {ratio} times eager's own, of {report.budget:g} times that are allowed "
        f"({breakable(str(row[0]))})."
    )


def _failure(all_causes: list[Cause]) -> str:
    if not all_causes:
        return ""
    rest = ", ".join(text(cause.variant) for cause in all_causes[1:])
    return told(all_causes[0]) + (f'<p class="more">Nor does this hold: {rest}; more below.</p>\n' if rest else "")


def told(cause: Cause) -> str:
    """The cause, its size, and what to try next."""
    parts = [f'<p class="cause">{text(cause.sentence)}</p>', '<dl class="failure">']
    if cause.size:
        parts.append(f"<div><dt>How far off</dt>{''.join(f'<dd>{text(line)}</dd>' for line in cause.size)}</div>")
    if cause.tries:
        lines = "".join(
            f"<li>{text(attempt.what)}{f' {prose(attempt.command)}' if attempt.command else ''}</li>"
            for attempt in cause.tries
        )
        parts.append(f"<div><dt>Try next</dt><dd><ol>{lines}</ol></dd></div>")
    return "\n".join([*parts, "</dl>\n"])


# ---- what ships
def product(report: Report) -> str:
    """Cards: what it achieves, what it takes and gives, what it is, what it comes from."""
    facts = report.facts or Facts()
    cards = [*_metric(report, facts), *_numbers(report), *_interface(facts), *_identity(report, facts)]
    return section("product", "What it is", f'<div class="cards">\n{"".join(cards)}</div>\n')


def _card(title: str, figure: str, lines: str, tone: str = "plain") -> str:
    figure = f'<p class="figure">{figure}</p>' if figure else ""
    return f'<div class="card {tone}"><h3>{title}</h3>{figure}{lines}</div>\n'


def _metric(report: Report, facts: Facts) -> Iterator[str]:
    """The checkpoint's metric; and, of artifacts whose loss was judged, what is left of it."""
    lost = [
        f"{breakable(claim.variant)} by {text(claim.engine)}: {evidence.metrics['value']:.4f}, "
        f"a loss of {evidence.metrics['loss']:.4f}{_interval(evidence.metrics)}"
        for claim, evidence in report.rows()
        if claim.kind == "metric" and "value" in evidence.metrics
    ]
    listed = f"<ul>{''.join(f'<li>{line}</li>' for line in lost)}</ul>" if lost else ""
    if facts.trained is not None:
        trained = facts.trained
        low_high = trained.interval
        interval = (
            f"95 % interval {low_high[0]:.4f} to {low_high[1]:.4f}" if low_high else "its interval was not measured"
        )
        of = f"of the checkpoint on the held-out samples; {interval}."
        yield _card(f"Task metric: {text(trained.metric)}", f"{trained.value:.4f}", f"<p>{of}</p>{listed}")
    elif listed:
        yield _card("Task metric", "", listed)
    elif report.facts is not None:
        yield _card("Task metric", _NOT_MEASURED, "<p>no training is recorded: a recipe in the spec measures one.</p>")


def _interval(metrics: Mapping[str, float]) -> str:
    return f" (95 % interval {metrics['low']:.4f} to {metrics['high']:.4f})" if "low" in metrics else ""


def _numbers(report: Report) -> Iterator[str]:
    """How near the results are: in bits, and in units of eager's own rounding."""
    rows = [row for row in report.rows() if row[0].kind == OUTPUTS]
    bits = [evidence.bit_equal for claim, evidence in rows if bits_count(claim)]
    row = worst(rows)
    if row is None:
        yield _card("Error ratio", "none", "<p>No floating-point results were compared.</p>", "open")
        return
    ratio = row[1].metrics["error_ratio"]
    note = f"<p>times eager's own rounding at worst; {sum(bits)} of {count(len(bits), 'result')} equal bit for bit.</p>"
    figure = f"{three_digits(ratio)}× <small>≤ {report.budget:g}×</small>"
    yield _card("Error ratio", figure, note, "good" if ratio <= report.budget else "bad")


def _interface(facts: Facts) -> Iterator[str]:
    if not facts.inputs:
        return
    sides = [("in", facts.inputs), ("out", facts.outputs)]
    lines = [
        f"<dt>{side}</dt><dd>{code(tensor.name)} {text(tensor.dtype)}[{_shape(tensor)}]"
        f"{_promised(facts, side, tensor.name)}</dd>"
        for side, tensors in sides
        for tensor in tensors
    ]
    lines += [
        f"<dt>{text(name)}</dt><dd>{dim.get('min')} to {dim.get('max')}, typically {dim.get('typical')}"
        f"{f', in steps of {step}' if (step := dim.get('multiple_of', 1)) not in (None, 1) else ''}</dd>"
        for name, dim in sorted(facts.dims.items())
    ]
    yield _card("Interface", "", f'<dl class="facts">{"".join(lines)}</dl>')


def _promised(facts: Facts, side: str, name: str) -> str:
    promise = facts.promised.get(name, "") if side == "in" else ""
    return f' <span class="soft small">{text(promise)}</span>' if promise else ""


def _shape(tensor: TensorSpec) -> str:
    return text(", ".join("?" if size == -1 else str(size) for size in tensor.shape))


def _identity(report: Report, facts: Facts) -> Iterator[str]:
    if report.facts is None and not report.digest:
        return
    digest = f"<code>{text(report.digest)}</code>" if report.digest else "in manifest.json, which lists this page too"
    lines = [f"<dt>digest</dt><dd>{digest}</dd>"]
    if report.facts is not None:
        unsigned = "not signed when this page was written: `exporter sign BUNDLE --key K.pem`"
        lines.append(f"<dt>signature</dt><dd>{prose(facts.signed or unsigned)}</dd>")
        lines.append(f"<dt>commit</dt><dd>{_commit(facts)}</dd>")
        lines.append(f"<dt>model</dt><dd><code>{text(facts.model)}</code></dd>")
        packages = ", ".join(f"{name} {version}" for name, version in sorted(facts.packages.items()))
        lines.append(f"<dt>made with</dt><dd>{text(packages) or 'not recorded'}</dd>")
    yield _card("Identity", "", f'<dl class="facts">{"".join(lines)}</dl>', "plain wide")


def _commit(facts: Facts) -> str:
    if facts.code is None:
        return tag("open", "in no commit")
    return (
        f"<code>{text(facts.code.commit)}</code> {tag('open', 'dirty') if facts.code.dirty else tag('good', 'clean')}"
    )


# ---- engines
def engines(report: Report) -> str:
    """Every engine on every variant as a product to choose: does it hold, how large, how fast."""
    all_products = products(report)
    if not all_products:
        return ""
    size = compared_size(all_products)
    rows = [_engine(product, size) for product in all_products]
    facts = report.facts or Facts()
    speed = ("#latency, median", "#p95", "#throughput") if size else ("latency, throughput",)
    headings = ("variant by engine", "claims", "#size", *speed, "best of those that hold")
    if facts.timed:
        lead = (
            f"Latency of one call at {code(size)}, in {count(facts.timed.threads, 'thread')}, on "
            f"{text(facts.timed.cpu)}; engines took turns."
        )
    else:
        lead = f"Latency and throughput were not measured. {code(TIMED_BY)} measures them, and marks the fastest."
    return section(
        "engines", "Which variant and engine", table("Variants and engines", headings, rows, "cardsheet"), lead
    )


def _engine(product: Product, size: str) -> list[str]:
    here = at(product, size)
    marks = " ".join(f'<span class="mark">{_MARKS[mark]}</span>' for mark in product.marks)
    held = "holds" if product.holds else "does not hold"
    planned = len(product.run.rows)
    return [
        f'{text(product.run.variant)} <span class="soft">by</span> {text(product.run.by)}'
        f'<br><span class="soft small">{text(product.run.place or "did not run")}</span>',
        f'{tag("good" if product.holds else "bad", held)} <span class="soft">{product.run.matches} of {planned}</span>',
        megabytes(product.bytes),
        *(_speed(here) if size else (_NOT_MEASURED,)),
        marks or '<span class="soft">–</span>',
    ]


def _speed(here: Latency | None) -> tuple[str, str, str]:
    if here is None:
        return _NOT_MEASURED, _NOT_MEASURED, _NOT_MEASURED
    rows, calls = here.rows_per_second, 1 / here.seconds
    return (
        milliseconds(here.seconds),
        milliseconds(here.p95),
        f"{rows:,.0f} rows/s" if rows else f"{calls:,.0f} calls/s",
    )


def milliseconds(seconds: float) -> str:
    """Three digits in milliseconds."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{1e3 * seconds:,.0f} ms"


def megabytes(size: int | None) -> str:
    """Bytes in the unit that one thinks in."""
    if size is None:
        return _NOT_MEASURED
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


# ---- what was not proven
def unproven(report: Report) -> str:
    """What the verdict does not cover, each with what would prove it."""
    unproven = open_ends(report)
    how = '<span class="soft">To prove it:</span>'
    lines = "".join(f"<li>{prose(end.what)} {f'{how} {prose(end.by)}' if end.by else ''}</li>\n" for end in unproven)
    body = f'<ul class="open">\n{lines}</ul>\n' if unproven else ""
    return section("unproven", "What was not proven", body, "The verdict says nothing about these.")
