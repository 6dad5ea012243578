#!/usr/bin/env python
"""Run the model on every recorded case with Paddle Lite, on the device or on a PC.

    python run.py model_x86.nb OUTPUTS      # model_arm.nb on a device
    python judge.py OUTPUTS

OUTPUTS is a folder, where output N of case C goes to C.N.npy. It needs paddlelite 2.12 (Python 3.6 or 3.7 on x86) and
numpy. Exit codes: 0 done, 2 usage, 3 Paddle Lite is not installed.
"""

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def main(model: str, into: str) -> int:
    """Run all cases."""
    try:
        import numpy as np
        from paddlelite import lite  # type: ignore[import-not-found]  # of an older Python
    except ImportError as error:
        sys.stderr.write(f"{error}; pip install paddlelite==2.12 numpy\n")
        return 3
    config = lite.MobileConfig()
    config.set_model_from_file(model)
    predictor = lite.create_paddle_predictor(config)
    outputs, cases = read(np)
    for case, inputs in enumerate(cases):
        for name, value in inputs:
            predictor.get_input_by_name(name).from_numpy(value)
        predictor.run()
        for place, name in enumerate(outputs):
            value = predictor.get_output_by_name(name).numpy()
            np.save(str(Path(into, f"{case}.{place}.npy")), value)
    sys.stdout.write(f"Paddle Lite {predictor.get_version()}\n")
    return 0


def read(np: Any) -> Any:
    """The names of the outputs; and for each case its inputs, names with arrays out of golden.safetensors."""
    outputs = []  # type: Any
    cases = []  # type: Any
    golden = (HERE / "golden.safetensors").read_bytes()
    lines = (HERE / "cases.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        kind, rest = line.split(" ", 1)
        if kind == "output":
            outputs.append(rest.split(" ", 1)[1])
        elif kind == "case":
            cases.append([])
        else:
            dtype, start, size, rank, rest = rest.split(" ", 4)
            words = rest.split(" ", int(rank))
            raw = golden[int(start) : int(start) + int(size)]
            value = np.frombuffer(raw, dtype).reshape([int(word) for word in words[:-1]])
            cases[-1].append((words[-1], value.copy()))
    return outputs, cases


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.stderr.write("usage: python run.py MODEL.nb OUTPUTS\n")
        status = 2
    else:
        status = main(*sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # Paddle Lite may crash in its own tidying up, after the work is done
