"""The predictors of PaddleX and PaddleOCR on the folders that are handed to them, beside the bundle's `infer.py`.

They want packages that clash with ours, so they run in an environment of their own, whose Python `CONSUMERS_PYTHON`
names; skipped where it names none. It needs this Paddle, and `pip install "paddlex[ocr-core]" paddleocr`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.command import environment, exporter
from tests.conftest import working_folder

PYTHON = "CONSUMERS_PYTHON"
#: PaddleX rounds a classifier's scores to five decimals, and Paddle Inference runs it with oneDNN.
BOUND = 2e-5
#: PaddleX's segmentation resizes whole numbers, PaddleSeg's and ours floats: the share of pixels that may differ.
EDGES = 0.02
CHARACTERS = list("abc文de7 ")
OPERATORS = ("PreProcess", "transform_ops")


@dataclass(frozen=True)
class Case:
    """A model under a name that PaddleX knows, training's steps in our words and deployment's in a family's."""

    name: str
    model: str
    shape: tuple[int, int]
    deployed: dict[str, Any]
    family: str
    before: list[Any]
    after: list[Any]
    predictors: tuple[str, ...]
    #: Places in the handed file, and what stands there instead: each has to change an answer.
    changes: tuple[tuple[tuple[str | int, ...], Any], ...]

    @property
    def part(self) -> str:
        """The part of the file that lists the steps."""
        return next(iter(self.deployed))


CLASSIFIER = Case(
    "PP-LCNet_x1_0_doc_ori",
    "models.consumed:Classifier",
    (32, 32),
    {
        "PreProcess": {
            "transform_ops": [
                {"ResizeImage": {"resize_short": 40}},
                {"CropImage": {"size": 32}},
                {
                    "NormalizeImage": {
                        "channel_num": 3,
                        "order": "",
                        "scale": 0.00392156862745098,
                        "mean": [0.485, 0.456, 0.406],
                        "std": [0.229, 0.224, 0.225],
                    }
                },
                {"ToCHWImage": None},
            ]
        },
        "PostProcess": {"Topk": {"topk": 3, "label_list": ["cat", "dog", "bird", "fish", "worm", "猫"]}},
    },
    "paddleclas",
    [
        "decode",
        {"resize": {"rule": "short", "size": 40}},
        {"crop": {"height": 32, "width": 32}},
        {"normalize": {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}},
        "layout",
    ],
    [{"topk": {"k": 3}}, {"labels": {"names": ["cat", "dog", "bird", "fish", "worm", "猫"]}}],
    ("paddlex", "paddleocr:DocImgOrientationClassification"),
    (
        ((*OPERATORS, 0, "ResizeImage", "resize_short"), 52),
        ((*OPERATORS, 1, "CropImage", "size"), [32, 31]),
        ((*OPERATORS, 2, "NormalizeImage", "mean"), [0.406, 0.456, 0.485]),
        (("PostProcess", "Topk", "label_list"), ["dog", "cat", "bird", "fish", "worm", "猫"]),
    ),
)
READER = Case(
    "PP-OCRv4_mobile_rec",
    "models.consumed:Reader",
    (32, 128),
    {
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"RecResizeImg": {"image_shape": [3, 32, 128]}},
            ]
        },
        "PostProcess": {"name": "CTCLabelDecode", "character_dict": CHARACTERS},
    },
    "paddleocr",
    [
        {"decode": {"order": "bgr"}},
        {"resize": {"rule": "line", "height": 32, "width": 128}},
        {"normalize": {"scale": 1 / 255, "mean": [0.5], "std": [0.5]}},
        "layout",
        {"pad": {"width": 128, "axis": "first"}},
    ],
    [{"ctc": {"characters": CHARACTERS}}],
    ("paddlex", "paddleocr:TextRecognition"),
    (
        ((*OPERATORS, 0, "DecodeImage", "img_mode"), "RGB"),
        ((*OPERATORS, 1, "RecResizeImg", "image_shape"), [3, 32, 120]),
        (("PostProcess", "character_dict"), CHARACTERS[::-1]),
    ),
)
SEGMENTER = Case(
    "PP-LiteSeg-T",
    "models.consumed:Segmenter",
    (20, 24),
    {
        "Deploy": {
            "transforms": [
                {"type": "Resize", "target_size": [24, 20]},
                {"type": "Normalize", "mean": [0.5, 0.4, 0.3], "std": [0.5, 0.5, 0.4]},
            ]
        }
    },
    "paddleseg",
    [
        "decode",
        {"cast": {"dtype": "float32"}},
        {"resize": {"height": 20, "width": 24}},
        {"normalize": {"scale": 1 / 255, "mean": [0.5, 0.4, 0.3], "std": [0.5, 0.5, 0.4]}},
        "layout",
    ],
    [],
    ("paddlex",),
    (
        (("Deploy", "transforms", 0, "interp"), "NEAREST"),
        (("Deploy", "transforms", 1, "mean"), [0.3, 0.4, 0.5]),
    ),
)
#: Runs in the consumers' environment, which reaches no network: predictor, model's name, folder, pictures.
SCRIPT = """
import json, socket, sys

def refused(*_):
    raise OSError("this test is offline")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
predictor, name, folder, *pictures = sys.argv[1:]
if predictor == "paddlex":
    import paddlex
    model = paddlex.create_model(name, model_dir=folder, device="cpu")
else:
    import paddleocr
    model = getattr(paddleocr, predictor.partition(":")[2])(model_name=name, model_dir=folder, device="cpu")
for picture in pictures:
    (result,) = model.predict(picture)
    if "rec_text" in result:
        told = {"answer": result["rec_text"], "scores": [float(result["rec_score"])]}
    elif "pred" in result:
        told = {"answer": result["pred"][0].tolist()}
    else:
        told = {"answer": "\\n".join(result["label_names"]), "scores": [float(one) for one in result["scores"]]}
    print("ANSWER", json.dumps(told), flush=True)
"""


@pytest.fixture(scope="module")
def python() -> Path:
    named = os.environ.get(PYTHON)
    if not named:
        pytest.skip(f'{PYTHON} names no Python with this Paddle and `pip install "paddlex[ocr-core]" paddleocr`')
    return Path(named)


def pictures(folder: Path, wide: bool) -> list[Path]:
    """Six pictures of several sizes; lines that are at most as long as the model takes, if `wide`."""
    from PIL import Image

    files = []
    for seed in range(6):
        dice = np.random.RandomState(seed)
        size = (int(dice.randint(50, 120)), 30) if wide else (int(dice.randint(40, 90)), int(dice.randint(40, 90)))
        rough = dice.randint(0, 256, (4, 12 if wide else 5, 3)).astype(np.uint8)
        files.append(folder / f"{seed}.png")
        Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC).save(files[-1])
    return files


def release(case: Case, work: Path) -> Path:
    """The bundle of the case, in a new working folder."""
    working_folder(work)
    pictures(work, case is READER)
    (work / "inference.yml").write_text(yaml.safe_dump(case.deployed, allow_unicode=True))
    deployed = f"{case.family}:inference.yml#{case.part}"
    spec = {
        "name": case.name,
        "version": "1.0.0",
        "model": case.model,
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3, *case.shape], "values": "normal"}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
        "outputs": ["scores_of"],
        "pipeline": {
            "samples": ["*.png"],
            "preprocess": {"training": case.before, "deployment": deployed},
            **({"postprocess": {"training": case.after, "deployment": deployed}} if case.after else {}),
        },
        "formats": ["pir", "pdmodel", "onnx"],
        "engines": ["paddle_inference", "onnxruntime"],
    }
    (work / "spec.yaml").write_text(yaml.safe_dump(spec, allow_unicode=True))
    done = exporter("release", "spec.yaml", "--json", cwd=work)
    assert done.code == 0, done.out + done.err
    return work / str(done.json()["bundle"])


def predicted(python: Path, predictor: str, name: str, folder: Path, files: list[Path]) -> list[dict[str, Any]]:
    """What the predictor answers to each file."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    alone = environment(HOME=str(home), PADDLE_PDX_CACHE_HOME=str(home), PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK="True")
    command = [str(python), "-c", SCRIPT, predictor, name, str(folder), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, env=alone, cwd=home, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("ANSWER ")]


def inferred(bundle: Path, files: list[Path]) -> list[dict[str, Any]]:
    """What the bundle's `infer.py` answers, in the form in which the predictors do."""
    from PIL import Image

    command = [sys.executable, "-I", str(bundle / "infer.py"), *map(str, files), "--variant", "onnx"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for file, answer in zip(files, told, strict=True):
        if isinstance(answer["answer"], list):  # PaddleX gives a map the size of its picture
            with Image.open(file) as picture:
                wide, tall = picture.size
            small = np.array(answer["answer"])
            rows, columns = (np.arange(new) * old // new for new, old in zip((tall, wide), small.shape, strict=True))
            answer["answer"] = small[rows][:, columns].tolist()
        elif "\n" not in answer["answer"]:  # a text's score is the mean of its characters'
            answer["scores"] = [float(np.mean(answer["scores"]))]
    return told


def unlike(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> list[object]:
    """The pairs of answers that differ, or whose scores do by more than the bound."""
    return [pair for pair in zip(ours, theirs, strict=True) if not alike(*pair)]


def distance(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> float:
    """The largest difference of a score, or the largest share of pixels that differ."""
    if "scores" in theirs[0]:
        pairs = [(one["scores"], other["scores"]) for one, other in zip(ours, theirs, strict=True)]
        return max(float(np.abs(np.subtract(*pair)).max()) for pair in pairs)
    maps = [(np.array(one["answer"]), np.array(other["answer"])) for one, other in zip(ours, theirs, strict=True)]
    return max(float((left != right).mean()) for left, right in maps)


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal labels or texts, and scores within the bound; of maps all pixels but a few on edges."""
    if isinstance(one["answer"], list):
        left, right = np.array(one["answer"]), np.array(other["answer"])
        return left.shape == right.shape and float((left != right).mean()) <= EDGES
    return bool(one["answer"] == other["answer"] and np.allclose(one["scores"], other["scores"], rtol=0, atol=BOUND))


@pytest.fixture(scope="module", params=[CLASSIFIER, READER, SEGMENTER], ids=lambda case: str(case.name))
def released(
    request: pytest.FixtureRequest, python: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Case, Path, list[Path]]:
    """A case, its bundle and its pictures; only where there is a consumer."""
    del python
    work = tmp_path_factory.mktemp("consumed") / "work"
    bundle = release(request.param, work)
    return request.param, bundle, sorted(work.glob("*.png"))


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["pir", "pdmodel"])
def test_their_predictors_answer_as_infer_py(
    released: tuple[Case, Path, list[Path]], variant: str, python: Path, tmp_path: Path
) -> None:
    case, bundle, files = released
    handed(bundle, variant, tmp_path)
    ours = inferred(bundle, files)
    assert len({str(answer["answer"]) for answer in ours}) > 2, "answers that are all alike would prove nothing"
    for predictor in case.predictors:
        theirs = predicted(python, predictor, case.name, tmp_path / "handed", files)
        print(f"\n{case.name} {variant} {predictor}: {distance(ours, theirs)}")  # for docs/targets.md
        assert unlike(ours, theirs) == [], predictor


@pytest.mark.slow
def test_a_changed_step_changes_their_answers(
    released: tuple[Case, Path, list[Path]], python: Path, tmp_path: Path
) -> None:
    """The control: were a step not run, or not compared, these would agree too."""
    case, bundle, files = released
    handed(bundle, "pir", tmp_path)
    ours = inferred(bundle, files)
    file = tmp_path / "handed/inference.yml"
    whole = file.read_text()
    for (*keys, last), value in case.changes:
        content = place = yaml.safe_load(whole)
        for key in keys:
            place = place[key]
        place[last] = value
        file.write_text(yaml.safe_dump(content, allow_unicode=True))
        theirs = predicted(python, "paddlex", case.name, tmp_path / "handed", files)
        assert unlike(ours, theirs), f"{keys} {last}: {value} is not noticed"


@pytest.mark.slow
@pytest.mark.parametrize("released", [READER], indirect=True, ids=lambda case: str(case.name))
def test_paddlex_widens_a_line_that_is_too_long(
    released: tuple[Case, Path, list[Path]], python: Path, tmp_path: Path
) -> None:
    """Which the handed README says; the bundle's steps squeeze it, as PaddleOCR's evaluation does."""
    from PIL import Image

    case, bundle, files = released
    handed(bundle, "pir", tmp_path)
    assert "squeeze the line" in (tmp_path / "handed/README.md").read_text()
    long = tmp_path / "long.png"
    with Image.open(files[0]) as picture:
        picture.resize((300, 30)).save(long)
    ours, theirs = inferred(bundle, [long]), predicted(python, "paddlex", case.name, tmp_path / "handed", [long])
    assert len(theirs[0]["answer"]) > len(ours[0]["answer"])


def handed(bundle: Path, variant: str, folder: Path) -> None:
    """The folder `handed` for PaddleX."""
    done = exporter("handoff", bundle, "--to", "paddlex", "--variant", variant, "--out", "handed", cwd=folder)
    assert done.code == 0, done.err
