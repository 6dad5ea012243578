"""What a drill's child is, with the deaths that faults may bring about."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any


def examine(request: dict[str, Any]) -> dict[str, Any]:
    """Sites say what to do: `kills` dies, `tired` dies where others were run before it, `sound` ends it at once."""
    into = Path(request["into"])
    if any(fault["site"] == "before the sound one" for _, fault in request["faults"]):
        os.kill(os.getpid(), signal.SIGKILL)
    (into / "sound").touch()
    for run, (number, fault) in enumerate(request["faults"]):
        if fault["site"] == "kills" or (fault["site"] == "tired" and run):
            os.kill(os.getpid(), signal.SIGSEGV)
        found = {"proofs": {}, "error_ratio": float(number), "effect": None, "why_not": ""}
        (into / f"{number}.json").write_text(json.dumps(found))
    return {"holds": 1, "doubts": []}
