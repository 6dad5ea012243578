"""The nodes of a Ray cluster: each spec is a task of it, which goes where there are the processors and the memory.

The working folder is sent to the nodes, bundles and runs come back. Ray does the work of a lost node again on another.
Nothing else of exporter knows Ray.
"""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from exporter.base.bounded_json import parse_json
from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.gate.executors.base import MEGABYTES, Executor, lost
from exporter.gate.node import NodeAnswer, ReleaseRequest
from exporter.gate.task import Task
from exporter.gate.told import gated_of
from exporter.gate.touched import Touched
from exporter.gate.tree import changed, files_below, laid, packed, unpacked
from exporter.process.job import from_json
from exporter.process.scratch import scratch
from exporter.report.gate import Gated

_WHERE = "--executor ray"
#: How to get it, here and on each node; pyproject.toml has the same bound.
INSTALL = "pip install 'ray>=2.60'"
_START = "start one with `ray start --head`, or name it in RAY_ADDRESS"
#: How often a task is done again where its node or its process was lost.
_AGAIN = 3
#: Seconds between two looks at the cluster, and looks without a node that could take the task until it is given up.
_LOOK, _LOOKS = 5.0, 12
_LOST = f"each process or node that released it was lost, {_AGAIN + 1} times: look whether memory ran out"
_MOST_VALUES = 10_000_000


class Died(RuntimeError):
    """A process on a node ended without an answer."""


def ray(task: Task, specs: Sequence[Touched]) -> Generator[Gated, None, None]:
    """Release specs on the cluster that RAY_ADDRESS names, or that this machine belongs to.

    Raises:
        EnvironmentLacks: there is no Ray here, no cluster, or no node with the room or this exporter.
        UsageError: `--out` lies outside the working folder, or there is too much to send.
    """
    if not specs:
        return
    if task.out.is_absolute() or ".." in task.out.parts:
        raise UsageError(
            "must lie in the working folder, which nodes get a copy of", where="--out", hint="leave it out"
        )
    library = _library()
    with _connected(library):
        cores = _cores(library, len(specs))
        tree = packed(Path.cwd(), _without(task, specs))
        task.setting.say(f"sending {len(tree) / 1e6:.0f} MB to {len(_nodes(library))} nodes, {cores} processors a spec")
        sent = library.put(tree)
        remote = library.remote(_release).options(
            num_cpus=cores,
            memory=MEGABYTES << 20,
            max_retries=_AGAIN,
            retry_exceptions=[Died],
            scheduling_strategy="SPREAD",
        )
        most = task.setting.jobs or len(specs)
        begun = [remote.remote(sent, ReleaseRequest.of(task, spec, cores)) for spec in specs[:most]]
        try:
            for at, spec in enumerate(specs):
                yield _received(library, begun[at], cores, task, spec)
                if len(begun) < len(specs):
                    begun.append(remote.remote(sent, ReleaseRequest.of(task, specs[len(begun)], cores)))
        finally:
            for reference in begun:
                library.cancel(reference)


def _release(tree: bytes, request: ReleaseRequest) -> tuple[str, str, list[str], bytes]:
    """On a node: release one spec; the node's name, the answer as JSON, and the bundles and runs that were made."""
    with scratch() as place:
        work, out = place / "work", request.out
        unpacked(tree, work)
        before = files_below(work, (out, Path("runs")))
        question, answer, log = place / "request.json", place / "answer.json", place / "log"
        request.write(question)
        command = [sys.executable, "-m", "exporter.gate.node", *map(str, (question, answer, work, os.getpid()))]
        with log.open("wb") as said:
            process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            try:
                process.wait()
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait()
        if not answer.is_file():
            tail = log.read_text(errors="replace")[-2000:]
            raise Died(f"the process on {socket.gethostname()} ended with code {process.returncode}: {tail}")
        return socket.gethostname(), answer.read_text(), *changed(work, out, before)


def _received(library: Any, reference: Any, cores: int, task: Task, spec: Touched) -> Gated:
    """Wait for a spec, and lay what was made of it where it would lie if it had been made here."""
    looks = 0
    while not library.wait([reference], timeout=_LOOK)[0]:
        looks = 0 if any(_fits(node, cores) for node in _nodes(library)) else looks + 1
        if looks >= _LOOKS:
            raise EnvironmentLacks(_too_small(cores), where=_WHERE, hint="add a node to the cluster")
    try:
        node, answer, units, made = library.get(reference)
    except library.exceptions.RayTaskError as error:
        if isinstance(error.cause, Died):
            return lost(spec, f"{_LOST}; {error.cause}")
        what = f"a node cannot release {spec.path}: {error.cause}"
        raise EnvironmentLacks(
            what, where=_WHERE, hint="install the exporter and all that it needs on each node"
        ) from error
    except library.exceptions.RayError as error:
        return lost(spec, f"{_LOST}; {type(error).__name__}")
    content = from_json(NodeAnswer, parse_json(answer.encode(), _MOST_VALUES))
    if content.lacks:
        hint = "install the same the exporter on each node, and the same packages"
        raise EnvironmentLacks(f"node {node}: {content.lacks}", where=_WHERE, hint=hint)
    laid(made, units, Path.cwd())
    task.setting.say(f"{spec.path} was released on {node}")
    return gated_of(content.gated)


def _library() -> Any:
    try:
        import ray as library
    except ImportError as error:
        hint = f"{INSTALL}, on each node too; or leave out {_WHERE}"
        raise EnvironmentLacks("Ray is not installed", where=_WHERE, hint=hint) from error
    return library


class _OfMainThread(io.TextIOBase):
    """Standard output for the main thread; what others print goes to standard error, as Ray's word of a lost node."""

    def __init__(self) -> None:
        self._out, self._main = sys.stdout, threading.main_thread()

    def write(self, text: str) -> int:
        return (self._out if threading.current_thread() is self._main else sys.stderr).write(text)

    def flush(self) -> None:
        self._out.flush()


@contextmanager
def _connected(library: Any) -> Iterator[None]:
    """In the block there is a connection, and standard output belongs to the gate."""
    address = os.environ.get("RAY_ADDRESS") or "auto"
    host, _, port = address.rpartition(":")
    with redirect_stdout(_OfMainThread()):
        try:
            if port.isdigit() and "/" not in host:  # where nobody listens Ray 2.60 would wait for minutes
                socket.create_connection((host, int(port)), timeout=30).close()
            library.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            first = (str(error).strip().splitlines() or ["no answer"])[0]
            raise EnvironmentLacks(f"no Ray cluster at '{address}': {first}", where=_WHERE, hint=_START) from error
        try:
            yield
        finally:
            library.shutdown()


def _nodes(library: Any) -> list[dict[str, Any]]:
    return [node for node in library.nodes() if node["Alive"]]


def _cores(library: Any, specs: int) -> int:
    """Processors for each spec: all that there are, shared by the specs, and no more than the largest node has."""
    counts = [int(node["Resources"].get("CPU", 0)) for node in _nodes(library)]
    cores = max(1, min(max(counts, default=0), sum(counts) // specs))
    if not any(_fits(node, cores) for node in _nodes(library)):
        hint = "add a node, or start it with --num-cpus and --memory"
        raise EnvironmentLacks(_too_small(cores), where=_WHERE, hint=hint)
    return cores


def _fits(node: dict[str, Any], cores: int) -> bool:
    room = node["Resources"]
    return bool(room.get("CPU", 0) >= cores and room.get("memory", 0) >= MEGABYTES << 20)


def _too_small(cores: int) -> str:
    return f"no node of the cluster has {cores} processors and {MEGABYTES} MB of memory"


def _without(task: Task, specs: Sequence[Touched]) -> list[Path]:
    """Folders that no release reads: the cache, and the bundles of other specs."""
    names = {task.identity(spec.path)[0] for spec in specs}
    others = [path for path in task.out.iterdir() if path.name not in names] if task.out.is_dir() else []
    return [*others, *([task.known.store.folder] if task.known else [])]


plugin: Executor = ray
