"""What the files beside exported models say, in the forms in which the families write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.steps.deployed import Extent, deployed_beside, read_deployed

LINES = """
Global:
  model_name: PP-OCRv5_mobile_rec
Hpi:
  backend_configs:
    paddle_infer:
      trt_dynamic_shapes: &id001
        x:
        - - 1
          - 3
          - 48
          - 160
        - - 1
          - 3
          - 48
          - 320
        - - 8
          - 3
          - 48
          - 3200
    tensorrt:
      dynamic_shapes: *id001
PreProcess:
  transform_ops:
  - DecodeImage:
      channel_first: false
      img_mode: BGR
  - MultiLabelEncode:
      gtc_encode: NRTRLabelEncode
  - RecResizeImg:
      image_shape: [3, 48, 320]
  - KeepKeys:
      keep_keys: [image, label_ctc]
PostProcess:
  name: CTCLabelDecode
  character_dict: [a, b]
"""
PAGES = """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - DetLabelEncode: null
  - DetResizeForTest: {resize_long: 960}
  - NormalizeImage: {mean: [0.485, 0.456, 0.406], order: hwc, scale: 1./255., std: [0.229, 0.224, 0.225]}
  - ToCHWImage: null
  - KeepKeys: {keep_keys: [image, shape]}
PostProcess: {name: DBPostProcess, thresh: 0.3}
"""
CLASSES = """
PreProcess:
  transform_ops:
  - ResizeImage: {resize_short: 256}
  - CropImage: {size: 224}
  - NormalizeImage: {channel_num: 3, mean: [0.485, 0.456, 0.406], order: '', scale: 0.00392, std: [0.229, 0.224, 0.225]}
  - ToCHWImage: null
PostProcess:
  Topk: {topk: 5, label_list: [cat, dog]}
"""
BOXES = """
mode: paddle
draw_threshold: 0.5
metric: COCO
use_dynamic_shape: false
arch: GFL
min_subgraph_size: 3
Preprocess:
- interp: 2
  keep_ratio: false
  target_size: [640, 480]
  type: Resize
- is_scale: true
  mean: [0.0, 0.0, 0.0]
  norm_type: none
  std: [1.0, 1.0, 1.0]
  type: NormalizeImage
- type: Permute
- {stride: 32, type: PadStride}
label_list: [text, title]
"""
KEPT = BOXES.replace("keep_ratio: false", "keep_ratio: true").replace("[640, 480]", "[800, 1333]")
SEGMENTS = """
Deploy:
  input_shape: [-1, 3, -1, -1]
  model: model.pdmodel
  output_dtype: int32
  output_op: argmax
  params: model.pdiparams
  transforms:
  - target_size: [512, 256]
    type: Resize
  - type: Normalize
"""
OF_IMAGENET = (-2.1179, 2.64)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "height", "width", "values"),
    [
        (LINES, Extent(48, 48, 48), Extent(320, 320, 3200), (-1, 1)),
        (PAGES, Extent(None, 1024, 1024, 128), Extent(None, 1024, 1024, 128), OF_IMAGENET),
        (CLASSES, Extent(224, 224, 224), Extent(224, 224, 224), (-2.118, 2.638)),
        (BOXES, Extent(640, 640, 640, 32), Extent(480, 480, 480, 32), (0, 1)),
        (KEPT, Extent(None, 800, 1344, 32), Extent(None, 1344, 1344, 32), (0, 1)),
        (SEGMENTS, Extent(256, 256, 256), Extent(512, 512, 512), (-1, 1)),
        (SEGMENTS.replace("- target_size: [512, 256]\n    type: Resize\n  ", ""), None, None, (-1, 1)),
        (SEGMENTS.replace("\n  - type: Normalize", ""), Extent(256, 256, 256), Extent(512, 512, 512), None),
        (
            PAGES.replace("resize_long: 960", "limit_side_len: 736, limit_type: min"),
            *(Extent(736, 736, None, 32), Extent(736, 736, None, 32), OF_IMAGENET),
        ),
        (
            PAGES.replace("resize_long: 960", "limit_side_len: 960, limit_type: max"),
            *(Extent(None, 960, 960, 32), Extent(None, 960, 960, 32), OF_IMAGENET),
        ),
    ],
)
def test_sides_and_values_follow_from_the_steps(
    text: str, height: Extent | None, width: Extent | None, values: tuple[float, float] | None, tmp_path: Path
) -> None:
    deployed = read_deployed(written(tmp_path, "inference.yml", text))
    assert (deployed.sides.get("height"), deployed.sides.get("width")) == (height, width)
    assert deployed.values == (values if values is None else pytest.approx(values, abs=0.001))


def test_the_shapes_that_runtimes_prepare_for_are_read_through_the_alias(tmp_path: Path) -> None:
    shapes = {"x": ([1, 3, 48, 160], [1, 3, 48, 320], [8, 3, 48, 3200])}
    assert read_deployed(written(tmp_path, "inference.yml", LINES)).shapes == shapes
    only_tensorrt = LINES.replace("trt_dynamic_shapes", "something_else")
    assert read_deployed(written(tmp_path, "inference.yml", only_tensorrt)).shapes == shapes


def test_an_operator_of_which_nothing_is_known_is_passed_over(tmp_path: Path) -> None:
    text = PAGES.replace("DetLabelEncode: null", "OfTheFuture: {a: 1}").replace("order: hwc,", "order: hwc, later: 1,")
    assert read_deployed(written(tmp_path, "inference.yml", text)).values == pytest.approx(OF_IMAGENET, abs=0.001)


def test_the_better_known_file_is_taken_and_that_of_kubernetes_is_none(tmp_path: Path) -> None:
    assert deployed_beside(tmp_path) is None
    written(tmp_path, "deploy.yaml", "apiVersion: apps/v1\nkind: Deployment\n---\nkind: Service\n")
    assert deployed_beside(tmp_path) is None
    for name, text in (("deploy.yaml", SEGMENTS), ("infer_cfg.yml", BOXES), ("inference.yml", LINES)):
        assert deployed_beside(tmp_path) != tmp_path / name
        written(tmp_path, name, text)
        assert deployed_beside(tmp_path) == tmp_path / name


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("scale: 1./255.", "scale: abc", 7, "`scale` is 'abc', which is no number"),
        ("scale: 1./255.", "scale: 1/0", 7, "`scale` is '1/0'"),
        ("std: [0.229, 0.224, 0.225]", "std: [0, 1, 1]", 7, "normalize: std"),
        ("mean: [0.485, 0.456, 0.406]", "mean: [a, b]", 7, "which are no numbers"),
        ("DetResizeForTest: {resize_long: 960}", "DetResizeForTest: {limit_side_len: abc}", 6, "has a wrong value"),
        ("DetResizeForTest: {resize_long: 960}", "DetResizeForTest: {limit_side_len: .inf}", 6, "has a wrong value"),
        ("DetLabelEncode: null", "[1, 2]", 5, "no operator with its options"),
        ("PostProcess: {", "Hpi: {b: {c: {dynamic_shapes: 3}}}\nPostProcess: {", 10, "holds no inputs"),
        ("PostProcess: {", "Hpi: {b: {c: {dynamic_shapes: {x: [[1, 3]]}}}}\nPostProcess: {", 10, "shapes of 'x'"),
        (
            "PostProcess: {",
            "Hpi: {b: {c: {dynamic_shapes: {x: [[1], [a], [3]]}}}}\nPostProcess: {",
            10,
            "shapes of 'x'",
        ),
        (
            "PostProcess: {",
            "Hpi: {b: {c: {dynamic_shapes: {x: [[0], [1], [3]]}}}}\nPostProcess: {",
            10,
            "shapes of 'x'",
        ),
        ("PostProcess: {", "Hpi: {b: {c: {dynamic_shapes: {x: [[1], [4], [3]]}}}}\nPostProcess: {", 10, "do not grow"),
    ],
)
def test_what_is_damaged_is_told_with_its_line(old: str, new: str, line: int, said: str, tmp_path: Path) -> None:
    assert old in PAGES
    path = written(tmp_path, "inference.yml", PAGES.replace(old, new, 1))
    with pytest.raises(UsageError, match=said) as error:
        read_deployed(path)
    assert error.value.where.startswith(f"{path}:{line}:") and error.value.hint


def test_operators_that_are_no_list_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no list of operators"):
        read_deployed(written(tmp_path, "inference.yml", "PreProcess:\n  transform_ops: 5\n"))


@pytest.mark.parametrize("text", ["PreProcess: 3\n", "Hpi: [1]\n", "Hpi: {a: 1}\n", "a: 1\n"])
def test_another_form_says_nothing(text: str, tmp_path: Path) -> None:
    deployed = read_deployed(written(tmp_path, "inference.yml", text))
    assert not deployed.shapes and not deployed.sides and deployed.values is None
