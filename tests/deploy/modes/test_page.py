"""The page of a comparison: one HTML file that needs nothing but itself, with what the Markdown says."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from exporter.base.errors import UsageError
from exporter.deploy.modes.page import require_page, write_page
from exporter.deploy.modes.parts import parts
from tests.deploy.modes.test_claims import measured


def test_the_html_file_holds_every_claim_table_and_curve_and_loads_nothing(tmp_path: Path) -> None:
    found = measured()
    write_page(tmp_path / "deep/page.html", found)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.html"], "no file beside it"
    page = (tmp_path / "deep/page.html").read_text()
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page) and "<script" not in page
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))
    for part in parts(found):
        assert part.heading in shown
        assert all(word in shown for said in part.claims for word in (said.claim, said.measured, said.verdict))
        cells = [cell for row in part.table.rows for cell in row] if part.table else []
        assert all(cell in shown for cell in cells) and all(point in shown for point in part.points)
    (picture,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    curves = ElementTree.fromstring(base64.b64decode(picture))
    assert len(curves.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_names_are_text_on_the_page(tmp_path: Path) -> None:
    found = measured()
    titles = {**found.titles, "ast": "<b onload=x>to_static & AST"}
    write_page(tmp_path / "page.html", type(found)(**{**vars(found), "titles": titles}))
    page = (tmp_path / "page.html").read_text()
    assert "<b onload" not in page and "&lt;b onload=x&gt;to_static &amp; AST" in page


@pytest.mark.parametrize("name", ["page", "page.pdf", "page.md.txt"])
def test_a_file_of_another_kind_is_refused_before_anything_is_measured(name: str) -> None:
    with pytest.raises(UsageError, match="neither an HTML nor a Markdown file"):
        require_page(Path(name))
