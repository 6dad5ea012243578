from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.base.references import split_factory
from exporter.spec import yaml12
from exporter.spec.model import Spec
from exporter.spec.read import apply_override, read_spec, validate
from tests.command import ROOT

PLAIN: dict[str, Any] = {
    "name": "net",
    "model": "models.sound:mlp",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
    "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "net.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def wrong(path: Path, *overrides: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read_spec(path, overrides)
    assert caught.value.where and caught.value.hint, "it must say where, and what to do"
    return caught.value


def altered(**keys: Any) -> dict[str, Any]:
    return {**PLAIN, **keys}


def refusal(content: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as caught:
        validate(content, "command line")
    return f"{caught.value.what} ({caught.value.hint})"


@pytest.mark.parametrize("path", sorted((ROOT / "specs").glob("*.yaml")), ids=lambda path: path.name)
def test_every_spec_that_we_ship_is_sound(path: Path) -> None:
    spec = read_spec(path)
    assert Spec.model_validate(spec.model_dump(mode="json")) == spec, "a manifest must give the same spec back"


def test_a_spec_that_is_not_there_names_the_likely_one(tmp_path: Path) -> None:
    written(tmp_path, yaml.safe_dump(PLAIN))
    assert "did you mean" in wrong(tmp_path / "nets.yaml").hint
    assert wrong(tmp_path / "other/none.yaml").what == "no such spec"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("name: net\nmodel: [a\n", ":3:1"),
        ("name: net\n\tmodel: a\n", ":2:1"),
        ("name: 'net\n", ":2:1"),
        ("name: net\nmodel: *nobody\n", ":2:8"),
        ("name: !!python/object/apply:os.system ['true']\n", ":1:7"),
        ("name: net\nseed: !!int x\n", ":2:7"),
    ],
)
def test_yaml_that_is_wrong_is_shown_by_line_and_column(tmp_path: Path, text: str, where: str) -> None:
    error = wrong(written(tmp_path, text))
    assert error.where == f"{tmp_path}/net.yaml{where}" and "YAML" in error.what


def test_text_that_is_no_utf8_is_said(tmp_path: Path) -> None:
    assert "UTF-8 at byte 6" in wrong(written(tmp_path, b"name: \xff\n")).what


@pytest.mark.parametrize(
    "text", ["017", "1:30", "yes", "off", "0b11", "1_000", "2027-01-31", "=", "<<", "08", "+.inf.1"]
)
def test_what_only_older_readers_take_for_something_else_is_text(tmp_path: Path, text: str) -> None:
    assert yaml12.load(f"a: {text}\n", "here")[0] == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("17", 17), ("-0", 0), ("0o17", 15), ("0x1F", 31), ("1e3", 1000.0), (".5", 0.5), ("-.inf", float("-inf"))),
        *(("true", True), ("False", False), ("~", None), ("", None), ("'17'", "17"), ("!!str 17", "17")),
        ("!!float 2", 2.0),
    ],
)
def test_what_the_core_schema_of_yaml_has(text: str, value: object) -> None:
    read, _ = yaml12.load(f"a: {text}\n", "here")
    assert read == {"a": value} and type(read["a"]) is type(value)


@pytest.mark.parametrize(
    ("key", "text"),
    [("seed", "'3'"), ("seed", "017"), ("seed", "3.0"), ("seed", "true"), ("budget", "'4'"), ("budget", "1:30")],
)
def test_text_is_taken_for_no_number(tmp_path: Path, key: str, text: str) -> None:
    plain = {name: value for name, value in PLAIN.items() if name != key}
    assert f"{key}: " in wrong(written(tmp_path, yaml.safe_dump(plain) + f"{key}: {text}\n")).what


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"opset": 10}, "opset 10 is only written by `writer: paddle2onnx`"),
        ({"opset": 22, "writer": "paddle2onnx"}, "opset 22 is only written by `writer: program`"),
        ({"opset": 12, "precisions": ["fp32", "int8"]}, "precisions.int8 of onnx needs a step for each channel"),
        ({"writer": "paddle2onnx", "precisions": ["fp32", "int8"]}, "precisions.int8 of onnx is made from"),
    ],
)
def test_what_a_writer_of_onnx_cannot_do_is_said_before_any_work(
    tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    plain = {**PLAIN, "formats": ["pir", "onnx"]}
    assert said in wrong(written(tmp_path, yaml.safe_dump({**plain, **keys}))).what
    other = {"writer": "paddle2onnx", "opset": 10} if "opset" in keys else {"precisions": ["fp32", "int8"]}
    assert read_spec(written(tmp_path, yaml.safe_dump({**plain, **other}))).opset == other.get("opset")
    without = {**plain, **keys, "formats": ["pir"], "precisions": ["fp32"]}
    assert read_spec(written(tmp_path, yaml.safe_dump(without))).formats == ("pir",)


def test_text_is_taken_for_no_flag(tmp_path: Path) -> None:
    text = yaml.safe_dump(PLAIN) + "precisions: {int8: {noise: yes}}\n"
    assert "precisions.int8.noise: " in wrong(written(tmp_path, text)).what


@pytest.mark.usefixtures("bounded")
def test_a_file_of_the_kernel_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").symlink_to("/proc/kmsg")
    assert wrong(tmp_path / "net.yaml")


@pytest.mark.usefixtures("bounded")
def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    text = "".join(f"k{number}: 1\n" for number in range(500_000))
    assert "bytes, and at most" in wrong(written(tmp_path, text)).what


@pytest.mark.parametrize("text", ["", "- a\n", "net\n", "3\n", "null\n"])
def test_what_is_no_mapping_is_said(tmp_path: Path, text: str) -> None:
    assert wrong(written(tmp_path, text)).what == "a spec is a mapping of keys to values"


def test_two_specs_in_one_file_are_refused(tmp_path: Path) -> None:
    assert "another document" in wrong(written(tmp_path, "--- {}\n--- {}\n")).what


@pytest.mark.parametrize(
    ("line", "key", "likely"),
    [
        ("modle: a:b", "modle", "did you mean 'model'?"),
        ("inputs: {x: {dtyp: float32}}", "inputs.x.dtyp", "did you mean 'dtype'?"),
        ("dims: {batch: {minimum: 1}}", "dims.batch.minimum", "did you mean 'min'?"),
        ("waivers: [{cliam: x}]", "waivers.0.cliam", "did you mean 'claim'?"),
        ("zzz: 1", "zzz", "one of: name, "),
    ],
)
def test_an_unknown_key_is_shown_with_its_line_and_the_likely_one(
    tmp_path: Path, line: str, key: str, likely: str
) -> None:
    text = "\n".join(one for one in yaml.safe_dump(PLAIN).splitlines())
    kept = {name: value for name, value in PLAIN.items() if name != line.partition(":")[0]}
    text = yaml.safe_dump(kept) + line + "\n"
    error = wrong(written(tmp_path, text))
    assert error.what == f"unknown key '{key}'" and likely in error.hint
    row = text.splitlines().index(line) + 1
    assert error.where.startswith(f"{tmp_path}/net.yaml:{row}:")


def test_a_key_given_twice_is_shown(tmp_path: Path) -> None:
    error = wrong(written(tmp_path, yaml.safe_dump(PLAIN) + "name: other\n"))
    assert "'name' is given twice" in error.what and "line" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        "inputs: &a\n  x: *a\n",
        "inputs: &a [*a]\n",
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(12)),
        "name: " + "[" * 5000,
        "name: " + "{a: " * 3000,
        f"seed: {'9' * 5000}\n",
        "seed: 0b\n",
        "? [a, b]\n: c\n",
        "? {a: b}\n: c\n",
        "1: a\ntrue: b\nnull: c\n",
        "name: !!binary x\n",
        "inputs: !!set {a, b}\n",
        "<<: {name: a}\n<<: {name: b}\n",
        "name: '\\0'\n",
        'name: "\\ud800"\n',
        "name: \x07\n",
        "%YAML 9.9\n---\nname: x\n",
    ],
    ids=range(17),
)
@pytest.mark.usefixtures("bounded")
def test_hostile_yaml_is_refused_and_never_followed(tmp_path: Path, text: str) -> None:
    assert wrong(written(tmp_path, text)).where.startswith(f"{tmp_path}/net.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["net.yaml"], "it did something"


YAML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=60) | st.text("ab:- {}[]&*!'\"\n\t%#?|>0.1", max_size=60).map(str.encode))
@example(b"2001-99-99")
@example(b"a: !!timestamp x")
@example(b"([:")
@example(b"int:")
@example(b"'':")
@example(b"!!int x")
@example(b"!!int ''")
@example(b"!!float ''")
@example(b"!!bool x")
@example(b"!!omap x")
@example(b"!!pairs [a]")
@example(b"a: !!float x")
@example(b"\xef\xbb\xbfa: 1")
def test_whatever_the_bytes_only_a_usage_error_comes(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = written(tmp_path_factory.getbasetemp(), text)
    assert wrong(path).where.startswith(str(path))


@given(st.sampled_from(sorted(Spec.model_fields)), YAML)
@example("golden_mb", float("inf"))
@example("budget", float("nan"))
@example("seed", 2**40)
@example("source", "")
@example("waivers", [{"claim": "*", "reason": "long enough", "until": datetime.date(2030, 1, 1)}])
def test_whatever_a_key_holds_it_is_a_spec_or_a_usage_error(key: str, value: object) -> None:
    try:
        spec = validate(altered(**{key: value}), "command line")
    except UsageError as error:
        assert error.what and error.where and error.hint
        return
    assert Spec.model_validate_json(spec.model_dump_json()) == spec


@given(st.sampled_from(sorted(Spec.model_fields)), YAML)
def test_whatever_a_file_says_it_is_a_spec_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: object
) -> None:
    path = written(tmp_path_factory.getbasetemp(), yaml.safe_dump(altered(**{key: value})))
    try:
        read_spec(path)
    except UsageError as error:
        assert error.where.startswith(str(path)) and error.hint


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"dims": {"batch": {"min": 5, "typical": 5, "max": 4}}}, "min (5) is greater than max (4)"),
        ({"dims": {"batch": {"min": 1, "typical": 9, "max": 4}}}, "typical (9) is not between"),
        ({"dims": {"batch": {"min": 1, "typical": 2, "max": 4, "multiple_of": 2}}}, "min (1) is not a multiple of 2"),
        ({"dims": {"batch": {"min": 0, "typical": 2, "max": 4}}}, "at least 1"),
        ({"dims": {}}, "dim 'batch' is used in inputs but not described"),
        ({"dims": {**PLAIN["dims"], "seq": {"min": 1, "typical": 1, "max": 1}}}, "dim 'seq' is described but no input"),
        ({"inputs": {}}, "inputs"),
        ({"inputs": {"x": {"dtype": "float", "shape": [1]}}}, "float32"),
        ({"inputs": {"x": {"dtype": "int64", "shape": ["batch"]}}}, "cannot fill int64"),
        ({"outputs": []}, "outputs"),
        ({"outputs": ["y", "y"]}, "outputs names something twice"),
        ({"outputs": ["x"]}, "'x' is the name of an input and of an output"),
        ({"formats": []}, "formats"),
        ({"formats": ["onx"]}, "none of pir, pdmodel, onnx"),
        ({"engines": ["jit_load", "jit_load"]}, "engines names something twice"),
        ({"precisions": ["fp32", "fp32"]}, "precisions names something twice"),
        ({"budget": 0}, "more than 0"),
        ({"budget": float("inf")}, "budget"),
        ({"golden_mb": float("inf")}, "golden_mb"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"device": "cuda"}, "device"),
        ({"device": "gpu:"}, "device"),
        ({"version": "../up"}, "version"),
        ({"version": "failed"}, "folder that means something else"),
        ({"name": ".hidden"}, "name"),
        ({"model": "models.sound"}, "model"),
        ({"targets": ["=>3"]}, "no target such as"),
        ({"formats": ["PDModel"]}, "did you mean 'pdmodel'?"),
        ({"device": "gpuu"}, "write device: gpu"),
        ({"inputs": {"x": {"dtype": "flaot32", "shape": ["batch", 4]}}}, "did you mean 'float32'?"),
        ({"inputs": {"x": {"dtype": "float32", "shape": ["bach", 4]}}}, "did you mean 'batch'?"),
        ({"inputs": {"x": {"dtype": "bfloat16", "shape": ["batch", 4]}}}, "declare float32, and cast the input"),
        ({"args": {"two words": 1}}, "args"),
        ({"args": {"rate": float("inf")}}, "finite number"),
        ({"waivers": [{"claim": "*", "reason": "short", "until": "2030-01-01"}]}, "at least 8"),
        ({"waivers": [{"claim": "*", "reason": "long enough"}]}, "until"),
    ],
)
def test_what_a_spec_may_not_say(keys: dict[str, Any], said: str) -> None:
    assert said in refusal(altered(**keys))


@pytest.mark.parametrize(
    ("dtype", "values", "said"),
    [
        ("float32", "norml", "did you mean normal?"),
        ("int64", "intgers(0,2)", "did you mean integers(a,b)?"),
        ("int64", "integers(1,batch)", "integers(1,batch+1) ends at batch"),
        ("int64", "integers(batch,batch)", "holds nothing"),
        ("int64", "integers(0,bach+1)", "no dim is called 'bach'; did you mean 'batch'?"),
        ("int64", "integers(0,batch-1)", "holds nothing where batch-1 is 0"),
        ("int8", "integers(0,batch+125)", "does not fit int8"),
        ("float32", "normal\n", "none of"),
        ("float32", "uniform(1)", "none of"),
        ("float32", "uniform(2,1)", "uniform(2,1) holds nothing"),
        ("float32", "dataset", "needs a recipe"),
        ("int64", "uniform(0,5)", "cannot fill int64"),
        ("int64", "integers(5,5)", "integers(5,5) holds nothing"),
        ("int64", "integers(3,batch)", "integers(3,batch) holds nothing where batch is 1"),
        ("int64", "integers(0,sequence)", "no dim is called 'sequence'"),
        ("int8", "integers(0,1000)", "int8"),
        ("uint8", "integers(-1,5)", "uint8"),
        ("bool", "integers(0,3)", "bool"),
    ],
)
def test_values_that_cannot_be_drawn_are_refused_before_anything_runs(dtype: str, values: str, said: str) -> None:
    content = altered(inputs={"x": {"dtype": dtype, "shape": ["batch", 4], "values": values}})
    assert said in refusal(content)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float32", "normal"),
        ("float32", "uniform(-1,1.5e2)"),
        ("float32", "integers(0,256)"),
        ("int64", "integers(0,batch)"),
        ("int64", "integers(1,batch+1)"),
        ("int64", "integers(batch-1,batch+1)"),
        ("int8", "integers(0,batch+124)"),
        ("int8", "integers(-128,128)"),
        ("bool", "integers(0,2)"),
        ("uint8", "pixels.npy"),
    ],
)
def test_values_that_can(dtype: str, values: str) -> None:
    content = altered(inputs={"x": {"dtype": dtype, "shape": ["batch", 4], "values": values}})
    assert validate(content, "command line").inputs["x"].values == values


def test_what_a_factory_is_called_with_is_part_of_what_names_the_model() -> None:
    one, other = (validate(altered(args={"classes": count}), "command line") for count in (10, 11))
    assert one.args == {"classes": 10} and one.factory != other.factory != other.model
    assert split_factory(one.factory) == (one.model, one.args)
    assert validate(PLAIN, "command line").factory == PLAIN["model"]
    assert Spec.model_validate(one.model_dump(mode="json")).factory == one.factory


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("nothing", "is not key=value"),
        ("=3", "is not key=value"),
        ("name.first=3", "'name' holds no keys"),
        ("seed=[", "is not a YAML value"),
        ("seed=2027-02-30", "seed: '2027-02-30' is text, and a whole number is needed"),
        ("seed.=3", ""),
        ("a..b=3", ""),
        ("seed=!!python/name:os.system", "is not a YAML value"),
        ("seed=" + "[" * 3000, "is not a YAML value"),
        ("budgt=3", "unknown key 'budgt'"),
    ],
)
def test_a_wrong_override_is_said(tmp_path: Path, override: str, said: str) -> None:
    assert said in wrong(written(tmp_path, yaml.safe_dump(PLAIN)), override).what


@given(st.text(max_size=30))
def test_whatever_an_override_says_only_a_usage_error_comes(text: str) -> None:
    content: dict[str, Any] = {"name": "net"}
    try:
        apply_override(content, text)
    except UsageError as error:
        assert error.where.startswith("--set") and error.hint


def test_an_override_reaches_its_key(tmp_path: Path) -> None:
    path = written(tmp_path, yaml.safe_dump(PLAIN))
    spec = read_spec(path, ("dims.batch.max=16", "formats=[onnx]", "weights=null", "checkpoint=a b.safetensors"))
    assert spec.dims["batch"].max == 16 and spec.formats == ("onnx",) and spec.checkpoint == "a b.safetensors"
