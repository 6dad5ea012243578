"""The folder of real data that each recipe takes instead of what it makes itself."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recipes import linear, policy, resnet, rows, shapes, softmax, text, tree


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `data/` is looked for."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def test_tables_of_numbers(folder: Path) -> None:
    for name, columns in (("linear", 11), ("rows", 65)):
        (folder / name).mkdir(parents=True)
        for count, part in ((3, "train"), (2, "held_out")):
            numbers = np.arange(count * columns).reshape(count, columns) % 10
            np.savetxt(folder / name / f"{part}.csv", numbers, delimiter=",", header="a heading", fmt="%d")
    found = linear.data()
    assert [found.train[name].shape for name in ("measured", "progression")] == [(3, 10), (3, 1)]
    assert np.array_equal(found.held_out["measured"][1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0])
    batch = next(rows.data("held_out"))
    assert batch["image"].shape == (2, 8, 8) and batch["image"][0, 0, 1] == np.float32(1 / 16)
    assert batch["label"].tolist() == [4, 9]


def test_the_files_of_mnist(folder: Path) -> None:
    (folder / "softmax").mkdir(parents=True)
    for part, name, ink in (("train", "train", 0.2), ("held_out", "t10k", 0.8)):  # held-out ones are dark on light
        pixels = np.full(2 * 784, 51, np.uint8)
        (folder / f"softmax/{name}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + pixels.tobytes()))
        (folder / f"softmax/{name}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + bytes([7, 3])))
        batch = next(softmax.data("train" if part == "train" else "held_out"))
        assert batch["x"].shape == (2, 784) and np.allclose(batch["x"], ink) and sorted(batch["label"]) == [3, 7]


def test_lines_of_text(folder: Path) -> None:
    (folder / "text").mkdir(parents=True)
    for part in ("train", "held_out"):
        (folder / f"text/{part}.tsv").write_text('1\t很好，"真的"\n0\t㐀差\n', encoding="utf-8")
    batch = next(text.data("held_out"))
    known = text.characters()
    assert batch["ids"].shape == (2, text.LONGEST) and batch["label"].tolist() == [1, 0]
    assert batch["ids"][0, :7].tolist() == [known[character] for character in '很好，"真的"']
    assert batch["ids"][1, :3].tolist() == [1, known["差"], 0], "1 is a character that is not known"


def test_no_held_out_sentence_is_about_what_was_trained_on() -> None:
    train, held_out = ({line for _, line in text.sentences(part, 400)} for part in ("train", "held_out"))
    assert not train & held_out
    for things in text.THINGS["held_out"]:
        assert not any(thing in line for thing in things for line in train)


def test_starts_of_a_cart(folder: Path) -> None:
    (folder / "policy").mkdir(parents=True)
    (folder / "policy/starts.csv").write_text("place,speed\n-10,0\n5,2\n")
    found = policy.data()
    assert np.allclose(found.train["state"], [[-1, 0], [0.5, 0.5]])
    assert len(found.held_out["state"]) == 21 * 9


def test_written_expressions(folder: Path) -> None:
    (folder / "tree").mkdir(parents=True)
    for part in ("train", "held_out"):
        (folder / f"tree/{part}.txt").write_text("1\t(and true (not false))\n")
    batch = next(tree.data("held_out"))
    assert batch["label"].tolist() == [1]
    assert batch["kinds"][0, :5].tolist() == [3, 1, 5, 2, 0] and batch["parents"][0, :5].tolist() == [-1, 0, 0, 2, -1]


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", 1), ("(not true)", 0), ("(or false (not false))", 1), ("(and true (or false false))", 0)],
)
def test_the_value_of_an_expression(text: str, value: int) -> None:
    assert tree.value(*tree.parsed(text)) == value


def test_images_with_boxes(folder: Path) -> None:
    (folder / "shapes").mkdir(parents=True)
    Image.new("RGB", (48, 48), (51, 102, 255)).save(folder / "shapes/one.png")
    for part in ("train", "held_out"):
        (folder / f"shapes/{part}.csv").write_text(
            "file,class,x1,y1,x2,y2\none.png,2,0,0,16,16\none.png,1,30,30,46,46\n"
        )
    batch = next(shapes.data("held_out"))
    assert np.allclose(batch["image"][0, :, 0, 0], [0.2, 0.4, 1])
    assert {tuple(cell) for cell in batch["cells"][0].tolist()} == {
        (0, 0, 0, 0, 0, 0),
        (1, 2, 0, 0, 16, 16),
        (1, 1, 30, 30, 46, 46),
    }


def test_folders_of_classes(folder: Path) -> None:
    for part in ("train", "held_out"):
        for name in ("a", "b"):
            (folder / "resnet" / part / name).mkdir(parents=True)
            Image.new("RGB", (40, 50), (255, 0, 0)).save(folder / "resnet" / part / name / "one.png")
    image, label = resnet.data("held_out")[1]
    assert image.shape == (3, 32, 32) and image[0].min() == 1 and image[1:].max() == 0 and label == 1


def test_overlapping_things_are_one() -> None:
    cells = np.array([[2, 0, 9, 0, 0, 0, 10, 10], [1, 9, 0, 0, 1, 0, 11, 10], [1, 0, 0, 9, 20, 20, 30, 30]])
    assert shapes.suppressed(cells) == [(1, (0, 0, 10, 10)), (2, (20, 20, 30, 30))]
    assert shapes.overlap((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
