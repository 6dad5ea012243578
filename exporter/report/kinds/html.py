"""report.html: one page on which a release manager decides, and that needs nothing but itself.

The first screen answers (:mod:`exporter.report.first_screen`), pictures show (:mod:`exporter.report.pictures`), and
below stands every claim.
"""

from __future__ import annotations

from collections.abc import Mapping

from exporter.base.words import count
from exporter.prove.judge.report import Report
from exporter.prove.judge.settings import conditions
from exporter.prove.verdict.claim import Claim, Evidence
from exporter.report import first_screen, pictures
from exporter.report.base import Renderer
from exporter.report.chart import scale_of, strip
from exporter.report.failure import causes
from exporter.report.markup import breakable, outcome_tag, section, table, tag, text, tone
from exporter.report.operators import of_operators
from exporter.report.page import document
from exporter.report.summary import (
    Group,
    blames,
    error_ratio,
    extent,
    groups,
    notes,
    number,
    runs,
    truths,
    waivers,
    what,
)
from exporter.report.summary import title as word_of

_METRICS = ("max_abs", "max_rel", "max_ulp")


def render(report: Report) -> str:
    """From the answer down to the last claim."""
    body = [
        first_screen.engines(report),
        first_screen.product(report),
        first_screen.unproven(report),
        _causes(report),
        of_operators(report),
        pictures.of_blames(report),
        pictures.of_products(report),
        pictures.of_noise(report),
        _runs(report),
        _groups(report, groups(report)),
        _sentences("blame", "Blame", blames(report)),
        _sentences("waivers", "Waivers", waivers(report)),
        _sentences("notes", "Notes", notes(report)),
        _method(report),
        _settings(report),
        _claims(report),
    ]
    main = "".join(part for part in body if part)
    page = f"{first_screen.banner(report)}<main>\n{main}</main>\n{_footer(report)}\n"
    return document(f"{word_of(report)}: {report.name} {report.version}", page)


def _causes(report: Report) -> str:
    """Of each further variant that does not hold what the banner says of the first."""
    rest = causes(report)[1:]
    parts = [
        f'<div class="group bad"><h3>{breakable(one.variant)}</h3>{first_screen.told(one)}</div>\n' for one in rest
    ]
    return section("causes", "What else does not hold", "".join(parts))


def _runs(report: Report) -> str:
    scale = scale_of(report)
    rows = []
    for run in runs(report):
        ratio = number(error_ratio(run.worst[1])) if run.worst else "-"
        place = f'<span class="soft small">{text(run.place or "did not run")}</span>'
        rows.append(
            [
                f'<b>{text(run.variant)}</b> <span class="soft">by</span> {text(run.by)}<br>{place}',
                tag(tone(run.gravest), f"{run.matches} of {len(run.rows)}"),
                run.bits.replace("/", " of "),
                ratio,
                strip(run, scale) if run.worst else "",
            ]
        )
    headings = ("variant by engine", "#match", "#equal in bits", "#worst ratio", "error ratio of each case")
    lead = (
        f"Each dot is one case: its error against the truth, in units of eager's own. Up to {report.budget:g} is "
        "allowed; the zone beyond is shaded."
    )
    return section(
        "runs", "Every variant on every engine", table("Error ratios", headings, rows, "cardsheet strips"), lead
    )


def _groups(report: Report, found: list[Group]) -> str:
    """Each reason with its claims; where their figures differ, each claim keeps its own."""
    parts = []
    for group in found:
        own = {claim: report.verdict.of(claim).reason for claim in group.claims}
        listed = _each(own) if len(set(own.values())) > 1 else _together(group)
        parts.append(
            f'<div class="group {tone(group.outcome)}">{outcome_tag(group.outcome)} '
            f'<span class="soft">{count(len(group.claims), "claim")}</span>'
            f'<p class="reason">{text(group.reason)}</p>{listed}</div>\n'
        )
    return section("reasons", "Not a match", "".join(parts))


def _together(group: Group) -> str:
    lines = "".join(f"<li><b>{text(name)}</b>: {text(', '.join(at))}</li>" for name, at in group.by_run().items())
    return f"<ul>{lines}</ul>"


def _each(reasons: Mapping[Claim, str]) -> str:
    lines = "".join(
        f"<li><b>{text(f'{claim.variant}/{claim.engine or claim.kind}')}</b>: {text(what(claim))}: {text(said)}</li>"
        for claim, said in reasons.items()
    )
    return f"<details><summary>The figure of each of {count(len(reasons), 'claim')}</summary><ul>{lines}</ul></details>"


def _sentences(name: str, title: str, lines: list[str]) -> str:
    body = f'<ul class="plain">{"".join(f"<li>{text(line)}</li>" for line in lines)}</ul>\n' if lines else ""
    return section(name, title, body)


def _method(report: Report) -> str:
    budget = f"{report.budget:g}"
    reference = "the reference file" if report.of_a_file else "the eager layer"
    terms = {
        "Claims": f"{extent(report)}. A claim says that one output of one case, computed by one engine from one "
        f"variant, equals {reference}'s; or that a variant stores the trained parameters. All were planned before "
        "anything ran; one without evidence is missing.",
        "Truth": "; ".join(truths(report)) + "." if truths(report) else "",
        "Error ratio": f"The error against the truth, divided by that of {reference} in float32, as it is or with "
        f"its weights moved by one unit in the last place. Up to {budget} is allowed, in the largest error and in the "
        "root mean square alike. Whole numbers must be equal.",
        "Interface": "A claim holds only where the result came under the promised name, with the type and shape that "
        f"{reference} gives.",
        "Controls": "An impostor (zeros, the mean, another case's output) that passed at the same tolerance would make "
        "a claim vacuous, and the verdict failed.",
    }
    lines = [f"<div><dt>{term}</dt><dd>{text(said)}</dd></div>" for term, said in terms.items() if said]
    return section("method", "How it was judged", f'<dl class="method">{"".join(lines)}</dl>\n')


def _settings(report: Report) -> str:
    """What each engine was asked for and what it says that it did; nothing where none came so far."""
    rows = [
        [f"<b>{text(one.variant)}</b>", text(one.engine), _listed(one.settings.asked), _listed(one.settings.effective)]
        for one in conditions(report.verdict)
    ]
    if not rows:
        return ""
    sheet = table("Settings of each engine", ("variant", "engine", "asked for", "in effect"), rows, "cardsheet")
    return section(
        "settings", "Settings", f"<details><summary>{count(len(rows), 'session')}</summary>\n{sheet}</details>\n"
    )


def _listed(settings: Mapping[str, str | int | bool]) -> str:
    return text(", ".join(f"{name} {value}" for name, value in sorted(settings.items())) or "nothing")


def _claims(report: Report) -> str:
    names = ("output", "variant", "engine", "kind", "case", "outcome", "bits", "#elements", "#ratio")
    headings = (*names, *(f"#{name.replace('_', ' ')}" for name in _METRICS))
    sheet = table("Every claim with its evidence", headings, [_claim(*row) for row in report.rows()])
    planned = count(len(report.verdict.plan), "claim")
    return section("claims", "Every claim", f"<details><summary>All {planned}</summary>\n{sheet}</details>\n")


def _claim(claim: Claim, evidence: Evidence) -> list[str]:
    values = (evidence.metrics.get(name) for name in ("error_ratio", *_METRICS))
    return [
        text(claim.output or claim.kind),
        *(text(one) for one in (claim.variant, claim.engine, claim.kind, claim.case)),
        outcome_tag(evidence.outcome),
        "equal" if evidence.bit_equal else "-",
        str(evidence.elements),
        *(number(value) for value in values),
    ]


def _footer(report: Report) -> str:
    if report.digest:
        return f"<footer>Digest of the bundle: <code>{text(report.digest)}</code></footer>"
    return "<footer>The digest of the bundle is in its manifest.json, which lists this page too.</footer>"


plugin: Renderer = render
