"""The step lists of the families' files, in the forms that their repositories and exports have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE
from exporter.steps.chain import read_chain, steps_of
from exporter.steps.configuration import configuration
from exporter.steps.settle import FAMILIES, of_configuration, settled
from tests.steps.pictures import encoded, picture

CLAS = """
Global: {image_shape: [3, 224, 224]}
DataLoader:
  Train:
    dataset:
      transform_ops:
      - DecodeImage: {to_rgb: True, channel_first: False}
      - RandCropImage: {size: 224}
  Eval:
    dataset:
      transform_ops:
      - DecodeImage: {to_np: False, to_rgb: True, channel_first: False}
      - ResizeImage: {resize_short: 64, interpolation: bicubic, backend: pil}
      - CropImage: {size: 56}
      - NormalizeImage: {scale: 1.0/255.0, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], order: ''}
  loader: {num_workers: 4}
Infer:
  transforms:
  - DecodeImage: {to_rgb: True}
  - ResizeImage: {size: [40, 30]}
  - NormalizeImage: {order: hwc}
  - ToCHWImage:
  PostProcess: {name: Topk, topk: 2, class_id_map_file: names.txt}
"""
CLAS_FILE = """
PreProcess:
  transform_ops:
  - ResizeImage: {resize_short: 256}
  - CropImage: {size: 224}
  - NormalizeImage: {channel_num: 3, mean: [0.485, 0.456, 0.406], order: '', scale: 0.00392156862745098}
  - ToCHWImage: null
PostProcess:
  Topk: {topk: 5, label_list: [cat, dog]}
"""
DET = """
_BASE_: [base/reader.yml]
architecture: YOLOv3
LearningRate: {schedulers: [!PiecewiseDecay {gamma: 0.1}]}
EvalReader:
  sample_transforms:
  - Decode: {}
  - Resize: {target_size: [64, 96], keep_ratio: True, interp: 2}
  - NormalizeImage: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], is_scale: true}
  - Permute: {}
"""
DET_BASE = """
EvalReader:
  sample_transforms: [{Decode: {}}]
  batch_transforms:
  - PadBatch: {pad_to_stride: 32}
"""
DET_FILE = """
mode: paddle
draw_threshold: 0.4
Preprocess:
- {interp: 1, keep_ratio: false, target_size: [64, 96], type: Resize}
- {is_scale: true, mean: [0, 0, 0], std: [1, 1, 1], norm_type: none, type: NormalizeImage}
- {type: Permute}
label_list: [cat]
"""
SEG = """
_base_: base.yml
val_dataset:
  type: Dataset
  transforms:
  - {type: Resize, target_size: [48, 32]}
  - type: Normalize
"""
SEG_FILE = """
Deploy:
  model: model.json
  params: model.pdiparams
  transforms:
  - {type: ResizeByLong, long_size: 64}
  - {type: Padding, target_size: [64, 64], im_padding_value: [127.5, 127.5, 127.5]}
  - {type: Normalize, mean: [0.3, 0.4, 0.5], std: [0.5, 0.5, 0.5]}
"""
OCR = """
Global: {character_dict_path: names.txt, use_space_char: true}
PostProcess: {name: CTCLabelDecode}
Eval:
  dataset:
    transforms:
    - DecodeImage: {img_mode: BGR, channel_first: false}
    - MultiLabelEncode: {gtc_encode: NRTRLabelEncode}
    - RecResizeImg: {image_shape: [3, 48, 320]}
    - KeepKeys: {keep_keys: [image, label_ctc]}
"""
OCR_FILE = """
PreProcess:
  transform_ops:
  - DecodeImage: {img_mode: BGR, channel_first: false}
  - DetLabelEncode: null
  - DetResizeForTest: {limit_side_len: 64, limit_type: max}
  - NormalizeImage: {scale: 1./255., mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], order: hwc}
  - ToCHWImage: null
  - KeepKeys: {keep_keys: [image, shape]}
"""
CASES = {
    "paddleclas:clas.yaml": (3, 56, 56),
    "paddleclas:clas.yaml#Infer": (3, 30, 40),
    "paddleclas:clas_file.yml": (3, 224, 224),
    "paddledet:det.yml": (3, 64, 96),
    "paddledet:det_file.yml": (3, 64, 96),
    "paddleseg:seg.yml": (3, 32, 48),
    "paddleseg:seg_file.yml": (3, 64, 64),
    "paddleocr:ocr.yml": (3, 48, 320),
    "paddleocr:ocr_file.yml": (3, 32, 64),
    "paddlex:ocr_file.yml": (3, 32, 64),
    "paddlex:clas_file.yml": (3, 224, 224),
    "paddlex:det_file.yml": (3, 64, 96),
    "paddlex:seg_file.yml": (3, 64, 64),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").mkdir()
    for name, text in (
        *(("clas.yaml", CLAS), ("clas_file.yml", CLAS_FILE), ("det.yml", DET), ("base/reader.yml", DET_BASE)),
        *(("det_file.yml", DET_FILE), ("seg.yml", SEG), ("base.yml", "val_dataset: {mode: val}"), ("ocr.yml", OCR)),
        *(("seg_file.yml", SEG_FILE), ("ocr_file.yml", OCR_FILE), ("names.txt", "0 cat\n1 dog\n")),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("named", CASES)
def test_the_steps_run_on_a_picture(named: str, place: Path) -> None:
    *_, last = steps_of(read_chain(settled(named, "before", "here")), {VALUE: encoded(picture(60, 90))})
    assert last[VALUE].shape == CASES[named] and last[VALUE].dtype == np.float32 and last[VALUE].std() > 0.05


def test_every_family_is_tried() -> None:
    assert {name.partition(":")[0] for name in CASES} == set(FAMILIES.names())


def test_a_configuration_is_merged_with_its_base(place: Path) -> None:
    content = configuration(Path("det.yml"))
    assert content["EvalReader"]["batch_transforms"] and len(content["EvalReader"]["sample_transforms"]) == 4
    assert of_configuration("paddledet:det.yml", "before") == [
        {"decode": {"order": "rgb"}},
        {"resize": {"rule": "within", "height": 64, "width": 96, "interpolation": "cubic", "tracks": True}},
        {"normalize": {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}},
        "layout",
        {"pad": {"multiple_of": 32, "axis": "first"}},
    ]
    (place / "base/reader.yml").write_text("_BASE_: ../det.yml")
    with pytest.raises(UsageError, match="based on itself"):
        configuration(Path("det.yml"))


def test_what_is_behind_the_model(place: Path) -> None:
    assert of_configuration("paddleclas:clas.yaml", "after") == [
        {"topk": {"k": 2}},
        {"labels": {"names": ["cat", "dog"]}},
    ]
    assert of_configuration("paddleclas:clas_file.yml", "after")[1] == {"labels": {"names": ["cat", "dog"]}}
    assert of_configuration("paddledet:det_file.yml", "after") == [{"boxes": {"score": 0.4, "classes": 1}}]
    assert of_configuration("paddleocr:ocr.yml", "after") == [{"ctc": {"characters": ["0 cat", "1 dog", " "]}}]


@pytest.mark.parametrize(
    ("named", "old", "new", "said"),
    [
        ("paddleclas:clas.yaml#Train", "", "", "draws at random"),
        ("paddleclas:clas.yaml", "CropImage", "CropImages", "no step is known for the operator CropImages"),
        ("paddleclas:clas.yaml", "{size: 56}", "{size: 56, gamma: 2}", "nothing is known of its option `gamma`"),
        ("paddleclas:clas.yaml", "bicubic", "random", "names no interpolation"),
        ("paddleclas:clas.yaml", "1.0/255.0", "x", "`scale` is 'x'"),
        ("paddleclas:clas.yaml", "Eval:", "Evil:", "no list of operators in Eval"),
        ("paddleclas:clas.yaml", "DataLoader:", "DataLoader: [", "no YAML"),
        ("paddleclas:nowhere.yaml", "", "", "no such configuration"),
        ("paddleocr:ocr.yml", "names.txt", "no.txt", "names the dictionary no.txt"),
        ("paddleocr:ocr.yml", "CTCLabelDecode", "SARLabelDecode", "no step is known for it"),
    ],
)
def test_what_no_step_stands_for_is_refused(named: str, old: str, new: str, said: str, place: Path) -> None:
    file = place / named.partition(":")[2].partition("#")[0]
    if old:
        file.write_text(file.read_text().replace(old, new))
        named = f"{named}#Eval" if "Evil" in new else named
    side: Any = "after" if "ocr" in named else "before"
    with pytest.raises(UsageError, match=said) as caught:
        of_configuration(named, side)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("family", "text", "side", "said"),
    [
        ("paddleclas", "Infer: {transforms: [], PostProcess: {name: Topk, topk: abc}}", "after", "after the model"),
        ("paddledet", "draw_threshold: high\nEvalReader: {sample_transforms: []}", "after", "after the model"),
        (
            "paddledet",
            "EvalReader: {sample_transforms: [{EvalAffine: {}}]}",
            "before",
            "EvalAffine: an option is missing",
        ),
        (
            *("paddleocr", "Eval: {dataset: {transforms: [{DetResizeForTest: {limit_side_len: abc}}]}}", "before"),
            "DetResizeForTest: an option is missing or wrong: invalid literal",
        ),
    ],
)
def test_an_option_of_a_wrong_kind_is_told(family: str, text: str, side: Any, said: str, place: Path) -> None:
    (place / "wrong.yml").write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        of_configuration(f"{family}:wrong.yml", side)
    assert caught.value.where.startswith("wrong.yml") and caught.value.hint


@pytest.mark.parametrize(
    ("operator", "named"),
    [
        ("VQATokenLabelEncode: {}", "takes texts and their places from annotations"),
        ("KieLabelEncode: {}", "takes texts and their places from annotations"),
        ("UniMERNetImgDecode: {input_size: [32, 64], random_padding: true}", "`random_padding` draws at random"),
        ("SRNRecResizeImg: {image_shape: [1, 64, 256], max_text_length: 25}", "`num_heads` is None"),
        ("RecResizeImg: {image_shape: [1, 48, 320]}", "1 channels of a picture that has 3"),
        ("GrayRecResizeImg: {image_shape: [100, 32], resize_type: GPU}", "`resize_type` is 'GPU'"),
    ],
)
def test_what_no_picture_has_is_refused_by_name(operator: str, named: str, place: Path) -> None:
    (place / "form.yml").write_text(f"Eval: {{dataset: {{transforms: [{{DecodeImage: {{}}}}, {{{operator}}}]}}}}")
    with pytest.raises(UsageError, match=named) as caught:
        of_configuration("paddleocr:form.yml", "before")
    assert caught.value.hint


def test_what_is_said_of_all_operators_counts_before_their_own(place: Path) -> None:
    """`create_operators` puts `Global` over the options of each; an `inference.yml` has no `Global`."""
    operator = "E2EResizeForTest: {max_side_len: 768, valid_set: partvgg}"
    for of_all, rule in (("{valid_set: totaltext}", "grow"), ("{}", "long")):
        (place / "all.yml").write_text(f"Global: {of_all}\nEval: {{dataset: {{transforms: [{{{operator}}}]}}}}")
        assert of_configuration("paddleocr:all.yml", "before")[0]["resize"]["rule"] == rule


def test_a_cast_that_changes_nothing_is_no_step(place: Path) -> None:
    """PaddleSeg makes floats of a picture first; right before `Normalize`, which does so too, no sample shows that."""
    (place / "plain.yml").write_text("Deploy: {transforms: [{type: Normalize}]}")
    names = [link.name for link in read_chain(of_configuration("paddleseg:plain.yml", "before"))]
    assert names == ["decode", "normalize", "layout"]
    names = [link.name for link in read_chain(of_configuration("paddleseg:seg.yml", "before"))]
    assert names.index("cast") < names.index("resize")
