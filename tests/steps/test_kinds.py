"""What each kind of step computes, against numbers worked out by hand, and Pillow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE
from exporter.steps.chain import KINDS, data_of, read_chain, steps_of
from tests.export.fold.opencv import SIZES, digest, key, recorded
from tests.export.fold.opencv import picture as drawn
from tests.steps.pictures import encoded, picture


def after(entries: list[Any], value: Any) -> Any:
    *_, last = steps_of(read_chain(entries), {VALUE: value})
    return last[VALUE]


def test_every_kind_says_what_it_does_and_gives_its_data_back() -> None:
    given: dict[str, Any] = {
        "beside": {"name": "places", "what": "count", "size": 4},
        "crop": {"height": 2, "width": 2},
        "pad": {"multiple_of": 4},
        "cast": {"dtype": "float32"},
        "reshape": {"shape": [4, -1]},
        "resize": {"height": 4, "width": 4},
        "tokenize": {"vocabulary": ["a"]},
        "ctc": {"characters": ["a"]},
        "labels": {"names": ["a"]},
        "take": {"output": "boxes"},
        "table": {"tokens": ["<td></td>"]},
        "warp": {"rule": "around"},
    }
    for name, kind in KINDS.all():
        assert kind.__doc__ and kind is KINDS[name]
        chain = read_chain([{name: given.get(name, {})}])
        assert read_chain(data_of(chain)) == chain


@pytest.mark.parametrize("way", ["nearest", "linear", "cubic", "area", "lanczos"])
@pytest.mark.parametrize("size", [(20, 31), (64, 50), (37, 90), (7, 5), (30, 60), (9, 40), (20, 48), (17, 40)])
def test_pillows_resizing_is_pillows(way: str, size: tuple[int, int]) -> None:
    import PIL
    from PIL import Image

    pillows = {"nearest": 0, "lanczos": 1, "linear": 2, "cubic": 3, "area": 4}
    value = picture(37, 50)
    wanted = np.asarray(Image.fromarray(value).resize(size[::-1], Image.Resampling(pillows[way])))
    library = "pillow13" if int(PIL.__version__.partition(".")[0]) >= 13 else "pillow"
    step = {"resize": {"height": size[0], "width": size[1], "interpolation": way, "library": library}}
    assert np.array_equal(after([step], value), wanted)


@pytest.mark.parametrize(("before", "size"), SIZES)
def test_opencvs_resizing_gives_its_bytes(before: tuple[int, int], size: tuple[int, int]) -> None:
    """A row at the border keeps its weights, and rounds otherwise for it: seen in a text recogniser's scores."""
    for way in ("nearest", "linear"):
        step = {"resize": {"height": size[0], "width": size[1], "interpolation": way}}
        assert digest(after([step], drawn(*before))) == recorded()["sha256"][key(way, before, size)], way


def test_opencvs_resizing_takes_neighbours_and_does_not_widen() -> None:
    ramp = np.tile(np.arange(0, 160, 10, dtype=np.uint8)[None, :, None], (4, 1, 1))
    linear = after([{"resize": {"height": 4, "width": 4}}], ramp)
    assert linear[0, :, 0].tolist() == [15, 55, 95, 135], "the two pixels beside 1.5, 5.5, 9.5 and 13.5"
    nearest = after([{"resize": {"height": 2, "width": 4, "interpolation": "nearest"}}], ramp)
    assert nearest[0, :, 0].tolist() == [0, 40, 80, 120]
    area = after([{"resize": {"height": 2, "width": 4, "interpolation": "area"}}], ramp)
    assert area[0, :, 0].tolist() == [15, 55, 95, 135]
    assert (
        after([{"resize": {"height": 3, "width": 9}}], np.full((5, 7, 3), 77, np.uint8)).tolist()
        == [[[77] * 3] * 9] * 3
    )


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"rule": "short", "size": 20}, (20, 33)),
        ({"rule": "long", "size": 20}, (12, 20)),
        ({"rule": "fit", "height": 20, "width": 20}, (12, 20)),
        ({"rule": "within", "height": 30, "width": 40}, (24, 40)),
        ({"rule": "line", "height": 16, "width": 40}, (16, 27)),
        ({"rule": "line", "height": 16, "width": 20}, (16, 20)),
        ({"rule": "height", "height": 20}, (20, 34)),
        ({"rule": "height", "height": 32, "multiple_of": 32, "multiple": "up"}, (32, 64)),
        ({"rule": "long", "size": 96, "multiple_of": 128, "multiple": "up", "rounding": "down"}, (128, 128)),
        ({"rule": "at_most", "size": 40}, (24, 40)),
        ({"rule": "at_most", "size": 60}, (30, 50)),
        ({"rule": "at_least", "size": 20, "multiple_of": 32}, (32, 64)),
        ({"height": 9, "width": 8}, (9, 8)),
    ],
    ids=str,
)
def test_the_size_follows_from_the_rule(options: dict[str, Any], size: tuple[int, int]) -> None:
    assert after([{"resize": options}], picture(30, 50)).shape[:2] == size


def test_a_detector_is_told_the_size_and_the_factors() -> None:
    chain = read_chain([{"resize": {"rule": "within", "height": 60, "width": 100, "tracks": True}}])
    (state,) = steps_of(chain, {VALUE: picture(30, 50)})
    assert state["im_shape"].tolist() == [60, 100] and state["scale_factor"].tolist() == [2, 2]
    assert state["im_shape"].dtype == np.float32


def test_pictures_are_decoded_in_the_order_that_is_asked_for() -> None:
    value = picture(9, 11)
    assert np.array_equal(after(["decode"], encoded(value)), value)
    assert np.array_equal(after([{"decode": {"order": "bgr"}}], encoded(value)), value[:, :, ::-1])
    assert after([{"decode": {"order": "gray"}}], encoded(value)).shape == (9, 11, 1)
    with pytest.raises(UsageError, match=r"no picture that can be read: its format is not known$"):
        after(["decode"], np.arange(40, dtype=np.uint8))


def test_a_picture_is_turned_as_its_exif_data_say() -> None:
    import io

    from PIL import Image

    stream, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(picture(8, 12)).save(stream, "PNG", exif=exif)
    content = np.frombuffer(stream.getvalue(), np.uint8)
    assert after(["decode"], content).shape == (12, 8, 3)
    assert after([{"decode": {"exif": False}}], content).shape == (8, 12, 3)


def test_cropping_padding_and_layout() -> None:
    value = picture(7, 8)
    assert np.array_equal(after([{"crop": {"height": 4, "width": 3}}], value), value[1:5, 2:5])
    top = after([{"crop": {"height": 4, "width": 3, "place": "top_left"}}], value)
    assert np.array_equal(top, value[:4, :3])
    padded = after([{"pad": {"multiple_of": 5, "value": [1, 2, 3]}}], value)
    assert padded.shape == (10, 10, 3) and padded[9, 9].tolist() == [1, 2, 3]
    assert np.array_equal(padded[:7, :8], value)
    middle = after(["layout", {"pad": {"height": 10, "width": 10, "axis": "first", "place": "centre"}}], value)
    assert np.array_equal(middle[:, 1:8, 1:9], value.transpose(2, 0, 1)) and middle[:, 0].max() == 0
    with pytest.raises(UsageError, match="cuts 9 x 9 pixels out of 7 x 8"):
        after([{"crop": {"height": 9, "width": 9}}], value)
    with pytest.raises(UsageError, match="pads to 4 x 4"):
        after([{"pad": {"height": 4, "width": 4}}], value)


def test_scaling_is_by_channel_in_either_layout() -> None:
    value = picture(5, 6)
    options = {"scale": "1./255.", "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.25, 0.125]}
    last = after([{"normalize": options}, "layout"], value)
    first = after(["layout", {"normalize": {**options, "axis": "first"}}], value)
    assert last.dtype == np.float32 and np.array_equal(last, first)
    by_hand = (value[2, 3] / 255 - [0.1, 0.2, 0.3]) / [0.5, 0.25, 0.125]
    assert last[:, 2, 3] == pytest.approx(by_hand, abs=1e-5)
    with pytest.raises(UsageError, match="`mean` has 3 numbers"):
        after(["layout", {"normalize": options}], value)


def test_a_cast_cuts_off_and_stops_at_the_ends() -> None:
    value = np.asarray([[-3.7, 2.9, 300.0, np.nan]])
    assert after([{"cast": {"dtype": "uint8"}}], value).tolist() == [[0, 2, 255, 0]]
    assert after([{"cast": {"dtype": "int64"}}], np.asarray([1e30, -1e30])).tolist() == [2**63 - 1024, -(2**63)]
    assert after([{"cast": {"dtype": "uint8"}}], np.asarray([-1, 256])).tolist() == [0, 255]


def test_texts_become_numbers() -> None:
    def tokens(text: str, **options: Any) -> Any:
        return after([{"tokenize": options}], np.frombuffer(text.encode(), np.uint8)).tolist()

    assert tokens("bax", vocabulary=["a", "b"], unknown=9) == [1, 0, 9]
    assert tokens("bax", vocabulary=["a", "b"], first=1) == [2, 1], "unknown ones are left out"
    words = {"vocabulary": ["play", "##ing", "##s", "cat"], "by": "pieces", "unknown": 7}
    assert tokens("Playing cats", lower=True, **words) == [0, 1, 3, 2]
    assert tokens("dogs cat", before=[101], after=[102], length=6, padding=50, **words) == [101, 7, 3, 102, 50, 50]
    assert tokens("cat cat cat cat", before=[1], after=[2], length=4, **words) == [1, 3, 3, 2]


def test_answers_are_made_of_outputs() -> None:
    scores = np.asarray([0.1, 2.0, 0.5], "float32")
    assert after(["softmax"], scores) == pytest.approx(np.exp(scores) / np.exp(scores).sum())
    assert after(["sigmoid"], scores) == pytest.approx(1 / (1 + np.exp(-scores)))
    assert after([{"topk": {"k": 2}}, {"labels": {"names": ["cat", "dog", "owl"]}}], scores).tobytes() == b"dog\nowl"
    assert after([{"threshold": {"above": 0.4}}], scores).tolist() == [False, True, True]
    assert after(["argmax"], scores[None]).tolist() == [1]
    with pytest.raises(UsageError, match="no name for class 1"):
        after([{"labels": {"names": ["cat"]}}], np.asarray([1]))
    boxes = np.asarray([[0, 0.3, 0, 0, 4, 4], [1, 0.9, 2, 2, 4, 6], [-1, 0.95, 0, 0, 0, 0]], "float32")
    kept = after([{"boxes": {"score": 0.5, "form": "xywh"}}], boxes)
    assert kept.tolist() == [[1, pytest.approx(0.9), 2, 2, 6, 8]]


def test_a_line_is_read_from_the_scores_of_its_steps() -> None:
    best = [1, 1, 0, 1, 2, 2, 0, 0]
    scores = np.eye(4, dtype="float32")[best]
    assert after([{"ctc": {"characters": ["a", "b", "ü"]}}], scores).tobytes() == b"aab"
    assert after([{"ctc": {"characters": ["a", "b", "ü"], "repeats": True}}], scores).tobytes() == b"aaabb"
    last = after([{"ctc": {"characters": ["a", "b", "ü"], "blank": 3}}], scores)
    assert last.tobytes().decode() == "babüa"
    with pytest.raises(UsageError, match="4 classes, and there are 2 characters"):
        after([{"ctc": {"characters": ["a", "b"]}}], scores)


def test_an_output_is_taken_by_name() -> None:
    chain = read_chain([{"take": {"output": "boxes"}}])
    (state,) = steps_of(chain, {VALUE: np.zeros(2), "scores": np.zeros(2), "boxes": np.ones(3)})
    assert state[VALUE].tolist() == [1, 1, 1]
    with pytest.raises(UsageError, match="no output 'boxes'"):
        list(steps_of(chain, {VALUE: np.zeros(2), "box": np.zeros(1)}))


# ---- what families do with pictures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "before", "size"),
    [
        ({"rule": "span", "height": 48, "least": 48, "width": 160, "multiple_of": 4}, (30, 41), (48, 64)),  # 65.6 up
        ({"rule": "span", "height": 48, "least": 48, "width": 160, "multiple_of": 4}, (30, 10), (48, 48)),
        ({"rule": "span", "height": 48, "least": 48, "width": 160, "multiple_of": 4}, (10, 90), (48, 160)),
        ({"rule": "blocks", "height": 64, "width": 256}, (30, 60), (64, 128)),
        ({"rule": "blocks", "height": 64, "width": 256}, (30, 91), (64, 256)),
        ({"rule": "long_line", "height": 48, "width": 320}, (10, 71), (48, 340)),  # 340.8 down
        ({"rule": "long_line", "height": 48, "width": 320}, (10, 41), (48, 197)),  # 196.8 up
        ({"rule": "grow", "size": 100, "rounding": "down"}, (70, 41), (87, 51)),
        ({"rule": "grow", "size": 100, "rounding": "down"}, (200, 41), (100, 20)),
        ({"rule": "short", "size": 20, "rounding": "half_up"}, (40, 41), (20, 21)),  # 20.5
        ({"rule": "short", "size": 20}, (40, 41), (20, 20)),
        ({"rule": "short", "size": 192, "rounding": "whole"}, (147, 441), (192, 576)),
        ({"rule": "at_least", "size": 64, "most": 200, "rounding": "down"}, (32, 150), (42, 200)),
        ({"rule": "shrink", "height": 20, "width": 40, "library": "pillow"}, (10, 30), (10, 30)),
        ({"rule": "shrink", "height": 20, "width": 40, "library": "pillow"}, (10, 90), (4, 40)),
    ],
)
def test_sizes_by_rule(step: dict[str, Any], before: tuple[int, int], size: tuple[int, int]) -> None:
    """Worked out by hand."""
    assert after([{"resize": step}], picture(*before)).shape == (*size, 3)


def test_the_factor_is_told_as_it_was() -> None:
    """`RResize` tells sides before they are rounded, `LetterBoxResize` after, and both the factor itself."""
    value = picture(30, 77)
    for rule, sides in (("factor", [64 / 77 * 30, 64]), ("fit", [25, 64])):
        (link,) = read_chain([{"resize": {"rule": rule, "height": 64, "width": 64, "tracks": True}}])
        state = link.apply({VALUE: value})
        assert state["im_shape"].tolist() == pytest.approx(sides) and state[VALUE].shape == (25, 64, 3)
        assert state["scale_factor"].tolist() == pytest.approx([64 / 77] * 2)


def test_a_picture_is_moved_to_the_middle() -> None:
    """By hand: 5 x 7 pixels into 32 x 32, one row above the middle and one column left of it where the side is odd."""
    value = np.full((5, 7, 3), 9, "uint8")
    moved = after([{"warp": {"rule": "around"}}], value)
    assert moved.shape == (32, 32, 3) and moved.sum() == value.sum() and (moved[14:19, 13:20] == 9).all()
    twice = after([{"warp": {"rule": "longest", "height": 14, "width": 14}}], value)
    assert twice.shape == (14, 14, 3) and (twice[4:8, 2:12] == 9).all() and not twice[:1].any()


def test_brightness_by_hand() -> None:
    value = np.asarray([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], "uint8")
    assert after([{"gray": {"order": "rgb"}}], value)[:, :, 0].tolist() == [[76, 150, 29]]
    assert after([{"gray": {"order": "bgr", "channels": 3}}], value).tolist() == [[[29] * 3, [150] * 3, [76] * 3]]
    floats = after([{"gray": {"inverse": True}}], (value / 255).astype("float32"))
    np.testing.assert_allclose(floats[:, :, 0], [[0.701, 0.413, 0.886]], rtol=1e-6)


def test_a_margin_is_cut_off() -> None:
    page = np.full((20, 30, 3), 250, "uint8")
    page[4:9, 6:16] = 10
    assert after(["trim"], page).shape == (5, 10, 3)
    assert after(["trim"], page[:3]).shape == (3, 30, 3), "nothing is written there"
    formula = after(["formula"], page)
    assert formula.shape == (32, 32, 3) and not formula[:5, :10].any() and (formula[5:] == 255).all()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"resize": {"rule": "shrink", "height": 4, "width": 4}}, "rule `shrink` is Pillow's"),
        ({"resize": {"rule": "factor", "height": 4, "width": 4, "interpolation": "area"}}, "rule `factor` is OpenCV's"),
        ({"resize": {"rule": "span", "height": 4, "width": 4}}, "rule `span` takes `height` and `least` and `width`"),
        ({"resize": {"rule": "short", "size": 4, "most": 4}}, "rule `short` takes no `most`"),
        ({"warp": {"rule": "around", "size": 4}}, "rule `around` takes no size"),
        ({"warp": {"rule": "shortest"}}, "rule `shortest` takes `size`"),
        ({"gray": {"inverse": True}}, "three channels of floats, and got uint8"),
        ({"gray": {"inverse": True, "library": "pillow"}}, "`inverse` is of floats"),
        ({"formula": {"least": [9, 9], "most": [8, 8]}}, "`least` is larger than `most`"),
        ({"beside": {"name": "value", "what": "count", "size": 4}}, "which is what is handed on"),
    ],
    ids=str,
)
def test_what_does_not_fit_a_step_is_said(step: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        after([step], picture(6, 7))
    assert caught.value.hint
