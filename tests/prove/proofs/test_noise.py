"""What low precision adds to each layer, by arithmetic that can be followed by hand, and on a real file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base import machine
from exporter.base.errors import BundleError, ModelError
from exporter.base.numbers.norms import decibel, energies
from exporter.base.tensors import Array, save
from exporter.engines.cost import beyond
from exporter.export.lower.precision.kinds.int8 import plugin as int8
from exporter.export.lower.precision.saturation import cut_off
from exporter.process.workers import Setting
from exporter.prove.proofs.quantisation import noise as noises
from exporter.prove.proofs.quantisation.layers import along, arrays, exact_weight, multiplied
from exporter.prove.proofs.quantisation.noise import LayerNoise, _suffering, layer_noise, searched, suffering
from tests.export.lower.precision.test_int8 import FIRST, SECOND, network, order
from tests.export.lower.precision.test_int8 import artifact as stored
from tests.prove.proofs.subjects import artifact, cases, subject

WEIGHT = np.arange(1.0, 13.0).reshape(3, 4)


class TestWhatWasRounded:
    def test_a_weight_is_as_full_precision_stores_it(self) -> None:
        found = exact_weight({"w": WEIGHT.astype("float32")}, {"weight": "w"})
        assert found.dtype == "float64" and np.array_equal(found, WEIGHT)

    @pytest.mark.parametrize(("turned", "shape"), [(False, (3, 4, 1, 1)), (True, (4, 3, 1, 1))])
    def test_a_linear_layer_that_was_written_as_a_convolution(self, turned: bool, shape: tuple[int, ...]) -> None:
        found = exact_weight({"w": WEIGHT}, {"weight": "w", "transposed": turned})
        assert found.shape == shape and np.array_equal(found[..., 0, 0], WEIGHT.T if turned else WEIGHT)

    @pytest.mark.parametrize("more", [(), (1, 1)])
    def test_a_norm_that_was_folded_scales_the_output_channels(self, more: tuple[int, ...]) -> None:
        exact = {
            "w": WEIGHT.reshape(*WEIGHT.shape, *more),
            "g": np.array([1.0, 2.0, 3.0]),
            "v": np.array([0.75, 3.75, 8.75]),
        }
        norm = {"gain": "g", "variance": "v", "epsilon": 0.25}
        found = exact_weight(exact, {"weight": "w", "norm": norm})
        assert np.allclose(found.reshape(3, 4), WEIGHT)
        norm["epsilon"] = 0.0
        twice = exact_weight({**exact, "v": np.full(3, 0.25)}, {"weight": "w", "norm": norm})
        assert np.allclose(twice.reshape(3, 4), WEIGHT * np.array([[2.0], [4.0], [6.0]]))

    def test_codes_stand_for_steps_of_their_channel(self) -> None:
        codes = np.array([[1, -2], [3, 4], [5, 6]], "int8")
        by_row = multiplied(codes, np.array([0.5, 1.0, 2.0], "float32"), {"axis": 0})
        assert by_row.tolist() == [[0.5, -1.0], [3.0, 4.0], [10.0, 12.0]]
        by_column = multiplied(codes, np.array([0.5, 2.0], "float32"), {"axis": 1, "divisor": 2})
        assert by_column.tolist() == [[0.25, -2.0], [0.75, 4.0], [1.25, 6.0]]
        assert multiplied(codes, np.array([[2.0]], "float32"), {"axis": 0}).tolist() == (codes * 2.0).tolist()
        assert along(np.array([2.0]), codes, {}).shape == ()
        assert along(np.ones(3), np.ones((2, 3, 4, 5)), {"axis": 1}).shape == (1, 3, 1, 1)


def test_an_activation_is_rounded_to_a_code_within_the_range() -> None:
    layer = {"scale": 0.5, "zero_point": 3, "range": [0, 10]}
    value = np.array([-9.0, -1.5, 0.2, 0.3, 1.0, 9.0])
    assert noises._codes(value, layer).tolist() == [0, 0, 3, 4, 5, 10]
    assert noises._rounded(value, layer).tolist() == [-1.5, -1.5, 0.0, 0.5, 1.0, 3.5]
    silent = {**layer, "scale": 0.0}
    assert not noises._codes(value, silent).any() and not noises._rounded(value, silent).any()
    assert noises._rounded(value, silent).shape == value.shape
    assert not noises._rounded(value, {**layer, "scale": -0.5}).any(), "no quantizer writes such a step"


CODES = np.array([[127, 127], [1, 1]], "int8")
LAYER: dict[str, Any] = {"scale": 1.0, "zero_point": 0, "range": [0, 255], "axis": 0}


class TestProductsCutOff:
    """One output channel of two weights of 127, and activations of 255: the sum of both does not fit 16 bits."""

    def test_what_is_lost_is_told_in_db(self) -> None:
        value = np.full((1, 2), 255.0)
        found = noises._overflow(value, CODES, LAYER)
        assert found == pytest.approx(decibel(*cut_off(value, CODES, 0))) and 0 < found < 20
        assert noises._overflow(value, CODES, {**LAYER, "range": [5, 255]}) == found, "unsigned, wherever they begin"

    def test_nothing_is_lost_of_small_ones_of_wide_ones_or_where_half_is_taken(self) -> None:
        assert noises._overflow(np.full((1, 2), 9.0), CODES, LAYER) is None
        large = np.full((1, 2), 255.0)
        assert noises._overflow(large, CODES.astype("uint8"), LAYER) is None
        assert noises._overflow(large, CODES, {**LAYER, "halved": True}) is None

    def test_kernels_for_signed_codes_add_128(self) -> None:
        signed = {**LAYER, "range": [-128, 127]}
        assert noises._overflow(np.full((1, 2), 9.0), CODES, signed) is not None, "9 + 128, twice, times 127"
        assert noises._overflow(np.full((1, 2), -120.0), CODES, signed) is None


def test_rounding_and_what_is_cut_off_add_up_where_they_meet() -> None:
    both, alone = LayerNoise(30.0, 20.0), LayerNoise(30.0, None)
    assert both.here(in_16_bits=True) == pytest.approx(-10 * math.log10(1e-3 + 1e-2))
    assert LayerNoise(20.0, 50.0).here(in_16_bits=True) == pytest.approx(-10 * math.log10(1e-2 + 1e-5))
    assert both.here(in_16_bits=False) == alone.here(in_16_bits=True) == 30.0


def test_five_layers_are_named_the_worst_first() -> None:
    noise = {name: LayerNoise(20.0 + at % 6, None) for at, name in enumerate("gfedcba")}
    told, worst = _suffering(noise, in_16_bits=True)
    assert told == "a 20.0 dB, g 20.0 dB, f 21.0 dB, e 22.0 dB, d 23.0 dB"
    assert worst == "the layer that suffers most is a, at 20.0 dB"
    cut = {**noise, "c": LayerNoise(24.0, 60.0)}
    assert _suffering(cut, in_16_bits=True)[1] == worst, "its own layer is cut off, and not the worst"
    deep = {**noise, "d": LayerNoise(40.0, 3.0)}
    said = (
        "the layer that suffers most is d, at 3.0 dB: this CPU has no VNNI and adds its products in pairs in 16 bits, "
    )
    assert _suffering(deep, in_16_bits=True)[1] == f"{said}which cuts them off"
    assert _suffering({"d": LayerNoise(4.0, 3.0)}, in_16_bits=False)[1] == "the layer that suffers most is d, at 4.0 dB"


@pytest.fixture
def work(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A real file in int8 with what its writer says of it, beside fp32's, and the inputs of the first case."""
    details = dict(int8.write(order(tmp_path, network())))
    inputs = np.random.default_rng(5).standard_normal((8, 16)).astype("float32")
    save(tmp_path / "golden.safetensors", {"batch=4/input/x": inputs})
    return tmp_path, details


def rounded(value: Array, layer: dict[str, Any]) -> Array:
    low, high = layer["range"]
    codes = np.clip(np.rint(value / layer["scale"]) + layer["zero_point"], low, high)
    return (codes - layer["zero_point"]) * layer["scale"]


def test_of_a_real_file_each_layer_s_noise_is_that_of_its_input_and_weight(
    work: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, details = work
    low = stored(folder, "onnx-int8", details)
    of = subject(stored(folder, "onnx", {}), low, folder=folder)
    monkeypatch.setattr(machine, "adds_in_16_bits", lambda: False)
    found = layer_noise(of.bench(), low, Setting(), "onnxruntime")
    assert list(found) == ["one", "two"]
    first = np.random.default_rng(5).standard_normal((8, 16)).astype("float32")
    taken = {"one": first, "two": np.maximum(first @ FIRST.astype("float32"), 0)}
    codes = arrays(low, folder)
    for name, weight in (("one", FIRST), ("two", SECOND)):
        layer = details["layers"][name]
        given = codes[layer["codes"]] * codes[layer["scales"]].reshape(-1)
        pairs = [energies(taken[name], rounded(taken[name], layer)), energies(weight, given)]
        expected = decibel(1.0, sum(lost / signal for signal, lost in pairs))
        assert found[name].rounding == pytest.approx(expected, abs=0.1) and 20 < expected < 60
    (note,), worst, layers = suffering(of.bench(), low, Setting())
    first_named = min(found, key=lambda name: found[name].rounding)
    assert layers.keys() == found.keys()
    assert note.startswith(f"onnx-int8: noise that rounding adds, by layer, the worst first: {first_named} ")
    assert worst == f"the layer that suffers most is {first_named}, at {found[first_named].rounding:.1f} dB"


def test_a_layer_whose_weights_alone_are_low_has_their_noise(work: tuple[Path, dict[str, Any]]) -> None:
    """It takes its input as it is, so nothing of its products is cut off."""
    folder, details = work
    layers = {name: {**layer, "input": "", "range": [0, 255]} for name, layer in details["layers"].items()}
    low = stored(folder, "onnx-int8", {"layers": layers})
    found = layer_noise(subject(stored(folder, "onnx", {}), low, folder=folder).bench(), low, Setting(), "onnxruntime")
    held = arrays(low, folder)
    for name, weight in (("one", FIRST), ("two", SECOND)):
        layer = layers[name]
        signal, lost = energies(weight, held[layer["codes"]] * held[layer["scales"]].reshape(-1))
        assert found[name].rounding == pytest.approx(decibel(signal, lost), abs=0.1) and found[name].overflow is None


def test_what_is_cut_off_of_a_layer_is_told_beside_its_rounding() -> None:
    value, weight = np.full((1, 2), 255.0), CODES.astype("float32")
    layer = {**LAYER, "weight": "w", "codes": "c"}
    found = noises._noise(value, {"c": CODES}, {"w": weight}, layer)
    assert found.overflow == noises._overflow(value, CODES, layer) is not None


def test_where_nothing_can_be_shown_nothing_is_said(work: tuple[Path, dict[str, Any]]) -> None:
    folder, details = work
    plain, low = stored(folder, "onnx", {}), stored(folder, "onnx-int8", details)

    def found(*artifacts: Any, one: Any = low, **more: Any) -> dict[str, LayerNoise]:
        return layer_noise(subject(*artifacts, folder=folder, **more).bench(), one, Setting(), "onnxruntime")

    assert found(low) == {}, "there is no fp32 to compare with"
    assert found(plain, low, one=replace(low, details={})) == {}
    strange = {"layers": {**details["layers"], "x": {**details["layers"]["one"], "input": "gone"}}}
    strange["layers"]["y"] = {**details["layers"]["one"], "weight": "gone"}
    assert list(found(plain, low, one=replace(low, details=strange))) == ["one", "two"]
    lost = {"layers": {"one": {**details["layers"]["one"], "codes": "gone"}}}
    with pytest.raises(BundleError, match="layer one is not described as the files have it: 'gone'"):
        found(plain, low, one=replace(low, details=lost))
    (folder / "onnx/model.onnx").write_bytes(b"\x08\x08no model")
    assert found(plain, low) == {}
    assert suffering(subject(plain, low, folder=folder).bench(), low, Setting()) == ([], "", {})


def test_fp32_may_take_four_times_what_it_took_at_the_release_and_runs_only_where_layers_are_described(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def values(*given: Any) -> list[Any]:
        asked.append(given[-1].limits.beyond)
        raise ModelError("it does not run")

    monkeypatch.setattr(noises, "program_values", values)
    took = {"seconds": 3.0, "megabytes": 300.0}
    bench = subject(artifact(), artifact("int8"), costs={"onnx/onnxruntime": took}).bench()
    assert layer_noise(bench, artifact("int8"), Setting(), "onnxruntime") == {} and asked == []
    assert layer_noise(bench, artifact("int8", details={"layers": {"a": {}}}), Setting(), "onnxruntime") == {}
    assert asked == [beyond(took, 4)]


def test_a_layer_that_takes_nothing_but_zeros_has_the_noise_of_its_weight(work: tuple[Path, dict[str, Any]]) -> None:
    folder, details = work
    save(folder / "golden.safetensors", {"batch=4/input/x": np.zeros((8, 16), "float32")})
    low = stored(folder, "onnx-int8", details)
    found = layer_noise(subject(stored(folder, "onnx", {}), low, folder=folder).bench(), low, Setting(), "onnxruntime")
    held = arrays(low, folder)
    layer = details["layers"]["one"]
    signal, lost = energies(FIRST, held[layer["codes"]] * held[layer["scales"]].reshape(-1))
    assert found["one"].rounding == pytest.approx(decibel(signal, lost), abs=0.1)


@pytest.mark.parametrize(
    ("format", "engine"), [("onnx", "onnxruntime"), ("pdmodel", "paddle_inference"), ("pir", "paddle_inference")]
)
def test_the_noise_is_measured_by_strict_kernels_of_paddle_where_they_run_the_file(
    format: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def measured(*given: Any) -> dict[str, LayerNoise]:
        asked.append(given[-1])
        return {}

    monkeypatch.setattr(noises, "layer_noise", measured)
    steps: list[str] = []
    low = artifact("int8", format)
    assert suffering(subject(low, recorded=cases()).bench(), low, Setting(say=steps.append)) == ([], "", {})
    assert asked == [engine] and steps == [f"measuring the noise of each layer of {format}-int8"]


def test_the_front_of_a_search_is_told_as_the_writer_left_it() -> None:
    steps = [
        {"kept": [], "bytes": 2048, "snr_db": 31.5},
        {"kept": ["a", "b"], "bytes": 4096, "snr_db": 40, "speedup": 2.5},
        {"kept": ["a"], "weights_int8": ["b", "c"], "weights_fp16": ["d"], "bytes": 5, "snr_db": 1},
    ]
    assert searched(artifact("int8", details={"front": steps})) == [
        "onnx-int8: the search's front: no layer kept: 2,048 bytes, 31.5 dB; "
        "2 layers kept: 4,096 bytes, 40 dB, x2.5 of fp32's speed; "
        "1 layers kept, 2 layers with weights alone in 8 bits, 1 layers in 16: 5 bytes, 1 dB"
    ]
    assert searched(artifact("int8")) == []
