#!/usr/bin/env python3
"""Check the bundle that this file lies in: are its files the ones that were sealed, and do they compute what they did?

    python verify.py [--only onnx] [--engine onnxruntime|paddle_inference] [--device cpu|gpu:N] [--json]
                     [--timeout SECONDS] [--accept-waivers]

It needs Python 3.8, numpy and an engine for each variant (onnxruntime, and Paddle 2.6 or newer), and nothing of the
exporter that made the bundle. Exit codes: 0 passed, or partial: --only or --engine left something out and the rest
holds; 1 an artifact computes something else; 3 a variant could not be run here: install its engine, or name the others
with --only; 5 the bundle is damaged. On a GPU it runs ONNX Runtime alone, without TF32; where the CPU took over, that
is no run, and exit code 3.

How it judges: by section 1, which is the exporter's own source. golden.safetensors holds inputs and, for each output,
what the original float32 model computed, and the truth: the model computed in float64. An engine may be `budget` times
as far from it, in the largest error and in the root mean square (of few numbers with an allowance, since their largest
error is chance); whole numbers must be equal, but for labels whose scores are a near tie.
Each judgement is itself put to the test: zeros, the mean, the rows reversed and another case's output must fail it by
far, or it proves nothing. All cases of an output are also taken together, which finds what errs always the same way and
too little for one case. The first case runs once more after the others, the largest also in two threads. A variant of
low precision is judged over all cases together, by the budget that the spec in the manifest has for it. The steps
around the model (samples.safetensors) are not run here: `exporter verify` compares them.
"""


import sys

if __name__ == "__main__":  # this folder comes first on the path then, and a json.py in it is not Python's
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]
    import os

    _HERE = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120
    sys.path = [entry for entry in sys.path if os.path.realpath(entry) != _HERE]

import argparse
import fnmatch
import importlib
import importlib.util
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ImportError:  # then nothing can be run; section 3 says so
    np = None  # type: ignore[assignment]

#: Told before it is imported, else ONNX Runtime's wheels for Linux send telemetry (1.29 and later).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
PASSED, FAILED, NO_ENGINE, DAMAGED = 0, 1, 3, 5
#: The verdicts of a release under which a bundle may be used.
RELEASED = ("passed", "passed_with_waivers")
BUNDLE = Path(__file__).resolve().parent
#: Engine -> the package it needs, how to get it, and the variants that it runs.
ENGINES = {
    "onnxruntime": ("onnxruntime", "pip install onnxruntime", ("onnx", "onnx-fp16", "onnx-int8")),
    "paddle_inference": ("paddle", "pip install paddlepaddle", ("pir", "pdmodel")),
    "paddle_inference_int8": ("paddle", "pip install paddlepaddle", ("pdmodel-int8",)),
}


# ---- 1. the files that were sealed, and the rule: what the goldens show, and how an engine is judged by them --------
import contextlib
import hashlib
import math
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

Array = Any  # a numpy array, of whatever dtype and shape


# exporter/engines/onnx_device.py
#
# ONNX Runtime on a device: how it is asked for, why it cannot be had, and where each node of a run really computed.
#
# `get_available_providers()` lists what was compiled in, whether its libraries load or not. `get_providers()` of a
# session lists what was registered, not what computes: a provider that takes no node stays first in the list (1.31.1,
# seen with AzureExecutionProvider). So a session of one node says whether a GPU can be used, and the profile of a run,
# which names the provider of every node that ran, with the types and shapes of what it took and gave, whether it was.
#
# Every bundle's verify.py holds a copy of this file: it needs no other, and runs on Python 3.8.

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


def provider_of(device: "str") -> "str":
    """The execution provider of `cpu` or `gpu:N`."""
    return CPU if device == "cpu" else CUDA


def open_session(model: "str | bytes", options: "Any", provider: "str", device: "str", **of_cuda: "str") -> "Any":
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


def unmet_options(session: "Any", **of_cuda: "str") -> "list[str]":
    """A phrase for each option of CUDA that is not in effect as it was asked for, by :func:`open_session`."""
    told = session.get_provider_options().get(CUDA, {})
    asked = {**CUDA_OPTIONS, **of_cuda}
    return [
        f"{name} {asked[name]} was asked for, and {told.get(name)} is in effect"
        for name in asked
        if told.get(name) != asked[name]
    ]


def why_not(provider: "str", device: "str") -> "str":
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


def cause_of(refused: "str", heard: "str" = "") -> "str":
    """The cause in what ONNX Runtime raised and wrote beside it, without the C++ around it."""
    causes = [found[1].strip() for pattern in _CAUSES for found in pattern.finditer(f"{heard}\n{refused}")]
    return causes[0] if causes else refused.strip().splitlines()[-1]


def errors_of(onnxruntime: "Any") -> "tuple[type[Exception], ...]":
    """All that a session raises: its own kinds have no base but Exception."""
    state = vars(onnxruntime.capi.onnxruntime_pybind11_state)
    own = (kind for kind in state.values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (*own, RuntimeError, ValueError, TypeError)


class Heard:
    """What was written to standard error while :func:`hearing`; `text` is filled at the end."""

    text = ""


@contextlib.contextmanager
def hearing() -> "Iterator[Heard]":
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

    name: "str"
    operator: "str"
    provider: "str"
    of_sizes: "bool"


def placed_nodes(profile: "Path") -> "tuple[PlacedNode, ...]":
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


def _node(event: "Any") -> "PlacedNode":
    about, name = event["args"], event["name"]
    tensors = [*about.get("input_type_shape", ()), *about.get("output_type_shape", ())]
    of_sizes = about["op_name"] in _OF_SIZES or all(_sizes(*pair) for tensor in tensors for pair in tensor.items())
    name = name[: -len(_TIMED)] if name.endswith(_TIMED) else name
    return PlacedNode(name, about["op_name"], about["provider"], of_sizes)


def _sizes(dtype: "str", shape: "Sequence[int]") -> "bool":
    """Whether a tensor can be a list of sizes: one dimension or none, of whole numbers or of few others."""
    return len(shape) < 2 and (dtype in _WHOLE or sum(shape) <= _FEW)


def placement(nodes: "Sequence[PlacedNode]", provider: "str") -> "dict[str, str]":
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


def _counted(names: "Iterable[str]") -> "str":
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))


def computing(nodes: "Sequence[PlacedNode]", provider: "str") -> "str":
    """What computes the values: `provider` if it runs any node that does, or if none ran; else what runs the most."""
    of_values = [node.provider for node in nodes if not node.of_sizes] or [node.provider for node in nodes]
    return provider if provider in of_values or not nodes else Counter(of_values).most_common(1)[0][0]


# exporter/bundle/run_onnx.py
#
# The cases of a bundle in ONNX Runtime, on the CPU or on a GPU: the part of verify.py that runs on either.
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.bundle.script`; it runs on Python 3.8.


class NotThere(Exception):
    """It did not run on the device that was asked for."""


def run_onnxruntime(
    files: "list[Path]", cases: "list[Any]", threads: "int", device: "str", said: "list[str]"
) -> "Iterator[dict[str, Any]]":
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


def a_device(word: "str") -> "str":
    """`cpu` or `gpu:N`, as --device takes it."""
    kind, _, number = word.partition(":")
    if kind not in ("cpu", "gpu") or (":" in word and (kind == "cpu" or not number.isdecimal())):
        raise argparse.ArgumentTypeError(f"'{word}' is no device: cpu, gpu or gpu:N")
    return word if kind == "cpu" else f"gpu:{number or 0}"


# exporter/bundle/sealed_files.py
#
# The files of a bundle, as its verify.py reads them: are they the ones that were sealed, each a plain file?
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.bundle.script`; it runs on Python 3.8.

#: Bytes of a manifest, and of a header in the goldens: far more than any network needs.
MOST_JSON = 32 << 20
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"}
DTYPES.update({"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"})


def read_manifest(bundle: "Path") -> "tuple[Any, list[str]]":
    """Return the manifest and what is wrong with it; every byte of the file counts, blanks too."""
    try:
        content = read_plain(bundle / "manifest.json", MOST_JSON)
        manifest = json.loads(content.decode("utf-8"))
        if (as_json(manifest, indent=2) + "\n").encode("utf-8") != content:
            return {}, ["manifest.json: changed: it is not laid out as it was written"]
        rest = {key: value for key, value in manifest.items() if key != "digest"}
        digest = hashlib.sha256(as_json(rest, separators=(",", ":")).encode("utf-8")).hexdigest()
        if digest != manifest.get("digest"):
            return {}, [f"manifest.json: changed: its digest is {digest}, not {manifest.get('digest')}"]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        return {}, [f"manifest.json: cannot be read: {error}"]
    if manifest["schema"] != 1 or not all(manifest[key] for key in ("outputs", "variants", "cases")):
        return {}, ["manifest.json: not of schema 1, or without outputs, variants or cases: nothing could be proved"]
    return manifest, []


def as_json(value: "Any", **layout: "Any") -> "str":
    """The one way in which manifests are written."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, **layout)


def read_plain(path: "Path", most: "int") -> "bytes":
    """The content of a plain file of at most `most` bytes; a pipe or a device may never end.

    Raises:
        ValueError: it is something else, or larger.
        OSError: it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(str(path), flags), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            raise ValueError(f"not a plain file of at most {most:,} bytes")
        return stream.read(about.st_size)


def damaged_files(bundle: "Path", manifest: "Any") -> "list[str]":
    """Say of each file that is not as it was sealed what is wrong with it: not listed, missing or changed."""
    listed = manifest["files"]
    folders = {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    paths = [
        path
        for path in bundle.rglob("*")
        if path.is_symlink() or not path.is_dir() or path.relative_to(bundle).as_posix() not in folders
    ]
    found = {path.relative_to(bundle).as_posix(): path for path in paths}
    faults = [
        f"{name}: not a file of this bundle"
        for name in sorted(set(found) - set(listed) - {"manifest.json", "model.sig"})
    ]
    used = {"golden.safetensors"}.union(*(variant["files"] for variant in manifest["variants"].values()))
    faults += [f"{name}: used, but not listed in manifest.json" for name in sorted(used - set(listed))]
    for name, entry in sorted(listed.items()):
        fault = fault_of(found[name], entry) if name in found else "missing"
        faults += [f"{name}: {fault}"] if fault else []
    return faults


def fault_of(path: "Path", entry: "Any") -> "str":
    """Say what is wrong with a listed file; an empty text if nothing is."""
    try:
        if path.is_symlink() or not path.is_file():
            return "not a plain file"
        if path.stat().st_size != entry["size"]:
            return f"has {path.stat().st_size} bytes, not {entry['size']}"
        return "" if sha256(path) == entry["sha256"] else "changed: its sha256 is not the one in manifest.json"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def sha256(path: "Path") -> "str":
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def read_golden(bundle: "Path") -> "dict[str, Any]":
    """Read golden.safetensors: 8 bytes of length, a JSON header, the numbers.

    Raises:
        ValueError: it is none.
    """
    path = bundle / "golden.safetensors"
    content = read_plain(path, path.stat().st_size)
    begin = 8 + int.from_bytes(content[:8], "little")
    if begin > min(len(content), MOST_JSON):
        raise ValueError("golden.safetensors has no header")
    header = json.loads(content[8:begin].decode("utf-8"))
    tensors = {}
    for name in header.keys() - {"__metadata__"}:
        start, stop = header[name]["data_offsets"]
        numbers = np.frombuffer(content[begin + start : begin + stop], DTYPES[header[name]["dtype"]])
        tensors[name] = numbers.reshape(header[name]["shape"])
    return tensors


# exporter/base/numbers/norms.py
#
# How far a result is from the truth: errors in two norms, error ratios, and signal-to-noise ratios.
#
# Errors are relative to the truth's size as a whole, not element by element: element-wise ratios raise false alarms on
# clean engines (34 of 1,944 measured above 4), these two none.
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.

#: Four times float32's unit roundoff: no e_ref is taken to be smaller (measured to bind in one output of eight).
FLOOR = 4 * 2.0**-24
#: The floor of float16's numbers, beyond half a step of their own. The usual budget of four is half a unit roundoff of
#: float16: whatever is exact, and one step off everywhere, errs more, since half a step is more than 2⁻¹² of a number.
FLOOR_16 = 2.0**-14
#: The floor of outputs that are computed in float64 throughout: their truth is itself rounded in float64.
FLOOR_64 = 2.0**-44
#: Below it results lie near float32's denormals, which engines may flush.
SMALLEST_SCALE = 2.0**-102
#: Above it a case amplifies rounding so much that a match would prove nothing.
WORST_E_REF = 1e-2
#: The signal-to-noise ratio of an error of exactly zero, in dB: more than float32 can show against float64.
LOUDEST = 200.0


def norms(value: "Array") -> "tuple[float, float]":
    """The largest absolute value, and the root mean square; scaled before squaring so that 1e292 does not overflow."""
    if value.size == 0:
        return 0.0, 0.0
    wide = np.abs(np.asarray(value, dtype="float64"))
    largest = float(wide.max())
    if largest == 0.0 or not np.isfinite(largest):
        return largest, largest
    return largest, largest * float(np.sqrt(np.mean(np.square(wide / largest))))


def error(truth: "Array", candidate: "Array") -> "tuple[float, float]":
    """Relative error of a candidate of the truth's shape in both norms; NaN where either is not finite.

    Where the truth is zero throughout, any difference is infinitely large and none is zero. Of float16 it is what the
    error has beyond the rounding of the answer itself.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        off = norms(unrounded(truth, candidate) - truth)
    scale = norms(truth)
    return _divide(off[0], scale[0]), _divide(off[1], scale[1])


def unrounded(truth: "Array", candidate: "Array") -> "Array":
    """A candidate in float64; of float16 that number which rounds to it and is nearest to the truth.

    Rounding to float16 is 2⁻¹¹ of a number, and thousands of times what float32 computes wrong: it would hide that. A
    number half-way between two is as near to both.
    """
    wide = np.asarray(candidate, dtype="float64")
    if np.asarray(candidate).dtype != np.float16:
        return wide
    side = np.where(truth > wide, np.inf, -np.inf).astype("float16")
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.abs(np.nextafter(candidate, side).astype("float64") - wide)
        half = np.where(np.isinf(step) & np.isfinite(wide), 16.0, step / 2)  # beyond 65504 the next would be 65536
        nearest: Array = np.clip(truth, wide - half, wide + half)
    return nearest


def ratio(truth: "Array", candidate: "Array", e_ref: "tuple[float, float]", floor: "float" = FLOOR) -> "float":
    """The error ratio: how many times worse than eager float32 a candidate is, in the worse of the two norms.

    No reference error is taken to be smaller than `floor`, nor than float16's own of a candidate in float16. NaN where
    the candidate is not finite, so callers must write ``not (ratio <= budget)``.
    """
    off, least = error(truth, candidate), max(floor, FLOOR_16) if np.asarray(candidate).dtype == np.float16 else floor
    parts = [off[norm] / max(e_ref[norm], least) for norm in (0, 1)]
    return math.nan if any(math.isnan(part) for part in parts) else max(parts)


def above(number: "float", limit: "float") -> "str":
    """A number that is over a limit, with three digits or as many as show that it is: 4.0012, not 4."""
    digits = next((digits for digits in range(3, 17) if not float(f"{number:.{digits}g}") <= limit), 17)
    return f"{number:.{digits}g}"


def _divide(part: "float", whole: "float") -> "float":
    if part == 0.0 and math.isfinite(whole):
        return 0.0
    return part / whole if whole else math.inf


def energies(truth: "Array", got: "Array") -> "tuple[float, float]":
    """The energy of the signal, and of what was added to it (sums of squares, in float64)."""
    true = np.asarray(truth, dtype="float64")
    return float(np.sum(np.square(true))), float(np.sum(np.square(np.asarray(got, dtype="float64") - true)))


def decibel(signal: "float", noise: "float") -> "float":
    """The ratio of two energies in dB: 0 for an answer of zeros, 20 for an error of a tenth; NaN stays NaN."""
    if math.isnan(signal) or math.isnan(noise):
        return math.nan
    if noise == 0.0:
        return LOUDEST if signal else 0.0
    return min(LOUDEST, 10 * math.log10(signal / noise)) if signal else -LOUDEST


# exporter/base/numbers/partial.py
#
# Goldens of which eager has no answer in some rows: what is finite is compared, and where it is not.
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.


@dataclass(frozen=True)
class Partial:
    """What eager gives in a case where rows may have no answer: of the whole, or of the elements at `index`."""

    eager: "Array"
    index: "Array | None"

    def unlike(self, got: "Array") -> "str":
        """Describe where only one of a result and eager is finite, or their infinities differ; empty if they agree.

        What is NaN in eager may be any of what is not finite: engines differ in how they come to it.
        """
        kept = got if self.index is None else got.ravel()[self.index]
        for what, wrong in (
            ("NaN or infinity where eager is finite", np.isfinite(self.eager) & ~np.isfinite(kept)),
            ("numbers where eager is NaN or infinite", ~np.isfinite(self.eager) & np.isfinite(kept)),
            ("another infinity than eager", np.isinf(self.eager) & np.isinf(kept) & (self.eager != kept)),
        ):
            if wrong.any():
                named = ""
                if wrong.ndim > 1:
                    rows = np.flatnonzero(wrong.any(axis=tuple(range(1, wrong.ndim))))
                    named = f", in {rows.size} of {len(wrong)} rows, the first of them row {int(rows.min())}"
                return f"holds {what} ({int(wrong.sum())} of {wrong.size} numbers{named})"
        return ""


def counting(eager: "Array", truth: "Array") -> "Array":
    """Which of eager's numbers have an answer: the finite ones, in rows that are not rounding alone.

    `s + (1 - mask) * -1e9` leaves nothing of `s` in a row without a token. All that are finite where it is so in all
    rows, and all of them where none is.
    """
    finite = np.isfinite(eager)
    if not finite.any():
        return np.ones(eager.shape, bool)
    if eager.ndim < 2:
        return finite
    off = np.abs(np.where(finite, eager, 0).astype("float64") - np.where(finite, truth, 0))
    worst = off.max(axis=tuple(range(1, off.ndim)), keepdims=True)
    kept = finite & ~(4 * worst > WORST_E_REF * np.abs(truth[finite]).max())
    return kept if kept.any() else finite


# exporter/base/numbers/golden.py
#
# Goldens: recorded cases with their truth. What the recorded numbers show is computed, whatever is said of them.
#
# The goldens hold, for each case, `<case>/input/<name>`, `<case>/eager/<output>` and, for float outputs,
# `<case>/truth/<output>` in float64; of outputs too large to keep, a seeded sample with `<case>/index/<output>`. What is
# said about them besides (method, gate, e_ref) is JSON and stands in the manifest.
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.

#: No allowance for few numbers (exporter/base/numbers/allowance.py) is larger: without any second run the factor would
#: excuse everything, it is a million for one number.
LARGEST_ALLOWANCE = 4.0
#: e_ref is the largest error of a few float32 runs, eager's among them. More than so many times what eager alone errs,
#: in its case or in any plain one, is no rounding; of fewer than MANY numbers in these cases chance makes it more, as
#: many times as they are fewer (measured on 5,211 outputs of 69 networks: 4.9 of many, and a third of it at most).
E_REF_TIMES, MANY = 24.0, 64
#: What the names of cases end in whose inputs are constant along an axis, and how many times the error they allow. Sums
#: of equal numbers, and a variance of hardly any, are nothing but the rounding of one order of adding, which all runs
#: of eager share: another order errs up to 6.3 times as much as they show (measured: a variance over an image with one
#: pixel, in ONNX Runtime and oneDNN; 4.1 for an instance norm of it in OpenVINO).
CONSTANT = (":zeros", ":one_hot", ":padded", ":smallest", ":largest", ":all_ones", ":all_zeros")
CONSTANT_TIMES = 4.0
#: How the kinds of cases begin in which rows of one input hold the ends of its range, or what is not finite. There
#: eager may have no answer, in these rows: which numbers are finite is compared, and the values of those that are.
ROWS_OF, NOT_FINITE_IN = "rows_of_", "not_finite_in_"
#: Eager's own error, computed again, is at most e_ref; other versions of numpy add in another order.
OTHER_ROUNDING = 1.01
#: How the method begins by which the middle of eager's float32 runs stands for the truth.
SPREAD = "spread of float32 runs"
#: What the name of a case ends in when it is run once more, and when it is run in more threads than the others.
AGAIN, IN_THREADS = ":again", ":threads="
#: Why an output that no input decides proves nothing where it is zero: nothing at all computes it as well.
ALL_ZERO = (
    "no input reaches it, and it is zero throughout, as what computes nothing gives it: leave it out of what forward "
    "returns, or waive it"
)
#: Why an output that sizes alone decide proves nothing where it is the same at all of them.
SAME_AT_ALL_SIZES = (
    "nothing but sizes decides it, and it is the same at all of them: give a dim that decides it another size (`dims:`)"
)
#: Why an output proves nothing whose largest value is this.
ZERO = "the largest value ({:.1e}) is zero or near the denormals"
#: The other number of threads: two share the work wherever there is some, on any machine.
THREADS = 2


@dataclass(frozen=True)
class GoldenOutput:
    """One output of one case.

    `eager` and `truth` are whole, or the elements at `index` of the flattened output. `scale` is (largest absolute
    value, rms) of the whole truth, `own` eager's relative error in the same two norms, `e_ref` the largest of it and of
    some more float32 runs. Cases of one `draw` have related values. `scores` names the float output and the axis whose
    argmax an integer is. `allowance` widens the tolerance of few numbers, `slack` that of a case of constant inputs.
    `wide`: float64, and no input is narrower. `central`: the truth is the middle of float32 runs. `partial`: eager's
    numbers as recorded, of which some need not be finite; `eager`, `truth` and `index` are of those that are.
    `constant`: no input decides it, and it is the same in all cases. `sized`: nothing but sizes decides it, and it is
    the same in all cases of the same sizes. `settled`: values decide it at other sizes, and at those of this case every
    draw gave one number throughout, zero if it is zero here.
    """

    name: "str"
    dtype: "str"
    shape: "tuple[int, ...]"
    eager: "Array"
    truth: "Array"
    index: "Array | None"
    scale: "tuple[float, float]"
    e_ref: "tuple[float, float]"
    gate: "str"
    draw: "str"
    scores: "tuple[str, int] | None"
    allowance: "float" = 1.0
    slack: "float" = 1.0
    wide: "bool" = False
    own: "tuple[float, float]" = (0.0, 0.0)
    central: "bool" = False
    partial: "Partial | None" = None
    constant: "bool" = False
    sized: "bool" = False
    settled: "bool" = False

    @property
    def floor(self) -> "float":
        """The smallest error that is measured in: of rounding in float32, or in float64 where nothing is narrower.

        Of float16 it is beyond the rounding of the output itself (:func:`exporter.base.numbers.norms.unrounded`).
        """
        return FLOOR_64 if self.wide else FLOOR_16 if self.dtype == "float16" else FLOOR

    @property
    def unit(self) -> "tuple[float, float]":
        """Return the unit of errors in both norms: e_ref times allowance and slack, never below the floor."""
        times = self.allowance * self.slack
        return max(times * self.e_ref[0], self.floor), max(times * self.e_ref[1], self.floor)

    @property
    def sampled(self) -> "bool":
        """Return whether only a sample of the output was recorded."""
        return (self.index if self.partial is None else self.partial.index) is not None

    @property
    def exact(self) -> "bool":
        """Integers and booleans have no rounding: they are equal or wrong."""
        return self.eager.dtype.kind != "f"

    @cached_property
    def memo(self) -> "dict[Any, Any]":
        """Return a cache of what is computed from this output once, for every engine that is judged by it."""
        return {}

    def kept(self, value: "Array") -> "Array":
        """Return the elements of a whole output that the golden keeps: all of them, or the sample, flat."""
        return value if self.index is None else value.ravel()[self.index]


@dataclass(frozen=True)
class GoldenCase:
    """One case: its name, the size of each named dim, and what each output should be.

    `recorded` is its name in the goldens, which serve more than one case. An engine computes it in so many `threads`.
    """

    name: "str"
    dims: "Mapping[str, int]"
    outputs: "Mapping[str, GoldenOutput]"
    recorded: "str"
    threads: "int" = 1

    def again(self) -> "GoldenCase":
        """The same case, to be run once more: what an artifact keeps from call to call shows then."""
        return replace(self, name=self.name + AGAIN)

    def in_threads(self, threads: "int") -> "GoldenCase":
        """The same case, to be run in so many threads: work that is shared out wrongly shows then."""
        return replace(self, name=f"{self.name}{IN_THREADS}{threads}", threads=threads)


def to_run(recorded: "Sequence[GoldenCase]") -> "tuple[GoldenCase, ...]":
    """Return the cases that every engine runs: all recorded, the first again, the largest in `THREADS` threads.

    The largest, since engines share out only what is worth it.
    """
    largest = max(recorded, key=lambda case: math.prod(case.dims.values()))
    return (*recorded, recorded[0].again(), largest.in_threads(THREADS))


def unvaried(name: "str", source: "str", values: "Iterable[Array]") -> "str":
    """A sentence on an input that is the same in all cases, so that nothing shows what depends on it; else empty.

    `values` holds it case by case, and is read up to the first difference; `source` is what the spec fills it with.
    """
    by_shape: dict[tuple[int, ...], Array] = {}
    cases = 0
    for value in values:
        if by_shape.setdefault(value.shape, value).tobytes() != value.tobytes():
            return ""
        cases += 1
    kept = [value.ravel() for value in by_shape.values() if value.size]
    if not kept or cases == len(by_shape):  # no two cases have it in one shape
        return ""
    alike = all((value == kept[0][0]).all() for value in kept)
    what = f"{kept[0][0]} in every case" if alike else "the same in all cases of one size"
    more = f" (the upper bound of {source} is exclusive)" if source.startswith("integers(") else ""
    return (
        f"input '{name}' is {what}: nothing shows what depends on it, and an artifact that ignores it would pass; "
        f"give it `values:` that vary{more}"
    )


def promised(case: "str") -> "bool":
    """Return whether the spec promises a case of this name: it is neither a probe nor a second run."""
    return ":" not in case


def may_be_partial(case: "str") -> "bool":
    """Return whether eager may lack an answer in some rows of a case of this name; the other rows are compared."""
    return f":{ROWS_OF}" in case or f":{NOT_FINITE_IN}" in case


def one_thread(case: "str") -> "bool":
    """Return whether a case of this name runs in one thread, as the golden was recorded, so that bits can be equal."""
    return IN_THREADS not in case


def read_cases(tensors: "Mapping[str, Array]", described: "Iterable[Mapping[str, Any]]") -> "tuple[GoldenCase, ...]":
    """The recorded cases, from the goldens by their keys and from what the manifest says of each case.

    The manifest is believed where it only closes a gate or asks for less, and where nothing shows it: the method, the
    norms of a whole output of which a sample is kept, and the float32 runs beside eager's, which are bounded.

    Raises:
        KeyError: a tensor is not there.
        ValueError: the tensors do not fit each other, or not what is said of them.
    """
    cases = _constants_kept([_read_case(tensors, one) for one in described])
    plain = [case for case in cases if promised(case.name)]
    bounded = []
    for case in cases:
        outputs = {
            name: _bounded(output, [one.outputs[name] for one in plain]) for name, output in case.outputs.items()
        }
        bounded.append(replace(case, outputs=outputs))
    return tuple(bounded)


def _constants_kept(cases: "Sequence[GoldenCase]") -> "list[GoldenCase]":
    """What is said to hang on no value does only if the recorded numbers bear it out, and one that tells."""
    kept = []
    for case in cases:
        outputs = {name: _as_borne_out(name, case, cases) for name in case.outputs}
        kept.append(replace(case, outputs=outputs))
    return kept


def _as_borne_out(name: "str", case: "GoldenCase", cases: "Sequence[GoldenCase]") -> "GoldenOutput":
    output, everywhere = case.outputs[name], [golden.outputs[name] for golden in cases]
    alike = all(_same_numbers(golden, output) for golden in everywhere)
    constant = alike and all(golden.constant for golden in everywhere)
    sized = not constant and all(golden.sized for golden in everywhere) and _by_sizes(name, cases)
    settled = output.settled and _settled(name, case, cases)
    gate = output.gate
    if constant and not output.exact and not output.eager.any():
        gate = ALL_ZERO
    elif sized and alike:
        gate = gate or SAME_AT_ALL_SIZES
    elif not (sized or settled or output.exact or output.scale[0] >= SMALLEST_SCALE) and output.eager.size:
        gate = gate or ZERO.format(output.scale[0])
    return replace(output, constant=constant, sized=sized, settled=settled, gate=gate)


def _by_sizes(name: "str", cases: "Sequence[GoldenCase]") -> "bool":
    """Return whether an output is the same in all cases of the same sizes."""
    first: dict[tuple[tuple[str, int], ...], GoldenOutput] = {}
    return all(
        _same_numbers(first.setdefault(tuple(sorted(case.dims.items())), case.outputs[name]), case.outputs[name])
        for case in cases
    )


def _settled(name: "str", case: "GoldenCase", cases: "Sequence[GoldenCase]") -> "bool":
    """Return whether an output is one number at the sizes of a case, and tells at other ones that are promised."""
    output = case.outputs[name]
    same = [golden.outputs[name] for golden in cases if golden.dims == case.dims]
    other = [golden.outputs[name] for golden in cases if promised(golden.name) and golden.dims != case.dims]
    telling = [golden for golden in other if golden.eager.any() and not (golden.gate or golden.settled)]
    zero = not output.eager.any()
    return bool(telling) and all(_one_number(golden) and golden.eager.any() != zero for golden in same)


def _one_number(output: "GoldenOutput") -> "bool":
    return bool(output.eager.size) and bool((output.eager == output.eager.flat[0]).all())


def _same_numbers(output: "GoldenOutput", other: "GoldenOutput") -> "bool":
    return (output.shape, output.dtype, output.eager.tobytes()) == (other.shape, other.dtype, other.eager.tobytes())


def _read_case(tensors: "Mapping[str, Array]", described: "Mapping[str, Any]") -> "GoldenCase":
    case, outputs = described["name"], {}
    inputs = [value.dtype.name for key, value in tensors.items() if key.startswith(f"{case}/input/")]
    for name, about in described["outputs"].items():
        eager, index = tensors[f"{case}/eager/{name}"], tensors.get(f"{case}/index/{name}")
        truth = tensors[f"{case}/truth/{name}"] if eager.dtype.kind == "f" else eager
        partial = Partial(eager, index) if may_be_partial(case) else None
        shape, size = tuple(about["shape"]), math.prod(about["shape"])
        fits = eager.shape == (shape if index is None else index.shape) and truth.shape == eager.shape
        inside = index is None or (index.ndim == 1 and bool(((index >= 0) & (index < size)).all()))
        if not fits or not inside or eager.dtype.name != about["dtype"]:
            raise ValueError(f"'{name}' of case '{case}' is not what the manifest says of it")
        counts = None if partial is None else counting(eager, truth)
        if counts is not None and not counts.all():
            places = np.flatnonzero(counts)
            eager, truth = eager.ravel()[places], truth.ravel()[places]
            index = places if index is None else index[places]
        outputs[name] = _measured(
            GoldenOutput(
                name=name,
                dtype=eager.dtype.name,
                shape=shape,
                eager=eager,
                truth=truth,
                index=index,
                scale=(about["scale_max"], about["scale_l2"]),
                e_ref=(about["e_ref_max"], about["e_ref_l2"]),
                gate=about["gate"],
                draw=case.partition(":")[0],  # what probes is made from the case that it is named after
                scores=_scores(tensors, case, eager, about),
                allowance=min(about.get("allowance", 1.0), LARGEST_ALLOWANCE),
                slack=CONSTANT_TIMES if case.endswith(CONSTANT) or may_be_partial(case) else 1.0,
                wide=eager.dtype.name == "float64" and not {"float16", "float32"}.intersection(inputs),
                central=about["method"].startswith(SPREAD),
                partial=partial,
                constant=about.get("constant", False) is True,
                sized=about.get("sized", False) is True,
                settled=about.get("settled", False) is True,
            )
        )
    return GoldenCase(case, described["dims"], outputs, case)


def _measured(output: "GoldenOutput") -> "GoldenOutput":
    """With the scale of the truth and eager's error in it, and why nothing can be proven by it: computed.

    Of a sample only bounds are known: the whole is no smaller than its largest element, nor its largest error.
    """
    if output.exact or output.gate or not output.eager.size:
        return output
    if not (np.isfinite(output.eager).all() and np.isfinite(output.truth).all()):
        return replace(output, gate="eager or float64 is not finite")
    own, off = norms(output.truth), norms(unrounded(output.truth, output.eager) - output.truth)
    scale = (max(output.scale[0], own[0]), output.scale[1]) if output.sampled else own
    if (output.sized or output.settled) and not (output.eager.any() or output.truth.any()):
        return replace(output, scale=(0.0, 0.0), e_ref=(0.0, 0.0))  # any other number is infinitely far from it
    if not scale[0] >= SMALLEST_SCALE:
        return replace(output, scale=scale, gate=ZERO.format(scale[0]))
    if not scale[1] > 0:
        raise ValueError(f"'{output.name}' has no size to measure errors by")
    share = off[0] / scale[0], off[1] / own[1]
    for norm in (0,) if output.sampled else (0, 1):
        if share[norm] > max(OTHER_ROUNDING * output.e_ref[norm], output.floor):
            gate = (
                f"eager is off by {share[norm]:.1e}, and its e_ref is {output.e_ref[norm]:.1e}: not what was recorded"
            )
            return replace(output, scale=scale, own=share, gate=gate)
    e_ref = max(output.e_ref[0], share[0]), max(output.e_ref[1], 0.0 if output.sampled else share[1])
    gate = "" if 4 * max(*e_ref, FLOOR) <= WORST_E_REF else f"rounding alone moves it by {max(e_ref):.1e} of its size"
    return replace(output, scale=scale, e_ref=e_ref, own=share, gate=gate)


def _bounded(output: "GoldenOutput", plain: "Sequence[GoldenOutput]") -> "GoldenOutput":
    """Close the gate where e_ref is said to be larger than rounding explains."""
    if output.exact or output.gate or not output.eager.size:
        return output
    usual = [one for one in plain if one is not output and not (one.exact or one.gate)] + [output]
    most = E_REF_TIMES * max(1.0, MANY / sum(one.eager.size for one in usual))
    largest = [max(output.floor, *(one.own[norm] for one in usual)) for norm in (0, 1)]
    times = max(output.e_ref[norm] / largest[norm] for norm in (0, 1))
    if times <= most:
        return output
    return replace(output, gate=f"its e_ref is {times:.3g} times what eager errs, which rounding does not explain")


def _scores(tensors: "Mapping[str, Array]", case: "str", labels: "Array", about: "Mapping[str, Any]") -> "tuple[str, int] | None":
    """The scores whose argmax the labels are, if they are it."""
    if not about.get("scores"):
        return None
    output, axis = about["scores"]["output"], about["scores"]["axis"]
    scores = tensors.get(f"{case}/eager/{output}")
    return (output, axis) if scores is not None and is_argmax(labels, scores, axis) else None


def is_argmax(labels: "Array", scores: "Array", axis: "int") -> "bool":
    """Return whether labels are the argmax of scores along an axis, which may be kept as one of size 1."""
    if not 0 <= axis < scores.ndim or scores.dtype.kind != "f":
        return False
    reduced = (*scores.shape[:axis], *scores.shape[axis + 1 :])
    kept = (*scores.shape[:axis], 1, *scores.shape[axis + 1 :])
    if scores.shape[axis] < 2 or labels.shape not in (reduced, kept) or not np.isfinite(scores).all():
        return False
    return bool(np.array_equal(labels.reshape(reduced), scores.argmax(axis)))


# exporter/base/numbers/rule.py
#
# The rule: how what an engine computed is judged by a golden, and whether an impostor would have passed as well.
#
# `exporter verify` judges by this file and by its neighbours `norms`, `golden`, `partial` and `pooled`, and the verify.py
# of every bundle holds a copy of the five (:func:`exporter.bundle.script.verify_script`). So no judgement exists twice,
# they need numpy alone, and they run on Python 3.8. Why the numbers are what they are: docs/parity.md.
#
# An outcome is one of the words `match`, `mismatch`, `vacuous`, `inconclusive` and `missing`.

#: An impostor nearer than so many budgets leaves a claim inconclusive (measured: sound networks have 82 and more).
MARGIN = 10.0
#: Rows in reverse order that lie within this error ratio of the truth are the truth: equal rows in float64 differ by
#: its own rounding, which is 1e-9 of eager's noise.
SAME = 1e-4
#: The share of whole numbers that must be equal where the budget says nothing: rounding moves some near ties.
AGREEMENT = 0.9
#: The 97.5 % quantile of the normal distribution: two-sided intervals of 95 %.
Z = 1.959964
_REVERSED, _MEAN = "the rows reversed", "the mean"


class Judged(NamedTuple):
    """What became of one output, or of one promise; a `match` has one element at least. Metrics are not rounded.

    `compared` says that it came to the values: they have the shape and the dtype of eager's, and are finite.
    """

    outcome: "str"
    reason: "str" = ""
    elements: "int" = 0
    metrics: "Mapping[str, float]" = {}
    compared: "bool" = False


# ---- one case ----
def judge_case(
    case: "GoldenCase", got: "Mapping[str, Array]", others: "Mapping[str, Sequence[GoldenOutput]]", budget: "float | None"
) -> "dict[str, Judged]":
    """Judge all outputs of one case, names first; `others` holds, for each output, its goldens in all cases.

    Without a budget they are judged as reduced precision: whole, finite, and nearer the truth than any impostor. How
    near it has to be is a promise over all cases (:func:`judge_promise`).
    """
    extra = sorted(set(got) - set(case.outputs))
    judged = {}
    for name, expected in case.outputs.items():
        if name not in got:
            came = ", ".join(sorted(got)) or "nothing"
            judged[name] = Judged("missing", f"no output of this name came; what came: {came}")
        elif extra:
            judged[name] = Judged("mismatch", f"outputs came that nobody promised: {', '.join(extra)}")
        elif budget is None:
            probes = not promised(case.name[: -len(AGAIN)] if case.name.endswith(AGAIN) else case.name)
            judged[name] = judge_reduced(expected, got[name], others[name], probes)
        else:
            judged[name] = judge_output(expected, got[name], budget, others[name], case.outputs)
    return judged


def judge_output(
    expected: "GoldenOutput",
    got: "Array",
    budget: "float",
    all_cases: "Sequence[GoldenOutput]",
    beside: "Mapping[str, GoldenOutput]",
) -> "Judged":
    """Judge one output of one case; `beside` holds the goldens of the case's other outputs.

    The first step that fails decides: dtype, shape, elements, gate, finiteness, values, controls.
    """
    unfit = _unfit(expected, got)
    if unfit:
        return unfit
    candidate = expected.kept(got)
    if expected.exact:
        wrong = unexplained(expected, candidate, beside, budget)
        outcome, reason = _indistinct(expected, all_cases)
        if wrong:
            excuse = "no near tie of the scores explains them" if expected.scores else "this dtype allows none"
            outcome, reason = "mismatch", f"{wrong} of {expected.eager.size} elements differ; {excuse}"
        return Judged(outcome, reason, got.size, {}, True)
    worst = _error_ratio(expected, candidate, got)
    outcome, reason = "mismatch", f"error ratio {above(worst, budget)} is over the budget of {budget:g}"
    if worst <= budget:  # so that NaN fails
        outcome, reason = _controlled(expected, budget, all_cases)
    return Judged(outcome, reason, got.size, {"error_ratio": worst}, True)


def _unfit(expected: "GoldenOutput", got: "Array") -> "Judged | None":
    """Judge what comes before values: dtype, shape, no elements, a shut gate, NaN or infinity; None if all is well."""
    if got.dtype.name != expected.dtype:
        return Judged("mismatch", f"dtype is {got.dtype.name}, eager's is {expected.dtype}")
    if got.shape != expected.shape:
        return Judged("mismatch", f"shape is {list(got.shape)}, eager's is {list(expected.shape)}")
    if got.size == 0:
        return Judged("vacuous", "the output has no elements, so nothing was compared")
    if expected.gate:
        return Judged("inconclusive", expected.gate, got.size)
    if expected.partial is not None:
        unlike = expected.partial.unlike(got)
        return Judged("mismatch", unlike, got.size) if unlike else None
    sampled = expected.index is not None and not expected.exact
    if not np.isfinite(expected.kept(got)).all() or (sampled and not np.isfinite(norms(got)[1])):
        return Judged("mismatch", "holds NaN or infinity where eager is finite", got.size)
    return None


def _error_ratio(expected: "GoldenOutput", candidate: "Array", whole: "Array") -> "float":
    """The error ratio; of a sampled golden also that of the whole output's norms, which the sample cannot see.

    Of eager's own bits it is computed once, for all engines that have them.
    """
    if expected.index is None:
        own = np.array_equal(candidate, expected.eager)
        if not own or "own" not in expected.memo:
            worst = ratio(expected.truth, candidate, expected.unit, expected.floor)
            expected.memo.update({"own": worst} if own else {})
            return worst
        return float(expected.memo["own"])
    if expected.partial is not None:  # the norms of the whole are those of NaN
        return ratio(expected.truth, candidate, expected.unit, expected.floor)
    worst, size = ratio(expected.truth, candidate, expected.unit, expected.floor), norms(whole)
    if not any(expected.scale):  # zero by right
        return math.inf if any(size) else worst
    drift = [abs(size[norm] - expected.scale[norm]) / expected.scale[norm] / expected.unit[norm] for norm in (0, 1)]
    return math.nan if math.isnan(worst) else max(worst, *drift)


# ---- negative controls: a tolerance is evidence only if a wrong tensor would have failed at it ----
def _controlled(expected: "GoldenOutput", budget: "float", all_cases: "Sequence[GoldenOutput]") -> "tuple[str, str]":
    """Return outcome and reason of the controls, computed once for all engines."""
    key = ("controls", budget, *(id(golden) for golden in all_cases))
    if key not in expected.memo:  # the cases are kept with it, so that no id is used again
        expected.memo[key] = (*_controls(expected, budget, all_cases), list(all_cases))
    outcome, reason, _ = expected.memo[key]
    return outcome, reason


def _controls(expected: "GoldenOutput", budget: "float", all_cases: "Sequence[GoldenOutput]") -> "tuple[str, str]":
    unrelated = [golden for golden in all_cases if golden.draw != expected.draw and golden.truth.size]
    stranger = _stranger(expected, unrelated)
    if unrelated and stranger is None and not (expected.constant or told_by_shape(expected, all_cases)):
        return "vacuous", "every case has the same output: another case's would have passed"
    sizes = {golden.shape[0] if golden.shape else -1 for golden in all_cases}
    batched = expected.index is None and len(sizes) > 1 and -1 not in sizes  # a dimension that varies counts rows
    rivals = _impostors_of(expected, stranger, batched)
    impostor, distance = _nearest(expected.truth, rivals, expected.unit, expected.floor, expected.dtype)
    if not distance > budget:
        return "vacuous", f"{impostor} would have passed: its error ratio is {distance:.3g}"
    if not distance > MARGIN * budget:
        return "inconclusive", f"{impostor} is nearly as good: its error ratio is {distance:.3g}"
    return "match", ""


def _stranger(expected: "GoldenOutput", unrelated: "Sequence[GoldenOutput]") -> "Array | None":
    """The truth of the first unrelated case that does not hold the very same values, cut to fit."""
    for golden in unrelated:
        if not np.array_equal(np.resize(golden.truth, expected.truth.shape), expected.truth):
            return golden.truth
    return None


def impostors(truth: "Array", stranger: "Array | None", batched: "bool") -> "Iterator[tuple[str, Array]]":
    """Yield every impostor with its name; those that equal the truth by construction are left out.

    `stranger` is the truth of another case, of whatever shape: it is repeated or cut to fit. `batched` says that the
    first dimension counts rows. What is one number throughout in the other case, too, as an expanded scalar is, has no
    other mean; the other case tells whether it is the right one.
    """
    yield "zeros", np.zeros_like(truth)
    expanded = stranger is not None and all(part.size and np.all(part == part.flat[0]) for part in (truth, stranger))
    if truth.size > 1 and truth.dtype.kind == "f" and not expanded:
        yield _MEAN, np.full_like(truth, truth.mean())
    if batched and truth.ndim and not np.array_equal(truth, truth[::-1]):
        yield _REVERSED, truth[::-1]
    if stranger is not None and stranger.size:
        yield "another case's output", np.resize(stranger, truth.shape)


def told_by_shape(expected: "GoldenOutput", all_cases: "Sequence[GoldenOutput]") -> "bool":
    """Return whether an output that sizes decide in this case has another shape at other sizes.

    Then another size's output fails whatever it holds, and so does what computes nothing.
    """
    return (expected.sized or expected.settled) and len({golden.shape for golden in all_cases}) > 1


def _impostors_of(expected: "GoldenOutput", stranger: "Array | None", batched: "bool") -> "Iterator[tuple[str, Array]]":
    """Those of a golden: where no value can change it, one number throughout is its own mean by right.

    So is zero where other sizes tell that something is computed; of a constant nothing does.
    """
    by_size = expected.sized or expected.settled
    for name, impostor in impostors(expected.truth, stranger, batched):
        excused = (name == "zeros" and by_size) or (name == _MEAN and (expected.constant or by_size))
        if not (excused and np.array_equal(impostor, expected.truth)):
            yield name, impostor


def nearest(
    truth: "Array",
    stranger: "Array | None",
    batched: "bool",
    e_ref: "tuple[float, float]",
    floor: "float" = FLOOR,
    dtype: "str" = "float64",
) -> "tuple[str, float]":
    """The impostor of a float output with the smallest error ratio, and that ratio."""
    return _nearest(truth, impostors(truth, stranger, batched), e_ref, floor, dtype)


def _nearest(
    truth: "Array", rivals: "Iterable[tuple[str, Array]]", e_ref: "tuple[float, float]", floor: "float", dtype: "str"
) -> "tuple[str, float]":
    """The nearest of the given impostors, and its error ratio.

    One of float16 comes rounded, as an answer does, and is judged like it. Equal rows are no impostor of themselves,
    else the case that asks for them could never be judged.
    """
    kind, ratios = "float16" if dtype == "float16" else "float64", []
    for name, impostor in rivals:
        with np.errstate(over="ignore"):
            ratios.append((name, ratio(truth, impostor.astype(kind), e_ref, floor)))
    telling = (rated for rated in ratios if rated[0] != _REVERSED or not rated[1] <= SAME)
    return min(telling, key=lambda rated: rated[1], default=("nothing", math.inf))


def _indistinct(expected: "GoldenOutput", all_cases: "Sequence[GoldenOutput]") -> "tuple[str, str]":
    """Return outcome and reason: "vacuous" if zeros or another case's output would pass as an exact output everywhere.

    One case with one element proves little about integers (zero is a likely label), so all cases are judged together.
    A constant is another case's output by right.
    """
    if expected.sized and told_by_shape(expected, all_cases):
        return "match", ""
    truths = [golden.eager for golden in all_cases]
    if not any(truth.any() for truth in truths):
        return "vacuous", "zeros would have passed in every case"
    alike = all(np.array_equal(np.resize(truths[0], truth.shape), truth) for truth in truths)
    if len(truths) > 1 and alike and not expected.constant:
        return "vacuous", "another case's output would have passed in every case"
    return "match", ""


def unexplained(expected: "GoldenOutput", got: "Array", beside: "Mapping[str, GoldenOutput]", budget: "float") -> "int":
    """How many whole numbers differ by more than a near tie of their scores explains.

    A label is the argmax of scores. Two engines may both be right and choose differently where two scores are equal but
    for rounding; anything else that differs is wrong.
    """
    differ = got != expected.eager
    score = beside[expected.scores[0]] if expected.scores and differ.any() else None
    # Of a sample there are no rows; a gate says that the scores prove nothing.
    if expected.scores is None or score is None or score.index is not None or score.gate or expected.index is not None:
        return int(differ.sum())
    axis = expected.scores[1]
    inside = (got >= 0) & (got < score.truth.shape[axis])
    gap = _at(score.truth, expected.eager, axis) - _at(score.truth, np.where(inside, got, 0), axis)
    return int((differ & ~(inside & (gap <= 2 * budget * score.unit[0] * score.scale[0]))).sum())


def _at(scores: "Array", index: "Array", axis: "int") -> "Array":
    kept = np.expand_dims(index, axis) if index.ndim < scores.ndim else index
    return np.take_along_axis(scores, kept.astype("int64"), axis).reshape(index.shape)


# ---- reduced precision: each case whole, finite and nearer than any impostor; then promises over all cases ----
def judge_reduced(expected: "GoldenOutput", got: "Array", all_cases: "Sequence[GoldenOutput]", probes: "bool") -> "Judged":
    """Judge one output of one case in reduced precision; the metrics are what :func:`judge_promise` weighs.

    A case that `probes` (all zero, sixteen times as large) lies outside what a calibration has seen: it has to be
    computed, and proves nothing more.
    """
    unfit = _unfit(expected, got)
    if unfit:
        return unfit
    candidate = expected.kept(got)
    if expected.exact:
        agree = float(np.sum(candidate == expected.eager))
        return Judged("match", "", got.size, {"rows": float(candidate.size), "agree": agree}, True)
    signal, noise = energies(expected.truth, candidate)
    metrics = {"signal": signal, "noise": noise, "snr_db": decibel(signal, noise)}
    if expected.index is None and got.ndim > 1 and got.shape[-1] > 1:
        agree = float(np.sum(candidate.argmax(-1) == expected.eager.argmax(-1)))
        metrics.update({"rows": float(got.size // got.shape[-1]), "agree": agree})
    stranger = _stranger(
        expected, [golden for golden in all_cases if golden.draw != expected.draw and golden.truth.size]
    )
    noises = [
        (energies(expected.truth, impostor)[1], number, name)
        for number, (name, impostor) in enumerate(_impostors_of(expected, stranger, False))
    ]
    limit, _, nearer = min(noises, default=(math.inf, 0, "nothing"))
    if not probes and not noise < limit:  # so that NaN fails
        reason = f"{metrics['snr_db']:.1f} dB: no nearer to the truth than {nearer}"
        return Judged("mismatch", reason, got.size, metrics, True)
    return Judged("match", "", got.size, metrics, True)


def promised_of(exact: "bool", min_snr_db: "float | None", min_top1: "float | None") -> "dict[str, float]":
    """Return the promises for an output in reduced precision: `snr_db` in dB, `top1` as a share of equal answers.

    Whole numbers have a share to agree in whatever the budget says.
    """
    promises = {} if exact or min_snr_db is None else {"snr_db": min_snr_db}
    share = min_top1 or (AGREEMENT if exact else None)
    return promises if share is None else {**promises, "top1": share}


def judge_promise(kind: "str", wanted: "float", goldens: "Mapping[str, GoldenOutput]", seen: "Mapping[str, Judged]") -> "Judged":
    """Weigh a promise over the promised cases of one output, by their names, from what :func:`judge_reduced` said.

    A promise that an impostor would keep as well (the mean, one row for all, one answer for all) is vacuous.
    """
    for name in goldens:
        if name not in seen or not {"signal", "rows"}.intersection(seen[name].metrics):
            fate = seen.get(name, Judged("missing", "no evidence came"))
            return Judged(fate.outcome, f"case {name}: {fate.reason}")
    metrics, truths = [seen[name].metrics for name in goldens], list(goldens.values())
    if any(("signal" if kind == "snr_db" else "rows") not in measured for measured in metrics):
        return Judged("inconclusive", "the output holds no rows of scores, or only a sample was recorded")
    if kind == "snr_db":
        elements = sum(golden.eager.size for golden in truths)
        value = decibel(sum(measured["signal"] for measured in metrics), sum(measured["noise"] for measured in metrics))
        reason, figures, unit = f"{value:.1f} dB, at least {wanted:g} promised", {"snr_db": value}, "have {:.1f} dB"
        strangers = constants(truths)
    else:
        agree, elements = (int(sum(measured[key] for measured in metrics)) for key in ("agree", "rows"))
        value, (low, high) = agree / elements, wilson(agree, elements)
        reason = f"{agree} of {elements} agree (95 % interval {low:.3f} to {high:.3f}), at least {wanted:g} promised"
        figures, unit = {"top1": value, "low": low, "high": high}, "agree in {:.3f}"
        strangers = _answers(truths)
    if not value >= wanted:  # so that NaN fails
        return Judged("mismatch", reason, elements, figures)
    of_input = not all(golden.constant or golden.sized for golden in truths)
    for name, reached in strangers if of_input else ():
        if reached >= wanted:
            return Judged("vacuous", f"{reason}; but {name} would {unit.format(reached)}", elements, figures)
    return Judged("match", reason, elements, figures)


def constants(goldens: "Sequence[GoldenOutput]") -> "Iterator[tuple[str, float]]":
    """Yield the name and SNR (dB) of outputs that ignore the input: the mean, and the mean row for every row."""
    truths = [golden.truth for golden in goldens]
    yield "the mean", _of_constant(truths, np.concatenate([truth.ravel() for truth in truths]).mean())
    rows = {truth.shape[1:] for truth in truths}  # a sample is flat
    if len(rows) == 1 and rows != {()} and sum(len(truth) for truth in truths) > 1:
        yield "one row for all", _of_constant(truths, np.concatenate(truths).mean(0))


def _of_constant(truths: "Sequence[Array]", constant: "Array") -> "float":
    pairs = [energies(truth, np.broadcast_to(constant, truth.shape)) for truth in truths]
    return decibel(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))


def _answers(goldens: "Sequence[GoldenOutput]") -> "Iterator[tuple[str, float]]":
    """The share of rows in which answers that do not depend on the input agree: the commonest for all, and shuffled.

    A single row agrees with itself, so that it proves nothing.
    """
    labels = np.concatenate([(golden.eager if golden.exact else golden.eager.argmax(-1)).ravel() for golden in goldens])
    yield "the commonest answer for every row", float(np.unique(labels, return_counts=True)[1].max()) / labels.size
    yield "the answers shuffled", float(np.mean(np.random.default_rng(0).permutation(labels) == labels))


def wilson(hits: "int", trials: "int") -> "tuple[float, float]":
    """The 95 % interval of a share, by Wilson's score: it stays within 0 and 1, also for few trials and no miss."""
    share, square = hits / trials, Z * Z
    centre = share + square / (2 * trials)
    half = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    whole = 1 + square / trials
    low, high = (centre - half) / whole, (centre + half) / whole
    return (low if hits else 0.0), (high if hits < trials else 1.0)  # the ends are exact, and rounding misses them


# exporter/base/numbers/pooled.py
#
# All cases of an output taken together: an error in one direction adds up, rounding does not.
#
# One case cannot tell an error below its budget from rounding. Many can: n independent errors of size e sum to about
# e·√n, a systematic one to e·n. So the errors of all independent draws (rows that no case had before) are summed, each
# in units of its case's e_ref, and the sum is divided by √n: it stays about 1 for a sound engine, however many draws
# there are, and grows with √n for one that errs always the same way.
#
# Two directions are looked into: each feature of the output by itself (a bias that is off), in both norms, and the truth
# (a scale that is off). Eager's own errors are summed likewise; where they are no sum of independent ones, their sum is
# the unit. It is √n at most, since no error of eager exceeds e_ref, so an error as large as a case allows fails always.
# Where the middle of float32 runs stands for the truth, nobody knows what they all err alike: it is √n there (measured:
# ONNX Runtime differs from MKL's AVX2 kernels in one direction by 1.4 e_ref in an attention of 25 steps).
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.

#: The share of the budget that the sum may take (measured: docs/parity.md).
SHARE = 0.75
#: Rows that differ by less, relative to the size of the output, are one draw: what is computed from almost the same
#: numbers is rounded, and approximated, alike (measured on a network that hardly answers to its inputs).
ALIKE = 1e-3


class Summed(NamedTuple):
    """The errors of one case: summed over its draws by feature, in the units of both norms, and along the truth."""

    features: "tuple[Array, Array] | None"
    gain: "float"


@dataclass(frozen=True)
class Draws:
    """One output in the cases of distinct draws.

    `rows` says of each case which of its rows no case had before; of an output that has no rows, or of which only a
    sample is kept, it holds the whole. `varying` are the dimensions that are not the same in all cases.
    """

    outputs: "dict[str, GoldenOutput]"
    rows: "dict[str, Array]"
    varying: "tuple[int, ...]"

    @cached_property
    def count(self) -> "int":
        """How many there are."""
        return sum(int(fresh.sum()) for fresh in self.rows.values())

    @cached_property
    def eager_sums(self) -> "dict[str, Summed]":
        """The sum of each case of eager itself, and so of every engine that gives the same."""
        return {case: self.sum(case, expected.eager) for case, expected in self.outputs.items()}

    @cached_property
    def of_eager(self) -> "float":
        """The combined ratio of eager itself; the largest that it can be where nobody knows it."""
        if any(expected.central for expected in self.outputs.values()):
            return math.sqrt(self.count)
        return self.ratio(list(self.eager_sums.values()))

    def sum(self, case: "str", candidate: "Array") -> "Summed":
        """Sum the errors of one case; a candidate has the shape of what was recorded."""
        expected, fresh = self.outputs[case], self.rows[case]
        truth = np.asarray(expected.truth, dtype="float64")
        with np.errstate(invalid="ignore", over="ignore"):
            off = unrounded(truth, candidate) - truth
            if 0 in self.varying and expected.index is None:
                truth, off = truth[fresh], off[fresh]
            units = [expected.scale[norm] * max(expected.e_ref[norm], expected.floor) for norm in (0, 1)]
            draws = int(fresh.sum())
            gain = draws * float(np.sum((off / units[1]) * (truth / expected.scale[1]))) / max(truth.size, 1)
            if expected.index is not None:  # its features are not complete
                return Summed(None, gain)
            # Rows are summed; other dimensions that vary (the length of a sequence) are averaged: they may depend.
            shape = [size for axis, size in enumerate(off.shape) if axis not in self.varying]
            summed = off.mean(axis=self.varying) * draws if draws else np.zeros(shape)
            return Summed((summed / units[0], summed / units[1]), gain)

    def ratio(self, sums: "Sequence[Summed]") -> "float":
        """The larger of both directions; NaN where an error is."""
        root = math.sqrt(self.count)
        parts = [abs(sum(one.gain for one in sums)) / root]
        for norm in (0, 1):
            features = [one.features[norm] for one in sums if one.features is not None]
            if len(features) == len(sums):
                parts.append(norms(np.sum(features, axis=0))[norm] / root)
        return math.nan if any(math.isnan(part) for part in parts) else max(parts)


class Pooled:
    """The sums of one run, case by case."""

    def __init__(self, drawn: "Mapping[str, Draws]") -> "None":
        self._draws = drawn
        self._sums: dict[str, dict[str, Summed]] = {name: {} for name in self._draws}

    def add(self, case: "str", got: "Mapping[str, Array]") -> "None":
        """Add the results of one case; what does not have its shape and dtype is not counted."""
        for name, drawn in self._draws.items():
            expected, value = drawn.outputs.get(case), got.get(name)
            if expected is None or value is None or (value.shape, value.dtype.name) != (expected.shape, expected.dtype):
                continue
            kept = expected.kept(value)
            eager = np.array_equal(kept, expected.eager)
            self._sums[name][case] = drawn.eager_sums[case] if eager else drawn.sum(case, kept)

    def judge(self, budget: "float") -> "dict[str, Judged]":
        """Return the judgement of each output over all its cases, by the output's name."""
        return {
            name: self._judge(drawn, list(self._sums[name].values()), budget) for name, drawn in self._draws.items()
        }

    def _judge(self, drawn: "Draws", sums: "Sequence[Summed]", budget: "float") -> "Judged":
        if len(sums) < len(drawn.outputs):
            said = f"only {len(sums)} of the {len(drawn.outputs)} cases gave values to be taken together"
            return Judged("missing", said)
        ratio, outcome, reason = drawn.ratio(sums) / max(1.0, drawn.of_eager), "match", ""
        if not ratio <= SHARE * budget:  # so that NaN fails
            far, outcome = above(ratio, SHARE * budget), "mismatch"
            reason = f"{drawn.count} results err in one direction: taken together {far}, over {SHARE * budget:g}"
        elements = sum(expected.eager.size for expected in drawn.outputs.values())
        return Judged(outcome, reason, elements, {"combined_ratio": ratio})


def draws(cases: "Sequence[GoldenCase]") -> "dict[str, Draws]":
    """The independent draws of each float output that has two of them, among the cases that can be judged.

    Cases of one draw have related values and so related errors: of each draw the first counts.
    """
    found = {}
    for name, output in cases[0].outputs.items():
        first: dict[str, GoldenCase] = {}
        for case in cases:
            if not case.outputs[name].gate and case.outputs[name].eager.size and any(case.outputs[name].scale):
                first.setdefault(case.outputs[name].draw, case)
        outputs = {case.name: case.outputs[name] for case in first.values()}
        shapes = [one.shape for one in outputs.values()]
        if output.exact or len({len(shape) for shape in shapes}) != 1:
            continue
        varying = tuple(axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1)
        candidate = Draws(outputs, _fresh(outputs, 0 in varying), varying)
        if candidate.count > 1:
            found[name] = candidate
    return found


def _fresh(outputs: "Mapping[str, GoldenOutput]", by_row: "bool") -> "dict[str, Array]":
    """Of each case, which rows no case had before: in none of those before lies every element within a unit."""
    seen: list[Array] = []
    found = {}
    for case, output in outputs.items():
        scaled = np.asarray(output.truth, dtype="float64") / (output.scale[0] * ALIKE)
        fresh = []
        for row in scaled if by_row and output.index is None else [scaled]:
            alike = (known for known in seen if known.shape == row.shape)
            fresh.append(not any(np.max(np.abs(row - known)) < 1 for known in alike))
            seen += [row] if fresh[-1] else []
        found[case] = np.array(fresh)
    return found


# exporter/base/numbers/sample.py
#
# Of outputs that are too large for the goldens a sample is kept: of which, and at which places.
#
# Both follow from sizes and from the seed of the spec, so that whoever verifies a bundle comes to what its release kept.
#
# Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.

#: Elements kept of an output that is too large to keep whole.
SAMPLE = 65_536
_WORD = 1 << 64


def sampled(sizes: "Mapping[str, tuple[int, int]]", megabytes: "float") -> "list[str]":
    """The keys of eager's outputs of which a sample is kept: the largest, until all fit into so many 10⁶ bytes.

    `sizes` holds (elements, bytes) of every tensor as a whole, by its key.
    """
    size, keys = sum(held for _, held in sizes.values()), []
    eagers = (key for key in sizes if "/eager/" in key)
    for key in sorted(eagers, key=lambda key: (-sizes[key][1], key)):
        elements = sizes[key][0]
        if size <= megabytes * 1e6 or elements <= SAMPLE:
            break
        keys.append(key)
        both = (sizes[name][1] for name in (key, _truth_of(key)) if name in sizes)
        size -= sum(held - held // elements * SAMPLE for held in both)
    return keys


def places_of(elements: "int", seed: "int", allowed: "Array | None" = None) -> "Array":
    """The places of a sample, sorted: of all elements, or of those at the places that are `allowed`."""
    places = np.arange(elements, dtype="int64") if allowed is None else allowed
    if places.size <= SAMPLE:
        return places
    return np.sort(places[np.argpartition(_mixed(places, seed), SAMPLE)[:SAMPLE]])


def _mixed(places: "Array", seed: "int") -> "Array":
    """Mix each place by the last steps of splitmix64: numbers without order, no two of them alike."""
    mixed = places.astype("uint64") + np.uint64(seed * 0x9E3779B97F4A7C15 % _WORD)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def other_sample(
    inputs: "int", samples: "Mapping[str, Array]", described: "Iterable[Mapping[str, Any]]", megabytes: "float", seed: "int"
) -> "str":
    """Say which output was sampled otherwise than a release does; empty where none was.

    `inputs` are the bytes of all inputs, `samples` the places that were kept by eager's key, `described` what the
    manifest says of every case whose outputs are kept.
    """
    sizes = {"/input/": (0, inputs)}
    for case in described:
        for name, about in case["outputs"].items():
            elements, key = math.prod(about["shape"]), f"{case['name']}/eager/{name}"
            sizes[key] = elements, elements * np.dtype(about["dtype"]).itemsize
            if np.dtype(about["dtype"]).kind == "f":
                sizes[_truth_of(key)] = elements, elements * 8
    due = sampled(sizes, megabytes)
    for key in sorted(samples):
        kept, elements = samples[key], sizes.get(key, (0, 0))[0]
        if key not in due:
            return f"of '{key}' {kept.size} of {elements} elements are kept, and a release keeps all of them"
        partial = may_be_partial(key.partition("/")[0])  # its places are of those elements that have an answer
        fits = 0 < kept.size <= SAMPLE + 1 and bool((np.diff(kept) > 0).all())
        if not fits or not (partial or _holds(kept, places_of(elements, seed))):
            return f"of '{key}' {kept.size} of {elements} elements are kept, not the {SAMPLE} that a release takes"
    return ""


def _holds(kept: "Array", places: "Array") -> "bool":
    """Return whether just these places were kept, and at most one more: where eager errs most."""
    return bool(np.isin(places, kept).all()) and kept.size - places.size <= 1


def _truth_of(key: "str") -> "str":
    return key.replace("/eager/", "/truth/")


# ---- 2. one artifact in one engine, in a process of its own ---------------------------------------------------------
def run_paddle_inference(
    files: "list[Path]", cases: "list[Any]", threads: "int", device: "str", said: "list[str]"
) -> "Iterator[dict[str, Any]]":
    """Yield all outputs of each case; Paddle's own kernels on the CPU, without graph passes and oneDNN."""
    del said
    if device != "cpu":
        raise NotThere("on a GPU this script runs ONNX Runtime alone")
    import paddle
    from paddle import inference

    paddle.disable_signal_handler()  # it waits for ever where a kernel has corrupted memory (3.3.1)
    ordered = [str(path) for path in sorted(files, key=lambda path: path.suffix == ".pdiparams")]
    config = inference.Config(*ordered, *[""] * (2 - len(ordered)))  # a layer without parameters has no file of them
    int8 = files[0].parent.name.endswith("-int8")  # Paddle's own kernels know no int8; oneDNN's do
    config.switch_ir_optim(int8)
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(threads)
    (config.enable_mkldnn_int8 if int8 else config.disable_mkldnn)()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for inputs in cases:
        yield run_predictor(predictor, inputs)


def run_predictor(predictor: "Any", inputs: "Any") -> "dict[str, Any]":
    """Return outputs by their names; int16, which no handle can carry (3.3.1), comes and goes as Paddle's tensors."""
    import paddle

    taken = predictor.get_input_names()
    try:
        for name in taken:
            predictor.get_input_handle(name).copy_from_cpu(inputs[name])
        predictor.run()
        return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}
    except ValueError:
        outputs = predictor.run([paddle.to_tensor(inputs[name]) for name in taken])
        return {name: outputs[place].numpy() for place, name in enumerate(predictor.get_output_names())}


def recorded_cases(manifest: "Any", golden: "Any") -> "tuple[GoldenCase, ...]":
    """What was recorded; KeyError or ValueError where the goldens are not what the manifest says of them."""
    for case in manifest["cases"]:
        for one in manifest["inputs"]:
            wanted = tuple(case["dims"].get(size) if isinstance(size, str) else size for size in one["shape"])
            if golden[f"{case['name']}/input/{one['name']}"].shape != wanted:
                raise ValueError(f"input '{one['name']}' of case '{case['name']}' is not of the size {list(wanted)}")
    inputs = sum(value.nbytes for key, value in golden.items() if "/input/" in key)
    samples = {key.replace("/index/", "/eager/"): value for key, value in golden.items() if "/index/" in key}
    kept, spec = [*manifest["cases"], *manifest.get("untelling", [])], manifest["spec"]
    if wrong := other_sample(inputs, samples, kept, spec.get("golden_mb", 64.0), spec.get("seed", 0)):
        raise ValueError(wrong)
    return read_cases(golden, manifest["cases"])


def unvaried_inputs(manifest: "Any", golden: "Any") -> "list[str]":
    """A sentence for each input that is the same in all cases."""
    inputs, cases = manifest["spec"].get("inputs", {}), [case["name"] for case in manifest["cases"]]
    said = []
    for name in (one["name"] for one in manifest["inputs"]):
        source = inputs.get(name, {}).get("values", "")
        said.append(unvaried(name, source, (golden[f"{case}/input/{name}"] for case in cases)))
    return [sentence for sentence in said if sentence]


def child(name: "str", engine: "str", device: "str", answer: "str") -> "None":
    """Run one variant and write what came of it; whatever goes wrong before that is a failure, which `run` sees."""
    manifest, golden = read_manifest(BUNDLE)[0], read_golden(BUNDLE)
    variant, package = manifest["variants"][name], ENGINES[engine][0]
    try:
        version = importlib.import_module(package).__version__
    except ImportError as error:
        return write_answer(answer, {"unusable": f"{package} cannot be imported: {error}"})
    if variant["format"] == "pir" and version.startswith(("1.", "2.")):
        return write_answer(answer, {"unusable": f"paddle {version} is older than this format; get 3.1 or newer"})
    try:
        cases = to_run(recorded_cases(manifest, golden))
    except (KeyError, ValueError) as error:
        return write_answer(answer, {"damaged": f"golden.safetensors: not whole: {error}"})
    run_cases = run_onnxruntime if package == "onnxruntime" else run_paddle_inference
    natives = [(variant["inputs"][place], one["name"]) for place, one in enumerate(manifest["inputs"])]
    files, answers = [BUNDLE / file for file in variant["files"]], {}
    said: list[str] = []
    for threads in sorted({case.threads for case in cases}):
        asked = [case for case in cases if case.threads == threads]
        inputs = [{native: golden[f"{case.recorded}/input/{ours}"] for native, ours in natives} for case in asked]
        try:
            for place, outputs in enumerate(run_cases(files, inputs, threads, device, said)):
                answers[asked[place].name] = outputs
        except NotThere as error:
            return write_answer(answer, {"unusable": str(error)})
    said += unvaried_inputs(manifest, golden)
    checks, planned = judged_answers(manifest, variant, cases, answers)
    done = {"version": version, "device": device, "said": sorted(set(said))}
    write_answer(answer, {**done, "checks": checks, "planned": planned})


def judged_answers(
    manifest: "Any", variant: "Any", cases: "tuple[GoldenCase, ...]", answers: "dict[str, Any]"
) -> "tuple[list[list[str]], int]":
    """[case or kind, output, outcome, reason] of every claim, and how many there have to be."""
    outputs = [one["name"] for one in manifest["outputs"]]
    ours = {native: outputs[place] for place, native in enumerate(variant["outputs"])}
    others = {output: [case.outputs[output] for case in cases] for output in outputs}
    reduced = variant["precision"] != "fp32"
    pooled, seen = Pooled({} if reduced else draws(cases)), {}
    for case in cases:
        got = {ours.get(native, native): value for native, value in answers[case.name].items()}
        pooled.add(case.name, got if set(got) == set(outputs) else {})
        seen[case.name] = judge_case(case, got, others, None if reduced else float(manifest["budget"]))
    claims = [(case, output, judged) for case, of_case in seen.items() for output, judged in of_case.items()]
    total = len(cases) * len(outputs)
    budget = promised_budget(manifest, variant) if reduced else {}
    for output in outputs if reduced else ():
        golden = {case.name: case.outputs[output] for case in cases if promised(case.name)}
        said = {case: seen[case][output] for case in golden}
        wanted = promised_of(cases[0].outputs[output].exact, budget.get("min_snr_db"), budget.get("min_top1"))
        claims += [(kind, output, judge_promise(kind, wanted[kind], golden, said)) for kind in wanted]
        total += len(wanted)
    together = pooled.judge(float(manifest["budget"]))
    claims += [("pooled_bias", output, judged) for output, judged in together.items()]
    return [[case, output, judged.outcome, judged.reason] for case, output, judged in claims], total + len(together)


def promised_budget(manifest: "Any", variant: "Any") -> "dict[str, Any]":
    """What the spec promises of a precision; where it says nothing, the defaults that the variant was written under."""
    precisions = manifest["spec"].get("precisions", {})
    settings = precisions.get(variant["precision"], {}) if isinstance(precisions, dict) else {}
    said = {key: value for key, value in (settings.get("budget") or {}).items() if value is not None}
    return {**variant["details"].get("budget", {}), **said}


def write_answer(path: "str", answer: "Any") -> "None":
    """Write the answer and leave at once: engines may crash in their own tidying up, after the work is done."""
    Path(path).write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)


def run(
    manifest: "Any", variant: "str", engine: "str", device: "str", timeout: "float", waivers: "bool"
) -> "tuple[str, str, list[Any]]":
    """Return outcome, reason and checks; a crash, a hang and an answer that leaves something out are failures."""
    package, cure = ENGINES[engine][:2] if engine else ("", "")
    lacking = [name for name in ("numpy", package) if name and importlib.util.find_spec(name) is None]
    if lacking or not engine:
        why = f"{', '.join(lacking)} not installed: {cure}" if engine else "this script knows no engine that runs it"
        return "not run", why, []
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, str(Path(__file__).resolve()), "--child", variant, engine, device, str(answer)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return "failed", f"no result within {timeout:g} s", []
        if done.returncode or not answer.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            return "failed", f"ended with code {done.returncode}: {said[-1]}", []
        found = json.loads(answer.read_text(encoding="utf-8"))
    for key, outcome in (("unusable", "not run"), ("damaged", "damaged")):
        if key in found:
            return outcome, found[key], []
    return concluded({**manifest, "waivers": manifest["waivers"] if waivers else []}, variant, engine, found)


def concluded(manifest: "Any", variant: "str", engine: "str", found: "Any") -> "tuple[str, str, list[Any]]":
    """What the checks of a run come to, today's waivers applied; a variant has to be shown to compute right numbers.

    In reduced precision the budgets over all cases show it.
    """
    today = datetime.now(timezone.utc).date()
    waived = [one["claim"] for one in manifest["waivers"] if date.fromisoformat(one["until"]) >= today]
    for check in found["checks"]:
        claim = f"{variant}/{engine}/{check[0]}/{check[1]}"
        if check[2] != "match" and any(fnmatch.fnmatchcase(claim, pattern) for pattern in waived):
            check[2] = "waived"
    good = [check for check in found["checks"] if check[2] == "match"]
    bad = [check for check in found["checks"] if check[2] not in ("match", "waived")]
    reason = f"{len(good)} of {found['planned']} checks match, {engine} {found['version']} on {found['device']}"
    reason += "".join(f"; {said}" for said in found["said"])
    if bad:
        reason += "; case {}, output {}: {}: {}".format(*bad[0])
    reduced = manifest["variants"][variant]["precision"] != "fp32"
    numbers = [check for check in good if check[0] != "pooled_bias" and (check[0] in ("snr_db", "top1")) == reduced]
    passed = numbers and not bad and len(found["checks"]) == found["planned"]
    word = "passed_with_waivers" if len(good) < len(found["checks"]) else "passed"
    return word if passed else "failed", reason, found["checks"]


# ---- 3. all of it ---------------------------------------------------------------------------------------------------
def objections(manifest: "Any") -> "list[str]":
    """What speaks against the bundle before anything runs: its release, its report, and what its spec asked for."""
    found = [] if manifest["verdict"] in RELEASED else [f"the verdict of the release itself was {manifest['verdict']}"]
    try:
        report = json.loads(read_plain(BUNDLE / "parity.json", MOST_JSON).decode("utf-8"))
        outcomes = {check["outcome"] for check in report["checks"]}
        sound = report["planned"] == len(report["checks"]) > 0 and outcomes <= {"match", "waived"}
        if not found and not (sound and report["verdict"] == manifest["verdict"]):
            found.append("its parity.json is not the report of such a release")
    except (OSError, ValueError, KeyError, TypeError) as error:
        found.append(f"its parity.json cannot be read: {error}")
    spec, precisions, asked = manifest["spec"], manifest["spec"].get("precisions", ["fp32"]), {}
    for precision in precisions:
        formats = (precisions[precision].get("formats") if isinstance(precisions, dict) else None) or spec["formats"]
        asked.update({kind if precision == "fp32" else f"{kind}-{precision}": (kind, precision) for kind in formats})
    held = {name: (variant["format"], variant["precision"]) for name, variant in manifest["variants"].items()}
    found += [f"its spec asks for the variant {name}, and it holds none" for name in asked if name not in held]
    found += [f"its variant {name} is none that its spec asks for" for name in held if asked.get(name) != held[name]]
    plain = [case for case in manifest["cases"] if ":" not in case["name"]]
    for dim, sizes in manifest["dims"].items():
        unseen = {sizes[key] for key in ("min", "typical", "max")} - {case["dims"].get(dim) for case in plain}
        found += [f"its spec promises {dim}={size}, and no case records it" for size in sorted(unseen)]
    if not any("#" in case["name"] for case in plain):
        found.append("no case is drawn a second time, so that no other case's output could serve as an impostor")
    return found


def unaccepted(manifest: "Any") -> "list[str]":
    """What the bundle excuses by its own word."""
    waivers, shown = len(manifest["waivers"]), {case["name"] for case in manifest.get("untelling", [])}
    said = [f"{waivers} waivers of the bundle's own do not count: --accept-waivers"] if waivers else []
    named = [f"{name} ({why})" for name, why in manifest.get("left_out", {}).items() if name not in shown]
    return said + [f"left out, and not shown here why: {', '.join(named)}; see exporter verify"] * bool(named)


def verify(only: "list[str]", device: "str", timeout: "float", waivers: "bool" = False) -> "dict[str, Any]":
    """Check the files, then run what can be run; the report holds the exit code. `waivers`: the bundle's own count."""
    manifest, faults = read_manifest(BUNDLE)
    faults = faults or damaged_files(BUNDLE, manifest)
    report: dict[str, Any] = {key: manifest.get(key, "") for key in ("name", "version", "digest", "verdict")}
    report.update({"damaged": faults, "against": [], "runs": [], "exit": DAMAGED, "word": "damaged"})
    if faults:
        return report
    report["notes"] = [] if waivers else unaccepted(manifest)
    report["around"] = bool(manifest["spec"].get("pipeline"))
    report["against"], left_out = objections(manifest), 0
    for name, variant in manifest["variants"].items():
        for engine in [engine for engine, facts in ENGINES.items() if name in facts[2]] or [""]:
            if only and not {name, variant["format"], engine} & set(only):
                left_out += 1
                continue
            outcome, reason, checks = run(manifest, name, engine, device, timeout, waivers)
            one = {"variant": name, "engine": engine, "outcome": outcome, "reason": reason, "checks": checks}
            report["runs"].append(one)
    report["damaged"] = [one["reason"] for one in report["runs"] if one["outcome"] == "damaged"]
    if report["damaged"]:
        return report
    outcomes = {one["outcome"] for one in report["runs"]}
    if "failed" in outcomes or report["against"]:
        report.update({"exit": FAILED, "word": "failed"})
    elif "not run" in outcomes or not outcomes:
        report.update({"exit": NO_ENGINE, "word": "none"})
    else:
        report.update({"exit": PASSED, "word": "passed_with_waivers" if outcomes != {"passed"} else "passed"})
        report["word"] = "partial" if left_out else report["word"]
    return report


def as_text(report: "dict[str, Any]") -> "str":
    """The report for a person; what cannot be printed is escaped, since it may come from a damaged file."""
    lines = [f"{report['name']} {report['version']}, digest {report['digest'][:16]}"] if report["digest"] else []
    lines += [f"DAMAGED  {fault}" for fault in report["damaged"]]
    lines += [f"{o['outcome'].upper():8} {o['variant']} in {o['engine']}: {o['reason']}" for o in report["runs"]]
    lines += [f"FAILED   {reason}" for reason in report["against"]]
    lines += [f"NOTE     {note}" for note in report.get("notes", [])]
    able = sorted({one["variant"] for one in report["runs"] if one["outcome"] in RELEASED})
    cure = f"; --only {','.join(able)} leaves out what cannot be run here" if able else ""
    said = {
        "damaged": "damaged; do not use this bundle",
        "none": f"none: not every variant could be run here{cure}" if able else "none: nothing could be run here",
        "passed_with_waivers": "passed with waivers, which you accepted: the manifest lists them",
        "partial": "partial: what was asked for holds, and nothing is said of the rest",
    }
    if report.get("around"):
        lines.append("NOT RUN  the steps around the model: `exporter verify` compares them")
    lines.append("verdict: " + said.get(report["word"], report["word"]))
    return "\n".join("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line) for line in lines)


def main() -> "int":
    """Read the command line, verify, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check this bundle: its files, and what its artifacts compute.")
    parser.add_argument("--only", help="run only these variants, formats or engines, separated by commas")
    parser.add_argument("--engine", choices=sorted(ENGINES), help="run only this engine")
    parser.add_argument("--device", default="cpu", type=a_device, help="cpu (the default), or gpu:N")
    parser.add_argument("--timeout", type=float, default=600.0, help="limit of each run, in seconds of the clock")
    parser.add_argument("--accept-waivers", action="store_true", help="what the bundle's own waivers cover may fail")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    only = [*(asked.only.split(",") if asked.only else []), *([asked.engine] if asked.engine else [])]
    try:
        report = verify(only, asked.device, asked.timeout, asked.accept_waivers)
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # sealed, but not by our rules
        faults = [f"manifest.json: not what this script reads: {type(error).__name__}: {error}"]
        report = {"name": "", "version": "", "digest": "", "damaged": faults, "against": [], "runs": []}
        report.update({"exit": DAMAGED, "word": "damaged"})
    print(json.dumps(report, indent=2, sort_keys=True) if asked.json else as_text(report))
    return int(report["exit"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:6])
    sys.exit(main())
