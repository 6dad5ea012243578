"""Run one artifact on given inputs in whichever Python runs this, by the functions of verify.py beside it.

    python script.py REQUEST.json

It needs numpy and one engine, and nothing of the exporter. `REQUEST.json` names the engine, its files, the
names of the inputs, the threads of each case, and two folders: `given` holds the inputs as `CASE.INPUT.npy`, by their
places, and `into` gets the outputs as `CASE.OUTPUT.npy`, and `answer.json` with their names and the version of the
engine, or why nothing was run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def main(path: Path) -> None:
    """Run every case, and write what came of it."""
    import numpy as np

    request = json.loads(path.read_text(encoding="utf-8"))
    verify = _module(path.with_name("verify.py"))
    into, package = Path(request["into"]), verify.ENGINES[request["engine"]][0]
    names: dict[int, list[str]] = {}
    answer: dict[str, object] = {"version": "", "names": names, "unusable": ""}
    try:
        answer["version"] = str(importlib.import_module(package).__version__)
    except ImportError as error:
        answer["unusable"] = f"{package} cannot be imported: {error}"
        return _write(into, answer)
    run = verify.run_onnxruntime if package == "onnxruntime" else verify.run_paddle_inference
    inputs, threads = Path(request["given"]), request["threads"]
    cases = [
        {name: _read(inputs / f"{case}.{place}.npy") for place, name in enumerate(request["names"])}
        for case in range(len(threads))
    ]
    for count in sorted(set(threads)):
        places = [place for place, wanted in enumerate(threads) if wanted == count]
        remarks: list[str] = []
        files = [Path(name) for name in request["files"]]
        results = run(files, [cases[place] for place in places], count, "cpu", remarks)
        for place, outputs in zip(places, results):  # noqa: B905 - Python 3.8 knows no `strict`
            shown = {name: value for name, value in outputs.items() if _is_plain(value)}
            names[place] = list(shown)
            for at, value in enumerate(shown.values()):
                np.save(into / f"{place}.{at}.npy", value, allow_pickle=False)
    _write(into, answer)


def _is_plain(value: object) -> bool:
    """Return whether it is an array of numbers; a value inside may be text, a list, or nothing at all."""
    return getattr(getattr(value, "dtype", None), "kind", "O") in "biufc"


def _read(path: Path) -> np.ndarray:
    import numpy as np

    with path.open("rb") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify"] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def _write(into: Path, answer: dict[str, object]) -> None:
    """Write the answer and leave at once: engines may crash in their own tidying up, after the work is done."""
    (into / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
