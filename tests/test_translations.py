"""A page and its translation hold the same: headings, blocks of code, code in sentences, tables, links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.command import ROOT

TRANSLATED = sorted((*ROOT.glob("*.zh.md"), *(ROOT / "docs").glob("*.zh.md")))
#: Fenced, or indented after an empty line.
BLOCK = re.compile(r"^```.*?^```$|(?<=\n\n)(?: {4}[^\n]*\n)+", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)]+)\)")
CHINESE = re.compile("[\u4e00-\u9fff]")


@dataclass
class Section:
    """What stands between two headings, and is the same in every language."""

    level: int
    blocks: list[str] = field(default_factory=list)
    code: set[str] = field(default_factory=set)
    tables: list[tuple[int, int]] = field(default_factory=list)
    links: Counter[str] = field(default_factory=Counter)


def english_of(page: Path) -> Path:
    return page.with_name(page.name.replace(".zh.md", ".md"))


def parsed(text: str) -> list[Section]:
    """The sections of a page, without the links between the languages."""
    found = []
    blocks = BLOCK.findall(text)
    plain = BLOCK.sub("\0", COMMENT.sub("", text))
    for part in re.split(r"^(?=#+ )", plain, flags=re.MULTILINE)[1:]:
        section = Section(len(part) - len(part.lstrip("#")))
        section.blocks = [blocks.pop(0) for _ in range(part.count("\0"))]
        section.code = {" ".join(code.split()) for code in CODE.findall(part)}
        section.tables = tables(part)
        targets = LINK.findall(CODE.sub("", part))
        section.links = Counter(without_anchor(target.replace(".zh.md", ".md")) for target in targets)
        found.append(section)
    return found


def without_anchor(target: str) -> str:
    """An anchor is a heading, and so in the page's language: of a link within the page only that it is one counts."""
    return target.partition("#")[0] or "#"


def tables(text: str) -> list[tuple[int, int]]:
    """Rows and columns of each table; every row has as many columns as the head."""
    shapes = []
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        widths = [len(re.findall(r"(?<!\\)\|", CODE.sub("`", row))) for row in table.splitlines()]
        assert len(set(widths)) == 1, table
        shapes.append((len(widths), widths[0]))
    return shapes


def differences(english: str, other: str) -> list[str]:
    """What is not the same in both, by the number of the section, from 0 for the title's."""
    ours, theirs = parsed(english), parsed(other)
    if [section.level for section in ours] != [section.level for section in theirs]:
        return ["headings"]
    return [
        f"section {number}: {name}"
        for number, (one, other_one) in enumerate(zip(ours, theirs, strict=True))
        for name in ("blocks", "code", "tables", "links")
        if getattr(one, name) != getattr(other_one, name)
    ]


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.name)
def test_a_translation_holds_what_the_page_holds(page: Path) -> None:
    english, chinese = english_of(page).read_text("utf-8"), page.read_text("utf-8")
    assert differences(english, chinese) == []
    assert all(CHINESE.search(part) for part in re.findall(r"^#.*\n\n(?!\[|\||```)(.+)", chinese, re.MULTILINE))


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.name)
def test_each_page_names_the_other_at_its_top(page: Path) -> None:
    english = english_of(page)
    assert english.read_text("utf-8").splitlines()[2] == f"[中文]({page.name})"
    assert page.read_text("utf-8").splitlines()[2] == f"[English]({english.name})"


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.name)
def test_a_translation_links_to_translations(page: Path) -> None:
    """Where there are any; and to files that are there."""
    targets = {target.partition("#")[0] for target in LINK.findall(page.read_text("utf-8").partition("\n\n## ")[2])}
    for target in filter(None, targets):
        place = (page.parent / target).resolve()
        assert place.exists(), target
        assert place.suffix != ".md" or not place.with_suffix(".zh.md").exists() or place.name.endswith(".zh.md"), (
            target
        )


def test_the_pages_that_readers_of_paddle_need_are_translated() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in TRANSLATED}
    assert names == {"README.zh.md", "docs/ci.zh.md", "docs/parity.zh.md", "docs/spec.zh.md"}


PAGE = "# A\n\n`x` [b](b.md)\n\n## B\n\n```sh\nls\n```\n\n| a | b |\n| --- | --- |\n| `1` | 2 |\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text, []),
        (lambda text: text.replace("b.md", "b.zh.md"), []),
        (lambda text: text.replace("## B", "### B"), ["headings"]),
        (lambda text: text + "## C\n", ["headings"]),
        (lambda text: text.replace("`x`", "x"), ["section 0: code"]),
        (lambda text: text.replace("b.md", "c.md"), ["section 0: links"]),
        (lambda text: text.replace("ls", "ls -l"), ["section 1: blocks"]),
        (lambda text: text + "| 3 | 4 |\n", ["section 1: tables"]),
    ],
)
def test_what_is_not_the_same_is_found(change: Callable[[str], str], said: list[str]) -> None:
    assert differences(PAGE, change(PAGE)) == said


def test_a_row_that_lacks_a_cell_is_found() -> None:
    with pytest.raises(AssertionError):
        parsed(PAGE + "| 3 |\n")
