#!/usr/bin/env python3
"""From raw files to answers: the steps before the model, the model, and those after it, as its release compared them.

    python infer.py FILE... [--variant NAME] [--out FOLDER]

FILE is a picture, a .txt file with a sample a line, a .npy array, or a .safetensors file of arrays. One JSON object a
sample is printed; with --out large answers go into FOLDER as .npy. It needs Python 3.10, numpy, Pillow where a step
reads pictures, and onnxruntime for a model.onnx, else Paddle. Exit codes: 0 done, 2 a sample is wrong, 3 something is
not installed. The steps below are those of the exporter, in their own words; what they are called with stands in
pipeline.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias  # noqa: F401 - the steps use them

BUNDLE = Path(__file__).resolve().parent
#: Numbers of an answer that are printed; larger ones are only described, unless --out says where they may go.
MOST_PRINTED = 1000
#: Steps whose answer is UTF-8.
TEXTS = ("ctc", "labels")


# ---- what the steps are written with --------------------------------------------------------------------------------
class UsageError(Exception):
    """Something is wrong with a sample."""

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what, self.where, self.hint = what, where, hint


class EnvironmentLacks(UsageError):
    """Something is not installed."""


def did_you_mean(word: str, known: Any, default: str = "") -> str:
    """What else there is."""
    del word
    return default or f"one of: {', '.join(known)}"


class BaseModel:
    """A step's options, which the release has checked; a list is a tuple."""

    def __init__(self, **options: Any) -> None:
        vars(self).update({name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})


def ConfigDict(**_: Any) -> dict[str, Any]:  # noqa: N802 - pydantic's name
    """Nothing: the release has checked the options."""
    return {}


def Field(*_: Any, **__: Any) -> Any:  # noqa: N802 - pydantic's name
    """Nothing, likewise."""
    return None


Strict = BeforeValidator = AfterValidator = Field


def model_validator(**_: Any) -> Callable[[Any], Any]:
    """Nothing, likewise."""
    return lambda function: function


field_validator = model_validator

# STEPS
#: What the steps hand on, and the kinds of steps by their names.
VALUE = "value"
KINDS: dict[str, Any] = {}
# END OF STEPS


# ---- samples ------------------------------------------------------------------------------------------------------
def samples(path: Path) -> Iterator[tuple[str, Any]]:
    """Each sample of a file, by its name."""
    import numpy as np

    try:
        if path.suffix == ".npy":
            yield path.name, np.load(path, allow_pickle=False)  # noqa: TID251 - pickles are off
        elif path.suffix == ".safetensors":
            for name, value in sorted(arrays(path.read_bytes()).items()):
                yield f"{path.name}#{name}", value
        elif path.suffix == ".txt":
            for number, line in enumerate(path.read_bytes().splitlines(), 1):
                if line.strip():
                    yield f"{path.name}#{number}", np.frombuffer(line, dtype=np.uint8)
        else:
            yield path.name, np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path), hint="give a whole file") from error


def arrays(content: bytes) -> dict[str, Any]:
    """The arrays of a .safetensors file; raises ValueError or KeyError where it is none."""
    import numpy as np

    start = 8 + int.from_bytes(content[:8], "little")
    dtypes = {
        "U8": "u1",
        "I8": "i1",
        "I16": "<i2",
        "I32": "<i4",
        "I64": "<i8",
        "F16": "<f2",
        "F32": "<f4",
        "F64": "<f8",
    }
    found = {}
    for name, facts in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = facts["data_offsets"]
            value = np.frombuffer(content[start + first : start + last], dtype=dtypes[facts["dtype"]])
            found[name] = value.reshape(facts["shape"])
    return found


# ---- the model ----------------------------------------------------------------------------------------------------
Run = Callable[[Mapping[str, Any]], "dict[str, Any]"]


def opened(manifest: Any, name: str) -> Run:
    """A function from inputs to outputs, both by the file's names."""
    variant = manifest["variants"][name]
    files = [str(BUNDLE / file) for file in variant["files"]]
    return onnxruntime(files) if variant["format"] == "onnx" else paddle_inference(files)


def onnxruntime(files: list[str]) -> Run:
    """In ONNX Runtime on the CPU, without the telemetry of its wheels for Linux."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    model = next(file for file in files if file.endswith(".onnx"))
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def paddle_inference(files: list[str]) -> Run:
    """In Paddle Inference on the CPU by Paddle's own kernels, without graph passes and oneDNN."""
    import paddle
    from paddle import inference

    ordered = sorted(files, key=lambda file: file.endswith(".pdiparams"))
    config = inference.Config(*ordered, *[""] * (2 - len(ordered)))
    config.switch_ir_optim(False)
    config.disable_gpu()
    config.disable_mkldnn()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)

    def run(inputs: Mapping[str, Any]) -> dict[str, Any]:
        """int16, which no handle can carry (3.3.1), comes and goes as Paddle's tensors."""
        try:
            for name, value in inputs.items():
                predictor.get_input_handle(name).copy_from_cpu(value)
            predictor.run()
            return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}
        except ValueError:
            outputs = predictor.run([paddle.to_tensor(inputs[name]) for name in predictor.get_input_names()])
            return {name: outputs[place].numpy() for place, name in enumerate(predictor.get_output_names())}

    return run


# ---- from a sample to its answer ------------------------------------------------------------------------------------
def chain(listed: Any) -> list[tuple[str, Any]]:
    """The steps that pipeline.json lists."""
    return [(step["step"], KINDS[step["step"]](**step["options"])) for step in listed]


def through(steps: Sequence[tuple[str, Any]], state: Any, where: str) -> Any:
    """The state behind all steps."""
    for number, (name, step) in enumerate(steps, 1):
        try:
            state = step.apply(state)
        except EnvironmentLacks:
            raise
        except UsageError as error:
            raise UsageError(error.what, where=f"{where}: step {number} ({name})", hint=error.hint) from error
    return state


def fed(manifest: Any, about: Any, state: Any, where: str) -> dict[str, Any]:
    """The inputs of one call by the spec's names: with a batch axis, repeated as often as the smallest batch needs."""
    import numpy as np

    inputs = {}
    for tensor in manifest["inputs"]:
        name, shape = tensor["name"], tensor["shape"]
        key = VALUE if name == about["input"] else name
        if key not in state:
            raise UsageError(f"no step gives the input '{name}'", where=where, hint="run the model without this script")
        value = np.ascontiguousarray(state[key])
        if value.ndim == len(shape) - 1:
            rows = manifest["dims"][shape[0]]["min"] if isinstance(shape[0], str) else shape[0]
            value = np.ascontiguousarray(np.repeat(value[None], rows, axis=0))
        sizes = [bounds_of(size, manifest["dims"]) for size in shape]
        fits = value.ndim == len(shape) and all(
            low <= size <= high for (low, high), size in zip(sizes, value.shape, strict=True)
        )
        if not fits or value.dtype.name != tensor["dtype"]:
            found = f"{value.dtype.name}{list(value.shape)}"
            what = f"the model takes {name} as {tensor['dtype']}{shape}, and the steps give {found}"
            raise UsageError(what, where=where, hint="give a sample of another size or type")
        inputs[name] = value
    return inputs


def bounds_of(size: Any, dims: Any) -> tuple[int, int]:
    """The smallest and the largest size: of `past+1` one more than those of the dim `past`."""
    if not isinstance(size, str):
        return size, size
    dim, _, more = size.partition("+")
    return dims[dim]["min"] + int(more or 0), dims[dim]["max"] + int(more or 0)


def answers(paths: Sequence[Path], name: str) -> Iterator[tuple[str, Any]]:
    """The name of each sample, and the state behind the last step."""
    manifest, about = (json.loads((BUNDLE / file).read_bytes()) for file in ("manifest.json", "pipeline.json"))
    before, after = chain(about["before"]), chain(about["after"])
    name = name or min(manifest["variants"])
    variant, run = manifest["variants"][name], opened(manifest, name)
    native = dict(zip([tensor["name"] for tensor in manifest["inputs"]], variant["inputs"], strict=True))
    outputs = dict(zip([tensor["name"] for tensor in manifest["outputs"]], variant["outputs"], strict=True))
    for path in paths:
        for sample, value in samples(path):
            inputs = fed(manifest, about, through(before, {VALUE: value}, sample), sample)
            rows = next(iter(inputs.values())).shape[0]
            made = run({native[key]: array for key, array in inputs.items()})
            state = {key: made[own][0] if made[own].shape[:1] == (rows,) else made[own] for key, own in outputs.items()}
            first = next(iter(state))
            yield sample, through(after, {VALUE: state[first], **state}, sample)


def told(sample: str, state: Any, last: str, out: Path | None) -> dict[str, Any]:
    """What is printed of an answer."""
    import numpy as np

    said: dict[str, Any] = {"sample": sample}
    for key in [VALUE, *(name for name in ("scores", "corners") if name in state)]:
        value, name = state[key], "answer" if key == VALUE else key
        if key == VALUE and last in TEXTS:
            said[name] = value.tobytes().decode("utf-8", "replace")
        elif value.size <= MOST_PRINTED:
            said[name] = value.tolist()
        else:
            said[name] = {"dtype": value.dtype.name, "shape": list(value.shape)}
            if out is not None:
                file = out / f"{sample.replace('/', '_').replace('#', '_')}.{name}.npy"
                np.save(file, value, allow_pickle=False)
                said[name]["file"] = str(file)
    return said


def main() -> int:
    """Read the command line, answer each sample, and return the exit code."""
    parser = argparse.ArgumentParser(description="From raw files to answers.")
    parser.add_argument("files", nargs="+", type=Path, help="pictures, .txt, .npy or .safetensors")
    parser.add_argument("--variant", default="", help="the variant that is run; the first one unless it is given")
    parser.add_argument("--out", type=Path, help="folder for answers that are too large to print")
    asked = parser.parse_args()
    try:
        known = json.loads((BUNDLE / "manifest.json").read_bytes())["variants"]
        if asked.variant and asked.variant not in known:
            raise UsageError(
                f"no variant '{asked.variant}'", where="--variant", hint=f"name one of: {', '.join(known)}"
            )
        if asked.out:
            asked.out.mkdir(parents=True, exist_ok=True)
        last = next((step["step"] for step in json.loads((BUNDLE / "pipeline.json").read_bytes())["after"][-1:]), "")
        for sample, state in answers(asked.files, asked.variant):
            sys.stdout.write(json.dumps(told(sample, state, last, asked.out), ensure_ascii=False) + "\n")
            sys.stdout.flush()
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n" + (f"  try: {error.hint}\n" if error.hint else ""))
        return 3 if isinstance(error, EnvironmentLacks) else 2
    except ImportError as error:
        sys.stderr.write(f"error: cannot be imported: {error}\n  try: pip install {error.name or 'it'}\n")
        return 3
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # engines may crash in their own tidying up, after the work is done
