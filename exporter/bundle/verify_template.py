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
low precision is judged over all cases together, by the budget that the spec in the manifest has for it. The steps of a
decoder (decoding.safetensors) are run in a row, each on the cache that the engine's own step before gave. The steps
around the model (samples.safetensors) are not run here: `exporter verify` compares them.
"""

from __future__ import annotations

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
from collections.abc import Iterable, Iterator
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
from exporter.bundle.run_onnx import NotThere, a_device, run_onnxruntime  # its source stands here
from exporter.bundle.run_steps import STEPS, judged_steps
from exporter.bundle.sealed_files import MOST_JSON, damaged_files, read_golden, read_manifest, read_plain
from exporter.base.numbers.golden import GoldenCase, promised, read_cases, to_run, unvaried
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.numbers.rule import judge_case, judge_promise, promised_of
from exporter.base.numbers.sample import kept_of, other_sample


# ---- 2. one artifact in one engine, in a process of its own ---------------------------------------------------------
def run_paddle_inference(
    files: list[Path], cases: Iterable[Any], threads: int, device: str, said: list[str]
) -> Iterator[dict[str, Any]]:
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


def run_predictor(predictor: Any, inputs: Any) -> dict[str, Any]:
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


def recorded_cases(manifest: Any, golden: Any) -> tuple[GoldenCase, ...]:
    """What was recorded; KeyError or ValueError where the goldens are not what the manifest says of them."""
    for case in manifest["cases"]:
        for one in manifest["inputs"]:
            wanted = tuple(sized(size, case["dims"]) for size in one["shape"])
            if golden[f"{case['name']}/input/{one['name']}"].shape != wanted:
                raise ValueError(f"input '{one['name']}' of case '{case['name']}' is not of the size {list(wanted)}")
    cases, spec = [*manifest["cases"], *manifest.get("untelling", [])], manifest["spec"]
    if wrong := other_sample(*kept_of(golden), cases, spec.get("golden_mb", 64.0), spec.get("seed", 0)):
        raise ValueError(wrong)
    return read_cases(golden, manifest["cases"])


def sized(size: Any, dims: Any) -> int:
    """A size in numbers: `past+1` is one more than the dim `past` has."""
    dim, _, more = str(size).partition("+")
    return int(dims[dim]) + int(more or 0) if isinstance(size, str) else int(size)


def unvaried_inputs(manifest: Any, golden: Any) -> list[str]:
    """A sentence for each input that is the same in all cases."""
    inputs, cases = manifest["spec"].get("inputs", {}), [case["name"] for case in manifest["cases"]]
    said = []
    for name in (one["name"] for one in manifest["inputs"]):
        source = inputs.get(name, {}).get("values", "")
        said.append(unvaried(name, source, (golden[f"{case}/input/{name}"] for case in cases)))
    return [sentence for sentence in said if sentence]


def child(name: str, engine: str, device: str, answer: str) -> None:
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
    if manifest.get("decoding"):
        try:
            held = read_golden(BUNDLE, STEPS)
            steps = judged_steps(manifest, variant, held, lambda fed: run_cases(files, fed, 1, device, said))
        except (KeyError, ValueError) as error:
            return write_answer(answer, {"damaged": f"{STEPS}: not whole: {error}"})
        checks, planned = checks + steps, planned + len(steps)
    done = {"version": version, "device": device, "said": sorted(set(said))}
    write_answer(answer, {**done, "checks": checks, "planned": planned})


def judged_answers(
    manifest: Any, variant: Any, cases: tuple[GoldenCase, ...], answers: dict[str, Any]
) -> tuple[list[list[str]], int]:
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


def promised_budget(manifest: Any, variant: Any) -> dict[str, Any]:
    """What the spec promises of a precision; where it says nothing, the defaults that the variant was written under."""
    precisions = manifest["spec"].get("precisions", {})
    settings = precisions.get(variant["precision"], {}) if isinstance(precisions, dict) else {}
    said = {key: value for key, value in (settings.get("budget") or {}).items() if value is not None}
    return {**variant["details"].get("budget", {}), **said}


def write_answer(path: str, answer: Any) -> None:
    """Write the answer and leave at once: engines may crash in their own tidying up, after the work is done."""
    Path(path).write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)


def run(
    manifest: Any, variant: str, engine: str, device: str, timeout: float, waivers: bool
) -> tuple[str, str, list[Any]]:
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


def concluded(manifest: Any, variant: str, engine: str, found: Any) -> tuple[str, str, list[Any]]:
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
    numbers = [
        check
        for check in good
        if check[0] not in ("pooled_bias", "decoding") and (check[0] in ("snr_db", "top1")) == reduced
    ]
    passed = numbers and not bad and len(found["checks"]) == found["planned"]
    word = "passed_with_waivers" if len(good) < len(found["checks"]) else "passed"
    return word if passed else "failed", reason, found["checks"]


# ---- 3. all of it ---------------------------------------------------------------------------------------------------
def objections(manifest: Any) -> list[str]:
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
    if bool(spec.get("decoding")) != bool(manifest.get("decoding")):
        found.append("it records no steps of the decoder that its spec has, or steps of none")
    if not any("#" in case["name"] for case in plain):
        found.append("no case is drawn a second time, so that no other case's output could serve as an impostor")
    return found


def unaccepted(manifest: Any) -> list[str]:
    """What the bundle excuses by its own word."""
    waivers, shown = len(manifest["waivers"]), {case["name"] for case in manifest.get("untelling", [])}
    said = [f"{waivers} waivers of the bundle's own do not count: --accept-waivers"] if waivers else []
    named = [f"{name} ({why})" for name, why in manifest.get("left_out", {}).items() if name not in shown]
    return said + [f"left out, and not shown here why: {', '.join(named)}; see exporter verify"] * bool(named)


def verify(only: list[str], device: str, timeout: float, waivers: bool = False) -> dict[str, Any]:
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


def as_text(report: dict[str, Any]) -> str:
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


def main() -> int:
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
