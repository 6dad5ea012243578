"""Ranges of a spec from the file for the runtimes beside a program: real programs, files as the families write them."""

from __future__ import annotations

from pathlib import Path

import paddle
import pytest
from paddle import nn
from paddle.static import InputSpec

from exporter.base.errors import UsageError
from exporter.spec.arguments import spec_from_source
from exporter.spec.model import Spec
from exporter.spec.read import read_spec
from exporter.spec.source import keys_of, read_source
from tests.command import exporter, refused
from tests.steps.test_deployed import BOXES, CLASSES, LINES, PAGES, SEGMENTS

WIDE = {"batch": {"min": 1, "typical": 1, "max": 8}, "width": {"min": 160, "typical": 320, "max": 3200}}
USUAL = {"min": 1, "typical": 2, "max": 4}


class Pool(nn.Layer):
    def forward(self, x, im_shape=None, scale_factor=None):
        y = paddle.mean(x, axis=[2, 3])
        return y if im_shape is None else y[:, :2] * im_shape / scale_factor


def saved(folder: Path, shape: list[int | None], *others: InputSpec, name: str = "inference") -> Path:
    first = InputSpec(shape, "float32", "image" if others else "x")
    traced = paddle.jit.to_static(Pool(), input_spec=[first, *others], full_graph=True)
    paddle.jit.save(traced, str(folder / name))
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By folder: a program of open pictures, one of lines, one of boxes with what detectors read beside the picture."""
    folder = tmp_path_factory.mktemp("files")
    saved(folder / "open", [None, 3, None, None])
    saved(folder / "lines", [None, 3, 48, None])
    saved(folder / "twos", [None, 2, None, None], name="model")
    beside = [InputSpec([None, 2], "float32", name) for name in ("im_shape", "scale_factor")]
    saved(folder / "boxes", [None, 3, None, None], *beside, name="model")
    return folder


@pytest.fixture
def given(files: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a program's folder with a file for the runtimes in it: (program, name, text)."""
    program, name, text = request.param
    for path in (files / program).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_text(text)
    return tmp_path


def of(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """The dims, and the values of the inputs."""
    keys = keys_of(read_source(folder))
    Spec.model_validate(keys)
    return keys["dims"], {name: said["values"] for name, said in keys["inputs"].items()}


def fixed(size: int) -> dict[str, int]:
    return {"min": size, "typical": size, "max": size}


#: Of a page whose longer side gets 960 pixels: both sides go up to a multiple of 128.
OF_960 = {"min": 128, "typical": 1024, "max": 1024, "multiple_of": 128}


def whole(low: int, usual: int, high: int) -> dict[str, int]:
    return {"min": low, "typical": usual, "max": high, "multiple_of": 32}


@pytest.mark.parametrize(
    ("given", "dims", "values"),
    [
        (("lines", "inference.yml", LINES), {**WIDE, "width": whole(160, 320, 3200)}, "uniform(-1,1)"),
        (("lines", "inference.yml", LINES.replace("Hpi", "Hpj")), {"batch": USUAL, "width": whole(320, 320, 3200)}, ""),
        (("open", "inference.yml", CLASSES), dict.fromkeys(("height", "width"), fixed(224)), "uniform(-2.1179,2.6382)"),
        (("open", "inference.yml", PAGES), dict.fromkeys(("height", "width"), OF_960), ""),
        (("open", "deploy.yaml", SEGMENTS), {"height": fixed(256), "width": fixed(512)}, "uniform(-1,1)"),
        (("twos", "deploy.yaml", SEGMENTS), {"height": fixed(256), "width": fixed(512)}, "uniform(-1,1)"),
        (
            ("open", "inference.yml", PAGES.replace("resize_long: 960", "limit_side_len: 960, limit_type: max")),
            *(dict.fromkeys(("height", "width"), whole(64, 960, 960)), "uniform(-2.1179,2.64)"),
        ),
        (
            ("open", "inference.yml", PAGES.replace("resize_long: 960", "limit_side_len: 352, limit_type: min")),
            *(dict.fromkeys(("height", "width"), whole(352, 352, 704)), ""),
        ),
    ],
    indirect=["given"],
)
def test_what_the_file_says_fills_in_what_the_program_leaves_open(
    given: Path, dims: dict[str, dict[str, int]], values: str
) -> None:
    told, filled = of(given)
    assert told == {"batch": USUAL, **dims}
    assert filled["x"] == (values or filled["x"]) and filled["x"] != "normal"


@pytest.mark.parametrize("given", [("boxes", "infer_cfg.yml", BOXES)], indirect=True)
def test_what_a_detector_reads_beside_the_picture_has_its_own_range(given: Path) -> None:
    dims, values = of(given)
    assert dims == {"batch": USUAL, "height": fixed(640), "width": fixed(480)}
    assert values == {"image": "uniform(0,1)", "im_shape": "uniform(160,640)", "scale_factor": "uniform(0.5,2)"}


LARGE = "Hpi: {a: {b: {dynamic_shapes: {x: [[1, 3, 32, 32], [1, 3, 736, 736], [1, 3, 4000, 4000]]}}}}\n" + PAGES


@pytest.mark.parametrize("given", [("open", "inference.yml", LARGE)], indirect=True)
def test_pictures_that_are_too_large_to_prove_are_promised_only_where_somebody_says_so(given: Path) -> None:
    dims, _ = of(given)
    assert dims == {"batch": fixed(1), **dict.fromkeys(("height", "width"), whole(32, 736, 992))}
    spec = spec_from_source(str(given), ["height=32..4000/32"], (), {})
    assert (spec.dims["height"].max, spec.dims["width"].max) == (4000, 992)


@pytest.mark.parametrize("given", [("lines", "inference.yml", LINES)], indirect=True)
def test_what_somebody_says_goes_before_the_file(given: Path, tmp_path: Path) -> None:
    spec = spec_from_source(str(given), ["width=64..128"], ["x=uniform(0,1)"], {})
    assert (spec.dims["width"].min, spec.dims["width"].max, spec.dims["batch"].max) == (64, 128, 8)
    assert spec.inputs["x"].values == "uniform(0,1)"
    path = tmp_path / "spec.yaml"
    path.write_text(f"name: mine\nsource: {given}\ndims: {{batch: {{min: 2, typical: 2, max: 2}}}}\n")
    spec = read_spec(path)
    assert (spec.dims["batch"].min, spec.dims["width"].max, spec.inputs["x"].values) == (2, 3200, "uniform(-1,1)")


@pytest.mark.parametrize("given", [("lines", "inference.yml", LINES)], indirect=True)
def test_a_file_is_that_of_the_only_program_of_its_folder(given: Path) -> None:
    for ending in (".json", ".pdiparams"):
        if (given / f"inference{ending}").exists():
            (given / f"other{ending}").write_bytes((given / f"inference{ending}").read_bytes())
    assert of(given / "inference.json")[0]["width"]["max"] == 3200
    assert of(given / "other.json")[0]["width"]["max"] == 320


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("lines", "inference.yml", LINES + "  ]"), "it is no YAML"),
        (("lines", "inference.yml", LINES.replace("- 160", "- 3201")), "do not grow"),
        (("open", "inference.yml", LARGE.replace("[1, 3, 4000, 4000]", "[1, 3, 4000]")), "the smallest, the usual"),
        (
            ("open", "inference.yml", "Hpi: {a: {b: {dynamic_shapes: {x: [[1, 3], [1, 3], [1, 3]]}}}}\n"),
            "have 2 axes, and the program's input has 4",
        ),
    ],
    indirect=["given"],
)
def test_a_damaged_file_is_told_with_its_line_and_no_traceback(given: Path, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        of(given)
    assert error.value.where.startswith(f"{given / 'inference.yml'}:")
    refused(exporter("convert", str(given), cwd=given), 2, "inference.yml:", said)
