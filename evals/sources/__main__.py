"""The files of the zoo instead of its layers: `python -m evals.sources [--families vision,sequence] [--json FILE]`.

Each network is written as `.json`, `.pdmodel` and ONNX from its layer. Then each of the two Paddle files stands for the
model: of it come ONNX and the other Paddle format. On the same inputs the ONNX has to give what that of the layer
gives, bit for bit. The other format has to give in the strict predictor what the file gives, or what the layer gives in
that format: of some layers the two differ already (LlamaModel, by 2e-7). It ends with 1 where fewer than 99 % of the
ONNX and 98 % of the Paddle files do. With `--json` each row is kept as it comes, and the next call goes on from there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.children import ENVIRONMENT, preloaded
from evals.zoo.exported import Wish, convert, spec_of
from evals.zoo.network import Network
from exporter.base.errors import ExporterError
from exporter.base.readers import read
from exporter.base.tensors import Array, load, save_scratch
from exporter.engines.job import EngineCase, EngineJob, runnable
from exporter.export.lower.base import Artifact
from exporter.process.workers import SINGLE_THREAD, Limits, Setting
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY

FILES = {"pir": "pir/model.json", "pdmodel": "pdmodel/model.pdmodel"}
#: The share that has to be equal, of ONNX and of the other Paddle format.
PROMISED = {"onnx": 0.99, "other": 0.98}
_ENGINE = {"onnx": "onnxruntime", "pir": "paddle_inference", "pdmodel": "paddle_inference"}


def main() -> int:
    """Measure, print a line for each file, and say what share is equal."""
    os.environ.update(SINGLE_THREAD | ENVIRONMENT)
    parser = argparse.ArgumentParser(prog="python -m evals.sources", description=__doc__)
    parser.add_argument("--families", default="vision,sequence")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    from evals.zoo.models import networks

    families, only = options.families.split(","), set(filter(None, options.only.split(",")))
    rows: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.is_file() else {}
    with preloaded(families):
        for network in itertools.chain.from_iterable(networks(family).values() for family in families):
            key = f"{network.family}/{network.name}"
            if key in rows or (only and network.name not in only):
                continue
            rows[key] = _measured(network, Setting(Limits(seconds=options.seconds)))
            print(key, json.dumps(rows[key]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    return _report(rows)


def _measured(network: Network, setting: Setting) -> dict[str, str]:
    """Return a word for each file that came of a file: `equal`, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="sources-") as place:
        folder = Path(place)
        try:
            spec = spec_of(network, Wish(calibrated=network.calibrated), setting)
            (folder / "layer").mkdir()
            conversion, refused = convert(spec, folder / "layer", setting)
        except ExporterError as error:
            return {"layer": f"refused: {error}"}
        if conversion is None:
            return {"layer": f"refused: {next(iter(refused.values()))['why']}"}
        inputs = draw(spec, plan_cases(spec)[0], None)
        own = {artifact.format: artifact for artifact in conversion.artifacts}
        given = _results(own, folder / "layer", inputs, folder, setting)
        words: dict[str, str] = {}
        for format, file in FILES.items():
            if format not in own:
                continue
            if not (wanted := [name for name in ("onnx", *FILES) if name != format and name in own]):
                continue
            words |= _of_file(spec, folder / "layer" / file, wanted, given, inputs, folder / f"of-{format}", setting)
        return words


def _of_file(
    spec: Spec,
    program: Path,
    wanted: Sequence[str],
    given: Mapping[str, dict[str, Array]],
    inputs: Mapping[str, Array],
    into: Path,
    setting: Setting,
) -> dict[str, str]:
    facts = read(program)
    parameters = {"parameters": str(program.with_suffix(".pdiparams"))} if facts.weights else {}
    names = [one.name for one in facts.inputs]
    described = spec.model_dump(mode="json") | {
        "model": FACTORY,
        "args": {"program": str(program), **parameters, "inputs": names},
        "inputs": {name: spec.inputs[name].model_dump() for name in names},
        "outputs": [one.name for one in facts.outputs],
        "formats": list(wanted),
    }
    into.mkdir()
    conversion, refused = convert(Spec.model_validate(described), into, setting)
    words = {f"{program.suffix} to {name}": f"refused: {row['why']}"[:300] for name, row in refused.items()}
    if conversion is not None:
        made = {artifact.format: artifact for artifact in conversion.artifacts}
        results = _results(made, into, inputs, into, setting)
        own = next(format for format, file in FILES.items() if Path(file).suffix == program.suffix)
        for name in made:
            wanted_of = [given[name]] if name == "onnx" else [given[own], given[name]]
            outcomes = [_word(wanted, results[name]) for wanted in wanted_of]
            words[f"{program.suffix} to {name}"] = "equal" if "equal" in outcomes else outcomes[0]
    return words


def _results(
    artifacts: Mapping[str, Artifact], folder: Path, inputs: Mapping[str, Array], scratch: Path, setting: Setting
) -> dict[str, dict[str, Array]]:
    """Return the outputs of each artifact; what an engine refuses gives none."""
    golden = scratch / "inputs.safetensors"
    save_scratch(golden, {f"case/input/{name}": value for name, value in inputs.items()})
    given: dict[str, dict[str, Array]] = {}
    for format, artifact in artifacts.items():
        into = scratch / f"run-{format}"
        into.mkdir()
        job = EngineJob(_ENGINE[format], runnable(artifact, folder), golden, (EngineCase("case", "case"),))
        answer = job.run(into, setting)
        if answer.refusal:
            print(f"{artifact.main} does not run: {answer.refusal}", file=sys.stderr, flush=True)
        given[format] = {} if answer.refusal else dict(load(into / "0.safetensors"))
    return given


def _word(wanted: Mapping[str, Array], got: Mapping[str, Array]) -> str:
    if not wanted:
        return "nothing to compare with: the file of the layer does not run"
    if set(wanted) != set(got):
        return f"outputs {sorted(got)}, not {sorted(wanted)}"
    unequal = [name for name in wanted if wanted[name].tobytes() != got[name].tobytes()]
    if not unequal:
        return "equal"
    one, other = wanted[unequal[0]], got[unequal[0]]
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{other.dtype}{list(other.shape)}, not {one.dtype}{list(one.shape)}"
    return f"differs by {float(np.abs(one.astype('float64') - other.astype('float64')).max()):.3g}"


def _report(rows: Mapping[str, Mapping[str, str]]) -> int:
    held = True
    for kind, promised in PROMISED.items():
        words = [
            (f"{key}: {what}", word)
            for key, row in rows.items()
            for what, word in row.items()
            if what != "layer" and what.endswith("onnx") == (kind == "onnx")
        ]
        equal = sum(word == "equal" for _, word in words)
        held &= bool(words) and equal >= promised * len(words)
        print(f"{kind}: {equal} of {len(words)} equal")
        for what, word in words:
            if word != "equal":
                print(f"  {what}: {word}")
    lost = [key for key, row in rows.items() if "layer" in row]
    print(f"{len(lost)} networks were not written from their layer: {', '.join(lost) or 'none'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
