#!/usr/bin/env python3
"""Run the model of this folder on the recorded inputs, and write the answers.

    python run.py                       # answers go to answers/
    python run.py --out DIR

It needs Python 3.8, numpy, and the runtime that `engine.py` imports. `exporter verify BUNDLE --answers answers --engine
TEXT` judges what it writes. Exit codes: 0 done, 2 the command is wrong, 3 the runtime is not installed, 4 it refuses
the model.

The exporter itself also calls `run.py version`, and `run.py convert MODEL.onnx INTO`, which reads `INTO/how.json`.
"""

from __future__ import annotations

import argparse
import datetime
import getpass
import json
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType, TracebackType

    import numpy as np

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run what the command says."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("verb", nargs="*", default=["answer"])
    words.add_argument("--out", type=Path, default=HERE / "answers")
    words.add_argument("--kit", type=Path, default=HERE)
    words.add_argument("--layers", action="store_true")
    options = words.parse_args()
    sys.path.insert(0, str(HERE))
    sys.excepthook = refuse
    try:
        import engine
    except ImportError as error:
        return fail(3, f"cannot be imported: {error}")
    verb, rest = options.verb[0], [Path(word).resolve() for word in options.verb[1:]]
    try:
        if verb == "version":
            return say({"version": engine.version()})
        if verb == "convert" and len(rest) == 2:
            how = json.loads((rest[1] / "how.json").read_text(encoding="utf-8"))
            return say({"main": engine.convert(rest[0], rest[1], how["precision"], how["shapes"])})
        if verb == "answer":
            return answer(engine, options)
    except ImportError as error:
        return fail(3, f"cannot be imported: {error}")
    return fail(2, "usage: python run.py [--out DIR]")


def answer(engine: ModuleType, options: argparse.Namespace) -> int:
    """Run every case, and write each output as bare numbers, and who computed them."""
    import numpy as np

    kit = json.loads((options.kit / "kit.json").read_text(encoding="utf-8"))
    part = kit["layers"] if options.layers else kit
    out = options.out / "layers" if options.layers else options.out
    out.mkdir(parents=True, exist_ok=True)
    natives = [output["native"] for output in part["outputs"]]
    names = [tensor["native"] for tensor in part["cases"][0]["inputs"]]
    run = engine.load(options.kit / part["model"], names, natives, kit["runtime"]["precision"])
    for case in part["cases"]:
        fed = {}
        for tensor in case["inputs"]:
            raw = (options.kit / tensor["bin"]).read_bytes()
            value = np.frombuffer(raw, np.dtype(tensor["dtype"]).newbyteorder("<"))
            fed[tensor["native"]] = value.astype(tensor["dtype"]).reshape(tensor["shape"])
        values = run(fed)
        for place, output in enumerate(part["outputs"]):
            if values.get(output["native"]) is not None:
                value = as_declared(values[output["native"]], output["dtype"])
                written(out / f"{case['number']}.{place}.npy", value)
    if not options.layers:
        about = {
            "engine": kit["runtime"]["name"],
            "version": engine.version(),
            "device": platform.machine() or "unknown",
            "who": user(),
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "precision": kit["runtime"]["precision"],
            "inputs": [tensor["name"] for tensor in kit["inputs"]],
            "bundle": kit["bundle"]["digest"],
        }
        (out / "answers.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return 0


def as_declared(value: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers in the dtype that the bundle has: runtimes without int64 and float64 give narrower ones."""
    import numpy as np

    value = np.asarray(value)
    wanted = np.dtype(dtype or value.dtype)
    same_kind = {"i": "iub", "u": "iub", "f": "f", "b": "iub"}.get(wanted.kind, "")
    return value.astype(wanted) if value.dtype != wanted and value.dtype.kind in same_kind else value


def written(path: Path, value: np.ndarray) -> None:
    """Write one answer as .npy."""
    import numpy as np

    with path.open("wb") as stream:
        np.lib.format.write_array(stream, np.asarray(value, order="C"), version=(1, 0), allow_pickle=False)


def refuse(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """End with what the runtime says, in one line; no traceback, which would be about this file."""
    del trace
    os._exit(fail(4, f"{kind.__name__}: {error}"))


def user() -> str:
    """Return who runs it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def say(content: Mapping[str, object]) -> int:
    """Print one object as the last line."""
    sys.stdout.write("\n" + json.dumps(content) + "\n")
    return 0


def fail(code: int, message: str) -> int:
    """Say what is wrong, in one line; return the exit code."""
    sys.stderr.write("\n" + " ".join(message.split())[:600] + "\n")
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # runtimes may crash in their own tidying up, after the work is done
