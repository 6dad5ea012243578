"""What a bundle says of its cases is computed again: inputs, outputs, and why some cases were left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from onnx import helper

from exporter.base.errors import BundleError
from exporter.base.tensors import save
from exporter.bundle.left_out import SAME_INPUTS, Recorded
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.traced import trace
from exporter.spec.read import validate
from tests.accepts import accepts
from tests.bundle.test_subject import PLANNED, PROBING, PROMISED, SPEC, Made
from tests.export.lower.passes.models import model
from tests.prove.goldens.test_masks import pir as program

TYPICAL = "batch=4,seq=2"


@pytest.fixture
def bundle(tmp_path: Path) -> Made:
    """A bundle whose file uses no input as a mask."""
    (tmp_path / "onnx").mkdir()
    proto = model([helper.make_node("Relu", ["x"], ["y"])], {"x": [None, 3], "mask": [None, 2]}, ["y"])
    (tmp_path / "onnx/model.onnx").write_bytes(proto)
    return Made(tmp_path)


def recorded(bundle: Made, spec: dict[str, Any] | None = None) -> Recorded:
    golden = bundle.folder / "golden.safetensors"
    save(golden, bundle.tensors)
    content = bundle.manifest
    described = (*content.cases, *content.untelling)
    return Recorded(content, validate(spec or SPEC, "test"), bundle.folder, golden, described)


def of_values(values: str, *, dtype: str = "float32", **more: Any) -> dict[str, Any]:
    """The spec with these values of `x`."""
    x = {"dtype": dtype, "shape": ["batch", 3], "values": values, **more}
    return {**SPEC, "inputs": {**SPEC["inputs"], "x": x}}


def refused(kept: Recorded, said: str) -> None:
    with pytest.raises(BundleError, match=said) as refusal:
        kept.refuse_other()
    assert refusal.value.where == str(kept.golden) and "fresh" in str(refusal.value.hint)


def test_goldens_that_a_release_records_are_accepted(bundle: Made) -> None:
    assert accepts(lambda: recorded(bundle).refuse_other())


def test_goldens_of_which_another_sample_is_kept_are_refused(bundle: Made) -> None:
    bundle.tensors[f"{PROMISED}/index/y"] = np.arange(30)
    with pytest.raises(BundleError):
        recorded(bundle).refuse_other()


class TestOutputs:
    """What the manifest states of an output holds in every case."""

    @pytest.mark.parametrize("shape", [["batch", 5], [-1, 5], ["batch", -1], [-1, -1]])
    def test_a_size_that_each_case_has_may_be_open_or_named(self, bundle: Made, shape: list[Any]) -> None:
        bundle.content["outputs"][0]["shape"] = shape
        assert accepts(lambda: recorded(bundle).refuse_other())

    @pytest.mark.parametrize("shape", [["batch", 6], ["seq", 5], [4, 5], ["batch"], ["batch", 5, 1], [], ["width", 5]])
    def test_another_size_is_refused(self, bundle: Made, shape: list[Any]) -> None:
        bundle.content["outputs"][0]["shape"] = shape
        kept = recorded(bundle)
        refused(kept, r"gives 'y' as float32\[\d, 5\], and the manifest states float32\[")

    def test_another_dtype_is_refused(self, bundle: Made) -> None:
        bundle.content["outputs"][0]["dtype"] = "float64"
        refused(recorded(bundle), r"gives 'y' as float32\[4, 5\], and the manifest states float64")

    @pytest.mark.parametrize("shape", [["batch", 6], ["batch"], ["batch", 5, -1]])
    @pytest.mark.parametrize("verdict", ["unverified", "failed"])
    def test_what_no_gate_has_passed_is_for_its_claims_to_judge(
        self, bundle: Made, verdict: str, shape: list[Any]
    ) -> None:
        """A `squeeze` that also removes a batch of 1 is the model's, and no damage."""
        bundle.content["outputs"][0]["shape"] = shape
        bundle.content["verdict"] = verdict
        assert accepts(lambda: recorded(bundle).refuse_other())

    def test_a_dim_that_the_case_has_not_fits_no_size(self, bundle: Made) -> None:
        bundle.content["outputs"][0]["shape"] = ["width", 5]
        kept = recorded(bundle)
        facts = kept.described[0]
        small = facts.outputs["y"].model_copy(update={"shape": (2, 5)})
        with pytest.raises(BundleError, match="and the manifest states"):
            kept._refuse_other_outputs(facts.model_copy(update={"outputs": {"y": small}}))


class TestInputs:
    """What is recorded of an input is what a release of the spec draws."""

    def test_another_dtype_is_refused(self, bundle: Made) -> None:
        name = f"{PROMISED}/input/mask"
        bundle.tensors[name] = bundle.tensors[name].astype("float64")
        refused(recorded(bundle), f"case '{PROMISED}' holds input 'mask' in float64, and the spec float32")

    @pytest.mark.parametrize(
        ("values", "low", "high"),
        [("uniform(-9,9)", -9.0, 9.0), ("integers(-9,10)", -9, 9), ("uniform(0.1,0.3)", 0.1, 0.3)],
    )
    def test_a_promised_case_has_values_of_the_range(self, bundle: Made, values: str, low: float, high: float) -> None:
        dtype = "int64" if values.startswith("integers") else "float32"
        name = f"{PROMISED}/input/x"
        spec = of_values(values, dtype=dtype)
        for case, planned in PLANNED.items():
            if not planned.kind:
                bundle.tensors[f"{case}/input/x"] = np.full((planned.dims["batch"], 3), high, dtype)
        kept = recorded(bundle, spec)
        facts = next(facts for facts in kept.described if facts.name == PROMISED)
        for value in (low, high):
            bundle.tensors[name][1, 2] = value
            recorded(bundle, spec)._refuse_other_inputs(facts)
        step = 1 if dtype == "int64" else 1e-3
        for value in (low - step, high + step):
            bundle.tensors[name][1, 2] = value
            with pytest.raises(BundleError, match=r"holds values of input 'x' that are not of (uniform|integers)\("):
                recorded(bundle, spec)._refuse_other_inputs(facts)

    def test_no_values_are_of_any_range(self, bundle: Made) -> None:
        """Of which size an input has to be is asked elsewhere."""
        spec = of_values("uniform(0,1)")
        bundle.tensors[f"{PROMISED}/input/x"] = np.zeros((0, 3), "float32")
        kept = recorded(bundle, spec)
        assert accepts(
            lambda: kept._refuse_other_inputs(next(facts for facts in kept.described if facts.name == PROMISED))
        )

    def test_a_range_that_follows_a_size_is_that_of_the_case(self, bundle: Made) -> None:
        spec = of_values("integers(0,batch)", dtype="int64")
        kept = recorded(bundle)
        facts = next(facts for facts in kept.described if facts.name == PROMISED)
        bundle.tensors[f"{PROMISED}/input/x"] = np.full((6, 3), 5)
        recorded(bundle, spec)._refuse_other_inputs(facts)
        bundle.tensors[f"{PROMISED}/input/x"] += 1
        with pytest.raises(BundleError, match="that are not of integers"):
            recorded(bundle, spec)._refuse_other_inputs(facts)

    @pytest.mark.parametrize("values", ["normal", "uniform(0,1)"])
    def test_what_probes_may_leave_the_range(self, bundle: Made, values: str) -> None:
        for case, planned in PLANNED.items():
            if not planned.kind:
                bundle.tensors[f"{case}/input/x"] = np.full((planned.dims["batch"], 3), 0.5, "float32")
        search = f"{TYPICAL}:search-3"
        bundle.content["cases"].append({**bundle.case(TYPICAL), "name": search})
        for key in ("input/mask", "eager/y", "truth/y"):
            bundle.tensors[f"{search}/{key}"] = bundle.tensors[f"{TYPICAL}/{key}"]
        bundle.tensors[f"{search}/input/x"] = np.full((4, 3), 900, "float32")
        kept = recorded(bundle, of_values(values))
        assert accepts(lambda: kept._refuse_other_inputs(kept.described[-1]))

    @pytest.mark.parametrize("name", ["x", "mask"])
    def test_what_probes_is_made_of_the_typical_case(self, bundle: Made, name: str) -> None:
        bundle.tensors[f"{PROBING}/input/{name}"] = bundle.tensors[f"{PROBING}/input/{name}"] + np.float32(1)
        said = f"case '{PROBING}' holds an input '{name}' that is not what 'zeros' stands for"
        refused(recorded(bundle), said)

    def test_a_row_that_may_not_be_empty_may_have_got_its_token_later(self, bundle: Made) -> None:
        spec = of_values("uniform(0,1)", empty_rows=False)
        bundle.tensors[f"{PROBING}/input/x"] = np.ones((4, 3), "float32")
        kept = recorded(bundle, spec)
        assert accepts(
            lambda: kept._refuse_other_inputs(next(facts for facts in kept.described if facts.name == PROBING))
        )

    def test_without_the_typical_case_nothing_can_be_made(self, bundle: Made) -> None:
        bundle.drop(TYPICAL)
        refused(recorded(bundle), f"case '{TYPICAL}' was not recorded, and every probing case is made from it")


class Wide(paddle.nn.Layer):
    """Give a size that the trace knows, and one that follows the batch, in this order where it is `turned`."""

    def __init__(self, turned: bool = False) -> None:
        super().__init__()
        self.turned = turned
        self.linear = paddle.nn.Linear(3, 5)

    def forward(self, x: Any, mask: Any) -> Any:
        y = self.linear(x) + mask.sum() * 0
        return y.transpose([1, 0]) if self.turned else y


class TestOpenSizes:
    """A size is open where the trace or the cases leave it open."""

    def written(self, bundle: Made, layer: Wide) -> Made:
        (bundle.folder / "pir").mkdir()
        layer.eval()
        specs = validate(SPEC, "test").input_specs()
        with pir.session(None):
            pir.write(trace(layer, specs, ("y",), {}), None, bundle.folder / "pir", Wish())
        files = ["pir/model.json", "pir/model.pdiparams"]
        variant = {**bundle.content["variants"]["onnx"], "format": "pir", "files": files}
        bundle.content["variants"]["pir"] = variant
        bundle.content["spec"] = {**SPEC, "formats": ["onnx", "pir"]}
        return bundle

    @pytest.fixture
    def traced(self, bundle: Made) -> Made:
        return self.written(bundle, Wide())

    @pytest.mark.parametrize("shape", [["batch", 5], [-1, 5]])
    def test_one_that_the_trace_leaves_open_may_be(self, traced: Made, shape: list[Any]) -> None:
        traced.content["outputs"][0]["shape"] = shape
        assert accepts(lambda: recorded(traced).refuse_other())

    def test_one_that_the_trace_and_every_case_knows_may_not(self, traced: Made) -> None:
        traced.content["outputs"][0]["shape"] = ["batch", -1]
        said = f"case '{TYPICAL}' has 5 at axis 1 of 'y', as its file and all do; -1 is stated"
        refused(recorded(traced), said)

    def test_one_that_every_case_has_alike_and_the_trace_leaves_open_may(self, traced: Made) -> None:
        traced.content["outputs"][0]["shape"] = [-1, 5]
        for name, case in PLANNED.items():
            if case.dims["batch"] != 4:
                traced.drop(name)
        assert accepts(lambda: recorded(traced)._refuse_open_sizes())

    def test_one_of_several_axes_may_not(self, bundle: Made) -> None:
        turned = self.written(bundle, Wide(turned=True))
        turned.content["outputs"][0]["shape"] = [-1, "batch"]
        for case in turned.content["cases"]:
            about = case["outputs"]["y"]
            case["outputs"] = {"y": {**about, "shape": about["shape"][::-1]}}
        with pytest.raises(BundleError, match="has 5 at axis 0 of 'y'"):
            recorded(turned)._refuse_open_sizes()

    def test_one_that_some_case_has_otherwise_may(self, traced: Made) -> None:
        traced.content["outputs"][0]["shape"] = ["batch", -1]
        facts = traced.case(PROMISED)["outputs"]
        assert facts["y"]["shape"] == [6, 5]
        facts["y"] = {**facts["y"], "shape": [6, 7]}
        recorded(traced)._refuse_open_sizes()

    def test_without_a_trace_to_pir_nothing_is_declared(self, bundle: Made) -> None:
        bundle.content["outputs"][0]["shape"] = ["batch", -1]
        assert accepts(lambda: recorded(bundle)._refuse_open_sizes())


class TestWhy:
    """Why a probing case was left out is shown, or the bundle's word alone stands for it."""

    def word(self, bundle: Made, why: str, case: str = PROBING) -> dict[str, str]:
        """Leave a case out for a reason; the reasons that nothing shows."""
        bundle.drop(case)
        bundle.content["left_out"] = {**bundle.content.get("left_out", {}), case: why}
        return recorded(bundle).unshown()

    def alike(self, bundle: Made) -> None:
        """Give the typical case, and another, the inputs of the one that is all zeros."""
        for name in ("x", "mask"):
            zeros = bundle.tensors[f"{PROBING}/input/{name}"]
            for case in (TYPICAL, f"{TYPICAL}#2"):
                bundle.tensors[f"{case}/input/{name}"] = zeros * 0

    def test_what_eager_refused_is_its_word(self, bundle: Made) -> None:
        assert self.word(bundle, "eager refuses it") == {PROBING: "eager refuses it"}
        assert recorded(Made(bundle.folder)).unshown() == {}

    def test_what_the_spec_does_not_plan_is_no_matter(self, bundle: Made) -> None:
        assert self.word(bundle, "eager refuses it", "batch=4,seq=2:unheard") == {}

    @pytest.mark.parametrize("other", [TYPICAL, f"{TYPICAL}#2"])
    def test_the_same_inputs_are_shown(self, bundle: Made, other: str) -> None:
        self.alike(bundle)
        assert self.word(bundle, f"{SAME_INPUTS}{other}") == {}

    @pytest.mark.parametrize("alike", [True, False])
    def test_a_case_that_a_search_found_may_have_them(self, bundle: Made, alike: bool) -> None:
        search = f"{TYPICAL}:search-3"
        bundle.content["cases"].append({**bundle.case(TYPICAL), "name": search})
        for name in ("x", "mask"):
            zeros = bundle.tensors[f"{PROBING}/input/{name}"]
            bundle.tensors[f"{search}/input/{name}"] = zeros if alike else zeros + 1
        why = f"{SAME_INPUTS}{search}"
        if alike:
            assert self.word(bundle, why) == {}
        else:
            with pytest.raises(BundleError, match="and has others"):
                self.word(bundle, why)

    def test_two_that_were_left_out_may_be_alike(self, bundle: Made) -> None:
        """Both are made from the typical case, and of one the other stands recorded nowhere."""
        self.alike(bundle)
        bundle.drop(f"{TYPICAL}:tiny")
        bundle.content["left_out"] = {f"{TYPICAL}:tiny": "eager refuses it"}
        word = self.word(bundle, f"{SAME_INPUTS}{TYPICAL}:tiny")
        assert word == {f"{TYPICAL}:tiny": "eager refuses it"}

    @pytest.mark.parametrize("other", [PROMISED, f"{TYPICAL}:tiny"])
    @pytest.mark.parametrize("only", ["x", "mask", ""])
    def test_other_inputs_are_none(self, bundle: Made, other: str, only: str) -> None:
        """Nor if one of two inputs is the same."""
        if only:
            bundle.tensors[f"{other}/input/{only}"] = bundle.tensors[f"{PROBING}/input/{only}"]
        with pytest.raises(BundleError, match=f"was left out for the inputs of case '{other}', and has others"):
            self.word(bundle, f"{SAME_INPUTS}{other}")

    @pytest.mark.parametrize("other", [PROBING, "batch=9"])
    def test_the_inputs_of_no_other_case_are_no_reason(self, bundle: Made, other: str) -> None:
        with pytest.raises(BundleError, match=f"'{PROBING}' was left out for the inputs of case '{other}', and there"):
            self.word(bundle, f"{SAME_INPUTS}{other}")

    def test_what_tells_as_much_as_any_other_was_left_out_without_a_reason(self, bundle: Made) -> None:
        """`tiny` is a sound answer, and a bundle that says otherwise has recorded it beside."""
        name = f"{TYPICAL}:tiny"
        facts = bundle.case(name)
        bundle.drop(name)
        bundle.content |= {"untelling": [facts], "left_out": {name: "it amplifies rounding"}}
        with pytest.raises(BundleError, match="and what eager gave there tells as much as in any other"):
            recorded(bundle).unshown()

    def test_what_tells_nothing_is_shown_by_what_was_recorded(self, bundle: Made) -> None:
        """All zeros in, all zeros out."""
        facts = bundle.case(PROBING)
        bundle.drop(PROBING)
        bundle.content |= {"untelling": [facts], "left_out": {PROBING: "all of them are 0"}}
        assert recorded(bundle).unshown() == {}


class TestPlan:
    """Rows of what a program uses as a mask are planned beside what the spec plans."""

    def planned(self, bundle: Made, values: str, line: str) -> set[str]:
        (bundle.folder / "pir").mkdir(exist_ok=True)
        program(bundle.folder / "pir", line).rename(bundle.folder / "pir/model.json")
        mask = {"dtype": "float32", "shape": ["batch", "seq"], "values": values}
        spec = {**SPEC, "inputs": {"m": mask, "x": SPEC["inputs"]["x"]}}
        variant = {**bundle.content["variants"]["onnx"], "format": "pir", "files": ["pir/model.json"]}
        content = bundle.content | {"variants": {"pir": variant}}
        bundle.content = content
        return {*recorded(bundle, spec).planned}

    @pytest.mark.parametrize(
        ("values", "line", "further"),
        [
            ("uniform(0,1)", "y = multiply m x", True),
            ("uniform(0,1)", "y = relu m", False),
            ("normal", "y = multiply m x", False),
        ],
    )
    def test_rows_of_a_mask_are_planned(self, bundle: Made, values: str, line: str, further: bool) -> None:
        planned = self.planned(bundle, values, line)
        assert planned > set(PLANNED) if further else planned >= set(PLANNED)
        assert any("rows_of_m" in name for name in planned) is further


def test_a_change_is_refused_through_the_whole(bundle: Made) -> None:
    changes: tuple[Callable[[Made], object], ...] = (
        lambda made: made.content["outputs"][0].update(shape=["batch", 6]),
        lambda made: made.tensors.update({f"{PROMISED}/input/mask": np.ones((6, 2))}),
    )
    for change in changes:
        made = Made(bundle.folder)
        change(made)
        with pytest.raises(BundleError):
            recorded(made).refuse_other()
