"""On a node of a cluster: the process that releases one spec in a copy of the working folder.

`python -m exporter.gate.node REQUEST ANSWER` reads and writes JSON. It is a process of its own, which may fork and take
signals as a release does; it ends with the process that has started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from exporter.base.files import write_json
from exporter.gate.reuse.identity import code_digest
from exporter.gate.task import Task
from exporter.gate.together import interrupt_once
from exporter.gate.told import told_gated
from exporter.gate.touched import Touched
from exporter.process.forkserver import die_with_parent
from exporter.process.workers import Limits, Setting


def request_of(task: Task, spec: Touched, jobs: int) -> dict[str, Any]:
    """What a node is asked: a spec as a task releases it, in at most so many children at once."""
    return {
        **{"spec": str(spec.path), "why": spec.why, "overrides": task.overrides, "out": str(task.out)},
        **{"trains": task.trains, "seconds": task.setting.limits.seconds, "jobs": jobs},
        **{"follows_costs": task.setting.follows_costs, "code": code_digest()},
    }


def main(request: Path, answer: Path) -> None:
    """Release the spec, and leave what became of it as JSON; `lacks` says why this node cannot."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt_once)
    asked, answer = json.loads(request.read_bytes()), answer.absolute()
    die_with_parent(signal.SIGTERM, asked["parent"])
    if asked["code"] != code_digest():
        write_json(answer, {"lacks": "it has another exporter than the machine that asks"})
        return
    os.chdir(asked["folder"])
    limits = Limits(seconds=asked["seconds"])
    setting = Setting(limits, jobs=asked["jobs"], follows_costs=asked["follows_costs"])
    task = Task(tuple(asked["overrides"]), Path(asked["out"]), asked["trains"], setting, None, reports=True)
    gated = task.release(Touched(Path(asked["spec"]), asked["why"]))
    write_json(answer, {"gated": told_gated(gated)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
