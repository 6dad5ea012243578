"""The steps of a deployment as the files of the Paddle families: written, and read back to the same steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.base.errors import UsageError
from exporter.bundle.open import Bundle, open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.beside import StepsBeside
from exporter.deploy.handoff.step_files import FORMS, written
from exporter.deploy.handoff.write import TARGETS
from exporter.steps.chain import Chain, data_of, read_chain
from exporter.steps.settle import of_configuration

#: Step files as their families write them.
FILES = {
    "paddleclas": """
PreProcess:
  transform_ops:
  - ResizeImage: {resize_short: 256}
  - CropImage: {size: 224}
  - NormalizeImage: {channel_num: 3, order: '', scale: 0.00392156862745098,
      mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
  - ToCHWImage: null
PostProcess: {Topk: {topk: 5, label_list: [cat, dog, bird, fish, worm]}}
""",
    "paddleseg": """
Deploy:
  input_shape: [-1, 3, 512, 1024]
  model: model.pdmodel
  transforms:
  - {type: Resize, target_size: [1024, 512]}
  - {type: Normalize, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5]}
""",
    "paddledet": """
draw_threshold: 0.4
Preprocess:
- {type: Resize, interp: 2, keep_ratio: false, target_size: [608, 416]}
- {type: NormalizeImage, is_scale: true, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
- {type: Permute}
""",
    "paddleocr": """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - RecResizeImg: {image_shape: [3, 48, 320]}
PostProcess: {name: CTCLabelDecode, character_dict: [a, b, 文, ' ']}
""",
}
#: The part of each that lists the steps, and the target that writes its file.
PARTS = {"paddleclas": "PreProcess", "paddleseg": "Deploy", "paddledet": "Preprocess", "paddleocr": "PreProcess"}


def chains(family: str, folder: Path, text: str = "") -> tuple[Chain, Chain]:
    path = folder / f"{family}.yml"
    path.write_text(text or FILES[family])
    before = of_configuration(f"{family}:{path}#{PARTS[family]}", "before")
    return read_chain(before), read_chain(of_configuration(f"{family}:{path}#{PARTS[family]}", "after"))


def written_by(family: str, before: Chain, after: Chain) -> dict[str, Any]:
    reasons = []
    for form in FORMS[family]:
        try:
            return written(form, before, after)
        except UsageError as error:
            reasons.append(error)
    raise reasons[0]


@pytest.mark.parametrize("family", FILES)
def test_what_a_family_writes_is_written_again(family: str, tmp_path: Path) -> None:
    before, after = chains(family, tmp_path)
    again = yaml.safe_dump(written_by(family, before, after), allow_unicode=True)
    once_more = chains(family, tmp_path, again)
    assert [data_of(chain) for chain in once_more] == [data_of(before), data_of(after)]


def test_a_page_of_text_too(tmp_path: Path) -> None:
    page = """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - DetResizeForTest: {limit_side_len: 736, limit_type: min}
  - NormalizeImage: {order: hwc, scale: 1./255., mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
  - ToCHWImage: null
"""
    before, after = chains("paddleocr", tmp_path, page)
    again = yaml.safe_dump(written_by("paddleocr", before, after))
    assert data_of(chains("paddleocr", tmp_path, again)[0]) == data_of(before)


@pytest.mark.parametrize(
    ("family", "steps", "said"),
    [
        ("paddleclas", [{"decode": {"order": "bgr"}}, "layout"], "cannot say step 1, decode {'order': 'bgr'}"),
        ("paddleclas", [{"decode": {"order": "rgb"}}, "sigmoid"], "no operator for the step sigmoid"),
        ("paddleclas", [{"decode": {"order": "rgb"}}, "recipes.digits:data"], "the step recipes.digits:data"),
        ("paddleseg", [{"decode": {"order": "rgb"}}, {"resize": {"height": 4, "width": 4}}], "cannot say step 2"),
        (
            "paddledet",
            [{"decode": {"order": "rgb"}}, {"normalize": {"scale": 0.5}}, "layout"],
            "cannot say step 2, normalize {'scale': 0.5}",
        ),
    ],
)
def test_what_its_words_cannot_say_is_refused(family: str, steps: list[Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        written_by(family, read_chain(steps), ())
    assert said in caught.value.what


# ---- the targets ----------------------------------------------------------------------------------------------------
OWN = {"paddleclas": "paddleclas", "paddleseg": "paddleseg", "paddledet": "paddledet"}


def chosen(bundle: Path, variant: str, before: Chain, after: Chain, **more: Any) -> Chosen:
    """The bundle as if it had been released with these steps."""
    opened = open_bundle(bundle)
    sides = {"preprocess": data_of(before), "postprocess": data_of(after)}
    both = {side: {"training": steps, "deployment": steps} for side, steps in sides.items() if steps}
    spec = {**opened.manifest.spec, "weights": "factory", "pipeline": {"samples": ["*.png"], **both, **more}}
    return Chosen(Bundle(opened.folder, opened.manifest.model_copy(update={"spec": spec})), variant)


@pytest.mark.parametrize("family", FILES)
def test_paddlex_gets_each_form(family: str, bundle: Path, tmp_path: Path) -> None:
    before, after = chains(family, tmp_path)
    files = TARGETS["paddlex"].layout(chosen(bundle, "pdmodel", before, after))
    assert set(files) == {"inference.yml", "inference.pdmodel", "inference.pdiparams"}
    content = files["inference.yml"]
    assert isinstance(content, bytes)
    said = yaml.safe_load(content)
    assert said["Global"]["model_name"] == open_bundle(bundle).manifest.name
    path = tmp_path / "inference.yml"
    path.write_bytes(content)
    assert of_configuration(f"paddlex:{path}", "before") == data_of(before)


@pytest.mark.parametrize(
    ("family", "old", "new", "said"),
    [
        ("paddleclas", "  - ResizeImage: {resize_short: 256}\n", "", "its predictor runs ResizeImage"),
        ("paddleclas", "PostProcess: {Topk: {topk: 5, label_list: [cat, dog, bird, fish, worm]}}", "", "wants topk"),
        ("paddleclas", "[0.485, 0.456, 0.406]", "[0.5]", "three numbers only"),
        ("paddleclas", "resize_short: 256", "resize_short: 256, backend: pil", "no linear interpolation of Pillow"),
        ("paddleseg", "{type: Resize, target_size: [1024, 512]}", "{type: LimitLong, max_long: 9}", "are LimitLong"),
        ("paddledet", "is_scale: true,", "is_scale: true, norm_type: none,", "takes those of ImageNet"),
        ("paddleocr", "RecResizeImg: {image_shape: [3, 48, 320]}", "DetResizeForTest: {limit_side_len: 64}", "DBPost"),
    ],
)
def test_paddlex_is_refused_what_it_would_run_otherwise(
    family: str, old: str, new: str, said: str, bundle: Path, tmp_path: Path
) -> None:
    text = FILES[family]
    assert old in text
    before, after = chains(family, tmp_path, text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        TARGETS["paddlex"].layout(chosen(bundle, "pdmodel", before, after))
    assert said in caught.value.what


def test_paddlex_is_told_not_to_keep_the_ratio(bundle: Path, tmp_path: Path) -> None:
    """Its segmentation keeps it, and rounds up to 32, where the file says nothing (paddlex 3.7)."""
    content = TARGETS["paddlex"].layout(chosen(bundle, "pdmodel", *chains("paddleseg", tmp_path)))["inference.yml"]
    assert isinstance(content, bytes)
    resize = yaml.safe_load(content)["Deploy"]["transforms"][0]
    assert (resize["keep_ratio"], resize["size_divisor"]) == (False, None)


@pytest.mark.parametrize("family", OWN)
def test_each_family_gets_its_own_folder(family: str, bundle: Path, tmp_path: Path) -> None:
    before, after = chains(family, tmp_path)
    target = TARGETS[OWN[family]]
    assert isinstance(target, StepsBeside)
    files = target.layout(chosen(bundle, "pdmodel", before, after))
    assert set(files) == {target.file, f"{target.stem}.pdmodel", f"{target.stem}.pdiparams"}
    content = files[target.file]
    assert isinstance(content, bytes)
    assert data_of(chains(family, tmp_path, content.decode())[0]) == data_of(before)


def test_a_bundle_without_steps_and_one_with_them_in_the_graph_are_refused(bundle: Path, tmp_path: Path) -> None:
    target = TARGETS["paddlex"]
    with pytest.raises(UsageError, match="names no steps around the model"):
        target.layout(Chosen(open_bundle(bundle), "pdmodel"))
    before, after = chains("paddleclas", tmp_path)
    with pytest.raises(UsageError, match="its steps are in the graph"):
        target.layout(chosen(bundle, "pdmodel", before, after, fold=True))
