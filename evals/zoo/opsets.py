"""Networks at every opset, by the verdict and in other runtimes: `python -m evals.zoo.opsets --json FILE`.

Each network is recorded once, and written and judged at each opset by these goldens. With `--runtimes` each file is run
elsewhere too, a sample of the cases by the same rule: NAME=PYTHON, the Python of an environment that holds numpy and
`onnxruntime` or `cv2`:

    python -m evals.zoo.opsets --runtimes ort-1.17=old/bin/python,opencv-4=cv/bin/python --json opsets.jsonl

A line is written for each network; what FILE holds already is not run again. Exit code 1: a file was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evals.zoo.children import ENVIRONMENT, preloaded
from evals.zoo.exported import Wish, refusal_of, spec_of
from evals.zoo.judged import row_of
from evals.zoo.network import Network
from exporter.base.errors import ExporterError
from exporter.base.tensors import load_npy, recorded_inputs
from exporter.bundle.contents import contents, with_record
from exporter.bundle.layout import GOLDEN
from exporter.bundle.subject import about, subject_in
from exporter.bundle.write import Hashed
from exporter.export.lower.convert import convert_all
from exporter.process.workers import SINGLE_THREAD, Limits, Setting
from exporter.prove.compare.outputs import compare_case
from exporter.prove.goldens.record import Exported, Record, record
from exporter.prove.harness import Bench
from exporter.prove.judge.judge import harness_of, judge
from exporter.prove.verdict.claim import Outcome
from exporter.prove.verdict.plan import plan_some
from exporter.spec.model import Spec

OPSETS = (11, 13, 15, 17, 19, 21, 23, 25)
#: Small enough for a minute each, and different: residual, dense, grouped and shuffled convolutions, folded norms,
#: adaptive pools, recurrent cells with lengths, attention with a cache, a loop, a head of characters.
NETWORKS = (
    "LeNet,alexnet,resnet18,resnet34,resnext50_32x4d,mobilenet_v1,mobilenet_v2,mobilenet_v3_small,densenet121,"
    "inception_v3,squeezenet1_1,googlenet,shufflenet_v2_x0_25,shufflenet_v2_swish,LSTM_sequence_length,"
    "GRU_sequence_length,Transformer_encoder,Transformer_decoder_cache,CRNN_CTC,Seq2seq_attention"
)
#: How many cases another runtime computes: it takes a new session for sizes that it cannot change.
_CASES_ELSEWHERE = 4
#: Computes cases.npz in the working folder with the file that is named, and writes an .npy for each output.
_ELSEWHERE = """
import json, sys
import numpy as np
file, described = sys.argv[1], json.load(open("cases.json"))
given = np.load("cases.npz")
try:
    import onnxruntime
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    def run(inputs, outputs):
        return session.run(outputs, inputs)
except ImportError:
    import cv2
    def run(inputs, outputs):
        network = cv2.dnn.readNetFromONNX(file)
        for name, value in inputs.items():
            network.setInput(value, name)
        return network.forward(outputs)
for number, case in enumerate(described["cases"]):
    inputs = {name: given[f"{number}/{name}"] for name in case}
    for name, value in zip(described["outputs"], run(inputs, described["outputs"])):
        np.save(f"{number}-{name}.npy", value)
"""


def main() -> int:
    os.environ.update(SINGLE_THREAD | ENVIRONMENT)  # before Paddle is imported, here and so in every fork
    parser = argparse.ArgumentParser(prog="python -m evals.zoo.opsets", description=__doc__)
    parser.add_argument("--families", default="vision,sequence")
    parser.add_argument("--only", default=NETWORKS, help="names of networks, separated by commas")
    parser.add_argument("--opsets", default=",".join(map(str, OPSETS)))
    parser.add_argument("--runtimes", default="", help="NAME=PYTHON, separated by commas")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=600, help="limit of each child")
    options = parser.parse_args()
    families, names = options.families.split(","), options.only.split(",")
    runtimes = dict(pair.split("=", 1) for pair in filter(None, options.runtimes.split(",")))
    lines = options.json.read_text().splitlines() if options.json.exists() else []
    rows = [json.loads(line) for line in lines]
    import paddle

    paddle.set_device("cpu")
    from evals.zoo.models import networks

    wanted = [network for family in families for network in networks(family).values() if network.name in names]
    setting = Setting(Limits(seconds=options.seconds))
    with preloaded(families), options.json.open("a") as into:
        for network in wanted:
            if any(row["name"] == network.name for row in rows):
                continue
            row = {"name": network.name, "opsets": _at_each(network, options.opsets.split(","), runtimes, setting)}
            rows.append(row)
            into.write(json.dumps(row) + "\n")
            into.flush()
            print(network.name, {opset: _word(found) for opset, found in row["opsets"].items()}, flush=True)
    print(table(rows))
    return int(any("wrong" in _word(found) for row in rows for found in row["opsets"].values()))


def _at_each(network: Network, opsets: Iterable[str], runtimes: Mapping[str, str], setting: Setting) -> dict[str, Any]:
    """By opset what became of the network there; recorded once, by its file of the exporter's own opset."""
    wish = Wish(formats=("onnx",), engines=("onnxruntime",), calibrated=network.calibrated)
    with tempfile.TemporaryDirectory(prefix="opsets-") as place:
        draft = Path(place)
        try:
            spec = spec_of(network, wish, setting)
            conversion = convert_all(spec, None, draft, setting)
            recorded = record(spec, None, Exported.converted(draft, conversion), draft / GOLDEN, setting)
        except ExporterError as error:
            return dict.fromkeys(opsets, refusal_of(error))
        found = {}
        for opset in opsets:
            own = spec.model_copy(update={"opset": int(opset)})
            try:
                found[opset] = _judged(own, recorded, draft / GOLDEN, draft / opset, runtimes, setting)
            except ExporterError as error:
                found[opset] = refusal_of(error)
        return found


def _judged(
    spec: Spec, recorded: Record, golden: Path, folder: Path, runtimes: Mapping[str, str], setting: Setting
) -> dict[str, Any]:
    """Write a network as ONNX at the spec's opset into `folder`, and judge it by goldens that were recorded before."""
    folder.mkdir()
    conversion = convert_all(spec, None, folder, setting)
    (artifact,) = conversion.artifacts
    if artifact.details["opset"] != spec.opset:
        return {"word": "wrong", "why": f"opset {artifact.details['opset']} was written", "checks": 0, "matches": 0}
    content = with_record(contents(spec, conversion, Hashed.of(folder).files, None), recorded)
    subject = subject_in(content, spec, (folder, golden), "cpu", no_source="the files alone are judged")
    runs = plan_some(["onnxruntime"], [("onnx", "fp32")], with_source=False)
    report = judge(harness_of(subject, runs, setting), about(content))
    row = row_of({claim: proof for claim, proof in report.verdict.evidence.items() if claim.format == "onnx"})
    file = folder / "onnx/model.onnx"
    elsewhere = {name: _elsewhere(subject.bench(), file, python) for name, python in runtimes.items()}
    return row | {"elsewhere": elsewhere}


def _elsewhere(bench: Bench, file: Path, python: str) -> str:
    """`right`, or what is wrong with the answers of another runtime, or why it gave none."""
    import numpy as np

    cases = [case for case in bench.cases if ":" not in case.name and "#" not in case.name][:_CASES_ELSEWHERE]
    place = file.parent
    arrays = {
        f"{number}/{name}": value
        for number, case in enumerate(cases)
        for name, value in recorded_inputs(bench.golden, case.recorded, bench.inputs).items()
    }
    np.savez(place / "cases.npz", **arrays)
    described = {"cases": [bench.inputs] * len(cases), "outputs": bench.outputs}
    (place / "cases.json").write_text(json.dumps(described))
    command = [python, "-c", _ELSEWHERE, str(file)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "rror" in line] or [f"exit code {done.returncode}"]
        return f"refused: {said[-1][:300]}"
    others = {name: [case.outputs[name] for case in bench.cases] for name in bench.outputs}
    for number, case in enumerate(cases):
        got = {name: load_npy(place / f"{number}-{name}.npy") for name in bench.outputs}
        for name, proof in compare_case(case, got, bench.budget, others).items():
            if proof.outcome is not Outcome.MATCH:
                return f"wrong: {case.name} {name}: {proof.reason}"
    return "right"


def _word(found: Mapping[str, Any]) -> str:
    beside = [f"{name} {said.partition(':')[0]}" for name, said in found.get("elsewhere", {}).items()]
    return ", ".join([{"passed": "right"}.get(found["word"], found["word"]), *beside])


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """For each opset how many networks ended how, by us and in each other runtime; then every reason."""
    by_opset: dict[str, Counter[str]] = {}
    reasons = []
    for row in rows:
        for opset, found in row["opsets"].items():
            counts = by_opset.setdefault(opset, Counter())
            counts[{"passed": "right"}.get(found["word"], found["word"])] += 1
            if found["word"] != "passed":
                reasons.append(f"{row['name']} at {opset}: {found['word']}: {found['why']}")
            for name, said in found.get("elsewhere", {}).items():
                counts[f"{name} {said.partition(':')[0]}"] += 1
                if said != "right":
                    reasons.append(f"{row['name']} at {opset} in {name}: {said}")
    lines = [f"| {opset} | {', '.join(f'{n} {word}' for word, n in sorted(counts.items()))} |"
             for opset, counts in by_opset.items()]  # fmt: skip
    return "\n".join(["| opset | networks |", "| --- | --- |", *lines, "", *reasons])


if __name__ == "__main__":
    sys.exit(main())
