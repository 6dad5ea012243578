"""ncnn, by pnnx of its own project; it takes one size of each input, and no batch beyond one."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    Arrays = Mapping[str, np.ndarray]
    #: Of each input its name, its shape and its dtype.
    Shapes = list[tuple[str, list[int], str]]

_KINDS = {
    "float32": "f32",
    "float16": "f16",
    "float64": "f64",
    "int64": "i64",
    "int32": "i32",
    "uint8": "u8",
    "bool": "bool",
}


def version() -> str:
    """The date of ncnn's wheel."""
    import ncnn

    return str(ncnn.__version__)


def convert(onnx: Path, into: Path, precision: str, shapes: Shapes) -> str:
    """Write `model.ncnn.param` and `.bin`; raises ValueError where pnnx leaves an operator that ncnn lacks."""
    pnnx = importlib.util.find_spec("pnnx")
    if pnnx is None or pnnx.origin is None:
        raise ImportError("No module named 'pnnx'")
    import ncnn  # noqa: F401 - told before a conversion that nothing could run

    sizes = ",".join(f"[{','.join(map(str, shape))}]{_KINDS[dtype]}" for _, shape, dtype in shapes)
    outputs = [
        f"{key}={into / name}" for key, name in (("ncnnparam", "model.ncnn.param"), ("ncnnbin", "model.ncnn.bin"))
    ]
    aside = [f"{key}={into / 'aside' / key}" for key in ("pnnxparam", "pnnxbin", "pnnxpy", "pnnxonnx", "ncnnpy")]
    (into / "aside").mkdir()
    half = "fp16=1" if precision == "fp16" else "fp16=0"
    command = [str(Path(pnnx.origin).with_name("pnnx")), str(onnx), f"inputshape={sizes}", half, *outputs, *aside]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=into)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    complaints = [line for line in lines if "not support" in line or "rror" in line] or lines[-2:]
    param = into / "model.ncnn.param"
    if done.returncode or not param.is_file():
        raise ValueError(f"pnnx ended with code {done.returncode}: {' | '.join(complaints[:3])}")
    foreign = sorted({line.split()[0] for line in param.read_text().splitlines()[2:] if "." in line.split()[0]})
    if foreign:
        raise ValueError(f"pnnx has no layer of ncnn for {', '.join(foreign)}")
    for path in (into / "aside").iterdir():
        path.unlink()
    (into / "aside").rmdir()
    return param.name


def load(model: Path, names: list[str], natives: list[str], precision: str) -> Callable[[Arrays], Arrays]:
    """Return what runs one case; a leading dim of one is no axis of ncnn."""
    import ncnn
    import numpy as np

    net = ncnn.Net()
    low = precision == "fp16"
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = low
    net.opt.use_bf16_storage = False
    net.opt.use_winograd_convolution = net.opt.use_sgemm_convolution = False
    net.opt.num_threads = 1
    if net.load_param(str(model)) or net.load_model(str(model.with_suffix(".bin"))):
        raise ValueError("ncnn cannot load the model")

    def run(fed: Arrays) -> Arrays:
        extractor = net.create_extractor()
        for place, name in enumerate(names):
            value = np.ascontiguousarray(fed[name])
            rows = value[0] if value.ndim > 1 and value.shape[0] == 1 else value
            extractor.input(f"in{place}", ncnn.Mat(np.ascontiguousarray(rows)).clone())
        got = {}
        for place, native in enumerate(natives):
            status, value = extractor.extract(f"out{place}")
            if status:
                raise ValueError(f"ncnn gives no output {place}: code {status}")
            got[native] = np.array(value)[None]
        return got

    return run
