"""Read whole pages by the chain of three: where lines are, whether they are upside down, what they say.

`python -m recipes.ocr.chain` reads held-out pages by the released bundles alone, in ONNX Runtime and by
`paddle.jit.load`, and by the eager layers with the checkpoints that the bundles name. It says how many characters are
right and how many differ from eager's, and exits with 1 where one does, or less than 95 of 100 are right.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import paddle

from exporter.base.tensors import load
from recipes.ocr import detect, direction, read
from recipes.ocr.lines import HEIGHT, WIDTH, edits, placed
from recipes.ocr.pages import boxes, page

#: From an array to an array, by the names of the recipes.
Nets = Mapping[str, Callable[[np.ndarray], np.ndarray]]
MODULES = {"detect": detect, "direction": direction, "read": read}
LEAST = 0.95


def text_of(nets: Nets, image: np.ndarray) -> str:
    """The text of a page [height, width], a line each."""
    found = boxes(nets["detect"](image[None, None])[0, 0])
    if not found:
        return ""
    lines = [placed(image[top:bottom, left:right][:HEIGHT, :WIDTH]) for top, left, bottom, right in found]
    turned = nets["direction"](np.stack(lines)[:, None]).argmax(axis=1)
    # What is upside down is cut out the other way round, so that it lies at the left again.
    for number, (top, left, bottom, right) in enumerate(found):
        if turned[number]:
            lines[number] = placed(image[top:bottom, left:right][::-1, ::-1][:HEIGHT, :WIDTH])
    return "\n".join(map(read.decode, nets["read"](np.stack(lines)[:, None])))


def bundles(root: Path) -> dict[str, Path]:
    """The released bundles of the three nets; raises FileNotFoundError with the command that makes one."""
    folders = {name: root / f"ocr-{name}/1.0.0" for name in MODULES}
    for name, folder in folders.items():
        if not (folder / "manifest.json").is_file():
            raise FileNotFoundError(f"no bundle in {folder}: exporter release specs/ocr-{name}.yaml --out {root}")
    return folders


def eager(folders: Mapping[str, Path]) -> Nets:
    """The layers, with the checkpoints of which the bundles were made."""
    nets = {}
    for name, folder in folders.items():
        layer = MODULES[name].build()
        weights = json.loads((folder / "manifest.json").read_text())["provenance"]["weights"]
        layer.set_state_dict(load(Path(weights["checkpoint"])))
        layer.eval()
        nets[name] = by_tensors(layer)
    return nets


def by_onnxruntime(folders: Mapping[str, Path]) -> Nets:
    """The ONNX files of the bundles."""
    import onnxruntime

    return {
        name: by_session(onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"]))
        for name, folder in folders.items()
    }


def by_jit_load(folders: Mapping[str, Path]) -> Nets:
    """The PIR programs of the bundles."""
    return {name: by_tensors(paddle.jit.load(str(folder / "pir/model"))) for name, folder in folders.items()}


def by_session(session: object) -> Callable[[np.ndarray], np.ndarray]:
    """A session of ONNX Runtime as a function."""
    inputs = session.get_inputs()
    return lambda array: session.run(None, {inputs[0].name: array})[0]


def by_tensors(layer: Callable[[paddle.Tensor], paddle.Tensor]) -> Callable[[np.ndarray], np.ndarray]:
    """A layer as a function of arrays."""

    def call(array: np.ndarray) -> np.ndarray:
        with paddle.no_grad():
            return layer(paddle.to_tensor(array)).numpy()

    return call


def held_out(count: int) -> Iterator[tuple[np.ndarray, str]]:
    """Pages that no net was trained on, and what they say."""
    dice = np.random.RandomState(4)
    for _ in range(count):
        image, lines = page("held_out", dice)
        yield image, "\n".join(line.said for line in lines)


def main() -> int:
    """Read, compare, and say so."""
    asked = argparse.ArgumentParser(description="Read held-out pages by the bundles and by the eager layers.")
    asked.add_argument("--artifacts", type=Path, default=Path("artifacts"), help="where the three bundles lie")
    asked.add_argument("--pages", type=int, default=60)
    told = asked.parse_args()
    folders = bundles(told.artifacts)
    pages = list(held_out(told.pages))
    whole = sum(len(truth) for _, truth in pages)
    first: list[str] = []
    failed = False
    for name, nets in (("eager", eager), ("onnx", by_onnxruntime), ("pir", by_jit_load)):
        chain = nets(folders)
        texts = [text_of(chain, image) for image, _ in pages]
        first = first or texts
        share = 1 - sum(edits(text, truth) for text, (_, truth) in zip(texts, pages, strict=True)) / whole
        unlike = sum(edits(text, as_eager) for text, as_eager in zip(texts, first, strict=True))
        failed = failed or share < LEAST or unlike > 0
        sys.stdout.write(f"{name}: {share:.4f} of {whole} characters right, {unlike} unlike eager\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
