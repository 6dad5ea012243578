"""What a spec takes from a program that is a file, and what is said of files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.base.errors import BundleError, ExporterError, UsageError
from exporter.spec.read import read_spec
from exporter.spec.source import FACTORY, keys_of, read_source
from tests.export.sources.networks import saved


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each network, with `inference.json` and `inference.pdiparams`."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("picture", "text"):
        (folder / name).mkdir()
        saved(name, folder / name)
    return folder


def test_the_keys_of_a_picture_follow_from_the_program(files: Path) -> None:
    keys = keys_of(read_source(files / "picture"))
    assert (keys["name"], keys["model"], keys["weights"]) == ("picture", FACTORY, "factory")
    assert keys["inputs"] == {"x": {"dtype": "float32", "shape": ["batch", 3, 16, 16], "values": "normal"}}
    assert keys["dims"] == {"batch": {"min": 1, "typical": 2, "max": 4}}
    assert keys["args"]["parameters"] == str(files / "picture/inference.pdiparams")


def test_links_into_a_cache_have_the_name_of_their_own_folder(files: Path, tmp_path: Path) -> None:
    """As the clients of model hubs lay files out: links with names to files without."""
    for place in ("blobs", "reader"):
        (tmp_path / place).mkdir()
    for blob, file in (("a1", "inference.json"), ("b2", "inference.pdiparams")):
        (tmp_path / "blobs" / blob).write_bytes((files / "picture" / file).read_bytes())
        (tmp_path / "reader" / file).symlink_to(tmp_path / "blobs" / blob)
    source = read_source(tmp_path / "reader")
    assert source.name == "reader" and source.parameters == tmp_path / "reader/inference.pdiparams"


def test_a_path_is_written_one_way_however_it_was_given(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    forms = ("picture", "./picture/inference.json", files / "picture", "text/../picture/inference.json")
    assert {keys_of(read_source(Path(form)))["args"]["program"] for form in forms} == {"picture/inference.json"}
    monkeypatch.chdir(tmp_path)
    assert keys_of(read_source(files / "picture"))["args"]["program"] == str(files / "picture/inference.json")


def test_a_link_that_stands_alone_is_followed(files: Path, tmp_path: Path) -> None:
    (tmp_path / "reader.json").symlink_to(files / "picture/inference.json")
    source = read_source(tmp_path / "reader.json")
    assert source.name == "picture" and source.parameters == files / "picture/inference.pdiparams"


def test_a_dim_that_nobody_knows_is_asked_for_with_the_option(files: Path) -> None:
    source = read_source(files / "text/inference.json")
    with pytest.raises(UsageError, match="how large 'ids_1' may be") as error:
        keys_of(source)
    assert error.value.hint == "say it, as in: --dim ids_1=1..64"
    keys = keys_of(source, {"ids_1": {"min": 1, "typical": 5, "max": 9}})
    assert keys["inputs"]["ids"] == {"dtype": "int64", "shape": ["batch", "ids_1"], "values": "integers(0,2)"}
    assert len(keys["outputs"]) == 2
    with pytest.raises(UsageError, match="no input has a dim 'length'"):
        keys_of(source, {"length": {"min": 1, "typical": 5, "max": 9}})


def test_a_spec_may_name_a_source_and_keeps_what_it_says_itself(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"name: mine\nsource: {files}/text\ndims: {{ids_1: {{min: 2, typical: 3, max: 4}}}}\nformats: [onnx]\n"
    )
    spec = read_spec(path)
    assert (spec.name, spec.model, spec.formats) == ("mine", FACTORY, ("onnx",))
    assert spec.dims["ids_1"].max == 4 and spec.dims["batch"].max == 4
    again = type(spec).model_validate(spec.model_dump(mode="json"))
    assert again.factory == spec.factory and "source" not in spec.model_dump()


def test_the_inputs_of_a_folded_spec_name_its_dims(files: Path, tmp_path: Path) -> None:
    """Those of the program may be others, and of another number."""
    path = tmp_path / "spec.yaml"
    inputs = "image: {dtype: uint8, shape: [batch, height, 12, 3], values: samples}"
    steps = "[{resize: {height: 16, width: 16}}, layout]"
    path.write_text(
        f"name: folded\nsource: {files}/picture\ninputs: {{{inputs}}}\npipeline:\n  samples: [a.png]\n"
        f"  fold: true\n  preprocess: {{training: {steps}, deployment: {steps}}}\n"
    )
    spec = read_spec(path)
    assert list(spec.dims) == ["batch", "height"] and spec.args["inputs"] == ["x"]
    path.write_text(path.read_text() + "dims: {height: {min: 12, typical: 12, max: 24}}\n")
    assert read_spec(path).dims["height"].max == 24
    path.write_text(path.read_text().replace("12, 3]", "other, 3]"))
    with pytest.raises(UsageError, match="dim 'other' is used in inputs but not described"):
        read_spec(path)


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("recipe: a:b", 3, "recipe and source exclude each other"),
        ("checkpoint: a.safetensors", 3, "checkpoint and source exclude each other"),
        ("model: a:b", 3, "model and source exclude each other"),
        ("dims: 3", 3, "dims: 3 is a number, and a mapping"),
        ("dims: {batch: 3}", 3, "dims.batch: 3 is a number, and a mapping"),
        ("inputs: 3", 3, "inputs: 3 is a number, and a mapping"),
        ("inputs: {x: 3}", 3, "inputs.x: 3 is a number, and a mapping"),
        ("dims: {length: {min: 1, typical: 1, max: 1}}", 1, "dim 'length' is described but no input uses it"),
    ],
)
def test_what_does_not_fit_a_source_is_told_with_its_line(
    more: str, line: int, said: str, files: Path, tmp_path: Path
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"name: mine\nsource: {files}/picture\n{more}\n")
    with pytest.raises(UsageError, match=said) as error:
        read_spec(path)
    assert error.value.where.startswith(f"{path}:{line}:") and error.value.hint


def test_a_spec_is_told_the_key_for_a_dim_that_nobody_knows(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"name: mine\nsource: {files}/text\n")
    with pytest.raises(UsageError, match="how large 'ids_1' may be") as error:
        read_spec(path)
    assert error.value.hint == "say it, as in: dims: {ids_1: {min: 1, typical: 16, max: 64}}"


def _two(folder: Path) -> Path:
    for name in ("a", "b"):
        for ending in (".json", ".pdiparams"):
            (folder / f"{name}{ending}").write_bytes((folder / f"inference{ending}").read_bytes())
    (folder / "inference.json").unlink()
    return folder


def _emptied(folder: Path) -> Path:
    for path in folder.iterdir():
        path.unlink()
    return folder


def _holding(name: str, content: bytes) -> Callable[[Path], Path]:
    """Give the file `name` this content; what a user names is the program."""

    def hold(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / ("inference.json" if name.endswith(".pdiparams") else name)

    return hold


def _cut(name: str, length: int) -> Callable[[Path], Path]:
    def cut(folder: Path) -> Path:
        (folder / name).write_bytes((folder / name).read_bytes()[:length])
        return folder / "inference.json"

    return cut


def _only(name: str) -> Callable[[Path], Path]:
    """Leave the file `name` alone, of any content; what a user names is the folder."""

    def alone(folder: Path) -> Path:
        _emptied(folder)
        (folder / name).write_bytes(b"bytes")
        return folder

    return alone


def _link_to_itself(folder: Path) -> Path:
    (folder / "inference.json").unlink()
    (folder / "inference.json").symlink_to("inference.json")
    return folder / "inference.json"


def _in_utf16(folder: Path) -> Path:
    program = folder / "inference.json"
    program.write_text(program.read_text(), encoding="utf-16")
    return program


def _one_deeper(folder: Path) -> Path:
    (folder / "reader").mkdir()
    for file in ("inference.json", "inference.pdiparams"):
        (folder / file).rename(folder / "reader" / file)
    return folder


def _of_training(folder: Path) -> Path:
    operator = json.dumps({"#": "1.sgd_", "A": [], "I": [], "O": [], "OA": []})
    program = (folder / "inference.json").read_text()
    (folder / "inference.json").write_text(program.replace('"ops":[', f'"ops":[{operator},', 1))
    return folder / "inference.json"


def _without(operator: str) -> Callable[[Path], Path]:
    """Leave every operator of this name out, as `1.fetch`."""

    def left_out(folder: Path) -> Path:
        program = json.loads((folder / "inference.json").read_text())
        block = program["program"]["regions"][0]["blocks"][0]
        block["ops"] = [entry for entry in block["ops"] if entry["#"] != operator]
        (folder / "inference.json").write_text(json.dumps(program))
        return folder / "inference.json"

    return left_out


def _without_parameters(folder: Path) -> Path:
    (folder / "inference.pdiparams").unlink()
    return folder / "inference.json"


def _of_another(folder: Path) -> Path:
    saved("text", folder / "other")
    (folder / "inference.pdiparams").write_bytes((folder / "other/inference.pdiparams").read_bytes())
    return folder / "inference.json"


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"
#: By kind: what is done to a folder with a whole model, the exit code, and what the message says.
WRONG: dict[str, tuple[Callable[[Path], Path], int, str]] = {
    "no parameters": (_without_parameters, 2, "parameters are not there"),
    "truncated parameters": (_cut("inference.pdiparams", 900), 5, "bytes wanted"),
    "parameters of another model": (_of_another, 5, "but the program"),
    "truncated program": (_cut("inference.json", 1000), 5, "not JSON"),
    "json of another kind": (_holding("inference.json", b'{"model": "a"}'), 2, "not a PIR program"),
    "no json": (_holding("inference.json", b"\x89PNG"), 5, "not JSON"),
    "json in UTF-16": (_in_utf16, 5, "not JSON"),
    "an empty program": (_holding("inference.json", b""), 5, "not JSON"),
    "empty parameters": (_holding("inference.pdiparams", b""), 5, "0 tensors, but the program declares"),
    "an encrypted program": (_holding("model.pdmodel", bytes(range(256)) * 20), 5, "at byte"),
    "a program of training": (_of_training, 5, "operator 'sgd_'"),
    "a program without inputs": (_without("1.data"), 2, "of no tensor that it is an input"),
    "a program without outputs": (_without("1.fetch"), 2, "of no tensor that it is an output"),
    "a pointer of Git LFS": (_holding("inference.json", LFS), 5, "a pointer of Git LFS"),
    "parameters not fetched": (_holding("inference.pdiparams", LFS), 5, "a pointer of Git LFS"),
    "two models": (_two, 2, "2 programs are in this folder: a.json, b.json"),
    "an empty folder": (_emptied, 2, "no Paddle program"),
    "a folder of a link that leads nowhere": (
        lambda folder: _link_to_itself(folder).parent,
        2,
        "inference.json is a link to a file that is not there",
    ),
    "a link that leads nowhere": (_link_to_itself, 2, "a link to a file that is not there"),
    "a folder of weights": (_only("model.safetensors"), 2, "but model.safetensors, a file of weights"),
    "a folder of Paddle Lite": (_only("model.nb"), 2, "but model.nb, a model of Paddle Lite"),
    "a folder of ONNX": (_only("model.onnx"), 2, "but model.onnx, ONNX already"),
    "a folder of an archive": (_only("model.tar"), 2, "but model.tar, an archive"),
    "a folder of Paddle 1": (_only("__model__"), 2, "but __model__, a program under its name of before Paddle 2"),
    "a folder of folders": (_one_deeper, 2, "no Paddle program"),
    "nothing": (lambda folder: folder / "there/inference.json", 2, "no such file"),
    ".pdparams": (_holding("w.pdparams", b"bytes"), 2, "weights without a program"),
    ".pdopt": (_holding("w.pdopt", b"bytes"), 2, "the state of an optimizer"),
    ".pdiparams": (lambda folder: folder / "inference.pdiparams", 2, "parameters without a program"),
    ".tar": (_holding("w.tar", b"bytes"), 2, "an archive"),
    ".nb": (_holding("w.nb", b"bytes"), 2, "Paddle Lite"),
    ".onnx": (_holding("w.onnx", b"bytes"), 2, "ONNX already"),
    ".safetensors": (_holding("w.safetensors", b"bytes"), 2, "weights without a program"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_told_with_its_cure(kind: str, files: Path, tmp_path: Path) -> None:
    for name in ("inference.json", "inference.pdiparams"):
        (tmp_path / name).write_bytes((files / "picture" / name).read_bytes())
    spoil, code, message = WRONG[kind]
    with pytest.raises((UsageError, BundleError), match=message) as error:
        read_source(spoil(tmp_path))
    assert isinstance(error.value, ExporterError) and error.value.exit_code == code
    assert error.value.hint and error.value.where
    assert "\n" not in str(error.value) and "did you mean" not in error.value.hint


@pytest.mark.parametrize(
    ("network", "parameters", "message"),
    [
        ("picture", "w.safetensors", "its parameters are a .pdiparams file, and no .safetensors"),
        ("picture", "nowhere.pdiparams", "parameters are not there: nowhere.pdiparams"),
        ("deciding", "inference.pdiparams", "the program has no parameters"),
    ],
)
def test_parameters_that_are_named_have_to_be_those_of_the_program(
    network: str, parameters: str, message: str, files: Path, tmp_path: Path
) -> None:
    (tmp_path / "w.safetensors").write_bytes(b"bytes")
    if network == "deciding":
        saved(network, tmp_path)
    program = (tmp_path if network == "deciding" else files / network) / "inference.json"
    with pytest.raises(UsageError, match=message):
        read_source(program, tmp_path / parameters)


def test_a_program_of_training_is_to_be_saved_for_inference(files: Path, tmp_path: Path) -> None:
    (tmp_path / "inference.json").write_bytes((files / "picture/inference.json").read_bytes())
    with pytest.raises(BundleError) as error:
        read_source(_of_training(tmp_path))
    assert error.value.hint.startswith("save the model for inference, by paddle.jit.save")


def test_a_program_where_a_spec_is_due_is_told_how_to_become_one(files: Path) -> None:
    for path in (files / "picture", files / "picture/inference.json"):
        with pytest.raises(UsageError, match="this is a Paddle program, and no spec") as error:
            read_spec(path)
        assert error.value.hint.startswith(f"exporter init NAME --model {path} writes a spec of it")
