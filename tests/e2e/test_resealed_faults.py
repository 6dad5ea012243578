"""Whoever can write to a bundle can make its hashes right again. Then only the numbers tell: they must."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.base.errors import ExitCode
from tests import faults
from tests.command import Done, exporter
from tests.sampling import some

FAULTS: dict[str, Callable[[Path], object]] = {
    "one tensor zeroed": faults.zero_tensor,
    "two of one shape swapped": faults.swap_tensors,
    "one scaled by 1.01": faults.scale_tensor,
    "the last one scaled by 1.01": lambda path: faults.scale_tensor(path, place=-1),
}


def verified(bundle: Path, *engines: str) -> Done:
    return exporter("verify", bundle, "--json", "--engines", ",".join(engines), cwd=bundle.parent)


def forged(bundle: Path) -> None:
    """Seal again, and make also the recorded digests of the stored tensors right, so that only running it tells."""
    from exporter.export.lower.stored import stored_digests

    manifest = bundle / "manifest.json"
    content = json.loads(manifest.read_bytes())
    for variant in content["variants"].values():
        variant["weights"] = stored_digests(variant["files"], bundle)
    manifest.write_text(json.dumps(content))
    faults.reseal(bundle)


@pytest.mark.parametrize("name", some(FAULTS, 2))
@pytest.mark.parametrize("engine", ["jit_load", "paddle_inference"])
def test_in_the_parameters_of_either_paddle_format(digits: Path, tmp_path: Path, name: str, engine: str) -> None:
    """Both formats in one run, each judged by itself."""
    copy = faults.copied(digits, tmp_path / "copy")
    for variant in ("pir", "pdmodel"):
        FAULTS[name](copy / variant / "model.pdiparams")
    forged(copy)
    done = verified(copy, engine)
    told = done.json()
    assert done.code == ExitCode.REFUSED and told["verdict"] == "failed"
    for variant in ("pir", "pdmodel"):
        ran = [one for one in told["checks"] if one["engine"] == engine and one["format"] == variant]
        assert ran and any(one["outcome"] == "mismatch" for one in ran), f"{variant} was not caught by its numbers"
        assert all(one["reason"] for one in ran if one["outcome"] != "match")


# With the batch norms folded, the digits' ONNX holds no two tensors of one shape.
@pytest.mark.parametrize("name", some((name for name, fault in FAULTS.items() if fault is not faults.swap_tensors), 2))
def test_in_the_initializers_of_onnx(digits: Path, tmp_path: Path, name: str) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    FAULTS[name](copy / "onnx/model.onnx")
    forged(copy)
    done = verified(copy, "onnxruntime")
    told = done.json()
    assert done.code == ExitCode.REFUSED and told["verdict"] == "failed"
    ran = [one for one in told["checks"] if one["engine"] == "onnxruntime" and one["kind"] == "outputs"]
    assert ran and any(one["outcome"] == "mismatch" and one["error_ratio"] > 4 for one in ran)


@pytest.mark.parametrize("variant", ["pir/model.pdiparams", "pdmodel/model.pdiparams", "onnx/model.onnx"])
def test_by_content_alone_when_the_manifest_was_not_forged(digits: Path, tmp_path: Path, variant: str) -> None:
    """One number moved by one unit in its last place shows at no output, and all the same it is not what was sealed."""
    copy = faults.copied(digits, tmp_path / "copy")
    weight = faults.float_weights(copy / variant)[0]
    ((start, _),) = weight.pieces
    faults.flip_bit(copy / variant, start * 8)
    faults.reseal(copy)
    engine = "onnxruntime" if "onnx" in variant else "jit_load"
    done = verified(copy, engine)
    proof = [one for one in done.json()["checks"] if one["kind"] == "weights" and one["outcome"] == "mismatch"]
    assert done.code == ExitCode.REFUSED and [one["format"] for one in proof] == [variant.partition("/")[0]]


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("pir/model.pdiparams", "jit_load"),
        ("pdmodel/model.pdiparams", "paddle_inference"),
        ("pir/model.json", "paddle_inference"),
        ("pdmodel/model.pdmodel", "jit_load"),
        ("onnx/model.onnx", "onnxruntime"),
    ],
)
@pytest.mark.parametrize("keep", some([0.5, 0.999], 2))
def test_a_file_truncated(digits: Path, tmp_path: Path, name: str, engine: str, keep: float) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    faults.truncate(copy / name, keep)
    faults.reseal(copy)
    done = verified(copy, engine)
    assert done.code in (ExitCode.REFUSED, ExitCode.MODEL, ExitCode.BUNDLE), (done.code, done.out[-500:], done.err)


def test_a_bundle_of_which_nothing_was_changed_passes_when_sealed_again(digits: Path, tmp_path: Path) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    forged(copy)
    assert verified(copy, "onnxruntime").code == 0


def test_two_artifacts_of_one_format_exchanged(digits: Path, tmp_path: Path) -> None:
    """The parameters of `.pdmodel` under the program of PIR: the same tensors, perhaps in another order."""
    copy = faults.copied(digits, tmp_path / "copy")
    one, other = (copy / name / "model.pdiparams" for name in ("pir", "pdmodel"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    faults.reseal(copy)
    done = verified(copy, "jit_load")
    if first == second:
        assert done.code == 0
    else:
        assert done.code in (ExitCode.REFUSED, ExitCode.MODEL, ExitCode.BUNDLE)


def test_inputs_of_the_goldens_changed(digits: Path, tmp_path: Path) -> None:
    """Not the artifact but its record is wrong: eager's answers do not belong to these inputs."""
    copy = faults.copied(digits, tmp_path / "copy")
    path = copy / "golden.safetensors"
    content = bytearray(path.read_bytes())
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    base = 8 + int.from_bytes(content[:8], "little")
    name = next(key for key in sorted(header) if "/input/" in key)
    start, stop = (base + offset for offset in header[name]["data_offsets"])
    content[start:stop] = bytes(stop - start)
    path.write_bytes(content)
    faults.reseal(copy)
    assert verified(copy, "onnxruntime").code == ExitCode.REFUSED
