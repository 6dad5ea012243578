"""The steps of a family against its own code: the same list of operators on the same pictures, number by number.

`python -m evals.steps.own_code paddleocr=CHECKOUT paddledet=CHECKOUT` runs the lists of own_code.yaml and prints a line
for each. It needs what that code needs: OpenCV (4.10 is what PaddleX pins) and Pillow, for boxes of text pyclipper and
shapely; but no Paddle: of the checkout only the classes and functions of the files below are taken, one by one. Intel's
library in OpenCV is switched off, whose cubic rule differs from OpenCV's own by 1 in 4 % of the bytes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import math
import sys
import tempfile
import types
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import PIL
import yaml
from PIL import Image, ImageOps

from exporter.steps.base import VALUE, State
from exporter.steps.chain import Declared, Link, read_chain, steps_of, with_options
from exporter.steps.kinds.formula import Formula
from exporter.steps.kinds.resize import Resize
from exporter.steps.settle import of_configuration

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Where a family keeps its operators.
FILES = {
    "paddleocr": (
        *(f"ppocr/data/imaug/{name}.py" for name in ("operators", "rec_img_aug", "ssl_img_aug", "ct_process")),
        *(f"ppocr/data/imaug/{name}.py" for name in ("table_ops", "latex_ocr_aug", "unimernet_aug")),
        "ppocr/postprocess/db_postprocess.py",
    ),
    "paddledet": (
        "ppdet/modeling/keypoint_utils.py",
        *(f"ppdet/data/transform/{name}.py" for name in ("operators", "rotated_operators", "keypoint_operators")),
        "ppdet/data/transform/mot_operators.py",
    ),
}
#: Height and width of the pictures: small, long, tall, odd, even.
SIZES = ((37, 50), (64, 200), (31, 400), (120, 33), (90, 91), (256, 130), (48, 144), (17, 620))
#: Those of them whose numbers a test keeps.
KEPT = SIZES[:4]
#: What names a list: its operators or what stands behind the model, and the rest of own_code.yaml.
Case: TypeAlias = "Mapping[str, Any]"


# ---- the family's own code -----------------------------------------------------------------------------------------


def own_code(folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """The classes and functions of a checkout's files by their names; those that cannot be defined are left out."""
    import cv2

    cv2.ipp.setUseIPP(False)
    space: dict[str, Any] = {"np": np, "cv2": cv2, "math": math, "Image": Image, "ImageOps": ImageOps, "sys": sys}
    space |= {"A": _Albumentations, "paddle": types.SimpleNamespace(Tensor=()), "uuid": uuid}
    space |= {"Sequence": Sequence, "Integral": int}
    with contextlib.suppress(ImportError):
        import pyclipper
        from shapely.geometry import Polygon

        space |= {"pyclipper": pyclipper, "Polygon": Polygon}
    for name in files:
        for node in ast.parse((folder / name).read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                node.decorator_list = []
                with contextlib.suppress(NameError, AttributeError):
                    exec(compile(ast.Module([node], []), name, "exec"), space)
    return space


class _Albumentations:
    """The three transforms of it that evaluations take, as its documentation has them (1.4)."""

    class ImageOnlyTransform:
        """What its transforms begin with."""

    class Compose:
        def __init__(self, steps: Sequence[Any]) -> None:
            self.steps = steps

        def __call__(self, image: Array) -> dict[str, Array]:
            for step in self.steps:
                image = step(image)
            return {"image": image}

    class ToGray:
        def __init__(self, **options: object) -> None:
            del options

        def __call__(self, image: Array) -> Array:
            import cv2

            return np.asarray(cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB))

    class Normalize:
        def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
            self.mean, self.scale = np.float32(mean) * 255, np.reciprocal(np.float32(std) * 255)

        def __call__(self, image: Array) -> Array:
            return np.asarray((image.astype("float32") - self.mean) * self.scale)


def theirs(space: Mapping[str, Any], case: Case, path: Path) -> State:
    """What the family's own operators make of a picture."""
    data: dict[str, Any] = {"image": path.read_bytes(), "filename": str(path), "image_lr": Image.open(path)}
    for operator in case["operators"]:
        ((name, options),) = operator.items()
        data = space[name](**{**(options or {}), **case.get("above", {})})(data)
    value = data.get("img_lr", data["image"])
    return {VALUE: np.asarray(value), **{name: np.asarray(data[name]) for name in case.get("beside", ())}}


# ---- the steps here --------------------------------------------------------------------------------------------------


def ours(family: str, case: Case, path: Path, pillow: int = int(PIL.__version__.partition(".")[0])) -> State:
    """What the steps here make of a picture, by the rules of so new a Pillow."""
    listed = case["operators"]
    content = (
        {"Global": case.get("above", {}), "Eval": {"dataset": {"transforms": listed}}}
        if family == "paddleocr"
        else {"EvalReader": {"sample_transforms": listed}}
    )
    entries = of_configuration(_written(family, content, path.parent), "before")
    chain = tuple(_by_rules_of(pillow, link) for link in read_chain(entries))
    *_, last = steps_of(chain, {VALUE: np.frombuffer(path.read_bytes(), "uint8")})
    return last


def _written(family: str, content: object, folder: Path) -> str:
    file = folder / "case.yml"
    file.write_text(yaml.safe_dump(content))
    return f"{family}:{file}"


def _by_rules_of(pillow: int, link: Link) -> Link:
    if pillow < 13 or not isinstance(link, Declared) or not isinstance(link.step, (Resize, Formula)):
        return link
    return with_options(link, library="pillow13") if link.step.library == "pillow" else link


# ---- pictures, maps, and the comparison ------------------------------------------------------------------------------


def pictures(folder: Path) -> Iterator[Path]:
    """Dark strokes on bright pages, with some noise."""
    for number, (height, width) in enumerate(SIZES):
        random = np.random.RandomState(number)
        page = 235 - random.randint(0, 30, (height, width, 3))
        for _ in range(8):
            top, left = random.randint(2, height - 6), random.randint(2, width - 6)
            page[top : top + random.randint(3, 12), left : left + random.randint(3, 40)] = random.randint(0, 160, 3)
        page[: height // 8] = page[:, : width // 9] = 235
        file = folder / f"{number}.png"
        Image.fromarray(page.astype("uint8")).save(file)
        yield file


def maps(count: int = 60) -> Iterator[Array]:
    """Probabilities [1, height, width] of crooked blocks that touch each other."""
    for number in range(count):
        random = np.random.RandomState(number)
        small = np.asarray(random.rand(9, 12) ** 2, "float32")
        rows, columns = np.linspace(0, 8, 72), np.linspace(0, 11, 96)
        tall = np.stack([np.interp(rows, np.arange(9), small[:, at]) for at in range(12)], 1)
        yield np.stack([np.interp(columns, np.arange(12), row) for row in tall])[None].astype("float32")


def difference(wanted: State, given: State) -> float:
    """The largest distance of two numbers, over the largest of an array; infinite of another shape."""
    worst = 0.0
    for name, value in wanted.items():
        if name not in given or value.shape != given[name].shape:
            return math.inf
        apart = np.abs(value.astype("float64") - given[name].astype("float64")).max(initial=0.0)
        worst = max(worst, float(apart) / max(float(np.abs(value).max(initial=0.0)), 1e-30))
    return worst


def drawn(state: State, count: int = 12) -> dict[str, Any]:
    """The shape of what is handed on, and some of its numbers, as a test keeps them."""
    value = state[VALUE]
    places = np.random.RandomState(0).randint(0, max(value.size, 1), count)
    return {"shape": list(value.shape), "numbers": [float(f"{value.flat[at]:.7g}") for at in places]}


def before(family: str, space: Mapping[str, Any], case: Case, folder: Path) -> str:
    """Compare what stands before a model, on every picture."""
    apart = [difference(theirs(space, case, path), ours(family, case, path)) for path in pictures(folder)]
    equal = sum(distance < 1e-6 for distance in apart)
    return f"{equal} of {len(apart)} equal, by up to {max(apart):.2g} of the largest number"


def after(family: str, space: Mapping[str, Any], case: Case, folder: Path) -> str:
    """Compare the boxes of text in every map, in their order."""
    options = {key: value for key, value in case["after"].items() if key != "name"}
    made = space[case["after"]["name"]](**options)
    content = {"PostProcess": case["after"], "Eval": {"dataset": {"transforms": []}}}
    (link,) = read_chain(of_configuration(_written(family, content, folder), "after"))
    same, boxes, apart = 0, 0, Counter[int]()
    listed = list(maps())
    for page in listed:
        wanted, given = _boxes(made, page), _answer(link.apply({VALUE: page}))
        same += len(wanted) == len(given)
        boxes += len(wanted)
        if len(wanted) == len(given):
            apart.update(_apart(box, other) for box, other in zip(wanted, given, strict=True))
    far = ", ".join(f"{count} by {pixels} px" for pixels, count in sorted(apart.items()))
    return f"{same} of {len(listed)} maps have as many boxes, and of {boxes} differ {far}"


def _boxes(made: Any, page: Array) -> list[Array]:
    height, width = page.shape[1:]
    found = made({"maps": page[None]}, [(height, width, 1.0, 1.0)])[0]["points"]
    return [np.asarray(box).astype("int64") for box in found]


def _answer(state: State) -> list[Array]:
    boxes = state[VALUE]
    if "corners" not in state or not len(boxes):
        return list(boxes)
    return list(np.split(boxes, np.cumsum(state["corners"])[:-1]))


def _apart(a: Array, b: Array) -> int:
    """How far the borders of two polygons are from each other at most, in whole pixels."""
    from shapely.geometry import LinearRing

    return round(float(LinearRing(a).hausdorff_distance(LinearRing(b))))


def main() -> int:
    """Print a line for each list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", metavar="FAMILY=CHECKOUT")
    parser.add_argument("--record", type=Path, help="write some numbers of what the family's code gives, for a test")
    arguments = parser.parse_args()
    recorded: dict[str, list[list[dict[str, Any]]]] = {}
    for given in arguments.checkouts:
        family, _, checkout = given.partition("=")
        space = own_code(Path(checkout), FILES[family])
        for case in cases(family):
            with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
                compare = after if "after" in case else before
                said = compare(family, space, case, Path(scratch))
                if "after" not in case:
                    numbers = [drawn(theirs(space, case, path)) for path in pictures(Path(scratch))]
                    recorded.setdefault(family, []).append(numbers[: len(KEPT)])
            print(f"{family}: {said}: {case.get('after') or case['operators'][-3:]}", flush=True)
    if arguments.record:
        arguments.record.write_text(json.dumps(recorded) + "\n")
    return 0


def cases(family: str) -> list[Case]:
    """The lists of a family."""
    listed: list[Case] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())[family]
    return listed


if __name__ == "__main__":
    sys.exit(main())
