"""Every engine in the registry keeps the contract, on every format that it says it runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from evals.levels import KEPT_OFF, bfloat16_is_kept_off
from exporter.base.readers.kinds.pir import read_pir
from exporter.base.references import factory_text
from exporter.bundle.open import Bundle
from exporter.engines.base import Availability, Runnable, SourceModel
from exporter.engines.child import ProbeRequest, probe
from exporter.pipeline import convert
from exporter.process.workers import SINGLE_THREAD, Limits, Setting, call
from exporter.prove.verdict.plan import ENGINES
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY
from tests.command import ROOT
from tests.contract.engine_child import Contract, Devices, contract, probes
from tests.exported import as_ir

Said: TypeAlias = Mapping[str, Mapping[str, Availability]]
SPEC = {
    "name": "exact",
    "model": "tests.contract.exact:build",
    "weights": "factory",
    "inputs": {
        "left": {"dtype": "float32", "shape": ["batch", 3]},
        "right": {"dtype": "float32", "shape": ["batch", 3]},
        "flags": {"dtype": "int64", "shape": ["rows", 2], "values": "integers(-8,8)"},
    },
    "dims": {"batch": {"min": 1, "typical": 2, "max": 5}, "rows": {"min": 1, "typical": 3, "max": 6}},
    "outputs": ["sums", "less", "double", "same"],
    "engines": ["paddle_inference", "onnxruntime"],
}
LIMITS = Limits(seconds=300)
#: Engines of a low precision compute nothing exactly: tests/e2e/test_int8.py has them.
PAIRS = [(name, format) for name, engine in ENGINES.all() for format in engine.formats if engine.runs(format, "fp32")]
#: Without a GPU, and with everything of dev.lock, only these cannot run. A missing engine must not skip its tests.
NEEDS_GPU = ["file_tensorrt", "paddle_inference_tensorrt"]
DEVICES = ("cpu", "gpu:0", "gpu:99")


@pytest.fixture(scope="module", autouse=True)
def at_the_root() -> Iterator[None]:
    """Children import the model, which is one of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        yield


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The exact model in every format, written by the product."""
    product = convert(Spec.model_validate(SPEC), tmp_path_factory.mktemp("contract") / "exact", Setting())
    assert product.bundle is not None, product.findings
    return product.bundle


@pytest.fixture(scope="module")
def said() -> Said:
    """What each engine's probe says of each device, with everything installed."""
    return call(probes, Devices(DEVICES), LIMITS).engines


@pytest.mark.parametrize(("name", "format"), PAIRS)
def test_engine_keeps_the_contract(name: str, format: str, bundle: Bundle, said: Said) -> None:
    keeps_the_contract(name, format, "cpu", bundle, said)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "format"), PAIRS)
def test_engine_keeps_the_contract_on_a_gpu(name: str, format: str, bundle: Bundle, said: Said) -> None:
    keeps_the_contract(name, format, "gpu:0", bundle, said)


def keeps_the_contract(name: str, format: str, device: str, bundle: Bundle, said: Said) -> None:
    if why := said[name][device].why_not:
        pytest.skip(f"{name} on {device}: {why}")
    if name == "openvino_default" and bfloat16_is_kept_off():
        pytest.skip(KEPT_OFF)
    answers = call(
        contract,
        Contract(name, device, artifact(format, bundle, of_a_file=name.startswith("file"))),
        LIMITS,
        environment={**SINGLE_THREAD, **ENGINES[name].environment(device)},
    ).checks
    assert answers == dict.fromkeys(answers, "ok")
    assert len(answers) >= 11


def artifact(format: str, bundle: Bundle, *, of_a_file: bool = False) -> Runnable:
    spec = Spec.model_validate(SPEC)
    if format == "source":
        outputs = tuple(output.name for output in bundle.manifest.outputs)
        path = bundle.folder / "pir/model.json"
        program = {"program": str(path), "inputs": [one.name for one in read_pir(path).inputs]}
        if (bundle.folder / "pir/model.pdiparams").is_file():
            program["parameters"] = str(bundle.folder / "pir/model.pdiparams")
        model = factory_text(FACTORY, program) if of_a_file else spec.model
        source = SourceModel(model, None, 0, spec.input_specs(), outputs, {})
        return Runnable(format, None, "", tuple(spec.inputs), outputs, source)
    if format == "openvino":
        variant, folder = bundle.manifest.variants["onnx"], Path(tempfile.mkdtemp())
        as_ir(bundle.folder / "onnx/model.onnx", folder / "model.xml")
        return Runnable(format, folder, "model.xml", tuple(variant.inputs), tuple(variant.native_outputs))
    variant = bundle.manifest.variants[format]
    main = next(Path(path) for path in variant.files if not path.endswith(".pdiparams"))
    folder = (bundle.folder / main).parent
    return Runnable(format, folder, main.name, tuple(variant.inputs), tuple(variant.native_outputs))


def test_only_what_needs_a_gpu_is_not_available(said: Said) -> None:
    assert [name for name, answer in said.items() if answer["cpu"].why_not] == NEEDS_GPU


def test_probe_tells_a_version_or_why_not_and_the_cure(said: Said) -> None:
    assert set(said) == set(ENGINES.names())
    for name, answer in said.items():
        for device, found in answer.items():
            complete = bool(found.version) != (bool(found.why_not) and bool(found.cure))
            assert complete, f"{name} on {device}: {found}"
        assert answer["gpu:99"].why_not, f"{name} would run on a GPU that is not there"


@pytest.mark.parametrize("raised", ["ImportError", "OSError", "RuntimeError", "AttributeError"])
def test_probe_of_a_broken_package_says_so(raised: str, tmp_path: Path) -> None:
    for package in ("paddle", "onnxruntime", "openvino"):
        (tmp_path / f"{package}.py").write_text(f"raise {raised}('libbroken.so.7 is not here')")
    answers = call(
        probe,
        ProbeRequest(tuple(ENGINES.names()), "cpu"),
        LIMITS,
        environment={"PYTHONPATH": str(tmp_path)},
    )
    for name, found in answers.engines.items():
        assert not found.version and found.cure, name
        assert name in NEEDS_GPU or "libbroken.so.7 is not here" in found.why_not, name
