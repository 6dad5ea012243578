"""What became of several specs, as Markdown: what did not pass comes first and open, what passed is folded.

GitHub takes 65,536 characters in a comment and 1 MiB in a summary of a step; it all stays below the smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as escape_html

from exporter.base.words import count, plain
from exporter.report.gate import Gated, headline
from exporter.report.kinds import markdown

#: Bytes of UTF-8, of which a text has at least as many as characters, however those are counted.
LIMIT = 65_536
#: Characters of a cell and of the heading: a reason may quote the whole output of an engine.
_CELL, _HEADING = 300, 2000


def as_markdown(results: Sequence[Gated], limit: int = LIMIT) -> str:
    """A table of the specs, then the details of each: in `limit` bytes, which is at least 1,000.

    Where that is too little, the details of specs that passed go first, the last of them before all others; then the
    end is cut off. A line says what was left out.
    """
    ordered = sorted(results, key=lambda one: 2 if one.unreleased else int(one.passed))
    head = [f"# Gate: {_text(headline(results), _HEADING)}\n", _table(ordered) + "\n"]
    head += [_details(one, opened=True) for one in ordered if not one.passed and not one.unreleased]
    passed = [_details(one, opened=False) for one in ordered if one.passed and one.report is not None]
    if _size(whole := "\n".join([*head, *passed])) <= limit:
        return whole
    room = limit - _size("\n".join([*head, _left_out(len(passed), limit)]))
    if room < 0:
        return _cut("\n".join(head), len(passed), limit)
    kept = 0
    while kept < len(passed) and (room := room - _size(passed[kept]) - 1) >= 0:
        kept += 1
    return "\n".join([*head, *passed[:kept], _left_out(len(passed) - kept, limit)])


def _table(ordered: Sequence[Gated]) -> str:
    rows = [
        f"| {_text(one.spec)} | {one.word} | {int(one.exit)} | {_took(one)} | {_text(one.why)} | {_text(one.said)} |"
        for one in ordered
    ]
    return "\n".join(["| spec | result | exit | seconds | touched by | |", "|:--|:--|--:|--:|:--|:--|", *rows])


def _took(one: Gated) -> str:
    if one.reused:
        return "reused"
    return "" if one.seconds is None else f"{one.seconds:.1f}"


def _details(one: Gated, *, opened: bool) -> str:
    """Folded by HTML, of which GitHub and GitLab take this much; Markdown in it needs the empty lines."""
    said = markdown.quiet(escape_html(plain(f"{one.word}: {_short(one.spec)}: {_short(one.said)}")))
    start = f"<details{' open' if opened else ''}><summary>{said}</summary>"
    # No line may begin with a text that is not ours: `-` or `#` would be markup there.
    parts = [
        f"- In {_text(f'{each.location}: {each.code}: {each.message}. {each.cure}', 1000)}" for each in one.findings
    ]
    if one.report is None and not parts:
        parts.append(f"Exit {int(one.exit)}: {_text(one.said, 4000)}")
    body = "".join(f"{part}\n" for part in parts)
    body += markdown.render(one.report) if one.report is not None else ""
    return f"{start}\n\n{body}\n</details>\n"


def _left_out(details: int, limit: int) -> str:
    what = f"Left out: the details of {count(details, 'spec')} that passed. " if details else ""
    return f"{what}This holds at most {limit:,} bytes; JUnit XML and parity.json have all of it.\n"


def _cut(text: str, passed: int, limit: int) -> str:
    """As many whole lines as there is room for; details that were begun are ended."""
    lines = text.split("\n")
    sections = sum(line.startswith("<details") for line in lines)
    ending = "\n</details>\n\n{}"
    room = limit - _size(ending.format(_cut_off(len(lines), sections, passed, limit)))
    kept: list[str] = []
    for line in lines:
        if (room := room - _size(line) - 1) < 0:
            break
        kept.append(line)
    begun, ended = sum(line.startswith("<details") for line in kept), kept.count("</details>")
    said = _cut_off(len(lines) - len(kept), sections - ended, passed, limit)
    return "\n".join([*kept, ending.format(said) if begun > ended else f"\n{said}"])


def _cut_off(lines: int, sections: int, passed: int, limit: int) -> str:
    what = f"{count(lines, 'line')}, so that the details of {count(sections, 'spec')} that did not pass are not whole"
    return f"Cut off here: {what}. {_left_out(passed, limit)}"


def _text(text: str, most: int = _CELL) -> str:
    return markdown.escaped(_short(text, most))


def _short(text: str, most: int = _CELL) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
