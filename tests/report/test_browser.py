"""The page in a real browser: nothing overflows, loads or complains; both schemes can be read, by keyboard too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report import browser
from tests.report.stored_reports import FORMS, REPORTS
from tests.report.test_operators import chain, report_with

pytestmark = pytest.mark.skipif(not browser.found(), reason=browser.WHY_NOT)
SHOWN = ("passed", "failed", "noisy", "missing", "own")

#: Of each text that is shown: what is written, its contrast with what lies behind it, and its element. Colours behind
#: are laid over one another from the root on; text in SVG has its box's fill behind it.
CONTRASTS = """
(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const parse = text => [...numbers(text).slice(0, 3), numbers(text)[3] ?? 1];
  const over = (top, below) => top.slice(0, 3).map((value, at) => value * top[3] + below[at] * (1 - top[3]));
  const light = colour => colour.map(value => value / 255)
    .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = element => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(at);
    let colour = [255, 255, 255];
    for (const at of chain) {
      colour = over(parse(getComputedStyle(at).backgroundColor), colour);
      const inside = at.tagName === 'g' && element.getAttribute('class') !== 'said';
      const box = inside && at.querySelector('rect:not(.bar), circle');
      const fill = box && getComputedStyle(box).fill;
      if (fill && fill !== 'none') colour = over(parse(fill), colour);
    }
    return colour;
  };
  const found = [];
  for (const details of document.querySelectorAll('details')) details.open = true;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || ['title', 'desc'].includes(element.tagName) || !element.getClientRects().length) continue;
    if (element.closest('.unseen')) continue;
    const svg = element.closest('svg'), colour = parse(svg ? style.fill : style.color), below = behind(element);
    const [a, b] = [light(over(colour, below)), light(below)];
    found.push([node.data.trim().slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.tagName]);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[browser.Page]:
    with browser.browsing() as page:
        yield page


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("pages")
    for name in SHOWN:
        report = report_with(chain(60, 23)) if name == "own" else REPORTS[name]()
        (place / f"{name}.html").write_text(FORMS["html"](report), encoding="utf-8")
    return {name: place / f"{name}.html" for name in SHOWN}


@pytest.mark.parametrize("width", [420, 1400])
@pytest.mark.parametrize("name", SHOWN)
def test_it_fits_loads_nothing_and_complains_of_nothing(
    tab: browser.Page, pages: dict[str, Path], name: str, width: int
) -> None:
    tab.open(pages[name], width)
    tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert tab.run("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll('body *')].filter(one => !one.closest('.sheet') && !one.closest('.unseen')
        && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""
    assert tab.run(wide) == []
    urls = [event["params"]["request"]["url"] for event in tab.events if event["method"].startswith("Network")]
    assert urls == [pages[name].resolve().as_uri()]
    assert [event for event in tab.events if not event["method"].startswith("Network")] == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", SHOWN)
def test_every_text_stands_out_from_what_lies_behind_it(
    tab: browser.Page, pages: dict[str, Path], name: str, dark: bool
) -> None:
    tab.open(pages[name], 1400, dark=dark)
    contrasts = tab.run(CONTRASTS)
    assert len(contrasts) > 150 and {"P", "TD", "text"} <= {element for _, _, element in contrasts}
    assert [one for one in contrasts if one[1] < 4.5] == []
    brightness = tab.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
    assert (brightness < 60) == dark, "each scheme is its own"


def test_pictures_keep_their_shape_and_the_ratio_is_in_sight_on_a_phone(
    tab: browser.Page, pages: dict[str, Path]
) -> None:
    tab.open(pages["failed"], 420)
    shapes = """[...document.querySelectorAll('svg')].map(one => [one.clientWidth / one.clientHeight,
        one.viewBox.baseVal.width / one.viewBox.baseVal.height, one.getBoundingClientRect().right])"""
    found = tab.run(shapes)
    assert len(found) > 5
    assert all(abs(shown / drawn - 1) < 0.02 and right <= 420 for shown, drawn, right in found)
    ratio = """[...document.querySelectorAll('[data-name="worst ratio"]')].map(one =>
        [one.innerText, one.getBoundingClientRect().right, getComputedStyle(one, '::before').content])"""
    ratios = tab.run(ratio)
    assert ["53,400", '"worst ratio: "'] in [[text, before] for text, _, before in ratios]
    assert all(right <= 420 for _, right, _ in ratios)


def test_a_keyboard_reaches_everything_in_the_order_of_the_page_and_shows_where_it_is(
    tab: browser.Page, pages: dict[str, Path]
) -> None:
    tab.open(pages["failed"], 1400)
    order = tab.run("document.querySelectorAll('summary, [tabindex]').length")
    place = """(() => { const at = document.activeElement, style = getComputedStyle(at);
        const top = at.getBoundingClientRect().top + scrollY;
        return [at.tagName, top, style.outlineStyle, style.outlineWidth]; })()"""
    seen = []
    for _ in range(order):
        tab.press_tab()
        seen.append(tab.run(place))
    hidden = tab.run("document.querySelectorAll('details:not([open]) [tabindex]').length")
    reached = seen[: order - hidden]
    assert {tag for tag, *_ in reached} == {"DIV", "SUMMARY"} and len(reached) > 5
    assert [top for _, top, *_ in reached] == sorted(top for _, top, *_ in reached)
    assert all(style == "solid" and width == "3px" for _, _, style, width in reached)


def test_a_screen_reader_finds_landmarks_and_each_picture_has_a_name(tab: browser.Page, pages: dict[str, Path]) -> None:
    tab.open(pages["failed"], 1400)
    tab.ask("Accessibility.enable")
    nodes = [one for one in tab.ask("Accessibility.getFullAXTree")["nodes"] if not one.get("ignored")]
    named = [(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes]
    roles = {role for role, _ in named}
    assert {"banner", "main", "contentinfo", "region", "table", "columnheader", "rowheader"} <= roles
    pictures = [name for role, name in named if role in ("image", "img", "graphics-document", "SvgRoot")]
    assert len(pictures) > 5 and all(pictures)
    assert any("Graph of Net" in name for name in pictures)
    assert [name for role, name in named if role == "heading" and not name] == []
