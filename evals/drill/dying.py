"""What a drill's child is, with the deaths that faults may bring about."""

from __future__ import annotations

import os
import signal

from exporter.base.files import write_json
from exporter.bundle.drill.requests import ExamineAnswer, ExamineRequest, Finding
from exporter.process.job import job, to_json


@job
def examine(request: ExamineRequest) -> ExamineAnswer:
    """Sites say what to do: `kills` dies, `tired` dies where others were run before it, `sound` ends it at once."""
    if any(fault.site == "before the sound one" for fault in request.faults.values()):
        os.kill(os.getpid(), signal.SIGKILL)
    (request.into / "sound").touch()
    for run, (number, fault) in enumerate(request.faults.items()):
        if fault.site == "kills" or (fault.site == "tired" and run):
            os.kill(os.getpid(), signal.SIGSEGV)
        write_json(request.into / f"{number}.json", to_json(Finding, Finding(error_ratio=float(number))))
    return ExamineAnswer(1, (), "")
