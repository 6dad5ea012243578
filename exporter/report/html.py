"""report.html: one page that a release manager can read, and that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from exporter.judge.report import Report
from exporter.judge.settings import conditions
from exporter.report._chart import axis, scale_of, strip
from exporter.report._style import STYLE
from exporter.report._summary import (
    Group,
    Row,
    Run,
    bits_count,
    blames,
    error_ratio,
    extent,
    groups,
    headline,
    notes,
    number,
    runs,
    truths,
    waivers,
    worst,
)
from exporter.report._summary import title as word_of
from exporter.report._words import count, plain
from exporter.report.base import Renderer
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome

_TONES = {"passed": "good", "failed": "bad"}
_METRICS = ("max_abs", "max_rel", "max_ulp")
#: The browser itself is told that nothing may be loaded or run, whatever a name or a reason contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(report: Report) -> str:
    """From the verdict down to the last claim."""
    title = f"{word_of(report)}: {_text(report.name)} {_text(report.version)}"
    body = [
        _banner(report),
        _proven(report),
        _runs(report),
        _groups(groups(report)),
        _sentences("Blame", blames(report)),
        _sentences("Waivers", waivers(report)),
        _sentences("Notes", notes(report)),
        _method(report),
        _settings(report),
        _claims(report),
        _footer(report),
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{title}</title>
<style>
{STYLE}
</style>
</head>
<body>
<main>
{"".join(part + chr(10) for part in body if part)}</main>
</body>
</html>
"""


def _banner(report: Report) -> str:
    word, title = report.verdict.word, f"{_text(report.name)} {_text(report.version)}"
    reason = f'<p class="why"><b>First reason:</b> {_text(report.first_reason())}</p>' if report.first_reason() else ""
    return f"""<header class="banner {_TONES.get(word, "open")}">
<p class="what"><b>{title}</b> · does what was exported compute what was trained?</p>
<h1>{word_of(report)}</h1>
<p>{_text(headline(report))}.</p>
{reason}
</header>"""


def _proven(report: Report) -> str:
    found = [run for run in runs(report) if run.computed]
    rows = [row for run in found for row in run.rows if row[0].kind == OUTPUTS]
    bits = [evidence.bit_equal for claim, evidence in rows if bits_count(claim)]
    whole = sum(len(set(run.bits.split("/"))) == 1 for run in found)
    cards = [
        _card(
            "Interface",
            _share(sum(evidence.elements > 0 for _, evidence in rows), len(rows)),
            "results came under the promised name, with the type and shape that the eager layer gives.",
            "bad",
        ),
        _card(
            "Bits",
            _share(sum(bits), len(bits)),
            "results in one thread equal the eager layer's bit for bit; "
            f"in {whole} of {count(len(found), 'run')}, all of them.",
            "calm",
        ),
        _rounding(report, rows),
        _card(
            "Matches",
            _share(sum(evidence.outcome is Outcome.MATCH for _, evidence in rows), len(rows)),
            "comparisons hold, and impostors (zeros, the mean, another case's output) failed where these passed.",
            "open",
        ),
        _parameters([run for run in runs(report) if not run.computed]),
    ]
    return f'<h2>What was proven</h2>\n<div class="cards">\n{"".join(cards)}</div>'


def _rounding(report: Report, rows: list[Row]) -> str:
    row = worst(rows)
    if row is None:
        return _card("Rounding", ("none", False), "No floating-point results were compared.", "open")
    ratio = row[1].metrics["error_ratio"]
    compared = sum(error_ratio(evidence) is not None for _, evidence in rows)
    return _card(
        "Rounding",
        (f"{number(ratio)}× <small>of {report.budget:g}×</small>", ratio <= report.budget),
        f"what the eager layer itself errs against the truth: the worst of {count(compared, 'compared result')}, "
        f"at {_text(str(row[0])).replace('/', '/<wbr>')}.",
        "bad",
    )


def _parameters(proofs: list[Run]) -> str:
    proofs = [run for run in proofs if run.by == "weights"]
    if not proofs:
        return ""
    return _card(
        "Parameters",
        _share(sum(run.gravest is Outcome.MATCH for run in proofs), len(proofs)),
        "artifacts store what was trained, compared by content. What a converter folds is left to the error ratio.",
        "bad",
    )


def _share(part: int, whole: int) -> tuple[str, bool]:
    return f"{part} <small>of {whole}</small>", part == whole


def _card(title: str, figure: tuple[str, bool], sentence: str, otherwise: str) -> str:
    """A card: its figure, and whether it is all that one can wish for; the tone in which it speaks otherwise."""
    tone = "good" if figure[1] else otherwise
    return f'<div class="card {tone}"><h3>{title}</h3><div class="figure">{figure[0]}</div><p>{sentence}</p></div>\n'


def _runs(report: Report) -> str:
    scale = scale_of(report)
    lines = []
    for run in runs(report):
        planned = len(run.rows)
        ratio = number(error_ratio(run.worst[1])) if run.worst else "-"
        lines.append(
            f'<tr><td><b>{_text(run.variant)}</b></td><td>{_text(run.by)}<br><span class="soft">'
            f"{_text(run.place or 'did not run')}</span></td>"
            f'<td class="number"><span class="tag {_tone(run.gravest)}">{run.matches} of {planned}</span></td>'
            f'<td class="number">{run.bits.replace("/", " of ")}</td><td class="number">{ratio}</td>'
            f'<td class="chart">{strip(run, scale)}</td></tr>'
        )
    return f"""<h2>Every variant on every engine</h2>
<div class="sheet"><table>
<thead><tr><th>variant</th><th>engine</th><th class="number">match</th><th class="number">equal in bits</th>\
<th class="number">worst ratio</th><th class="chart"><span>error ratio</span>{axis(scale)}</th></tr></thead>
<tbody>
{chr(10).join(lines)}
</tbody></table></div>"""


def _groups(found: list[Group]) -> str:
    if not found:
        return ""
    parts = []
    for group in found:
        where = "".join(
            f"<li><b>{_text(name)}</b>: {_text(', '.join(places))}</li>" for name, places in group.by_run().items()
        )
        parts.append(
            f'<div class="group {_tone(group.outcome)}">{_tag(group.outcome)} '
            f'<span class="soft">{count(len(group.claims), "claim")}</span>'
            f'<p class="reason">{_text(group.reason)}</p><ul>{where}</ul></div>'
        )
    return "<h2>Not a match</h2>\n" + "\n".join(parts)


def _sentences(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    return f'<h2>{title}</h2>\n<ul class="plain">{"".join(f"<li>{_text(line)}</li>" for line in lines)}</ul>'


def _method(report: Report) -> str:
    budget = f"{report.budget:g}"
    terms = {
        "Claims": f"{extent(report)}. A claim says that one output of one case, computed by one engine from one "
        "variant, equals the eager layer's; or that a variant stores the trained parameters. All were planned before "
        "anything ran; one without evidence is missing.",
        "Truth": "; ".join(truths(report)) + "." if truths(report) else "",
        "Error ratio": "The error against the truth, divided by that of the eager layer in float32, as it is or with "
        f"its weights moved by one unit in the last place. Up to {budget} is allowed, in the largest error and in the "
        "root mean square alike. Whole numbers must be equal.",
        "Controls": "An impostor that passed at the same tolerance would make a claim vacuous, and the verdict failed.",
    }
    lines = [f"<div><dt>{term}</dt><dd>{_text(said)}</dd></div>" for term, said in terms.items() if said]
    return f'<h2>How it was judged</h2>\n<dl class="method">{"".join(lines)}</dl>'


def _settings(report: Report) -> str:
    """What each engine was asked for and what it says that it did; nothing where none came so far."""
    lines = [
        f"<tr><td><b>{_text(one.variant)}</b></td><td>{_text(one.engine)}</td>"
        f"<td>{_listed(one.settings.asked)}</td><td>{_listed(one.settings.effective)}</td></tr>"
        for one in conditions(report.verdict)
    ]
    if not lines:
        return ""
    return f"""<h2>Settings</h2>
<div class="sheet"><table>
<thead><tr><th>variant</th><th>engine</th><th>asked for</th><th>in effect</th></tr></thead>
<tbody>
{chr(10).join(lines)}
</tbody></table></div>"""


def _listed(settings: Mapping[str, str | int | bool]) -> str:
    return _text(", ".join(f"{name} {value}" for name, value in sorted(settings.items())) or "nothing")


def _claims(report: Report) -> str:
    names = ("variant", "engine", "kind", "case", "output", "outcome", "bits", "elements", "ratio", *_METRICS)
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    lines = "\n".join(_claim(claim, evidence) for claim, evidence in report.rows())
    return f"""<details><summary>All {count(len(report.verdict.plan), "claim")}</summary>
<div class="sheet"><table><thead><tr>{head}</tr></thead>
<tbody>
{lines}
</tbody></table></div></details>"""


def _claim(claim: Claim, evidence: Evidence) -> str:
    texts = [claim.variant, claim.engine, claim.kind, claim.case, claim.output]
    numbers = [str(evidence.elements), *(number(evidence.metrics.get(name)) for name in ("error_ratio", *_METRICS))]
    return (
        f"<tr>{''.join(f'<td>{_text(one)}</td>' for one in texts)}<td>{_tag(evidence.outcome)}</td>"
        f"<td>{'equal' if evidence.bit_equal else '-'}</td>"
        f"{''.join(f'<td class=number>{one}</td>' for one in numbers)}</tr>"
    )


def _footer(report: Report) -> str:
    if report.digest:
        return f"<footer>Digest of the bundle: <code>{_text(report.digest)}</code></footer>"
    return "<footer>The digest of the bundle is in its manifest.json, which lists this page too.</footer>"


def _tag(outcome: Outcome) -> str:
    return f'<span class="tag {_tone(outcome)}">{outcome.value.replace("_", " ")}</span>'


def _tone(outcome: Outcome) -> str:
    calm = {Outcome.MATCH: "good", Outcome.WAIVED: "calm", Outcome.INCONCLUSIVE: "open"}
    return calm.get(outcome, "bad")


def _text(text: str) -> str:
    """As text, whatever it holds."""
    return escape(plain(text))


plugin: Renderer = render
