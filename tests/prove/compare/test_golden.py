"""Goldens as they lie on disk: read whole or refused, and the one case that somebody asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import BundleError, UsageError
from exporter.base.numbers.norms import FLOOR, FLOOR_64, error, norms
from exporter.base.numbers.sample import SAMPLE, places_of
from exporter.base.tensors import Array, load, save
from exporter.prove.compare.golden import input_shapes, one_case, read_goldens, refuse_other_samples
from tests.prove.proofs.subjects import spec

TRUTH = np.random.default_rng(0).standard_normal((4, 5))
FACTS: dict[str, Any] = {"method": "float64", "gate": "", "scores": None, "exact": False, "allowance": 1.0}


def written(folder: Path, eager: Array, **inputs: Array) -> tuple[Path, list[dict[str, Any]]]:
    path = folder / "golden.safetensors"
    tensors = {"a/eager/y": eager, "a/truth/y": TRUTH, **{f"a/input/{name}": value for name, value in inputs.items()}}
    save(path, tensors)
    said = {"dtype": eager.dtype.name, "shape": list(eager.shape), **FACTS}
    said |= dict(zip(("scale_max", "scale_l2"), norms(TRUTH), strict=True))
    said |= dict(zip(("e_ref_max", "e_ref_l2"), error(TRUTH, eager), strict=True))
    return path, [{"name": "a", "dims": {"batch": 4}, "seed": 0, "outputs": {"y": said}}]


def test_what_is_on_disk_is_read(tmp_path: Path) -> None:
    eager = TRUTH.astype("float32")
    (case,) = read_goldens(*written(tmp_path, eager, x=np.ones((4, 3), "float32")))
    assert (case.name, case.dims, list(case.outputs)) == ("a", {"batch": 4}, ["y"])
    assert np.array_equal(case.outputs["y"].eager, eager) and np.array_equal(case.outputs["y"].truth, TRUTH)
    assert input_shapes(tmp_path / "golden.safetensors") == {"a/input/x": (4, 3)}


@pytest.mark.parametrize(
    ("dtype", "floor"),
    [
        *((dtype, FLOOR_64) for dtype in ("float64", "bool", "int8", "uint8", "int16", "int32", "int64", "uint64")),
        *((dtype, FLOOR) for dtype in ("float16", "float32")),
    ],
)
def test_only_where_no_input_is_a_narrow_float_are_errors_measured_in_float64(
    tmp_path: Path, dtype: str, floor: float
) -> None:
    (case,) = read_goldens(*written(tmp_path, TRUTH, x=np.ones(2), y=np.ones(3, dtype)))
    assert case.outputs["y"].floor == floor


def test_what_is_not_whole_is_refused(tmp_path: Path) -> None:
    path, cases = written(tmp_path, TRUTH.astype("float32"), x=np.ones(2))
    with pytest.raises(BundleError, match="the bundle records no case") as caught:
        read_goldens(path, [])
    assert caught.value.where == str(path)
    other = [{**cases[0], "name": "b"}]
    with pytest.raises(BundleError, match=r"not whole \('b/eager/y'\)") as caught:
        read_goldens(path, other)
    assert caught.value.where == str(path) and "release it again" in caught.value.hint
    cases[0]["outputs"]["y"]["shape"] = [5, 4]
    with pytest.raises(BundleError, match="not what the manifest says of it"):
        read_goldens(path, cases)
    path.write_bytes(path.read_bytes()[:60])
    for read in (
        input_shapes,
        lambda place: read_goldens(place, cases),
        lambda place: refuse_other_samples(place, cases, spec()),
    ):
        with pytest.raises(BundleError, match="the goldens are not whole") as caught:
            read(path)
        assert caught.value.where == str(path)


def test_tensors_that_nobody_names_are_read_up_to_a_limit(tmp_path: Path) -> None:
    """Ten times what the outputs take, and 500: two outputs have 3 tensors each, and their case one more."""
    path, cases = written(tmp_path, TRUTH.astype("float32"))
    tensors = load(path)
    tensors |= {key.replace("/y", "/z"): value for key, value in tensors.items()}
    cases[0]["outputs"]["z"] = cases[0]["outputs"]["y"]
    most = 500 + 10 * (3 * 2 + 1)
    tensors |= {f"more/{number}": np.zeros(0) for number in range(most - len(tensors))}
    save(path, tensors)
    assert [list(case.outputs) for case in read_goldens(path, cases)] == [["y", "z"]]
    save(path, {**tensors, "one/more": np.zeros(0)})
    with pytest.raises(BundleError, match=f"{most + 1} tensors, far more than the cases have"):
        read_goldens(path, cases)


def test_a_header_that_is_too_long_is_not_parsed(tmp_path: Path) -> None:
    path, cases = written(tmp_path, TRUTH.astype("float32"))
    path.write_bytes((1 << 40).to_bytes(8, "little") + path.read_bytes()[8:])
    for read in (
        input_shapes,
        lambda place: read_goldens(place, cases),
        lambda place: refuse_other_samples(place, cases, spec()),
    ):
        with pytest.raises(BundleError, match="its header would have more than"):
            read(path)


def test_a_sample_is_held_against_what_all_take(tmp_path: Path) -> None:
    path, elements = tmp_path / "golden.safetensors", SAMPLE + 1000
    kept = {
        "a/index/y": places_of(elements, 0),
        "a/eager/y": np.zeros(SAMPLE, "float32"),
        "a/truth/y": np.zeros(SAMPLE),
    }
    save(path, {**kept, "a/input/x": np.zeros(500)})
    cases = [{"name": "a", "outputs": {"y": {"dtype": "float32", "shape": [elements]}}}]
    whole = (elements * 12 + 4000) / 1e6
    refuse_other_samples(path, cases, spec(golden_mb=whole - 1e-6))
    with pytest.raises(BundleError, match="and a release keeps all of them"):
        refuse_other_samples(path, cases, spec(golden_mb=whole))
    with pytest.raises(BundleError, match="not the 32768 that a release takes"):
        refuse_other_samples(path, cases, spec(golden_mb=whole - 1e-6), steps=True)


def test_a_case_is_found_under_the_names_that_it_is_run_again_by() -> None:
    described = [{"name": "batch=4"}, {"name": "batch=4:zeros"}, {"name": "batch=4:zeros", "second": True}]
    for name in ("batch=4", "batch=4:again", "batch=4:threads=2"):
        assert one_case(described, name) is described[0]
    assert one_case(described, "batch=4:zeros") is described[1]
    with pytest.raises(UsageError, match="no case 'batch=5' was recorded") as caught:
        one_case(described[:2], "batch=5")
    assert (
        caught.value.where == "--case" and caught.value.hint == "did you mean 'batch=4'? one of: batch=4, batch=4:zeros"
    )
