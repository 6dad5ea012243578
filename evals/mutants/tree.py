"""A copy of the repository in which files are mutated, and the two servers that run tests in it."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from evals.mutants.faults import Mutant

ROOT = Path(__file__).parents[2]
_SERVER = Path(__file__).with_name("server.py")
#: Python runs it first in every process with the tree on its path: it records the lines that children run.
SITE = """
import json, os, sys, threading
if "EXPORTER_MUTANTS_TRACE" in os.environ:
    def _begin(wish):
        files, seen = set(wish["files"]), set()
        into = os.open(wish["into"], os.O_WRONLY | os.O_APPEND)
        def tell(frame):
            place = (frame.f_code.co_filename, frame.f_lineno)
            if place not in seen:
                seen.add(place)
                os.write(into, f"{place[0]}:{place[1]}\\n".encode())
        def in_frame(frame, event, argument):
            if event == "line":
                tell(frame)
            return in_frame
        def on_call(frame, event, argument):
            if frame.f_code.co_filename not in files:
                return None
            tell(frame)
            return in_frame
        threading.settrace(on_call)
        sys.settrace(on_call)
    _begin(json.loads(os.environ["EXPORTER_MUTANTS_TRACE"]))
"""
#: What a mutated file does last when it is imported: it says where it was.
_WITNESS = "\n__import__('pathlib').Path({folder!r}, str(__import__('os').getpid())).touch()\n"


class ServerEnded(Exception):
    """A server left without an answer."""


class Server:
    """A process of :mod:`evals.mutants.server`."""

    def __init__(self, tree: Path, kind: str, tests: list[str]) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
        with (tree / f"{kind}.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(_SERVER), kind, str(theirs_in), str(theirs_out), *tests],
                cwd=tree,
                env=environment,
                pass_fds=(theirs_in, theirs_out),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        os.close(theirs_in)
        os.close(theirs_out)
        self._log = tree / f"{kind}.log"
        self._requests, self._answers = os.fdopen(ours_out, "w"), os.fdopen(ours_in, "r")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        self._requests.write(json.dumps(request) + "\n")
        self._requests.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """The next answer."""
        line = self._answers.readline()
        if not line:
            raise ServerEnded(self._log.read_text(errors="replace")[-4000:])
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let it end."""
        self._requests.close()
        self._answers.close()
        self._process.wait()


class Tree:
    """The copy, with its servers; the warm one starts at once, the cold one when it is needed."""

    def __init__(self, root: Path, folder: Path, tests: list[str]) -> None:
        self.folder = folder
        self._cold: Server | None = None
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
        (folder / "sitecustomize.py").write_text(SITE)
        compileall.compile_dir(folder / "exporter", quiet=2)
        self._warm = Server(folder, "warm", tests)
        self.hello: dict[str, Any] = {}

    def greet(self) -> None:
        """Wait until the tests are collected."""
        self.hello = self.hello or self._warm.read()
        if "error" in self.hello:
            raise ServerEnded((self.folder / "warm.log").read_text(errors="replace")[-4000:])

    def record(self, files: list[str], tests: list[str]) -> dict[str, Any]:
        """Run tests once: what each costs and which lines it runs."""
        into = self.folder / "recorded.json"
        answer = self._warm.ask({"do": "record", "files": files, "tests": tests, "into": str(into), "cpu": 7200})
        if answer["outcome"] != "recorded":
            raise ServerEnded(str(answer))
        recorded: dict[str, Any] = json.loads(into.read_text())
        return recorded

    def run(self, mutant: Mutant, tests: list[str], cpu: float, cold: bool) -> dict[str, Any]:
        """Run tests on one mutant; the tree is as it was afterwards."""
        place = self.folder / mutant.file
        try:
            compile(mutant.source, mutant.file, "exec", dont_inherit=True)
        except SyntaxError as error:
            return {"outcome": "invalid", "by": str(error)}
        original, mutated = place.with_name(place.name + ".original"), place.with_name(place.name + ".mutated")
        shutil.copy2(place, original)
        (place.parent / "__pycache__" / f"{place.stem}.{sys.implementation.cache_tag}.pyc").unlink(missing_ok=True)
        try:
            mutated.write_text(mutant.source)
            place.write_text(mutant.source + _WITNESS.format(folder=str(self.folder / "seen")))
            request = {"do": "run", "file": mutant.file, "tests": tests, "cpu": cpu}
            answer = {"outcome": "cold"} if cold else self._warm.ask(request)
            if answer["outcome"] != "cold":
                return answer
            if self._cold is None:
                self._cold = Server(self.folder, "cold", ["paddle"] if self.hello["paddle"] else [])
            answer = self._cold.ask({**request, "cpu": cpu + 10})
            if answer["outcome"] == "survived" and not answer["here"]:
                answer |= {"outcome": "never ran", "by": "no process of these tests imported it"}
            return answer
        finally:
            original.replace(place)
            mutated.unlink(missing_ok=True)

    def close(self) -> None:
        """End the servers and remove the copy."""
        self._warm.close()
        if self._cold is not None:
            self._cold.close()
        shutil.rmtree(self.folder, ignore_errors=True)
