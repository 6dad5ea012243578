"""A real headless browser for the page: Chromium, driven over a pipe by the DevTools protocol; no package is needed.

`apt-get install chromium` installs it on Debian and Ubuntu's `chromium-browser` or Google's `google-chrome` does as
well; BROWSER_FOR_TESTS names another one.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WHY_NOT = "no browser is installed: apt-get install chromium, or name one in BROWSER_FOR_TESTS"
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
#: Events that tell of a request, and of what a console would show.
_HEARD = ("Network.requestWillBeSent", "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")


def found() -> str:
    """The browser's path; empty where there is none."""
    own = os.environ.get("BROWSER_FOR_TESTS", "")
    return own or next((path for name in NAMES if (path := shutil.which(name))), "")


class Page:
    """One tab. `events` are those that came since it was opened, and are in `_HEARD`."""

    def __init__(self, pipes: tuple[int, int]) -> None:
        self._read, self._write = pipes
        self._number, self._rest, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._hear(answer)

    def attach(self) -> None:
        """Open the tab."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def open(self, path: Path, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Show a file at a width in CSS pixels, in one of the two schemes."""
        self.events.clear()
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while not self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
            pass

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press_tab(self) -> None:
        """As a user without a mouse goes on."""
        key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        self.ask("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **key)

    def picture(self, height: int) -> bytes:
        """A PNG of the page from its top."""
        width = self.run("document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser is gone")
            self._rest += part
        raw, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(raw))

    def _hear(self, event: dict[str, Any]) -> None:
        if event.get("method") in _HEARD:
            self.events.append(event)


@contextmanager
def browsing() -> Iterator[Page]:
    """A browser with one tab, and its own profile, which is removed."""
    commands, answers = os.pipe(), os.pipe()

    def connect() -> None:  # the protocol wants its commands at 3, and answers at 4
        reading, writing = os.dup(commands[0]), os.dup(answers[1])
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    with tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True) as profile:
        command = [found(), *_OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=connect, close_fds=False
        )
        os.close(commands[0])
        os.close(answers[1])
        page = Page((answers[0], commands[1]))
        try:
            page.attach()
            yield page
        finally:
            child.kill()
            child.wait()
            os.close(answers[0])
            os.close(commands[1])
