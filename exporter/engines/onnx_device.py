"""ONNX Runtime on a device: how it is asked for, why it cannot be had, and where each node of a run really computed.

`get_available_providers()` lists what was compiled in, whether its libraries load or not. `get_providers()` of a
session lists what was registered, not what computes: a provider that takes no node stays first in the list (1.31.1,
seen with AzureExecutionProvider). So a session of one node says whether a GPU can be used, and the profile of a run,
which names the provider of every node that ran, with the types and shapes of what it took and gave, whether it was.

Every bundle's verify.py holds a copy of this file: it needs no other, and runs on Python 3.8.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
#: What is asked of the CUDA provider besides its device, and read again from the session. TF32, which is on by default,
#: cuts the mantissa of float32 to 10 bits on Ampere and later. cuDNN's algorithm is chosen by its heuristics: the
#: default measures, and may choose another one in the next session. CUDA graphs, off by default, need fixed shapes.
CUDA_OPTIONS = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC", "enable_cuda_graph": "0"}
#: `y = x + x` on two float32 numbers, an ONNX file of one node (IR version 7, opset 13).
DOUBLE = bytes.fromhex(
    "08073a350a0e0a01780a017812017922034164641201675a0f0a0178120a0a"
    "08080112040a020802620f0a0179120a0a08080112040a02080242040a00100d"
)
#: Operators that read no number of what they take, only its sizes.
_OF_SIZES = ("Shape", "Size")
_WHOLE = ("int64", "int32", "bool")
#: Factors that are computed from sizes, such as the scales of a Resize, are floats. No more of them count as such.
_FEW = 8
_TIMED = "_kernel_time"
#: Where in a page of C++ the cause stands: what the loader of libraries says, and what CUDA says.
_CAUSES = (re.compile(r"with error: ([^\n]+)"), re.compile(r"(CUDA failure \d+: [^;\n]+)"))


def provider_of(device: str) -> str:
    """The execution provider of `cpu` or `gpu:N`."""
    return CPU if device == "cpu" else CUDA


def open_session(model: str | bytes, options: Any, provider: str, device: str, **of_cuda: str) -> Any:
    """A session on a provider. What goes wrong there comes out: no second try on the CPU in silence.

    `of_cuda` are options of the CUDA provider that replace those of :data:`CUDA_OPTIONS`.
    """
    import onnxruntime

    wanted: Any = provider
    if provider == CUDA:
        wanted = (CUDA, {"device_id": device.partition(":")[2] or "0", **CUDA_OPTIONS, **of_cuda})
        if hasattr(onnxruntime, "preload_dlls"):  # finds CUDA and cuDNN where pip put them (since 1.21)
            onnxruntime.preload_dlls()
    return onnxruntime.InferenceSession(model, sess_options=options, providers=[wanted], enable_fallback=0)


def unmet_options(session: Any, **of_cuda: str) -> list[str]:
    """A phrase for each option of CUDA that is not in effect as it was asked for, by :func:`open_session`."""
    told = session.get_provider_options().get(CUDA, {})
    asked = {**CUDA_OPTIONS, **of_cuda}
    return [
        f"{name} {asked[name]} was asked for, and {told.get(name)} is in effect"
        for name in asked
        if told.get(name) != asked[name]
    ]


def why_not(provider: str, device: str) -> str:
    """Why a session of one node does not compute on a provider; empty where it does."""
    import numpy as np
    import onnxruntime

    if provider not in onnxruntime.get_available_providers():
        return f"this onnxruntime {onnxruntime.__version__} has no {provider}"
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    two = np.array([1, 2], "float32")
    with hearing() as heard:
        try:
            doubled = open_session(DOUBLE, options, provider, device).run(None, {"x": two})[0]
            refused = "" if np.array_equal(doubled, two + two) else f"it computes 1 + 1 and 2 + 2 as {doubled.tolist()}"
        except errors_of(onnxruntime) as error:
            refused = f"{type(error).__name__}: {error}"
    return f"{provider} cannot run here: {cause_of(refused, heard.text)}" if refused else ""


def cause_of(refused: str, heard: str = "") -> str:
    """The cause in what ONNX Runtime raised and wrote beside it, without the C++ around it."""
    causes = [found[1].strip() for pattern in _CAUSES for found in pattern.finditer(f"{heard}\n{refused}")]
    return causes[0] if causes else refused.strip().splitlines()[-1]


def errors_of(onnxruntime: Any) -> tuple[type[Exception], ...]:
    """All that a session raises: its own kinds have no base but Exception."""
    state = vars(onnxruntime.capi.onnxruntime_pybind11_state)
    own = (kind for kind in state.values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (*own, RuntimeError, ValueError, TypeError)


class Heard:
    """What was written to standard error while :func:`hearing`; `text` is filled at the end."""

    text = ""


@contextlib.contextmanager
def hearing() -> Iterator[Heard]:
    """Collect what libraries write to standard error, where ONNX Runtime says why it left a provider out.

    It is written there afterwards, so that a log lacks nothing.
    """
    heard = Heard()
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield heard
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            log.seek(0)
            heard.text = log.read().decode(errors="replace")
            sys.stderr.write(heard.text)


class PlacedNode(NamedTuple):
    """A node that ran: its name, its operator, what ran it, and whether it computes nothing but sizes."""

    name: str
    operator: str
    provider: str
    of_sizes: bool


def placed_nodes(profile: Path) -> tuple[PlacedNode, ...]:
    """Every node of a profile once, in the order in which they ran first; none of a graph that was folded away.

    Raises:
        ValueError: it is no profile.
    """
    try:
        events = json.loads(profile.read_text(encoding="utf-8"))
        ran = [_node(event) for event in events if event.get("cat") == "Node" and "provider" in event["args"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"ONNX Runtime's profile of the run cannot be read: {error}") from error
    return tuple(dict.fromkeys(ran))


def _node(event: Any) -> PlacedNode:
    about, name = event["args"], event["name"]
    tensors = [*about.get("input_type_shape", ()), *about.get("output_type_shape", ())]
    of_sizes = about["op_name"] in _OF_SIZES or all(_sizes(*pair) for tensor in tensors for pair in tensor.items())
    name = name[: -len(_TIMED)] if name.endswith(_TIMED) else name
    return PlacedNode(name, about["op_name"], about["provider"], of_sizes)


def _sizes(dtype: str, shape: Sequence[int]) -> bool:
    """Whether a tensor can be a list of sizes: one dimension or none, of whole numbers or of few others."""
    return len(shape) < 2 and (dtype in _WHOLE or sum(shape) <= _FEW)


def placement(nodes: Sequence[PlacedNode], provider: str) -> dict[str, str]:
    """What is recorded of a run that was to be on a provider.

    `placement` counts the nodes of each provider. `sizes_elsewhere` and `values_elsewhere` count, by operator, those
    that ran on another one: ONNX Runtime leaves the arithmetic of sizes on the CPU on purpose.
    """
    elsewhere = [node for node in nodes if node.provider != provider]
    return {
        "placement": _counted(node.provider for node in nodes),
        "sizes_elsewhere": _counted(node.operator for node in elsewhere if node.of_sizes),
        "values_elsewhere": _counted(node.operator for node in elsewhere if not node.of_sizes),
    }


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))


def computing(nodes: Sequence[PlacedNode], provider: str) -> str:
    """What computes the values: `provider` if it runs any node that does, or if none ran; else what runs the most."""
    of_values = [node.provider for node in nodes if not node.of_sizes] or [node.provider for node in nodes]
    return provider if provider in of_values or not nodes else Counter(of_values).most_common(1)[0][0]
