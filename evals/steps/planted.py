"""Faults planted into chains of deployment: is the first differing step named, and the cause?

`python -m evals.steps.planted` prints the table. Each fault is tried twice: beside a training that is declared step by
step, and beside one function of the user's that does all of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import PIL

from exporter.steps.base import VALUE
from exporter.steps.judge import Finding, SideRequest, judged
from tests.steps.pictures import encoded, picture
from tests.steps.recorded import recorded

HERE = "tests.steps.users"
#: The tests run on either side of the change of Pillow 13.
PILLOW = "pillow13" if int(PIL.__version__.partition(".")[0]) >= 13 else "pillow"
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
HALVES = {"scale": "1/255", "mean": [0.5], "std": [0.5]}
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
#: What training does, step by step.
SOUND: dict[str, list[Any]] = {
    "classification": [
        "decode",
        {"resize": {"rule": "short", "size": 36, "library": "pillow"}},
        {"crop": {"height": 32, "width": 32}},
        {"normalize": {"scale": "1/255", **IMAGENET}},
        "layout",
    ],
    "detection": [
        "decode",
        {"resize": {"height": 64, "width": 96, "interpolation": "cubic", "library": PILLOW, "tracks": True}},
        {"normalize": {"scale": "1/255", **IMAGENET}},
        "layout",
    ],
    "recognition": [
        {"decode": {"order": "bgr"}},
        {"resize": {"rule": "line", "height": 16, "width": 96, "library": "pillow"}},
        {"normalize": HALVES},
        "layout",
        {"pad": {"width": 96, "axis": "first"}},
    ],
    "tokens": [{"tokenize": {"vocabulary": LETTERS, "lower": True, "first": 2, "unknown": 1, "length": 12}}],
    "classes": ["softmax", {"topk": {"k": 3}}, {"labels": {"names": ["cat", "dog", "owl", "fox", "eel"]}}],
    "boxes": [{"boxes": {"score": 0.5}}],
    "text": [{"ctc": {"characters": LETTERS}}],
    "mask": ["sigmoid", {"threshold": {"above": 0.5}}],
}
NAMES = {"detection": ("im_shape", "scale_factor")}
FIRST = re.compile(
    r"first step that differs is (\w+)'s step \d+ \(([\w.:]+)\)(?:, where training has step \d+ \((\w+)\))?"
)
AFTER = ("classes", "boxes", "text", "mask")


@dataclass(frozen=True)
class Fault:
    """A change of the chain of a task at a step (counted from 0); `causes` are those that explain it."""

    name: str
    task: str
    at: int
    change: Any
    causes: tuple[str, ...]

    def deployment(self) -> list[Any]:
        chain = list(SOUND[self.task])
        links = self.change if isinstance(self.change, list) else [self.change]
        return [*chain[: self.at], *links, *chain[self.at + 1 :]]

    @property
    def steps(self) -> set[str]:
        """Names of the steps that may be said to differ first: the one of training, and the one of deployment there."""
        chain, other = SOUND[self.task], self.deployment()
        found = {name_of(chain[self.at]), *(name_of(one) for one in other[self.at : self.at + 2])}
        return found


def name_of(entry: Any) -> str:
    return str(entry if isinstance(entry, str) else next(iter(entry)))


def _with(task: str, at: int, **options: Any) -> Any:
    entry = SOUND[task][at]
    name = name_of(entry)
    given = {} if isinstance(entry, str) else dict(entry[name])
    return {name: {**given, **options}}


def _fault(name: str, task: str, at: int, *causes: str, **options: Any) -> Fault:
    return Fault(name, task, at, _with(task, at, **options), causes)


C, D, R = "classification", "detection", "recognition"
BGR_MEAN = {"mean": [0.406, 0.456, 0.485], "std": [0.225, 0.224, 0.229]}
FAULTS = (
    _fault("channels swapped", C, 0, "channels", order="bgr"),
    _fault("÷255 missing", C, 3, "scale", scale=1.0),
    _fault("÷255 twice", C, 3, "scale", scale=1 / 255**2),
    _fault("mean and std of BGR", C, 3, "mean_and_std", **BGR_MEAN),
    _fault("halves for ImageNet's mean and std", C, 3, "mean_and_std", mean=[0.5], std=[0.5]),
    _fault("std left out", C, 3, "mean_and_std", std=[1.0]),
    _fault("mean of another data set", C, 3, "fitted_scaling", "mean_and_std", mean=[0.4914, 0.4822, 0.4465]),
    _fault("OpenCV's bilinear for Pillow's", C, 1, "interpolation", library="opencv"),
    _fault("nearest for bilinear", C, 1, "interpolation", interpolation="nearest"),
    Fault("squeezed to a square", C, 1, {"resize": {"height": 36, "width": 36, "library": "pillow"}}, ("resize_rule",)),
    _fault("shorter side to 32", C, 1, "resize_rule", size=32),
    _fault("crop at the corner", C, 2, "crop", place="top_left"),
    Fault("resized and not cropped", C, 2, {"resize": {"height": 32, "width": 32}}, ("crop", "step_of_training")),
    Fault("reshaped for transposed", C, 4, {"reshape": {"shape": [3, 32, 32]}}, ("layout",)),
    Fault("layout missing", C, 4, [], ("layout",)),
    Fault("float64 goes in", C, 4, ["layout", {"cast": {"dtype": "float64"}}], ("dtype",)),
    Fault("gray pictures", C, 0, {"decode": {"order": "gray"}}, ("colours", "channels")),
    _fault("channels swapped", D, 0, "channels", order="bgr"),
    _fault("÷255 missing", D, 2, "scale", scale=1.0),
    _fault("height and width turned round", D, 1, "resize_rule", height=96, width=64),
    Fault("in proportion", D, 1, _with(D, 1, rule="within"), ("resize_rule",)),
    _fault("bilinear for bicubic", D, 1, "interpolation", interpolation="linear"),
    Fault("cut off to whole numbers", D, 2, [*SOUND[D][2:3], {"cast": {"dtype": "int8"}}], ("dtype",)),
    Fault("scaling left out", D, 2, [], ("fitted_scaling", "step_of_training")),
    _fault("factors not told", D, 1, "resize_rule", tracks=False),
    _fault("channels swapped", R, 0, "channels", order="rgb"),
    _fault("padded with ones", R, 4, "padding", value=1.0),
    _fault("padded in the middle", R, 4, "padding", place="centre"),
    Fault(
        "stretched, not padded", R, 1, {"resize": {"height": 16, "width": 96, "library": "pillow"}}, ("resize_rule",)
    ),
    Fault(
        *("padded before scaling", R, 2),
        [{"pad": {"width": 96}}, *SOUND[R][2:3]],
        ("order_of_steps", "step_too_much", "padding"),
    ),
    _fault("0 to 1 for halves", R, 2, "mean_and_std", mean=[0.0], std=[1.0]),
    _fault("capitals are unknown", "tokens", 0, "tokenizer", lower=False),
    _fault("numbers from 1", "tokens", 0, "tokenizer", first=1),
    _fault("padded with 1", "tokens", 0, "tokenizer", padding=1),
    _fault("two best for three", "classes", 1, "labels", k=2),
    _fault("names sorted", "classes", 2, "labels", names=["eel", "cat", "dog", "owl", "fox"]),
    _fault("another threshold", "boxes", 0, "threshold", score=0.3),
    _fault("corner and size", "boxes", 0, "threshold", form="xywh"),
    _fault("blank at the end", "text", 0, "blank", blank=26),
    _fault("repeats kept", "text", 0, "blank", repeats=True),
    Fault("sigmoid twice", "mask", 0, ["sigmoid", "sigmoid"], ("probabilities",)),
)


def samples(task: str) -> dict[str, Any]:
    """Raw samples of a task; of those behind a model its outputs."""
    rng = np.random.default_rng(7)
    if task == "tokens":
        return {
            line: np.frombuffer(line.encode(), np.uint8) for line in ("Hello, World", "abc", "a Longer line of text")
        }
    if task == "classes":
        return {str(at): rng.normal(size=5).astype("float32") for at in range(3)}
    if task == "boxes":
        rows = [
            np.concatenate([rng.integers(0, 3, (9, 1)), rng.random((9, 1)), rng.random((9, 4)) * 9], 1)
            for _ in range(2)
        ]
        return {str(at): value.astype("float32") for at, value in enumerate(rows)}
    if task == "text":
        best = [[1, 1, 0, 2, 3, 3, 0, 3, 26, 0], [5, 0, 5, 5, 9, 9, 0, 0, 1, 1]]
        return {str(at): np.eye(27, dtype="float32")[line] for at, line in enumerate(best)}
    if task == "mask":
        return {"0": rng.normal(size=(8, 9)).astype("float32")}
    sizes = ((20, 61), (18, 90), (24, 50)) if task == R else ((50, 61), (70, 52), (45, 45))
    return {f"{at}.png": encoded(picture(*size, seed=at)) for at, size in enumerate(sizes)}


def look(task: str, training: list[Any], deployment: list[Any]) -> Finding:
    """What the judge says of a chain of deployment beside one of training."""
    side = "after" if task in AFTER else "before"
    material = recorded(side, training, samples(task))
    request = SideRequest(
        side,
        training=tuple(training),
        deployment=tuple(deployment),
        material=Path("none"),
        fresh=None,
        tolerance=0.0,
        names=(VALUE, *NAMES.get(task, ())),
        into=None,
    )
    return judged(request, material, material)


def trainings(task: str) -> Iterator[tuple[str, list[Any]]]:
    """Training step by step, and, where the users have one, as one function."""
    yield "declared", SOUND[task]
    if task in (C, D, R, "tokens"):
        yield "function", [f"{HERE}:{task}"]


@dataclass(frozen=True)
class Result:
    """What became of a fault."""

    fault: Fault
    beside: str
    finding: Finding

    @property
    def named(self) -> bool:
        """Whether the first differing step is named."""
        said = FIRST.search(self.finding.reason)
        if not said:
            return False
        ended = said[1] == "training" and self.fault.at == len(self.fault.deployment())
        return bool({said[2], said[3]} & self.fault.steps) or (self.beside == "function" and ended)

    @property
    def explained(self) -> bool:
        """Whether one of the causes that explain it is named, and no other."""
        said = re.search(r"likely cause: ([\w ]+?) \(with .*\): then deployment gives", self.finding.reason)
        return bool(said) and said[1].replace(" ", "_") in self.fault.causes


def results() -> Iterator[Result]:
    for fault in FAULTS:
        for beside, training in trainings(fault.task):
            yield Result(fault, beside, look(fault.task, training, fault.deployment()))


def main() -> None:
    found = list(results())
    for one in found:
        mark = ("step" if one.named else "----") + (" cause" if one.explained else " -----")
        print(f"{mark}  {one.fault.task}, {one.beside}: {one.fault.name}: {one.finding.outcome}: {one.finding.reason}")
    clean = [
        (task, beside, look(task, training, SOUND[task])) for task in SOUND for beside, training in trainings(task)
    ]
    for task, beside, finding in clean:
        print(f"clean       {task}, {beside}: {finding.outcome} {finding.reason} {finding.notes}")
    for beside in ("declared", "function"):
        own = [one for one in found if one.beside == beside]
        named, explained = (sum(getattr(one, what) for one in own) for what in ("named", "explained"))
        print(f"{beside}: {len(own)} faults, step named in {named}, cause in {explained}")
    print(f"clean: {sum(finding.outcome == 'match' for *_, finding in clean)} of {len(clean)} match")


if __name__ == "__main__":
    sys.exit(main())
