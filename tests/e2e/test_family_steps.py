"""Pipelines whose steps the families' files name, released: what is right passes, and what differs is told.

Dictionaries as PaddleOCR and PaddleX read them, names of classes, a net that normalizes itself, a detector of text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import yaml

from tests.command import exporter
from tests.sampling import slow

#: A spec's steps of training and of deployment.
Both: TypeAlias = "tuple[Any, Any]"
NETS = '''
import paddle
from paddle import nn


class Line(nn.Layer):
    """[batch, 3, 16, width] to scores of characters, [batch, width / 4, classes]."""

    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2D(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2D(16, 32, 3, stride=2, padding=1), nn.ReLU()
        )
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        rows = self.stem(x).mean(2).transpose([0, 2, 1])
        return nn.functional.softmax(self.head(rows) * 40.0, axis=-1)


class Classifier(nn.Layer):
    """Four classes, the last of which never wins."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 4)
        self.head.weight.set_value(paddle.to_tensor([[4.0, -4, 0, 0], [0.0, 4, -4, 0], [-4.0, 0, 4, 0]]))
        self.shift = paddle.to_tensor([0.0, 0.0, 0.0, -9.0])

    def forward(self, x):
        return nn.functional.softmax(self.head(x.mean([2, 3])) + self.shift, axis=-1)


class Normed(Classifier):
    """As PaddleDetection's `fuse_normalize: true`: the picture is normalized within."""

    def forward(self, x):
        mean, std = (paddle.to_tensor(v).reshape([1, 3, 1, 1]) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
        return super().forward((x / 255.0 - mean) / std)


class Page(nn.Layer):
    """A map of probabilities."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.Conv2DTranspose(8, 1, 2, stride=2)

    def forward(self, x):
        return nn.functional.sigmoid(self.b(nn.functional.relu(self.a(x))))


class Seal(nn.Layer):
    """A map of probabilities that follows the brightness."""

    def forward(self, x):
        return paddle.clip(x.mean(1, keepdim=True) * 0.4 + 0.3, 0, 1)


class Formula(nn.Layer):
    """A gray page to numbers."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2D(1, 4, 3, stride=2, padding=1)

    def forward(self, x):
        return self.a(x).mean([2, 3])


def build(kind, **options):
    paddle.seed(7)
    return globals()[kind](**options)
'''
#: Height and width of noise, the widths and heights to which it is enlarged, and a white margin around it.
PICTURES = {
    "Line": ((4, 16), ((40, 16), (64, 16), (90, 18), (52, 20)), 0),
    "Formula": ((4, 16), ((120, 20), (160, 30), (90, 40), (150, 18)), 7),
}
PAGES = (5, 7), ((70, 50), (64, 64), (100, 60), (48, 80), (90, 90), (66, 71)), 0
SCALED: Any = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}


def line(dictionary: str, space: bool, height: int = 16) -> Any:
    """A configuration of a recogniser."""
    transforms = [{"DecodeImage": {"img_mode": "BGR"}}, {"CTCLabelEncode": None}]
    resize = {"RecResizeImg": {"image_shape": [3, height, 64]}}
    return {
        "Global": {"character_dict_path": dictionary, "use_space_char": space},
        "PostProcess": {"name": "CTCLabelDecode"},
        "Eval": {"dataset": {"transforms": [*transforms, resize, {"KeepKeys": {"keep_keys": ["image", "label"]}}]}},
    }


def exported(content: Any, words: list[str]) -> Any:
    """What PaddleOCR's export writes of it."""
    return {
        "PreProcess": {"transform_ops": content["Eval"]["dataset"]["transforms"]},
        "PostProcess": {"name": "CTCLabelDecode", "character_dict": words},
    }


def _page(answer: Any) -> Any:
    """A configuration of a detector of text."""
    scaled = {"NormalizeImage": {"scale": "1./255.", **SCALED, "order": "hwc"}}
    read = [{"DecodeImage": {"img_mode": "BGR"}}, {"DetResizeForTest": {"image_shape": [64, 64]}}]
    return {"PostProcess": answer, "Eval": {"dataset": {"transforms": [*read, scaled, {"ToCHWImage": None}]}}}


FORMULA: Any = [{"UniMERNetImgDecode": {"input_size": [48, 96]}}, {"UniMERNetTestTransform": None}]
TEN = list("abcdefghij")
WORDS = {
    "ten": TEN,
    "swapped": list("abcdefghji"),
    "blank": ["a", "b", "", "c", "d", "", "", "e", "f", "g"],
    "odd": ["\u3000", "p\t", " ", "\u4e00", "\u2028", "y ", " colspan", "\U0001f1e9\U0001f1ea", "=", "1"],
}
READER = {
    "sample_transforms": [
        {"Decode": {}},
        {"Resize": {"interp": 1, "target_size": [32, 32], "keep_ratio": False}},
        {"NormalizeImage": {"is_scale": True, **SCALED}},
        {"Permute": {}},
    ]
}
FILES: dict[str, Any] = {
    **{f"{name}.yml": line(f"{name}.txt", space=False) for name in WORDS},
    **{f"{name}.inference.yml": exported(line("", space=False), words) for name, words in WORDS.items()},
    "space.yml": line("ten.txt", space=True),
    "space.swapped.yml": line("swapped.txt", space=True),
    "tall.yml": line("ten.txt", space=True, height=32),
    "fused.yml": {"EvalReader": READER, "TestReader": {**READER, "fuse_normalize": True}},
    "infer_cfg.yml": {
        "Preprocess": [
            {"interp": 1, "target_size": [32, 32], "keep_ratio": False, "type": "Resize"},
            {"type": "Permute"},
        ]
    },
    "page.yml": _page({"name": "PSEPostProcess"}),
    "seal.yml": _page({"name": "DBPostProcess", "box_type": "poly", "box_thresh": 0.4, "unclip_ratio": 0.5}),
    "formula.yml": {"Eval": {"dataset": {"transforms": [*FORMULA, {"UniMERNetImageFormat": None}]}}},
    "formula.inference.yml": {"PreProcess": {"transform_ops": [*FORMULA, {"UniMERNetImageFormat": None}]}},
    "other.inference.yml": {"PreProcess": {"transform_ops": [*FORMULA, {"LatexImageFormat": None}]}},
}
PLAIN: Any = ["decode", {"resize": {"height": 32, "width": 32}}, {"normalize": {"scale": "1/255", **SCALED}}, "layout"]
NAMED: Any = [{"topk": {"k": 1}}, {"labels": {"names": ["a", "b", "c"]}}]


def recogniser(classes: int, training: str, deployment: str) -> dict[str, Any]:
    return _spec("Line", (16, 64), (training, deployment), (training, deployment), {"classes": classes})


def _spec(
    kind: str, size: tuple[int, int], before: Both, after: Both | None = None, args: Any = None
) -> dict[str, Any]:
    values = "uniform(0,255)" if kind == "Normed" else "normal"
    pipeline: dict[str, Any] = {
        "samples": ["*.png"],
        "preprocess": dict(zip(("training", "deployment"), before, strict=True)),
    }
    if after:
        pipeline["postprocess"] = dict(zip(("training", "deployment"), after, strict=True))
    return {
        **{"name": "net", "version": "1.0.0", "model": "nets:build", "weights": "factory"},
        **{"args": {"kind": kind, **(args or {})}, "formats": ["onnx"], "engines": ["onnxruntime"]},
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3, *size], "values": values}},
        **{"dims": {"batch": {"min": 1, "typical": 2, "max": 3}}, "pipeline": pipeline},
    }


def _formula(deployment: str) -> dict[str, Any]:
    spec = _spec("Formula", (64, 96), ("paddleocr:formula.yml#Eval", f"paddleocr:{deployment}"))
    spec["inputs"]["x"]["shape"][1] = 1
    return spec


CASES: list[Any] = [
    (recogniser(12, "paddleocr:space.yml#Eval", "paddlex:ten.inference.yml"), 0, ""),
    slow((recogniser(12, "paddleocr:space.yml#Eval", "paddleocr:ten.inference.yml"), 0, "")),
    slow((recogniser(12, "paddleocr:space.yml#Eval", "paddleocr:space.yml#Eval"), 0, "")),
    slow((recogniser(12, "paddleocr:space.yml#Eval", "paddleocr:ten.yml#Eval"), 1, "the model tells 12 classes")),
    slow((recogniser(11, "paddleocr:blank.yml#Eval", "paddleocr:blank.yml#Eval"), 0, "")),
    slow((recogniser(11, "paddleocr:blank.yml#Eval", "paddlex:blank.inference.yml"), 0, "")),
    slow((recogniser(11, "paddleocr:odd.yml#Eval", "paddlex:odd.inference.yml"), 0, "")),
    slow((recogniser(12, "paddleocr:space.yml#Eval", "paddleocr:space.swapped.yml#Eval"), 1, "postprocess")),
    slow((recogniser(12, "paddleocr:space.yml#Eval", "paddleocr:tall.yml#Eval"), 1, "preprocess")),
    (
        _spec("Classifier", (32, 32), (PLAIN, PLAIN), (NAMED, NAMED)),
        2,
        "the model tells 4 classes, and `names` holds 3",
    ),
    (_spec("Normed", (32, 32), ("paddledet:fused.yml#Test", "paddledet:infer_cfg.yml")), 0, ""),
    slow((_spec("Page", (64, 64), ("paddleocr:page.yml#Eval", "paddleocr:page.yml#Eval")), 0, "")),
    slow((_spec("Seal", (64, 64), ("paddleocr:seal.yml#Eval",) * 2, ("paddleocr:seal.yml#Eval",) * 2), 0, "")),
    slow((_formula("formula.inference.yml"), 0, "")),
    slow((_formula("other.inference.yml"), 1, "shape [1, 48, 96], not [64, 96, 1]")),
]


@pytest.mark.parametrize(("spec", "code", "said"), CASES)
def test_what_is_right_passes_and_what_differs_is_told(
    spec: dict[str, Any], code: int, said: str, workplace: Path
) -> None:
    from PIL import Image, ImageOps

    (workplace / "nets.py").write_text(NETS)
    for name, words in WORDS.items():
        (workplace / f"{name}.txt").write_text("".join(f"{word}\n" for word in words), newline="")
    for name, content in FILES.items():
        (workplace / name).write_text(yaml.dump(content, allow_unicode=True))
    small, sizes, margin = PICTURES.get(spec["args"]["kind"], PAGES)
    for number, size in enumerate(sizes):
        noise = np.random.RandomState(number).randint(0, 256, (*small, 3)).astype(np.uint8)
        large = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
        ImageOps.expand(large, margin, "white").save(workplace / f"{number}.png")
    (workplace / "net.yaml").write_text(yaml.safe_dump(spec, allow_unicode=True, sort_keys=False))
    done = exporter("release", "net.yaml", cwd=workplace)
    assert done.code == code and said in done.out + done.err, done.out + done.err
