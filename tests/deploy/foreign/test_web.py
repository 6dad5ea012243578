"""onnxruntime-web: the page in a real browser, what it saves, and what it shows where a number differs."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import STORED, exporter
from tests.report import browser

#: The bytes of what the link saves, in base64.
SAVED = """
fetch(document.getElementById('save').href).then(answer => answer.arrayBuffer()).then(buffer => {
  let text = '';
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
})
"""


@pytest.fixture(scope="module")
def folder(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("web")
    words = ["--to", "onnxruntime_web", "--using", node_modules, "--out", place / "there"]
    done = exporter("handoff", STORED, *words, "--json", cwd=place)
    assert done.code == 0, done.err
    assert "11 recorded cases, largest error ratio" in done.json()["how"]
    return place / "there"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: Any) -> None:
        del words


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def checked(page: browser.Page, address: str) -> tuple[str, str]:
    """How the page ended, and what it says of it."""
    page.ask("Page.navigate", url=address)
    waits = """new Promise(done => { const look = () => document.body?.dataset.state
      ? done([document.body.dataset.state, document.getElementById('state').textContent]) : setTimeout(look, 50);
      look(); })"""
    ready = "location.href.startsWith('http') && document.readyState === 'complete'"
    while not page.run(ready):
        pass
    answer = page.ask("Runtime.evaluate", expression=waits, awaitPromise=True, returnByValue=True)
    state, said = answer["result"]["value"]
    return state, said


@pytest.mark.skipif(not browser.found(), reason=browser.WHY_NOT)
def test_the_page_runs_every_case_and_saves_answers_that_are_judged(address: str, tmp_path: Path) -> None:
    with browser.browsing() as page:
        state, said = checked(page, address)
        assert state == "done" and "11 cases, all as recorded: the largest error ratio is" in said
        urls = [event["params"]["request"]["url"] for event in page.events if event["method"].startswith("Network")]
        assert urls and all(url.startswith((address, "blob:", "data:")) for url in urls)
        saved = page.ask("Runtime.evaluate", expression=SAVED, awaitPromise=True, returnByValue=True)
    archive = tmp_path / "answers.tar"
    archive.write_bytes(base64.b64decode(saved["result"]["value"]))
    words = ["--answers", archive, "--engine", "onnxruntime-web in a headless Chromium"]
    done = exporter("verify", STORED, *words, "--json", cwd=tmp_path)
    assert (done.code, done.json()["verdict"]) == (0, "passed"), done.out + done.err
    assert any("onnxruntime-web 1.30.0 on wasm, Mozilla/5.0" in note for note in done.json()["notes"])


@pytest.mark.skipif(not browser.found(), reason=browser.WHY_NOT)
def test_the_page_shows_what_differs(folder: Path, address: str) -> None:
    path = folder / "expected/3.0.bin"
    right = path.read_bytes()
    path.write_bytes(bytes(8) + right[8:])
    try:
        with browser.browsing() as page:
            state, said = checked(page, address)
            assert (state, said) == ("differs", "11 cases, 1 outputs DIFFER from what was recorded")
            assert page.run("document.querySelectorAll('tr.differs').length") == 1
    finally:
        path.write_bytes(right)


@pytest.mark.skipif(not browser.found(), reason=browser.WHY_NOT)
def test_a_runtime_that_is_not_there_is_said(address: str) -> None:
    with browser.browsing() as page:
        state, said = checked(page, f"{address}?runtime=elsewhere/ort.mjs")
    assert state == "failed" and said.startswith("could not be checked:")


def test_the_page_needs_nothing_that_is_not_beside_it(folder: Path) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"index.html", "page.mjs", "engine.mjs", "runtime/ort.wasm.min.mjs", "model/model.onnx"} < names
    assert json.loads((folder / "kit.json").read_text())["runtime"]["name"] == "onnxruntime-web"
