"""What the families' files say is behind a model: classes and their names, dictionaries, tables, text boxes."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.steps.base import CLASSES, VALUE, State
from exporter.steps.chain import read_chain, steps_of
from exporter.steps.compare import Measure
from exporter.steps.settle import of_configuration, settled

#: A step as a spec has it.
Entry: TypeAlias = "str | dict[str, dict[str, object]]"
LINE = """
Global: {character_dict_path: %s, use_space_char: %s}
PostProcess: {name: CTCLabelDecode}
Eval: {dataset: {transforms: [{DecodeImage: {img_mode: BGR}}, {RecResizeImg: {image_shape: [3, 16, 64]}}]}}
"""
EXPORTED = """
PreProcess: {transform_ops: [{DecodeImage: {img_mode: BGR}}, {RecResizeImg: {image_shape: [3, 16, 64]}}]}
PostProcess: {name: CTCLabelDecode, character_dict: [a, b]}
"""
PAGE = """
Global: {character_dict_path: tokens.txt}
PostProcess: %s
Eval: {dataset: {transforms: [{DecodeImage: {img_mode: BGR}}, {DetResizeForTest: {resize_long: 960}}]}}
"""
CLASSIFIER = """
Infer: {transforms: [{DecodeImage: {}}, {ResizeImage: {size: 8}}], PostProcess: %s}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def last(entries: list[Entry], **outputs: object) -> State:
    """The state behind the steps; the first output is handed on."""
    held = {name: np.asarray(value) for name, value in outputs.items()}
    *_, state = steps_of(read_chain(entries), {VALUE: next(iter(held.values())), **held})
    return state


def text(state: State) -> str:
    return state[VALUE].tobytes().decode()


def scores(*classes: int, of: int) -> object:
    """Scores of as many steps as classes are given, each sure of its class."""
    return np.eye(of, dtype="float32")[list(classes)]


# ---- text ------------------------------------------------------------------------------------------------------------


def test_every_line_of_a_dictionary_is_a_class(place: Path) -> None:
    """An empty one too, and what looks like blanks; lines end at a line feed alone (`BaseRecLabelDecode`)."""
    (place / "words.txt").write_bytes("a\r\n\n \n\u3000\nx\u2028y\n\n".encode())
    (place / "line.yml").write_text(LINE % ("words.txt", "false"))
    (step,) = of_configuration("paddleocr:line.yml", "after")
    assert step == {"ctc": {"characters": ["a", "", " ", "\u3000", "x\u2028y", ""]}}
    (place / "words.txt").write_bytes(b"\xef\xbb\xbfa\r\na\na\rb\n")  # a mark, a repetition, a bare carriage return
    (step,) = of_configuration("paddleocr:line.yml", "after")
    assert step == {"ctc": {"characters": ["\ufeffa", "a", "a\rb"]}}
    (place / "open.txt").write_bytes(b"\xef\xbb\xbfa\nb")
    assert settled([{"labels": {"names": "open.txt"}}], "after", "") == [{"labels": {"names": ["a", "b"]}}]


def test_a_dictionary_that_is_no_utf8_is_named(place: Path) -> None:
    (place / "words.txt").write_bytes("a\n字".encode("gbk"))
    (place / "line.yml").write_text(LINE % ("words.txt", "false"))
    with pytest.raises(UsageError, match="no UTF-8 at byte 2"):
        of_configuration("paddleocr:line.yml", "after")


def test_a_space_is_asked_for_with_a_dictionary_alone(place: Path) -> None:
    (place / "words.txt").write_text("a\nb\n")
    (place / "line.yml").write_text(LINE % ("words.txt", "true"))
    assert of_configuration("paddleocr:line.yml", "after") == [{"ctc": {"characters": ["a", "b", " "]}}]
    (place / "line.yml").write_text(LINE % ("null", "true"))
    (step,) = of_configuration("paddleocr:line.yml", "after")
    assert len(step["ctc"]["characters"]) == 36 and " " not in step["ctc"]["characters"]


@pytest.mark.parametrize("family", ["paddleocr", "paddlex"])
def test_runtimes_put_a_space_behind_the_characters_of_an_exported_file(family: str, place: Path) -> None:
    (place / "inference.yml").write_text(EXPORTED)
    entries = of_configuration(f"{family}:inference.yml", "after")
    assert entries == [{"ctc": {"characters": ["a", "b"], "space": True}}]
    assert text(last(entries, x=scores(1, 3, 2, of=4))) == "a b", "class 3 is the space"
    assert text(last(entries, x=scores(1, 0, 2, of=3))) == "ab", "a model that was trained without it"
    for other in (2, 5):
        with pytest.raises(UsageError, match=f"the model tells {other} classes, and there are 2 characters"):
            last(entries, x=scores(1, of=other))


@pytest.mark.parametrize(
    ("read", "turned"),
    [
        ("\u0627\u0628c", "c\u0628\u0627"),
        ("ab 12", "ab 12"),
        ("\u062712.5\u0628", "\u062812.5\u0627"),
        ("(ab)\u0627", "\u0627)ab("),
        ("\u0627\n\u0628", "\u0628\n\u0627"),
    ],
)
def test_arabic_is_turned_round(read: str, turned: str, place: Path) -> None:
    """Characters from the last to the first; a run of letters, digits and ` :*./%+-` as it is (`pred_reverse`)."""
    letters = sorted(set(read))
    step: Entry = {"ctc": {"characters": letters, "reverse": True, "repeats": True}}
    assert text(last([step], x=scores(*(letters.index(one) + 1 for one in read), of=len(letters) + 1))) == turned


def test_the_path_of_the_dictionary_says_that_it_is_arabic(place: Path) -> None:
    (place / "arabic_dict.txt").write_text("a\n")
    (place / "line.yml").write_text(LINE % ("arabic_dict.txt", "false"))
    assert of_configuration("paddleocr:line.yml", "after") == [{"ctc": {"characters": ["a"], "reverse": True}}]


# ---- classes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [{"topk": {"k": 1}}, "argmax", {"sure": {"threshold": 0.1}}], ids=str)
@pytest.mark.parametrize("count", [2, 4])
def test_there_are_as_many_names_as_classes(before: Entry, count: int) -> None:
    names = ["a", "b", "c", "d"]
    labels: Entry = {"labels": {"names": names[:count]}}
    behind: list[Entry] = [before, {"reshape": {"shape": [-1]}}, labels]
    with pytest.raises(UsageError, match=f"the model tells 3 classes, and `names` holds {count}"):
        last(behind, x=[0.0, 0.5, 0.2])
    assert text(last([before, {"labels": {"names": names[:3]}}], x=[0.0, 0.5, 0.2])) == "b"


def test_another_output_is_no_place_of_a_class() -> None:
    state = last(["argmax", {"take": {"output": "y"}}], x=[0.0, 1.0, 0.0], y=[1])
    assert CLASSES not in state
    assert text(last(["argmax", {"take": {"output": "y"}}, {"labels": {"names": ["a", "b"]}}], x=[0.0], y=[1])) == "b"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("1 dog\n0 big cat\n", ["big cat", "dog"]),
        ("0 cat\n2 dog\n", "have none for class 1"),
        ("0 cat\n\n1 dog\n", "line 2 .* has no number"),
        ("cat\ndog\n", "line 1 .* has no number"),
    ],
)
def test_names_of_classes_are_numbered(lines: str, said: list[str] | str, place: Path) -> None:
    """PaddleClas reads `NUMBER NAME`, in any order (`parse_class_id_map`)."""
    (place / "names.txt").write_text(lines)
    (place / "clas.yaml").write_text(CLASSIFIER % "{name: Topk, topk: 1, class_id_map_file: names.txt}")
    if isinstance(said, str):
        with pytest.raises(UsageError, match=said):
            of_configuration("paddleclas:clas.yaml", "after")
    else:
        assert of_configuration("paddleclas:clas.yaml", "after")[1] == {"labels": {"names": said}}


@pytest.mark.parametrize(
    ("value", "options", "place_", "score"),
    [
        ([0.25, 0.75], {"threshold": 0.75}, 1, 0.75),  # of two: not below the threshold
        ([0.25, 0.75], {"threshold": 0.8}, 0, 0.25),  # 1 - 0.75
        ([0.5, 0.25], {"threshold": 0.5}, 0, 0.75),  # 1 - 0.25, not the 0.5 of class 0
        ([0.25, 0.5, 0.25], {"threshold": 0.4, "otherwise": 2}, 1, 0.5),
        ([0.25, 0.5, 0.25], {"threshold": 0.5, "otherwise": 2}, 2, 0.25),  # of more: above the threshold
        ([0.25, 0.5, 0.25], {"threshold": 0.5}, 0, 0.25),
    ],
)
def test_a_class_is_told_where_the_model_is_sure(
    value: list[float], options: dict[str, object], place_: int, score: float
) -> None:
    """`ThreshOutput` of deploy/python/postprocess.py, worked out by hand."""
    state = last([{"sure": options}], x=np.asarray(value, "float32"))
    assert state[VALUE].tolist() == [place_] and state["scores"].tolist() == [score]
    assert state[VALUE].dtype == np.int64 and state["scores"].dtype == np.float32


def test_thresholds_of_classifiers_are_read(place: Path) -> None:
    (place / "clas.yaml").write_text(CLASSIFIER % "{name: ThreshOutput, threshold: 0.9, label_0: none, label_1: some}")
    assert of_configuration("paddleclas:clas.yaml", "after") == [
        {"sure": {"threshold": 0.9}},
        {"labels": {"names": ["none", "some"]}},
    ]
    said = "{ThreshOutput: {threshold: 0.2, default_label_index: 1, label_list: [a, b, c]}}"
    (place / "inference.yml").write_text(f"PreProcess: {{transform_ops: [ToCHWImage]}}\nPostProcess: {said}")
    assert of_configuration("paddleclas:inference.yml", "after") == [
        {"sure": {"threshold": 0.2, "otherwise": 1}},
        {"labels": {"names": ["a", "b", "c"]}},
    ]
    (place / "clas.yaml").write_text(CLASSIFIER % "{name: MultiLabelThreshOutput, threshold: 0.5}")
    with pytest.raises(UsageError, match="MultiLabelThreshOutput: no step is known"):
        of_configuration("paddleclas:clas.yaml", "after")


def test_the_direction_of_a_line_is_a_class(place: Path) -> None:
    (place / "cls.yml").write_text(PAGE % "{name: ClsPostProcess, label_list: ['0', '180']}")
    entries = of_configuration("paddleocr:cls.yml", "after")
    assert text(last(entries, x=[0.25, 0.75])) == "180"
    (place / "cls.yml").write_text(PAGE % "{name: ClsPostProcess}")
    assert of_configuration("paddleocr:cls.yml", "after") == [{"topk": {"k": 1}}]


def test_a_detector_tells_no_class_beyond_its_labels(place: Path) -> None:
    (place / "infer_cfg.yml").write_text("Preprocess: [{type: Permute}]\nlabel_list: [cat, dog]\n")
    (place / "det.yml").write_text("num_classes: 3\nEvalReader: {sample_transforms: [{Decode: {}}]}\n")
    deployed = of_configuration("paddledet:infer_cfg.yml", "after")
    trained = of_configuration("paddledet:det.yml", "after")
    assert [deployed[0]["boxes"]["classes"], trained[0]["boxes"]["classes"]] == [2, 3]
    rows = np.asarray([[1, 0.9, 0, 0, 4, 4], [2, 0.8, 1, 1, 5, 5]], "float32")
    told = [last(entries, bbox=rows[:1]) for entries in (trained, deployed)]
    assert Measure((VALUE, CLASSES)).unlike(*told) == "2 classes, not 3", "though no sample shows the third"
    assert len(last(trained, bbox=rows)[VALUE]) == 2
    with pytest.raises(UsageError, match="the model tells class 2, and there are 2 classes"):
        last(deployed, bbox=rows)


def test_classes_that_one_chain_alone_counts_are_no_difference() -> None:
    value = {VALUE: np.asarray([1])}
    assert Measure((VALUE, CLASSES)).unlike({**value, CLASSES: np.asarray(3)}, value) == ""


def test_key_points_are_no_boxes(place: Path) -> None:
    (place / "points.yml").write_text(
        "architecture: TopDownHRNet\nTestReader: {sample_transforms: [{Decode: {}}, "
        "{TopDownEvalAffine: {trainsize: [48, 64]}}, {Permute: {}}]}\n"
    )
    assert of_configuration("paddledet:points.yml", "before")[1] == {
        "warp": {"rule": "width", "height": 64, "width": 48}
    }
    with pytest.raises(UsageError, match="key points: no step is known"):
        of_configuration("paddledet:points.yml", "after")


@pytest.mark.parametrize("count", [2, 4])
def test_the_classes_of_a_picture_have_as_many_names(count: int) -> None:
    scores_ = np.asarray([[[1.0, 0.0]], [[0.0, 2.0]], [[0.5, 0.5]]], "float32")
    names: list[Entry] = [{"argmax": {"axis": 0}}, {"labels": {"names": ["road", "sky", "tree", "car"][:count]}}]
    with pytest.raises(UsageError, match=f"the model tells 3 classes, and `names` holds {count}"):
        last(names, x=scores_)


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_read_up_to_its_end(place: Path) -> None:
    """`TableLabelDecode` by hand: sos and eos are classes 0 and 5; an end in the first step is passed over."""
    (place / "tokens.txt").write_text("<tr>\n<td>\n</tr>\n<td\n")
    (place / "table.yml").write_text(PAGE % "{name: TableLabelDecode, merge_no_span_structure: true}")
    entries = of_configuration("paddleocr:table.yml", "after")
    assert entries == [{"table": {"tokens": ["<tr>", "</tr>", "<td", "<td></td>"]}}]
    structure = scores(5, 1, 4, 0, 3, 2, 5, 1, of=6)
    boxes = np.arange(32, dtype="float32").reshape(8, 4)
    state = last(entries, boxes=boxes, structure=structure)
    assert text(state) == "<tr>\n<td></td>\n<td\n</tr>" and state["scores"].tolist() == [1, 1, 1, 1]
    cells = last([{"table": {**entries[0]["table"], "give": "cells"}}], boxes=boxes, structure=structure)
    assert cells[VALUE].tolist() == [[8, 9, 10, 11], [16, 17, 18, 19]], "of steps 3 and 5"
    (place / "table.yml").write_text(PAGE % "{name: TableLabelDecode}")
    assert of_configuration("paddleocr:table.yml", "after")[0]["table"]["tokens"] == ["<tr>", "<td>", "</tr>", "<td"]


def test_the_outputs_of_a_table_are_told_by_shape_or_by_name() -> None:
    tokens = ["<td></td>", "x"]
    both = {"a": scores(1, 3, of=4), "b": np.zeros((2, 4), "float32")}
    with pytest.raises(UsageError, match="2 outputs have 4 numbers a step"):
        last([{"table": {"tokens": tokens}}], **both)
    assert text(last([{"table": {"tokens": tokens, "structure": "a"}}], **both)) == "<td></td>"
    with pytest.raises(UsageError, match="no output 'c'"):
        last([{"table": {"tokens": tokens, "structure": "c"}}], **both)


# ---- one side alone --------------------------------------------------------------------------------------------------


def test_only_the_side_that_is_named_is_read(place: Path) -> None:
    (place / "page.yml").write_text(PAGE % "{name: EASTPostProcess}")
    assert [next(iter(entry)) for entry in of_configuration("paddleocr:page.yml", "before")] == ["decode", "resize"]
    with pytest.raises(UsageError, match="EASTPostProcess: no step is known"):
        of_configuration("paddleocr:page.yml", "after")
    (place / "page.yml").write_text((PAGE % "{name: CTCLabelDecode}").replace("resize_long: 960", "gamma: 2"))
    (place / "tokens.txt").write_text("a\n")
    assert of_configuration("paddleocr:page.yml", "after") == [{"ctc": {"characters": ["a"]}}]
    with pytest.raises(UsageError, match="its option `gamma`"):
        of_configuration("paddleocr:page.yml", "before")


@pytest.mark.parametrize(
    ("appended", "entries"),
    [
        ("", []),
        ("output_op: argmax", []),
        ("output_op: softmax", [{"argmax": {"axis": 0}}]),
        ("output_op: none", [{"argmax": {"axis": 0}}]),
    ],
)
def test_the_predictor_takes_the_largest_where_the_export_did_not(
    appended: str, entries: list[Entry], place: Path
) -> None:
    (place / "deploy.yaml").write_text(f"Deploy: {{transforms: [{{type: Normalize}}], {appended}}}")
    assert of_configuration("paddleseg:deploy.yaml", "after") == entries
    assert of_configuration("paddlex:deploy.yaml", "after") == entries


def test_the_classes_of_a_segmentation_are_those_with_the_largest_score(place: Path) -> None:
    (place / "seg.yml").write_text("val_dataset: {transforms: [{type: Normalize}]}")
    entries = of_configuration("paddleseg:seg.yml", "after")
    assert last(entries, x=np.asarray([[[1.0, 0.0]], [[0.0, 2.0]]], "float32"))[VALUE].tolist() == [[0, 1]]
    (place / "deploy.yaml").write_text("Deploy: {transforms: [{type: Normalize}], output_op: sigmoid}")
    with pytest.raises(UsageError, match="'sigmoid', and not argmax"):
        of_configuration("paddleseg:deploy.yaml", "after")


# ---- text boxes ------------------------------------------------------------------------------------------------------


def test_a_text_detectors_boxes_are_read(place: Path) -> None:
    said = "{name: DBPostProcess, thresh: 0.2, box_thresh: 0.6, max_candidates: 100, unclip_ratio: 1.5"
    (place / "page.yml").write_text(PAGE % f"{said}, use_dilation: true, score_mode: slow}}")
    step = {"threshold": 0.2, "score": 0.6, "most": 100, "unclip": 1.5, "dilate": True, "within": "contour"}
    assert of_configuration("paddleocr:page.yml", "after") == [{"text_boxes": step}]
    (place / "page.yml").write_text(PAGE % "{name: DBPostProcess}")
    usual = {"threshold": 0.3, "score": 0.7, "most": 1000, "unclip": 2.0}
    assert of_configuration("paddleocr:page.yml", "after") == [{"text_boxes": usual}]
    (place / "page.yml").write_text(PAGE % "{name: DBPostProcess, box_type: poly, score_mode: slow}")
    assert of_configuration("paddleocr:page.yml", "after") == [{"text_boxes": {**usual, "form": "poly"}}]
    (place / "page.yml").write_text(PAGE % "{name: DBPostProcess, box_type: round}")
    with pytest.raises(UsageError, match="`box_type` is 'round', and not quad or poly"):
        of_configuration("paddleocr:page.yml", "after")
