"""The process that runs tests on mutants, in a copy of the tree: a script that :mod:`evals.mutants.tree` starts.

`warm`: pytest has collected all tests, which took seconds, once; for each mutant the process forks, and the fork puts
the mutant's code into the functions that it changes. `cold`: the fork imports the package and the tests anew, so it
also runs what a mutant changes at import. In both the mutated file lies in the tree first, where children import it.

Each import of a mutated file leaves the number of its process in the folder `seen`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import psutil
import pytest
from _pytest.runner import runtestprotocol

#: What a cold process has imported before it forks: nothing of ours.
HEAVY = ("numpy", "hypothesis", "hypothesis.extra.numpy", "pydantic", "yaml", "xdist", "pytest_timeout", "onnxruntime")
#: Pytest's options in both kinds: no second process, nothing captured, nothing written but below the tree.
OPTIONS = ["-n", "0", "-p", "no:cacheprovider", "-s", "-q", "-m", "", "-o", "timeout=0", "--basetemp=tmp/pytest"]
#: Hypothesis is imported before pytest could rewrite its asserts, which a warning would turn into a failure.
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
#: Seconds without any use of a processor after which a run hangs.
IDLE = 30.0
TRACE = "EXPORTER_MUTANTS_TRACE"


def main() -> None:
    """`server.py warm|cold REQUESTS ANSWERS TEST…`, the two being file descriptors."""
    kind, requests, answers, *tests = sys.argv[1:]
    sys.path[0] = str(Path.cwd())  # in the place of this script's own folder
    channel = Channel(int(requests), int(answers))
    if kind == "cold":
        for name in HEAVY:
            with contextlib.suppress(ImportError):
                __import__(name)
        if tests == ["paddle"]:
            __import__("paddle")
        assert not [name for name in sys.modules if name.partition(".")[0] == "exporter"]
        serve(channel, cold)
    else:
        sys.exit(pytest.main([*OPTIONS, *tests], plugins=[Warm(channel)]))


class Channel:
    """One JSON object a line, in both directions."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = os.fdopen(requests, "r"), os.fdopen(answers, "w")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (json.loads(line) for line in self._requests)

    def answer(self, content: dict[str, Any]) -> None:
        self._answers.write(json.dumps(content) + "\n")
        self._answers.flush()


Work = Callable[[dict[str, Any]], dict[str, Any]]


def serve(channel: Channel, work: Work) -> None:
    """Fork for each request; answer what became of it."""
    for request in channel:
        channel.answer(forked(request, work))


def forked(request: dict[str, Any], work: Work) -> dict[str, Any]:
    """Run the work in a fork of this process, within `cpu` seconds of processor time."""
    shutil.rmtree("tmp", ignore_errors=True)
    shutil.rmtree("seen", ignore_errors=True)
    Path("tmp").mkdir()
    Path("seen").mkdir()
    reader, writer = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _work(request, work, writer)
    os.close(writer)
    timed_out = _watch(pid, request["cpu"])
    _kill_tree(pid)
    _, status, usage = os.wait4(pid, 0)
    with os.fdopen(reader, "rb") as said:
        text = said.read()
    seen = [int(path.name) for path in Path("seen").iterdir()]
    answer = json.loads(text) if text else {"outcome": "died", "by": f"exit status {status}"}
    if timed_out and not text:
        answer = {"outcome": "timed out", "by": timed_out}
    told = {"cpu": usage.ru_utime + usage.ru_stime, "wall": time.monotonic() - started}
    return {**told, "here": pid in seen, "children": len([number for number in seen if number != pid]), **answer}


def _work(request: dict[str, Any], work: Work, writer: int) -> NoReturn:
    """In the fork."""
    os.setpgid(0, 0)
    gc.disable()
    here = str(Path.cwd())
    os.environ.update(TMPDIR=f"{here}/tmp", PYTHONPATH=here, PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_WRONLY)
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if request.get("log") else null
    os.dup2(log, 1)
    os.dup2(log, 2)
    limit = int(request["cpu"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    try:
        answer = work(request)
    except BaseException as error:  # noqa: BLE001 - the server must hear of it, whatever it is
        answer = {"outcome": "broken", "by": f"{type(error).__name__}: {error}"}
    os.write(writer, json.dumps(answer).encode())
    os._exit(0)


def _watch(pid: int, seconds: float) -> str:
    """Wait for a process; why it is to be killed, where it used more processor time or sleeps for good."""
    last, since, pause = -1.0, time.monotonic(), 0.002
    while True:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return ""
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
        if pause < 0.2:
            continue
        used = _used(pid)
        if used > last + 0.01:
            last, since = used, time.monotonic()
        if used > seconds:
            return f"over {seconds:.0f} s of processor time"
        if time.monotonic() - since > IDLE:
            return f"asleep for {IDLE:.0f} s"


def _used(pid: int) -> float:
    """Seconds of processor time of a process and of all below it."""
    total = 0.0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += sum(member.cpu_times()[:4])
    return total


def _kill_tree(pid: int) -> None:
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# ---- cold --------------------------------------------------------------------------------------------------------


class Quick:
    """Hypothesis stops at its first failure: a smaller example would kill no better."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from hypothesis import Phase, settings

        name = "_hypothesis_internal_use_settings"
        for item in items:
            function = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
            if hasattr(function, name):
                setattr(function, name, settings(getattr(function, name), phases=(Phase.explicit, Phase.generate)))


class First(Quick):
    """The first test that failed."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"collection of {report.nodeid}"


def cold(request: dict[str, Any]) -> dict[str, Any]:
    """Import all anew and run the tests up to the first failure."""
    first = First()
    code = int(pytest.main([*OPTIONS, "-x", *request["tests"]], plugins=[first]))
    if code == pytest.ExitCode.USAGE_ERROR and not first.failed:  # the mutant changed what tests are called
        files = dict.fromkeys(name.partition("::")[0] for name in request["tests"])
        code = int(pytest.main([*OPTIONS, "-x", *files], plugins=[first]))
    if code not in (0, 1, 2) and not first.failed:
        return {"outcome": "broken", "by": f"pytest ended with {code}; {first.failed}"}
    return {"outcome": "killed" if code else "survived", "by": first.failed}


# ---- warm --------------------------------------------------------------------------------------------------------


class Warm(Quick):
    """In the place of pytest's loop over tests: a loop over requests."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._items: dict[str, pytest.Item] = {}
        self._functions: dict[tuple[str, str], list[FunctionType]] = {}
        self._shared: dict[str, tuple[float, float]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """What a fixture costs that several tests share: in a fork the first of them that runs makes it anew."""
        start, used = time.monotonic(), _used(os.getpid())
        yield
        if fixturedef.scope != "function":
            self._shared[fixturedef.argname] = (time.monotonic() - start, _used(os.getpid()) - used)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            self._channel.answer({"error": "a test file cannot be collected"})
            return True
        self._items = {item.nodeid: item for item in session.items}
        package = f"{Path.cwd()}/exporter/"
        for thing in gc.get_objects():
            if type(thing) is FunctionType and thing.__code__.co_filename.startswith(package):
                place = (thing.__code__.co_filename, thing.__code__.co_qualname)
                self._functions.setdefault(place, []).append(thing)
        gc.freeze()
        self._channel.answer({"tests": list(self._items), "paddle": "paddle" in sys.modules})
        serve(self._channel, self._work)
        return True

    def _work(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "record":
            return self._record(request)
        if not self._swap(Path(request["file"]).resolve()):
            return {"outcome": "cold", "by": "it changes what runs at import"}
        failed = self._run([self._items[name] for name in request["tests"]])
        return {"outcome": "killed" if failed else "survived", "by": failed}

    def _run(self, items: list[pytest.Item]) -> str:
        """Run tests; the first that failed."""
        for at, item in enumerate(items):
            following = items[at + 1] if at + 1 < len(items) else None
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
                return item.nodeid
        return ""

    def _swap(self, file: Path) -> bool:
        """Put the code of the mutated file into the functions that differ; False where a fork is not enough."""
        original = _code_of(compile(Path(f"{file}.original").read_text(), str(file), "exec", dont_inherit=True))
        mutated = _code_of(compile(Path(f"{file}.mutated").read_text(), str(file), "exec", dont_inherit=True))
        changed = [name for name, code in mutated.items() if code != original.get(name)]
        if not changed or original.keys() != mutated.keys():
            return False
        for name in changed:
            functions = self._functions.get((str(file), name), [])
            if not functions or any(function.__code__ != original[name] for function in functions):
                return False
            for function in functions:
                if len(mutated[name].co_freevars) != len(function.__code__.co_freevars):
                    return False
                function.__code__ = mutated[name]
        return True

    def _record(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run every test once and write what each costs and which lines of `files` it runs, in children too."""
        files = {str(Path(name).resolve()): name for name in request["files"]}
        trace = Path("tmp/trace")
        trace.touch()
        os.environ[TRACE] = json.dumps({"into": str(trace.resolve()), "files": list(files)})
        items, told = [self._items[name] for name in request["tests"]], {}
        for at, item in enumerate(items):
            before, lines = trace.stat().st_size, set[tuple[str, int]]()
            start, used, made = time.monotonic(), _used(os.getpid()), dict(self._shared)
            following = items[at + 1] if at + 1 < len(items) else None
            with traced(files, lambda file, line, into=lines: into.add((files[file], line))):  # type: ignore[misc]
                reports = runtestprotocol(item, log=False, nextitem=following)
            with trace.open("rb") as written:
                written.seek(before)
                below = {tuple(text.rsplit(":", 1)) for text in written.read().decode().split()}
            needed = set(getattr(item, "fixturenames", ()))
            in_children = {(files[file], int(line)) for file, line in below} - lines
            told[item.nodeid] = {
                "failed": any(report.failed for report in reports),
                "skipped": any(report.skipped for report in reports),
                "seconds": max(time.monotonic() - start, 0.001) + sum(made[name][0] for name in made if name in needed),
                "cpu": _used(os.getpid()) - used + sum(made[name][1] for name in made if name in needed),
                "lines": _by_file(lines),
                "children": _by_file(in_children),
            }
        Path(request["into"]).write_text(json.dumps(told))
        return {"outcome": "recorded", "by": ""}


def _by_file(lines: set[tuple[str, int]]) -> dict[str, list[int]]:
    return {file: sorted(line for name, line in lines if name == file) for file in sorted({name for name, _ in lines})}


def _code_of(module: CodeType) -> dict[str, CodeType]:
    """The code of a module's functions and methods by qualified name; that of the module and its classes as `''`, `C`.

    What runs at import is compared by what it does, not by the functions that it defines.
    """
    found: dict[str, CodeType] = {}
    pending = [("", module)]
    while pending:
        name, code = pending.pop()
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for function in inner:
            if function.co_flags & 2 and not function.co_name.startswith("<"):  # CO_NEWLOCALS: a function
                found[function.co_qualname] = function
            elif not function.co_name.startswith("<"):
                pending.append((function.co_qualname, function))
        plain = tuple(
            constant
            for constant in code.co_consts
            if not isinstance(constant, CodeType) or constant.co_name.startswith("<")
        )
        found[f"import of {name}"] = code.replace(co_consts=plain, co_linetable=b"")
    return found


@contextlib.contextmanager
def traced(files: dict[str, str], tell: Callable[[str, int], None]) -> Iterator[None]:
    """Call `tell` with the file and line of whatever runs in these files, in every thread that begins here."""
    import threading

    def in_frame(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            tell(frame.f_code.co_filename, frame.f_lineno)
        return in_frame

    def on_call(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        tell(frame.f_code.co_filename, frame.f_lineno)
        return in_frame

    before = sys.gettrace()
    threading.settrace(on_call)
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(None)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
