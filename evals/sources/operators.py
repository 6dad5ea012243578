"""Each case of the operator tables as a file: `python -m evals.sources.operators DIR [--json FILE]`.

DIR holds recorded cases (`python -m evals.lower.onnx_table --cases kind --recorded DIR`): the PIR files of an operator
and inputs. The file is replayed in dygraph, and written as `.pdmodel`, which the strict predictor runs. *Right* is what
has the bits that the file itself gives in the strict predictor; draws with NaN or infinity among the inputs are left
out. Each case has a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.quiet_fork import quiet_fork
from exporter.base.readers.kinds.pir import read_pir
from exporter.base.tensors import Array, TensorSpec, load

#: The word for a case whose file the strict predictor of Paddle itself does not run: there is nothing to compare with.
NO_FILE = "no file: Paddle itself does not run it"


def main() -> int:
    """Judge what is not judged yet; print the counts, and what is not right."""
    parser = argparse.ArgumentParser(prog="python -m evals.sources.operators", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import paddle  # noqa: F401 - before the forks, so that each has it

    rows: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.is_file() else {}
    for folder in sorted(path.parent for path in options.folder.glob("*/case.json")):
        about = json.loads((folder / "case.json").read_text())
        if folder.name in rows or about["stage"] != "recorded":
            continue
        rows[folder.name] = {"name": about["name"], **_in_a_fork(folder)}
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    for form in ("replayed", "pdmodel"):
        print(form, dict(Counter(row[form].partition(":")[0] for row in rows.values())))
        for number, row in rows.items():
            if row[form] != "right":
                print(f"  {number} {row['name']}: {row[form]}")
    return 0


def _in_a_fork(folder: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place, "answer.json")
        quiet_fork(lambda: _judge(folder, Path(place), {}, answer))
        words = json.loads(answer.read_text()) if answer.is_file() else {}
    return {form: words.get(form, "crashed: the process died") for form in ("replayed", "pdmodel")}


def _judge(folder: Path, place: Path, words: dict[str, str], answer: Path) -> None:
    data = dict(load(folder / "data.safetensors"))
    draws = [draw for draw in sorted({key.split(".")[0] for key in data}, key=int) if _finite(data, draw)]
    try:
        _take_what_the_file_gives(folder, data, draws)
    except (RuntimeError, ValueError):
        answer.write_text(json.dumps(dict.fromkeys(("replayed", "pdmodel"), NO_FILE)))
        return
    for form, judge in (("replayed", _replayed), ("pdmodel", _by_pdmodel)):
        try:
            words[form] = judge(folder, place, data, draws)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is the outcome
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
            words[form] = f"refused: {type(error).__name__}: {next((x for x in lines if 'rror' in x), lines[-1])[:200]}"
        answer.write_text(json.dumps(words))


def _take_what_the_file_gives(folder: Path, data: dict[str, Array], draws: Sequence[str]) -> None:
    """Put the strict predictor's outputs in the place of eager's: the file is the model here."""
    names = json.loads((folder / "case.json").read_text())["outputs"]
    for draw in draws:  # each in a predictor of its own: the second run of `index_put` gives rows of the first (3.3.1)
        for name, value in run(predictor_of(folder / "model.json"), data, draw).items():
            data[f"{draw}.out.{names.index(name)}"] = value


def predictor_of(program: Path) -> Any:
    """Return the strict predictor of a program, with the parameters that lie beside it."""
    from paddle import inference

    parameters = program.with_suffix(".pdiparams")
    config = inference.Config(str(program), str(parameters) if parameters.is_file() else "")
    config.disable_glog_info()
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    return inference.create_predictor(config)


def run(predictor: Any, data: Mapping[str, Array], draw: str) -> dict[str, Array]:
    """Return the outputs by name, of the inputs of one draw (`0.in.x`)."""
    for name in predictor.get_input_names():
        predictor.get_input_handle(name).copy_from_cpu(np.array(data[f"{draw}.in.{name}"], order="C"))
    predictor.run()
    return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}


def _layer(folder: Path) -> tuple[Any, list[TensorSpec]]:
    from exporter.export.sources.program import build
    from exporter.paddle.names import forget_parameter_names

    forget_parameter_names()
    facts = read_pir(folder / "model.json")
    parameters = str(folder / "model.pdiparams") if facts.weights else ""
    layer = build(str(folder / "model.json"), [one.name for one in facts.inputs], parameters)
    layer.eval()
    return layer, list(facts.inputs)


def _replayed(folder: Path, _place: Path, data: Mapping[str, Array], draws: Sequence[str]) -> str:
    import paddle

    layer, inputs = _layer(folder)
    for draw in draws:
        with paddle.no_grad():
            result = layer(*[paddle.to_tensor(data[f"{draw}.in.{one.name}"]) for one in inputs])
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        if what := _unlike(folder, data, draw, [one.numpy() for one in outputs]):
            return what
    return "right"


def _by_pdmodel(folder: Path, place: Path, data: Mapping[str, Array], draws: Sequence[str]) -> str:
    import paddle

    from exporter.export.lower.pdmodel.session import legacy_export

    layer, inputs = _layer(folder)
    specs = [paddle.static.InputSpec([None if size == -1 else size for size in one.shape], one.dtype, one.name)
             for one in inputs]  # fmt: skip
    with legacy_export():
        paddle.jit.save(layer, str(place / "model"), input_spec=specs)
    for draw in draws:
        if what := _unlike(folder, data, draw, list(run(predictor_of(place / "model.pdmodel"), data, draw).values())):
            return what
    return "right"


def _finite(data: Mapping[str, Array], draw: str) -> bool:
    given = [data[key] for key in data if key.startswith(f"{draw}.in.")]
    return all(np.isfinite(value).all() for value in given if value.dtype.kind == "f")


def _unlike(folder: Path, data: Mapping[str, Array], draw: str, got: Sequence[Array]) -> str:
    """Say what is not eager's; the file's outputs may stand in another order than the layer's."""
    about = json.loads((folder / "case.json").read_text())
    native = [one.name for one in read_pir(folder / "model.json").outputs]
    if len(got) != len(native):
        return f"wrong: {len(got)} outputs, not {len(native)}"
    for name, value in zip(native, got, strict=True):
        want = data[f"{draw}.out.{about['outputs'].index(name)}"]
        if (want.dtype, want.shape) != (value.dtype, value.shape):
            return f"wrong: {value.dtype}{list(value.shape)}, not {want.dtype}{list(want.shape)}"
        if want.tobytes() != value.tobytes() and not np.array_equal(want, value, equal_nan=want.dtype.kind == "f"):
            return "wrong: other numbers"
    return ""


if __name__ == "__main__":
    sys.exit(main())
