"""On a node of a cluster: the process that releases one spec in a copy of the working folder.

`python -m exporter.gate.node REQUEST ANSWER FOLDER PARENT` reads and writes JSON. It is a process of its own, which may
fork and take signals as a release does; it ends with the process that has started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from exporter.base.files import write_json
from exporter.gate.reuse.identity import code_digest
from exporter.gate.task import Task
from exporter.gate.together import interrupt_once
from exporter.gate.told import told_gated
from exporter.gate.touched import Touched
from exporter.process.forkserver import die_with_parent
from exporter.process.job import from_json, to_json
from exporter.process.workers import Limits, Setting


@dataclass(frozen=True)
class ReleaseRequest:
    """A spec as a task releases it, in at most so many children at once (`jobs`); `code` is the digest of ours."""

    spec: Path
    why: str
    overrides: tuple[str, ...]
    out: Path
    trains: bool
    seconds: float
    jobs: int
    follows_costs: bool
    code: str

    @classmethod
    def of(cls, task: Task, spec: Touched, jobs: int) -> ReleaseRequest:
        """Return what a node is asked for a spec of a task."""
        limits, follows = task.setting.limits, task.setting.follows_costs
        about = (spec.path, spec.why, task.overrides, task.out, task.trains)
        return cls(*about, limits.seconds, jobs, follows, code_digest())

    def write(self, path: Path) -> None:
        """Write it for :func:`main`."""
        write_json(path, to_json(ReleaseRequest, self))


@dataclass(frozen=True)
class NodeAnswer:
    """What became of the spec, as JSON of :func:`exporter.gate.told.told_gated`; or what the node `lacks`."""

    gated: object = None
    lacks: str = ""

    def write(self, path: Path) -> None:
        """Write it for whoever asked."""
        write_json(path, to_json(NodeAnswer, self))


def main(request: Path, answer: Path, folder: Path, parent: int) -> None:
    """Release the spec in a folder, and leave what became of it as JSON; `lacks` says why this node cannot.

    It ends with the process of the number `parent`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt_once)
    die_with_parent(signal.SIGTERM, parent)
    content, answer = json.loads(request.read_bytes()), answer.absolute()
    if content["code"] != code_digest():  # another exporter's request may be of another form
        NodeAnswer(lacks="it has another exporter than the machine that asks").write(answer)
        return
    wanted = from_json(ReleaseRequest, content)
    os.chdir(folder)
    setting = Setting(Limits(seconds=wanted.seconds), jobs=wanted.jobs, follows_costs=wanted.follows_costs)
    task = Task(wanted.overrides, wanted.out, wanted.trains, setting, None, reports=True)
    NodeAnswer(gated=told_gated(task.release(Touched(wanted.spec, wanted.why)))).write(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
