"""In a child, with the real Paddle: `python paddle_files.py FOLDER` saves all that `paddle.save` makes of a small net.

Beside each file lies what `paddle.load` says of it, as `.npz`. Files that lie in FOLDER already are loaded, too.
"""

# ruff: noqa: TID251  # the real thing: this is the oracle
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    import numpy as np
    import paddle

    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.BatchNorm1D(3))
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(schedule, parameters=net.parameters())
    net(paddle.rand([5, 4])).sum().backward()
    optimizer.step()
    halves = paddle.nn.Linear(2, 2)
    halves.to(dtype="bfloat16")
    dense = net.state_dict()["0.weight"].value().get_tensor()
    for protocol in (2, 3, 4):
        paddle.save(net.state_dict(), str(folder / f"net{protocol}.pdparams"), protocol=protocol)
        paddle.save(optimizer.state_dict(), str(folder / f"adam{protocol}.pdopt"), protocol=protocol)
        mixed = {"w": dense, "inner": {"empty": paddle.ones([0, 2])}, "named": net.state_dict()["0.bias"], "epoch": 3}
        paddle.save(mixed, str(folder / f"mixed{protocol}.pdparams"), protocol=protocol)
    paddle.save(halves.state_dict(), str(folder / "bfloat16.pdparams"))
    for path in sorted(folder.glob("*.pd*")):
        arrays: dict[str, Any] = {}
        _flatten("", paddle.load(str(path), return_numpy=True), arrays, np)
        np.savez(path.with_suffix(f"{path.suffix}.npz"), **arrays)


def _flatten(prefix: str, value: dict[str, Any], arrays: dict[str, Any], np: Any) -> None:
    for name, inner in value.items():
        if isinstance(inner, dict):
            _flatten(f"{prefix}{name}.", inner, arrays, np)
        elif isinstance(inner, np.ndarray):
            arrays[f"{prefix}{name}"] = inner


if __name__ == "__main__":
    main(Path(sys.argv[1]))
