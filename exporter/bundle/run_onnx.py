"""The cases of a bundle in ONNX Runtime, on the CPU or on a GPU: the part of verify.py that runs on either.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.bundle.script`; it runs on Python 3.8.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.engines.onnx_device import (
    computing,
    open_session,
    placed_nodes,
    placement,
    provider_of,
    unmet_options,
    why_not,
)

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class NotThere(Exception):
    """It did not run on the device that was asked for."""


def run_onnxruntime(
    files: list[Path], cases: Iterable[Any], threads: int, device: str, said: list[str]
) -> Iterator[dict[str, Array]]:
    """Yield all outputs of each case; on a GPU `said` gets what is to be told of it, and NotThere is raised."""
    import onnxruntime

    provider = provider_of(device)
    if device != "cpu" and why_not(provider, device):
        raise NotThere(why_not(provider, device))
    model = next(path for path in files if path.suffix == ".onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_profiling, options.profile_file_prefix = True, "profile"  # in the child's temporary folder
    session = open_session(str(model), options, provider, device)
    if device != "cpu" and unmet_options(session):
        raise NotThere("; ".join(unmet_options(session)))
    names = [one.name for one in session.get_outputs()]
    for number, inputs in enumerate(cases):
        values = session.run(names, inputs)
        if number == 0:
            nodes = placed_nodes(Path(session.end_profiling()))
            where = placement(nodes, provider)
            if computing(nodes, provider) != provider:
                raise NotThere(f"it ran on {where['placement']}, and {provider} was asked for")
            said += [f"values computed elsewhere: {where['values_elsewhere']}"] if where["values_elsewhere"] else []
        yield {name: values[place] for place, name in enumerate(names)}


def a_device(word: str) -> str:
    """`cpu` or `gpu:N`, as --device takes it."""
    kind, _, number = word.partition(":")
    if kind not in ("cpu", "gpu") or (":" in word and (kind == "cpu" or not number.isdecimal())):
        raise argparse.ArgumentTypeError(f"'{word}' is no device: cpu, gpu or gpu:N")
    return word if kind == "cpu" else f"gpu:{number or 0}"
