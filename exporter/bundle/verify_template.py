#!/usr/bin/env python3
"""Check the bundle that this file lies in: are its files the ones that were sealed, and do they compute what they did?

    python verify.py [--only onnx] [--engine onnxruntime|paddle_inference] [--json] [--timeout SECONDS]

It needs Python 3.8, numpy and an engine for each variant (onnxruntime, and Paddle 2.6 or newer), and nothing of the
exporter that made the bundle. Exit codes: 0 passed, or partial: --only or --engine left something out and the rest
holds; 1 an artifact computes something else; 3 a variant could not be run here: install its engine, or name the others
with --only; 5 the bundle is damaged.

How it judges. golden.safetensors holds inputs and, for each output, the truth: the model computed in float64. The
manifest holds e_ref, how far the original float32 model was from that truth. An engine may be `budget` times as far, in
the largest error and in the root mean square (of few numbers with an allowance, since their largest error is chance);
whole numbers must be equal, but for labels whose scores are a near tie.
Each judgement is itself put to the test: zeros, the mean, the rows reversed and another case's output must fail it by
far, or it proves nothing. All cases of an output are also taken together, which finds what errs always the same way and
too little for one case. The first case runs once more after the others, the largest also in two threads. A variant of
low precision is judged over all cases together, by the budget that the manifest holds for it.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

PASSED, FAILED, NO_ENGINE, DAMAGED = 0, 1, 3, 5
#: The verdicts of a release under which a bundle may be used.
RELEASED = ("passed", "passed_with_waivers")
BUNDLE = Path(__file__).resolve().parent
#: Engine -> the package it needs, the formats it runs, how to get it.
ENGINES = {
    "onnxruntime": ("onnxruntime", ("onnx",), "pip install onnxruntime"),
    "paddle_inference": ("paddle", ("pir", "pdmodel"), "pip install paddlepaddle"),
}
#: Four times the rounding of float32: no reference error is taken to be smaller.
FLOOR = 4 * 2.0**-24
#: The same where an output is float64 and no input is narrower.
FLOOR_64 = 2.0**-44
#: An impostor within so many budgets leaves a judgement open.
MARGIN = 10.0
#: The share of the budget that errors in one direction may take, all cases together; rows alike by so much are one.
SHARE, ALIKE = 0.75, 1e-3
#: The other number of threads.
THREADS = 2
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"}
DTYPES.update({"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"})


# ---- 1. the files are the ones that were sealed ---------------------------------------------------------------------


def read_manifest() -> tuple[Any, list[str]]:
    """Return the manifest and what is wrong with it; every byte of the file counts, blanks too."""
    try:
        content = (BUNDLE / "manifest.json").read_bytes()
        manifest = json.loads(content.decode("utf-8"))
        if (as_json(manifest, indent=2) + "\n").encode("utf-8") != content:
            return {}, ["manifest.json: changed: it is not laid out as it was written"]
        rest = {key: value for key, value in manifest.items() if key != "digest"}
        digest = hashlib.sha256(as_json(rest, separators=(",", ":")).encode("utf-8")).hexdigest()
        if digest != manifest.get("digest"):
            return {}, [f"manifest.json: changed: its digest is {digest}, not {manifest.get('digest')}"]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        return {}, [f"manifest.json: cannot be read: {error}"]
    if manifest["schema"] not in (1, 2, 3) or not (manifest["outputs"] and manifest["variants"] and manifest["cases"]):
        return {}, ["manifest.json: not of schema 3, or without outputs, variants or cases: nothing could be proved"]
    narrow = {"float16", "float32"}.intersection(one["dtype"] for one in manifest["inputs"])
    for about in [about for case in manifest["cases"] for about in case["outputs"].values()]:
        about["floor"] = FLOOR_64 if about["dtype"] == "float64" and not narrow else FLOOR
    return manifest, []


def as_json(value: Any, **layout: Any) -> str:
    """The one way in which manifests are written."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, **layout)


def damaged_files(manifest: Any) -> list[str]:
    """Say of each file that is not as it was sealed what is wrong with it: not listed, missing or changed."""
    listed = manifest["files"]
    paths = [path for path in BUNDLE.rglob("*") if path.is_symlink() or not path.is_dir()]
    found = {path.relative_to(BUNDLE).as_posix(): path for path in paths}
    faults = [f"{name}: not a file of this bundle" for name in sorted(set(found) - set(listed) - {"manifest.json"})]
    used = {"golden.safetensors"}.union(*(variant["files"] for variant in manifest["variants"].values()))
    faults += [f"{name}: used, but not listed in manifest.json" for name in sorted(used - set(listed))]
    for name, entry in sorted(listed.items()):
        fault = fault_of(found[name], entry) if name in found else "missing"
        faults += [f"{name}: {fault}"] if fault else []
    return faults


def fault_of(path: Path, entry: Any) -> str:
    """Say what is wrong with a listed file; an empty text if nothing is."""
    try:
        if path.is_symlink() or not path.is_file():
            return "not a plain file"
        if path.stat().st_size != entry["size"]:
            return f"has {path.stat().st_size} bytes, not {entry['size']}"
        return "" if sha256(path) == entry["sha256"] else "changed: its sha256 is not the one in manifest.json"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def sha256(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def read_golden() -> dict[str, Any]:
    """Read golden.safetensors: 8 bytes of length, a JSON header, the numbers."""
    import numpy as np

    content = (BUNDLE / "golden.safetensors").read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin].decode("utf-8"))
    tensors = {}
    for name in header.keys() - {"__metadata__"}:
        start, stop = header[name]["data_offsets"]
        numbers = np.frombuffer(content[begin + start : begin + stop], DTYPES[header[name]["dtype"]])
        tensors[name] = numbers.reshape(header[name]["shape"])
    return tensors


# ---- 2. the rule ----------------------------------------------------------------------------------------------------
def norms(values: Any) -> tuple[float, float]:
    """The largest absolute value, and the root mean square (scaled before squaring, so that nothing overflows)."""
    import numpy as np

    largest = float(np.abs(values).max())
    if not 0.0 < largest < float("inf"):
        return largest, largest
    return largest, largest * float(np.sqrt(np.mean(np.square(values / largest))))


def unit(expected: Any, norm: str) -> float:
    """What an error is measured in: e_ref, of few numbers with the allowance for chance; never below the floor."""
    return max(
        float(expected.get("allowance", 1.0)) * float(expected[f"e_ref_{norm}"]), float(expected.get("floor", FLOOR))
    )


def worse(error: Any, size: Any, expected: Any) -> float:
    """How many times larger than the original model's error; both are (largest, rms), the worse of the two decides."""
    if size[0] == 0.0:
        return 0.0 if error[0] == 0.0 else float("inf")
    units = unit(expected, "max"), unit(expected, "l2")
    return max(float(error[place] / size[place] / units[place]) for place in (0, 1))


def error_ratio(truth: Any, output: Any, expected: Any) -> float:
    """How many times farther from the truth than the original model."""
    return worse(norms(output.astype("float64") - truth), norms(truth), expected)


def above(number: float, limit: float) -> str:
    """A number over a limit, with as many digits as show that it is: 4.0012, not 4."""
    digits = next((digits for digits in range(3, 17) if not float(f"{number:.{digits}g}") <= limit), 17)
    return f"{number:.{digits}g}"


def judge_float(
    truth: Any, output: Any, others: list[Any], expected: Any, budget: float, batched: bool = False
) -> tuple[str, str]:
    """The outcome and its reason; `others` are the truths of unrelated cases; `batched`: dimension 0 counts rows."""
    import numpy as np

    if not np.isfinite(output).all():
        return "mismatch", "not finite"
    ratio = error_ratio(truth, output, expected)
    if not ratio <= budget:  # so written because NaN must fail
        return "mismatch", f"error ratio {above(ratio, budget)}, over the budget of {budget:g}"
    strangers = [np.resize(other, truth.shape) for other in others]
    unlike = [stranger for stranger in strangers if not np.array_equal(stranger, truth)]
    impostors = {"zeros": np.zeros_like(truth)}
    if truth.size > 1:
        impostors["the mean"] = np.full_like(truth, truth.mean())
    if strangers:
        impostors["another case's output"] = unlike[0] if unlike else strangers[0]
    if batched and truth.ndim and truth.shape[0] > 1 and error_ratio(truth, truth[::-1], expected) > 1e-4:
        impostors["the rows reversed"] = truth[::-1]
    distance, name = min((error_ratio(truth, impostor, expected), name) for name, impostor in impostors.items())
    if distance <= budget:
        return "vacuous", f"{name} would pass too"
    if not distance > MARGIN * budget:
        return "inconclusive", f"{name} is nearly as good: error ratio {distance:.3g}"
    return "match", f"error ratio {ratio:.3g}"


def judge_exact(truth: Any, output: Any, others: list[Any]) -> tuple[str, str]:
    """The same for whole numbers. All cases together face the impostors: a single label is often 0 by chance."""
    import numpy as np

    wrong = int(np.sum(output != truth))
    if wrong:
        return "mismatch", f"{wrong} of {output.size} whole numbers differ"
    if not any(one.any() for one in [truth, *others]):
        return "vacuous", "zeros would pass in every case"
    if others and all(np.array_equal(np.resize(truth, other.shape), other) for other in others):
        return "vacuous", "another case's output would pass in every case"
    return "match", "equal"


def near_ties(case: Any, golden: Any, name: str, labels: Any, budget: float) -> Any:
    """Where other labels than those recorded are right as well, since rounding decides between their scores."""
    import numpy as np

    scores = case["outputs"][name].get("scores")  # the output and the axis of which these are the argmax
    if not scores or any(f"{case['name']}/index/{one}" in golden for one in (name, scores["output"])):
        return np.zeros(labels.shape, bool)
    about, truth = case["outputs"][scores["output"]], golden[f"{case['name']}/truth/{scores['output']}"]
    inside = (labels >= 0) & (labels < truth.shape[scores["axis"]])

    def score(of: Any) -> Any:
        places = np.expand_dims(of, scores["axis"]) if of.ndim < truth.ndim else of
        return np.take_along_axis(truth, places.astype("int64"), scores["axis"]).reshape(of.shape)

    gap = score(golden[f"{case['name']}/eager/{name}"]) - score(np.where(inside, labels, 0))
    tolerance = budget * unit(about, "max") * about["scale_max"]
    return inside & (gap <= 2 * tolerance) & (not about["gate"])


def one_way(manifest: Any, golden: Any, name: str, outputs: Any) -> list[float]:
    """How far errors go in one direction, all cases together: along the truth, and along each feature in both norms.

    Each is the sum of the errors of n rows that no case had before, in units of e_ref, divided by the root of n: about
    1 if they are independent. Cases of one seed are related, so the first counts. Empty where this says nothing: for
    whole numbers, fewer than two rows, an output of which only a sample is recorded.
    """
    import numpy as np

    cases: dict[int, Any] = {}
    for place, case in enumerate(manifest["cases"]):
        about = case["outputs"][name]
        if not (about["exact"] or about["gate"] or 0 in about["shape"]):
            cases.setdefault(case["seed"], (case["name"], about, outputs[place]))
    shapes = [about["shape"] for _, about, _ in cases.values()]
    sampled = any(f"{case}/index/{name}" in golden for case, _, _ in cases.values())
    if sampled or len({len(shape) for shape in shapes}) != 1:
        return []
    varying = tuple(axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1)
    known: list[Any] = []
    count, sums = 0, [0.0, 0.0, 0.0]
    for case, about, output in cases.values():
        truth = golden[f"{case}/truth/{name}"]
        off, near = output.astype("float64") - truth, about["scale_max"] * ALIKE
        fresh = []
        for row in truth if 0 in varying else [truth]:
            seen = (one for one in known if one.shape == row.shape)
            fresh.append(not any(np.max(np.abs(row - one), initial=0.0) < near for one in seen))
            known += [row] if fresh[-1] else []
        if not any(fresh):
            continue
        if 0 in varying:
            truth, off = truth[fresh], off[fresh]
        units = [
            about[f"scale_{norm}"] * max(about[f"e_ref_{norm}"], about.get("floor", FLOOR)) for norm in ("max", "l2")
        ]
        # Rows are summed; other dimensions that vary (the length of a sequence) are averaged: they may depend.
        summed, count = off.mean(axis=varying) * sum(fresh), count + sum(fresh)
        along = sum(fresh) * float(np.vdot(off / units[1], truth / about["scale_l2"])) / truth.size
        sums = [sums[0] + along, sums[1] + summed / units[0], sums[2] + summed / units[1]]
    parts = [abs(sums[0]), norms(sums[1])[0], norms(sums[2])[1]]
    return [part / math.sqrt(count) for part in parts] if count > 1 else []


def limits(manifest: Any, golden: Any) -> dict[str, float]:
    """How far the errors of each output may go in one direction; eager's own, where they are over 1, are the unit."""
    found = {}
    for name in [one["name"] for one in manifest["outputs"]]:
        eager = [golden[f"{case['name']}/eager/{name}"] for case in manifest["cases"]]
        parts = one_way(manifest, golden, name, eager)
        found.update({name: SHARE * float(manifest["budget"]) * max(1.0, *parts)} if parts else {})
    return found


def judge_together(manifest: Any, golden: Any, name: str, outputs: list[Any], limit: float) -> tuple[str, str]:
    """One float output in all cases."""
    if any(one.shape != tuple(manifest["cases"][place]["outputs"][name]["shape"]) for place, one in enumerate(outputs)):
        return "mismatch", "not every case has the shape that could be taken together"
    parts = one_way(manifest, golden, name, outputs)
    if all(part <= limit for part in parts):  # so written because NaN must fail
        return "match", f"in one direction {max(parts):.3g}, at most {limit:.3g}"
    far = above(max(parts), limit)
    return "mismatch", f"results err in one direction: taken together {far}, over {limit:.3g}"


def judge_low(manifest: Any, golden: Any, name: str, outputs: list[Any], budget: Any) -> tuple[str, str]:
    """One output of low precision, in all cases that do not probe: its noise in dB, or how many whole numbers agree."""
    import numpy as np

    exact, pairs = manifest["cases"][0]["outputs"][name]["exact"], []
    for place, case in enumerate(manifest["cases"]):
        if ":" not in case["name"]:
            index = golden.get(f"{case['name']}/index/{name}", slice(None))  # of a large output, a sample is recorded
            recorded = golden[f"{case['name']}/{'eager' if exact else 'truth'}/{name}"]
            pairs.append([recorded.reshape(-1), outputs[place].reshape(-1)[index]])
    truth, seen = np.concatenate(pairs, axis=1)
    wanted = (budget.get("min_top1") or 0.9) if exact else (budget.get("min_snr_db") or 0.0)
    levels = [np.mean(one == truth) for one in (seen, truth.mean())]
    if not exact:
        noises = [max(np.sum((one - truth) ** 2), 1e-300) for one in (seen, truth.mean())]  # NaN stays NaN
        levels = [10 * np.log10(max(np.sum(truth**2), 1e-300) / noise) for noise in noises]
    said = f"{levels[0]:.3g}{'' if exact else ' dB'}, at least {wanted:g} promised"
    if levels[0] >= wanted > levels[1]:  # so written because NaN must fail
        return "match", said
    return ("vacuous", f"{said}; the mean would pass too") if levels[0] >= wanted else ("mismatch", said)


def judge(manifest: Any, golden: Any, number: int, name: str, output: Any, low: Any) -> tuple[str, str]:
    """Judge one output of case `number`: gate, dtype and shape, then values; with `low` they only have to be finite."""
    import numpy as np

    case = manifest["cases"][number]
    expected, index = case["outputs"][name], golden.get(f"{case['name']}/index/{name}")
    found = output.dtype.name, list(output.shape)
    wanted = expected["dtype"], list(expected["shape"])
    if found != wanted:
        return "mismatch", f"{found[0]}{found[1]} instead of {wanted[0]}{wanted[1]}"
    if expected["gate"]:
        return "inconclusive", expected["gate"]
    kind = "eager" if expected["exact"] else "truth"
    truths = [golden[f"{one['name']}/{kind}/{name}"] for one in manifest["cases"]]
    truth = truths[number]
    unrelated = [place for place, one in enumerate(manifest["cases"]) if one["seed"] != case["seed"]]
    others = truths[:number] + truths[number + 1 :] if expected["exact"] else [truths[place] for place in unrelated]
    seen = output if index is None else output.reshape(-1)[index]  # of a large output, a sample is recorded
    if seen.size == 0 or seen.shape != truth.shape:
        return "mismatch", "nothing recorded that could be compared"
    if low:
        return ("match", "finite") if (abs(seen.astype("float64")) < float("inf")).all() else ("mismatch", "not finite")
    if expected["exact"]:
        tied = near_ties(case, golden, name, seen, float(manifest["budget"]))
        return judge_exact(truth, np.where(tied, truth, seen), others)
    if index is not None:
        whole, size = norms(output.astype("float64")), (expected["scale_max"], expected["scale_l2"])
        error = [abs(whole[place] - size[place]) for place in (0, 1)]
        if not worse(error, size, expected) <= float(manifest["budget"]):
            return "mismatch", "its norms as a whole are not those of the truth"
    rows = {one["outputs"][name]["shape"][0] for one in manifest["cases"] if one["outputs"][name]["shape"]}
    batched = index is None and len(rows) > 1
    return judge_float(truth, seen, others, expected, float(manifest["budget"]), batched)


# ---- 3. one artifact in one engine, in a process of its own ---------------------------------------------------------
def turns(cases: list[Any]) -> list[tuple[int, str, int]]:
    """What runs: the number of a case, what it is called, in how many threads.

    The first case runs once more after all: what an artifact keeps from call to call shows then. The largest runs in
    other threads too, in an engine that loads the artifact anew: work that is shared out wrongly shows then.
    """
    largest = max(range(len(cases)), key=lambda number: math.prod(cases[number]["dims"].values()))
    again = [(0, f"{cases[0]['name']}:again", 1), (largest, f"{cases[largest]['name']}:threads={THREADS}", THREADS)]
    return [(number, case["name"], 1) for number, case in enumerate(cases)] + again


def run_onnxruntime(files: list[Path], cases: list[Any], threads: int) -> Iterator[dict[str, Any]]:
    """Yield all outputs of each case; onnxruntime on the CPU."""
    import onnxruntime

    model = next(path for path in files if path.suffix == ".onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    for inputs in cases:
        values = session.run(names, inputs)
        yield {name: values[place] for place, name in enumerate(names)}


def run_paddle_inference(files: list[Path], cases: list[Any], threads: int) -> Iterator[dict[str, Any]]:
    """Yield all outputs of each case; Paddle's own kernels on the CPU, without graph passes and oneDNN."""
    import paddle
    from paddle import inference

    paddle.disable_signal_handler()  # it waits for ever where a kernel has corrupted memory (3.3.1)
    config = inference.Config(*map(str, sorted(files, key=lambda path: path.suffix == ".pdiparams")))
    int8 = files[0].parent.name.endswith("-int8")  # Paddle's own kernels know no int8; oneDNN's do
    config.switch_ir_optim(int8)
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(threads)
    (config.enable_mkldnn_int8 if int8 else config.disable_mkldnn)()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for inputs in cases:
        for name, value in inputs.items():
            predictor.get_input_handle(name).copy_from_cpu(value)
        predictor.run()
        yield {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}


def child(name: str, engine: str, answer: str) -> None:
    """Run one variant and write what came of it; whatever goes wrong before that is a failure, which `run` sees."""
    manifest, golden = read_manifest()[0], read_golden()
    variant, package = manifest["variants"][name], ENGINES[engine][0]
    try:
        version = importlib.import_module(package).__version__
    except ImportError as error:
        return write_answer(answer, {"unusable": f"{package} cannot be imported: {error}"})
    if variant["format"] == "pir" and version.startswith(("1.", "2.")):
        return write_answer(answer, {"unusable": f"paddle {version} is older than this format; get 3.1 or newer"})
    inputs = [(variant["inputs"][place], one["name"]) for place, one in enumerate(manifest["inputs"])]
    cases = [{native: golden[f"{case['name']}/input/{ours}"] for native, ours in inputs} for case in manifest["cases"]]
    engines = {"onnxruntime": run_onnxruntime, "paddle_inference": run_paddle_inference}
    low, kept, checks = None if variant["precision"] == "fp32" else variant["details"]["budget"], [], []
    most = {} if low else limits(manifest, golden)
    for threads in (1, THREADS):
        asked = [turn for turn in turns(manifest["cases"]) if turn[2] == threads]
        given = [cases[number] for number, _, _ in asked]
        for turn, outputs in enumerate(engines[engine]([BUNDLE / file for file in variant["files"]], given, threads)):
            if sorted(outputs) != sorted(variant["outputs"]):
                raise SystemExit(f"its outputs are {sorted(outputs)}, not {sorted(variant['outputs'])}")
            number, called, _ = asked[turn]
            kept.append([outputs[native] for native in variant["outputs"]])
            for place, one in enumerate(manifest["outputs"]):
                judged = judge(manifest, golden, number, one["name"], kept[-1][place], low)
                checks.append([called, one["name"], *judged])
    for place, one in enumerate(manifest["outputs"]):
        values = [kept[number][place] for number in range(len(cases))]
        if low:
            kind = "top1" if manifest["cases"][0]["outputs"][one["name"]]["exact"] else "snr_db"
            checks.append([kind, one["name"], *judge_low(manifest, golden, one["name"], values, low)])
        elif one["name"] in most:
            judged = judge_together(manifest, golden, one["name"], values, most[one["name"]])
            checks.append(["pooled_bias", one["name"], *judged])
    planned = len(turns(manifest["cases"])) * len(manifest["outputs"]) + len(manifest["outputs"] if low else most)
    write_answer(answer, {"version": version, "checks": checks, "planned": planned})


def write_answer(path: str, answer: Any) -> None:
    """Write the answer and leave at once: engines may crash in their own tidying up, after the work is done."""
    Path(path).write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)


def run(manifest: Any, variant: str, engine: str, timeout: float) -> tuple[str, str, list[Any]]:
    """Return outcome, reason and checks; a crash, a hang and an answer that leaves something out are failures."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, str(Path(__file__).resolve()), "--child", variant, engine, str(answer)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return "failed", f"no result within {timeout:g} s", []
        if done.returncode or not answer.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            return "failed", f"ended with code {done.returncode}: {said[-1]}", []
        found = json.loads(answer.read_text(encoding="utf-8"))
    if "unusable" in found:
        return "not run", found["unusable"], []
    today = datetime.now(timezone.utc).date()
    waived = [one["claim"] for one in manifest["waivers"] if date.fromisoformat(one["until"]) >= today]
    for check in found["checks"]:
        claim = f"{variant}/{engine}/{check[0]}/{check[1]}"
        if check[2] != "match" and any(fnmatch.fnmatchcase(claim, pattern) for pattern in waived):
            check[2] = "waived"
    good = [check for check in found["checks"] if check[2] == "match"]
    bad = [check for check in found["checks"] if check[2] not in ("match", "waived")]
    reason = f"{len(good)} of {found['planned']} checks match, {engine} {found['version']}"
    if bad:
        reason += "; case {}, output {}: {}: {}".format(*bad[0])
    numbers = [check for check in good if check[0] not in ("pooled_bias", "snr_db", "top1")]
    passed = numbers and not bad and len(found["checks"]) == found["planned"]
    word = "passed_with_waivers" if len(good) < len(found["checks"]) else "passed"
    return word if passed else "failed", reason, found["checks"]


# ---- 4. all of it ---------------------------------------------------------------------------------------------------
def objections(manifest: Any) -> list[str]:
    """What speaks against the bundle before anything runs: its release, its report, and what its spec asked for."""
    found = []
    if manifest["verdict"] not in RELEASED:
        found.append(f"the verdict of the release itself was {manifest['verdict']}")
    else:
        try:
            report = json.loads((BUNDLE / "parity.json").read_bytes().decode("utf-8"))
            outcomes = {check["outcome"] for check in report["checks"]}
            sound = report["planned"] == len(report["checks"]) > 0 and outcomes <= {"match", "waived"}
            if not sound or report["verdict"] != manifest["verdict"]:
                found.append("its parity.json is not the report of such a release")
        except (OSError, ValueError, KeyError, TypeError) as error:
            found.append(f"its parity.json cannot be read: {error}")
    spec, precisions = manifest["spec"], manifest["spec"].get("precisions", ["fp32"])
    for precision in precisions:
        formats = (precisions[precision].get("formats") if isinstance(precisions, dict) else None) or spec["formats"]
        for name in (kind if precision == "fp32" else f"{kind}-{precision}" for kind in formats):
            if name not in manifest["variants"]:
                found.append(f"its spec asks for the variant {name}, and it holds none")
    return found


def verify(only: list[str], timeout: float) -> dict[str, Any]:
    """Check the files, then run what can be run; the report holds the exit code."""
    manifest, faults = read_manifest()
    faults = faults or damaged_files(manifest)
    report: dict[str, Any] = {key: manifest.get(key, "") for key in ("name", "version", "digest", "verdict")}
    report.update({"damaged": faults, "against": [], "runs": [], "exit": DAMAGED, "word": "damaged"})
    if faults:
        return report
    report["against"], left_out = objections(manifest), 0
    for name, variant in manifest["variants"].items():
        for engine, (package, formats, cure) in ENGINES.items():
            if variant["format"] in formats:
                if only and not {name, variant["format"], engine} & set(only):
                    left_out += 1
                    continue
                lacking = [one for one in ("numpy", package) if importlib.util.find_spec(one) is None]
                result: Any = ("not run", f"{', '.join(lacking)} not installed: {cure}", [])
                outcome, reason, checks = result if lacking else run(manifest, name, engine, timeout)
                one = {"variant": name, "engine": engine, "outcome": outcome, "reason": reason, "checks": checks}
                report["runs"].append(one)
    outcomes = {one["outcome"] for one in report["runs"]}
    if "failed" in outcomes or report["against"]:
        report.update({"exit": FAILED, "word": "failed"})
    elif "not run" in outcomes or not outcomes:
        report.update({"exit": NO_ENGINE, "word": "none"})
    else:
        waived = outcomes | {manifest["verdict"]} != {"passed"}
        report.update({"exit": PASSED, "word": "passed_with_waivers" if waived else "passed"})
        report["word"] = "partial" if left_out else report["word"]
    return report


def as_text(report: dict[str, Any]) -> str:
    """The report for a person; what cannot be printed is escaped, since it may come from a damaged file."""
    lines = [f"{report['name']} {report['version']}, digest {report['digest'][:16]}"] if report["digest"] else []
    lines += [f"DAMAGED  {fault}" for fault in report["damaged"]]
    lines += [f"{o['outcome'].upper():8} {o['variant']} in {o['engine']}: {o['reason']}" for o in report["runs"]]
    lines += [f"FAILED   {reason}" for reason in report["against"]]
    able = sorted({one["variant"] for one in report["runs"] if one["outcome"] in RELEASED})
    cure = f"; --only {','.join(able)} leaves out what cannot be run here" if able else ""
    said = {
        "damaged": "damaged; do not use this bundle",
        "none": f"none: not every variant could be run here{cure}" if able else "none: nothing could be run here",
        "passed_with_waivers": "passed with waivers: the manifest lists them",
        "partial": "partial: what was asked for holds, and nothing is said of the rest",
    }
    lines.append("verdict: " + said.get(report["word"], report["word"]))
    return "\n".join("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line) for line in lines)


def main() -> int:
    """Read the command line, verify, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check this bundle: its files, and what its artifacts compute.")
    parser.add_argument("--only", help="run only these variants, formats or engines, separated by commas")
    parser.add_argument("--engine", choices=sorted(ENGINES), help="run only this engine")
    parser.add_argument("--timeout", type=float, default=600.0, help="limit of each run, in seconds of the clock")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    only = [*(asked.only.split(",") if asked.only else []), *([asked.engine] if asked.engine else [])]
    try:
        report = verify(only, asked.timeout)
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # sealed, but not by our rules
        faults = [f"manifest.json: not what this script reads: {type(error).__name__}: {error}"]
        report = {"name": "", "version": "", "digest": "", "damaged": faults, "against": [], "runs": []}
        report.update({"exit": DAMAGED, "word": "damaged"})
    print(json.dumps(report, indent=2, sort_keys=True) if asked.json else as_text(report))
    return int(report["exit"])


if __name__ == "__main__":
    # This folder must not shadow packages: it may hold one called onnx.
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != BUNDLE]
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:5])
    sys.exit(main())
