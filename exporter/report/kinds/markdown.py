"""The report in Markdown, for a pull request or a release page; tables as GitHub and GitLab read them."""

from __future__ import annotations

import re

from exporter.base.words import count, plain, some
from exporter.prove.judge.report import Report
from exporter.report.base import Renderer
from exporter.report.summary import (
    Group,
    Run,
    blames,
    error_ratio,
    extent,
    groups,
    headline,
    notes,
    number,
    runs,
    title,
    truths,
    waivers,
)

#: What could start markup in the midst of a line, or end a table's cell.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>|~$&]")
#: What would tell a person or a team that they are spoken of: an @ before a letter or digit, escaped or not.
_MENTION = re.compile(r"@(?=\\?\w)")


def render(report: Report) -> str:
    """The verdict, the runs, what is no match and why, waivers and notes."""
    parts = [
        f"## {title(report)}: {escaped(report.name)} {escaped(report.version)}",
        f"{escaped(headline(report))}.",
    ]
    if reason := report.first_reason():
        parts.append(f"First reason: {escaped(reason)}.")
    parts.append(f"Planned: {extent(report)}; an error ratio of {report.budget:g} is allowed.")
    parts.append(_table(runs(report)))
    if found := groups(report):
        parts.append("### Not a match\n\n" + "\n".join(_group(group) for group in found))
    said = (
        ("Blame", blames(report)),
        ("Waivers", waivers(report)),
        ("Notes", notes(report)),
        ("Truth", truths(report)),
    )
    for heading, lines in said:
        if lines:
            parts.append(f"### {heading}\n\n" + "\n".join(f"- {escaped(line)}" for line in lines))
    if report.digest:
        parts.append(f"Digest: `{report.digest}`")
    return "\n\n".join(parts) + "\n"


def _table(found: list[Run]) -> str:
    lines = ["| variant | engine | match | bits | error ratio | worst at | on |", "|:--|:--|--:|--:|--:|:--|:--|"]
    for run in found:
        ratio, place = "-", ""
        if run.worst:
            claim, evidence = run.worst
            ratio, place = number(error_ratio(evidence)), f"{claim.case} {claim.output}"
        counts = f"{run.matches}/{len(run.rows)} | {run.bits}"
        where = f"{escaped(place)} | {escaped(run.place)}"
        lines.append(f"| {escaped(run.variant)} | {escaped(run.by)} | {counts} | {escaped(ratio)} | {where} |")
    return "\n".join(lines)


def _group(group: Group) -> str:
    name = group.outcome.value.replace("_", " ")
    lines = [f"- **{name}**, {count(len(group.claims), 'claim')}: {escaped(group.reason)}"]
    lines += [f"  - {escaped(run)}: {escaped(some(places, 8))}" for run, places in group.by_run().items()]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """As plain text, whatever it holds, which calls nobody by name."""
    return quiet(_MARKUP.sub(r"\\\g<0>", plain(text)))


def quiet(text: str) -> str:
    """With a character of no width behind each `@`: GitHub and GitLab look for `@name` in what Markdown has become."""
    return _MENTION.sub("@&#8203;", text)


plugin: Renderer = render
