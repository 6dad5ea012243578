"""What ONNX Runtime computes on a GPU, by the float64 truth and the goldens of a CPU; no Paddle for GPUs is needed.

    python -m benchmarks.gpu make DIR [NETWORK...]      where Paddle is: bundles of a sample of evals/zoo, under 64 MiB
    python benchmarks/gpu.py run DIR [--device gpu:N|cpu] [--json FILE]     on the machine with the GPU

`make` exports each network as ONNX, records its goldens on the CPU and seals both as a bundle, with a verify.py that
holds the rule. `run` needs numpy and onnxruntime-gpu, and nothing of the exporter: it judges each bundle by that rule,
with TF32 off and on, each in a process of its own, and prints a table. With TF32 off it asserts that the CUDA provider
computed, with the options that were asked for, and that every node ran on the GPU but the arithmetic of sizes, which
ONNX Runtime leaves on the CPU. Exit codes: 0; 1 where with TF32 off a ratio is over the budget, or a node or an option
is not what was asked for; 2 usage; 3 where the device cannot be used, with the cause; 5 where a bundle is damaged.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

#: Of evals/zoo: convolutions of all kinds, recurrent networks, attention; small enough to carry to another machine.
SAMPLE = (
    *("LeNet", "squeezenet1_1", "shufflenet_v2_x0_25", "mobilenet_v2", "mobilenet_v3_small"),
    *("LSTM_sequence_length", "GRU_sequence_length", "Transformer_encoder", "Transformer_decoder_cache"),
    *("Transformer_decoder_loop", "CRNN_CTC", "Seq2seq_attention"),
)
MOST_BYTES = 64 << 20
#: Seconds of the clock for one network: cuDNN may compile kernels for it first.
PATIENCE = 900
PASSED, FAILED, USAGE, NO_DEVICE, DAMAGED = 0, 1, 2, 3, 5


# ---- on a machine with Paddle --------------------------------------------------------------------------------------
def make(folder: Path, names: Sequence[str]) -> int:
    """Write a bundle for each network; what would pass the limit is left out, and said."""
    from exporter.base.errors import ExporterError
    from exporter.process.workers import Setting

    known = {network.key: network for network in _networks()}
    if strange := sorted(set(names) - set(known)):
        print(f"no network is called {', '.join(strange)}; known: {', '.join(known)}", file=sys.stderr)
        return USAGE
    if folder.exists() and any(folder.iterdir()):
        print(f"{folder} is not empty: name another folder", file=sys.stderr)
        return USAGE
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(__file__, folder / "gpu.py")
    setting, code = Setting(), PASSED
    for name in names:
        try:
            _make(known[name], folder / name, setting)
        except ExporterError as error:
            print(f"{name}: {error}", file=sys.stderr)
            code = FAILED
            continue
        total = _bytes(folder)
        if total > MOST_BYTES:
            shutil.rmtree(folder / name)
            print(f"{name}: left out, {total >> 20} MiB in all would be over {MOST_BYTES >> 20}", file=sys.stderr)
            code = FAILED
        else:
            print(f"{name}: {_bytes(folder / name) / 2**20:.1f} MiB")
    print(f"{folder}: {_bytes(folder) / 2**20:.1f} MiB; there: python gpu.py run .")
    return code


def _networks() -> list[Any]:
    from evals.zoo.families import networks_of

    return [*networks_of("vision"), *networks_of("sequence")]


def _make(network: Any, into: Path, setting: Any) -> None:
    from evals.zoo.judged import Wish, spec_of
    from exporter.bundle.contents import contents, with_record
    from exporter.bundle.open import GOLDEN
    from exporter.bundle.write import Hashed, drafting, seal
    from exporter.export.lower.convert import convert_all
    from exporter.prove.goldens.record import Exported, record

    # Random weights of networks with batch norms explode or die; those of the others are telling as they are.
    wish = Wish(formats=("onnx",), engines=("onnxruntime",), calibrated=network.family == "vision")
    spec = spec_of(network, wish, setting)
    with drafting(into) as draft:
        conversion = convert_all(spec, None, draft, setting)
        content = contents(spec, conversion, Hashed.of(draft).files, None)
        content = with_record(
            content,
            record(spec, None, Exported.converted(draft, conversion), draft / GOLDEN, setting),
        )
        seal(draft, into, content, runnable=True)


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ---- on a machine with a GPU: numpy, onnxruntime-gpu, and the rule from the bundles --------------------------------
def run(folder: Path, device: str, into: Path | None) -> int:
    """Judge every bundle, with TF32 off and, on a GPU, on; print a row for each, and what is not as it should be."""
    bundles = sorted(path.parent for path in folder.glob("*/manifest.json"))
    if not bundles:
        print(f"{folder} holds no bundles: write them with `make`", file=sys.stderr)
        return USAGE
    rows = []
    print(_HEAD)
    for bundle in bundles:
        for tf32 in (False, True) if device != "cpu" else (False,):
            row = {"network": bundle.name, "tf32": tf32, **_in_child(bundle, device, tf32)}
            rows.append(row)
            print(_line(row), flush=True)
            if row["code"] == NO_DEVICE:
                print(row["why"], file=sys.stderr)
                return NO_DEVICE
    if into is not None:
        into.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
    for row in rows:
        for fault in row["faults"]:
            print(f"{row['network']}, TF32 {_switch(row)}: {fault}")
    codes = [row["code"] for row in rows]
    print(f"\n{_machine()}")
    print(f"{sum(code == PASSED for code in codes)} of {len(codes)} runs are as they should be")
    return max(codes)


def _machine() -> str:
    """What computed, as far as the packages and NVIDIA's driver tell without being loaded."""
    told = [platform.platform()]
    for name in ("onnxruntime-gpu", "onnxruntime", "numpy"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            told.append(f"{name} {metadata.version(name)}")
    query = ["nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
        told += done.stdout.strip().splitlines() if done.returncode == 0 else []
    return "; ".join(told)


_HEAD = f"{'network':27}{'TF32':5}{'max':>9}{'L2':>9}{'match':>8}{'open':>6}  nodes by provider; elsewhere"


def _line(row: dict[str, Any]) -> str:
    if "matches" not in row:
        return f"{row['network']:27}{_switch(row):5}{row['why']}"
    ratios = f"{row['max']:9.3f}{row['l2']:9.3f}{row['matches']:>5}/{row['checks']}".ljust(31)
    elsewhere = "; ".join(f"{what}: {row[what]}" for what in ("sizes_elsewhere", "values_elsewhere") if row[what])
    return f"{row['network']:27}{_switch(row):5}{ratios}{row['open']:>3}  {row['placement']}; {elsewhere or 'none'}"


def _switch(row: dict[str, Any]) -> str:
    return "on" if row["tf32"] else "off"


def _in_child(bundle: Path, device: str, tf32: bool) -> dict[str, Any]:
    """What :func:`_judge` says; a crash and a hang are faults of this network alone."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place, "answer.json")
        words = [sys.executable, __file__, "one", str(bundle), "--device", device, "--json", str(answer)]
        environment = {**os.environ, "NVIDIA_TF32_OVERRIDE": "0"}  # for cuBLAS and cuDNN, whatever the session asks for
        if tf32:
            environment.pop("NVIDIA_TF32_OVERRIDE")
            words.append("--tf32")
        try:
            done = subprocess.run(
                words, cwd=place, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            why = f"no result within {PATIENCE} s"
            return {"code": FAILED, "why": why, "faults": [why]}
        if done.returncode or not answer.is_file():
            why = f"ended with code {done.returncode}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
            return {"code": FAILED, "why": why, "faults": [why]}
        found: dict[str, Any] = json.loads(answer.read_text())
        return found


def _judge(bundle: Path, device: str, tf32: bool) -> dict[str, Any]:
    """One bundle in one session: the worst ratios, the outcomes, where nodes ran, and what is not as it should be."""
    import onnxruntime

    rule = _rule(bundle)
    manifest, faults = rule.read_manifest(bundle)
    faults = faults or rule.damaged_files(bundle, manifest)
    if faults:
        return {"code": DAMAGED, "why": faults[0], "faults": faults}
    provider = rule.provider_of(device)
    if device != "cpu" and (why := rule.why_not(provider, device)):
        return {"code": NO_DEVICE, "why": why, "faults": [why]}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.profile_file_prefix = "profile"  # in the child's own folder
    switch = {"use_tf32": str(int(tf32))}
    model = next(file for file in manifest["variants"]["onnx"]["files"] if file.endswith(".onnx"))
    session = rule.open_session(str(bundle / model), options, provider, device, **switch)
    faults += [] if device == "cpu" else rule.unmet_options(session, **switch)
    cases, answers = _answers(rule, manifest, session)
    nodes = rule.placed_nodes(Path(session.end_profiling()))
    placed = rule.placement(nodes, provider)
    if placed["values_elsewhere"]:
        faults.append(f"these computed values elsewhere than on {provider}: {placed['values_elsewhere']}")
    judged = _judged(rule, cases, answers, float(manifest["budget"]))
    faults += judged.pop("faults")
    # With TF32 a ratio may be over the budget; that is what the column shows.
    return {**judged, **placed, "code": FAILED if faults and not tf32 else PASSED, "faults": faults, "why": ""}


def _answers(rule: Any, manifest: Any, session: Any) -> tuple[Any, dict[str, Any]]:
    """The recorded cases, and what the session puts out for each, by the bundle's own names."""
    variant, golden = manifest["variants"]["onnx"], rule.read_golden(rule.BUNDLE)
    cases = rule.recorded_cases(manifest, golden)
    given = {native: tensor["name"] for native, tensor in zip(variant["inputs"], manifest["inputs"], strict=True)}
    names = {native: tensor["name"] for native, tensor in zip(variant["outputs"], manifest["outputs"], strict=True)}
    answers = {}
    for case in cases:
        inputs = {native: golden[f"{case.recorded}/input/{ours}"] for native, ours in given.items()}
        values = session.run(list(names), inputs)
        answers[case.name] = dict(zip(names.values(), values, strict=True))
    return cases, answers


def _judged(rule: Any, cases: Any, answers: dict[str, Any], budget: float) -> dict[str, Any]:
    """The worst ratio of each norm over all cases, and what the rule says of every output."""
    others = {name: [case.outputs[name] for case in cases] for name in cases[0].outputs}
    worst, outcomes, faults = [0.0, 0.0], [], []
    for case in cases:
        for name, said in rule.judge_case(case, answers[case.name], others, budget).items():
            outcomes.append(said.outcome)
            if said.outcome in ("mismatch", "missing"):
                faults.append(f"case {case.name}, output {name}: {said.reason}")
            expected = case.outputs[name]
            if said.compared and not expected.exact:
                off = rule.error(expected.truth, expected.kept(answers[case.name][name]))
                ratios = [off[norm] / expected.unit[norm] for norm in (0, 1)]
                worst = [max(worst[norm], ratios[norm]) for norm in (0, 1)]
    matches = outcomes.count("match")
    still_open = sum(outcome in ("vacuous", "inconclusive") for outcome in outcomes)
    return {
        "max": worst[0],
        "l2": worst[1],
        "matches": matches,
        "checks": len(outcomes),
        "open": still_open,
        "faults": faults if matches or faults else ["no output was proven: every case is vacuous or inconclusive"],
    }


def _rule(bundle: Path) -> Any:
    """The bundle's own verify.py, as a module: its files, its goldens and the rule."""
    spec = importlib.util.spec_from_file_location("rule", bundle / "verify.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["rule"] = module
    sys.dont_write_bytecode = True  # a file beside it would be none of the bundle's
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Read the command line and do as it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="write the bundles; needs the exporter")
    making.add_argument("folder", type=Path)
    making.add_argument("networks", nargs="*", default=SAMPLE)
    for name in ("run", "one"):
        running = commands.add_parser(name, help="judge them" if name == "run" else "judge one bundle, in this process")
        running.add_argument("folder", type=Path)
        running.add_argument("--device", default="gpu:0", help="gpu:N, or cpu")
        running.add_argument("--json", type=Path, help="a file for all rows")
        running.add_argument("--tf32", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.command == "make":
        return make(asked.folder, asked.networks)
    kind, _, number = asked.device.partition(":")
    if kind not in ("cpu", "gpu") or (number and not number.isdecimal()) or (kind == "cpu" and number):
        parser.error(f"'{asked.device}' is no device: use cpu or gpu:N")
    if asked.command == "run":
        return run(asked.folder.resolve(), asked.device, asked.json)
    asked.json.write_text(json.dumps(_judge(asked.folder, asked.device, asked.tf32)))
    return PASSED


if __name__ == "__main__":
    sys.exit(main())
