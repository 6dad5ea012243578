"""What would be found only after a training is told before it: no run begins, and nothing is left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.command import exporter, refused
from tests.sampling import some

RECIPE, SPEC = "recipes/digits.py", "specs/digits.yaml"


def edit(file: Path, *changes: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in changes:
        assert old in text, f"{old!r} is not in {file}"
        text = text.replace(old, new)
    file.write_text(text)


def rank_names(text: str) -> tuple[str, str]:
    """A change of the last line of `forward`."""
    return "return self.linear(self.flatten(x))", text


#: The mistake: file, changes, exit code, what must be said.
MISTAKES = {
    "the metric takes one argument": (
        RECIPE,
        [("def accuracy(logits: np.ndarray, label: np.ndarray)", "def accuracy(label: np.ndarray)")],
        2,
        ("metric 'accuracy' failed", "positional argument"),
    ),
    "the metric gives an array": (
        RECIPE,
        [("return float((logits.argmax(axis=1) == label).mean())", "return logits.argmax(axis=1) == label")],
        2,
        ("metric 'accuracy' gave a ndarray", "return a float"),
    ),
    "the metric is NaN for whatever comes": (
        RECIPE,
        [("return float((logits.argmax(axis=1) == label).mean())", "return float('nan')")],
        4,
        ("metric 'accuracy' is nan",),
    ),
    "the loss takes other labels": (
        RECIPE,
        [("loss=nn.functional.cross_entropy", "loss=lambda logits: logits.mean()")],
        2,
        ("loss failed", "positional argument"),
    ),
    "the loss is no scalar": (
        RECIPE,
        [("loss=nn.functional.cross_entropy", "loss=lambda y, t: nn.functional.cross_entropy(y, t, reduction='none')")],
        2,
        ("loss gave a tensor of shape [32", "return a scalar tensor"),
    ),
    "the loss is computed outside of Paddle": (
        RECIPE,
        [("loss=nn.functional.cross_entropy", "loss=lambda y, t: paddle.to_tensor(float(y.mean()))")],
        2,
        ("the loss has no gradient",),
    ),
    "the optimizer cannot be built": (
        RECIPE,
        [("parameters=layer.parameters()", "parameter=layer.parameters()")],
        2,
        ("optimizer() failed", "parameter"),
    ),
    "the schedule fails at its first step": (
        RECIPE,
        [
            (
                "paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=EPOCHS)",
                "paddle.optimizer.lr.LambdaDecay(3e-3, lambda epoch: 1 / (1 - epoch))",
            )
        ],
        2,
        ("the learning-rate schedule failed", "ZeroDivisionError"),
    ),
    "the held-out data lacks its labels": (
        RECIPE,
        [('held_out={"image": image[held_out], "label": label[held_out]}', 'held_out={"image": image[held_out]}')],
        2,
        ("data().held_out", "no array 'label'"),
    ),
    "forward cannot take a last batch of one": (
        RECIPE,
        [
            rank_names("return self.linear(self.flatten(x).squeeze())"),
            ("order[::5], np.delete(order, np.s_[::5])", "order[:33], order[33:]"),
        ],
        2,
        ("held-out data",),
    ),
    "the recipe's image has another shape than the spec's": (
        SPEC,
        [("shape: [batch, 1, 8, 8]", "shape: [batch, 8, 8, 1]")],
        2,
        ("inputs.image.values: dataset", "the values are float32[8, 1, 8, 8]"),
    ),
    "the recipe's image has another dtype than the spec's": (
        SPEC,
        [("dtype: float32", "dtype: float64")],
        2,
        ("the values are float32[8, 1, 8, 8], the input is float64",),
    ),
    "the held-out data has no such input": (
        SPEC,
        [("  image:", "  picture:")],
        2,
        ("the recipe's held-out data has no array 'picture'", "one of: image, label"),
    ),
    "what is trained is not what is exported": (
        RECIPE,
        [
            ("    build=build,", "    build=lambda: paddle.nn.Sequential(Digits()),"),
        ],
        2,
        ("what the recipe trains does not fit the model", "recipes.digits:build"),
    ),
    "more outputs are named than forward returns": (
        SPEC,
        [("outputs: [logits]", "outputs: [logits, features]")],
        2,
        ("forward returns 1 values, and 2 are named",),
    ),
    "a branch that cannot be traced": (
        RECIPE,
        [rank_names("x = self.linear(self.flatten(x))\n        return x + float(np.mean(x.numpy().tolist()))")],
        1,
        (),
    ),
    "rows beyond what forward takes": (
        RECIPE,
        [rank_names("return self.linear(self.flatten(x)) + paddle.zeros([32, 10])[: len(image)]")],
        4,
        ("forward at batch=33", "recipes/digits.py"),
    ),
    "int8 keeps a layer that is not there": (
        SPEC,
        [("budget: 4 ", "precisions: {fp32: {}, int8: {formats: [onnx], keep: [conv9]}}\nbudget: 4 ")],
        2,
        ("no layer 'conv9'",),
    ),
    "the file of calibration samples is too short": (
        SPEC,
        [("budget: 4 ", "precisions: {fp32: {}, int8: {formats: [onnx], data: rows.safetensors}}\nbudget: 4 ")],
        2,
        ("rows.safetensors", "it has 5 rows for 'image', and 128 samples are asked for"),
    ),
    "an input's file is not there": (
        SPEC,
        [("values: dataset", "values: rows.npy")],
        2,
        ("rows.npy", "not a readable .npy file"),
    ),
    "an input's file is too short": (
        SPEC,
        [("values: dataset", "values: few.npy")],
        2,
        ("few.npy", "the file holds [5, 1, 8, 8]", "needs [8, 1, 8, 8]"),
    ),
    "a waiver names a format that is not released": (
        SPEC,
        [
            (
                "budget: 4 ",
                "waivers: [{claim: onxx/openvino/*, reason: known and accepted, until: 2999-01-01}]\nbudget: 4 ",
            )
        ],
        2,
        ("the waiver 'onxx/openvino/*' names no claim", "did you mean 'onnx'?"),
    ),
    "a runtime is to load what is not written": (
        SPEC,
        [("formats: [pir, pdmodel, onnx]", "formats: [pir]")],
        2,
        ("targets: ", "'paddle_inference>=2.6' has to load the artifacts", "add to formats: pdmodel"),
    ),
    "more is to be pruned than can be": (
        SPEC,
        [("budget: 4 ", "prune: {flops: 0.0001}\nbudget: 4 ")],
        4,
        ("FLOPs",),
    ),
}


@pytest.mark.parametrize("name", some(MISTAKES, 2))
def test_a_late_mistake_is_told_before_any_training(workplace: Path, name: str) -> None:
    file, changes, code, say = MISTAKES[name]
    edit(workplace / file, *changes)
    save_file({"image": np.zeros((5, 1, 8, 8), "float32")}, workplace / "rows.safetensors")
    np.save(workplace / "few.npy", np.zeros((5, 1, 8, 8), "float32"))
    done = exporter("release", SPEC, cwd=workplace)
    assert "training" not in done.err, "a training began"
    assert not (workplace / "runs").exists(), "a run began"
    if code == 1:  # findings are no error: they stand on stdout
        assert done.code == 1 and all(text in done.out for text in say), done.out
    else:
        refused(done, code, *say)
    assert not list((workplace / "artifacts").rglob("manifest.json"))


def test_what_only_one_format_refuses_is_told_before_any_training(workplace: Path) -> None:
    edit(workplace / RECIPE, rank_names("return paddle.poisson(self.linear(self.flatten(x)))"))
    edit(workplace / SPEC, ("formats: [pir, pdmodel, onnx]", "formats: [pir, onnx]"), ("targets:", "#"))
    done = exporter("release", SPEC, cwd=workplace)
    refused(done, 4, "onnx", "recipes/digits.py:")
    assert not (workplace / "runs").exists()


def test_what_a_consumer_cannot_take_is_told_at_its_line_before_any_training(workplace: Path) -> None:
    """rknn takes a width of at most 16,383; the consumer is named beside the runtimes."""
    wide = (
        "return self.linear(self.flatten(x)) + paddle.tile(x, [1, 1, 1, 10000]).mean([1, 2, 3], keepdim=True)[:, 0, 0]"
    )
    edit(workplace / RECIPE, rank_names(wide))
    edit(workplace / SPEC, ("targets: [paddle_inference>=2.6]", "targets: [rknn]"))
    line = next(at for at, text in enumerate((workplace / RECIPE).read_text().splitlines(), 1) if "tile" in text)
    done = exporter("release", SPEC, cwd=workplace)
    refused(done, 4, "rknn", "a width of 20,000, over 16,383", f"recipes/digits.py:{line}", "take rknn out of targets")
    assert "training" not in done.err and not (workplace / "runs").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x.flatten()", "output 'logits' has shape [20] for 2 of the samples, and metric 'accuracy' takes one row for"),
        ("x.sum(0, True)", "output 'logits' has shape [1, 10] for 2 of the samples"),
        ("(x, x + 1)", "metric 'accuracy' failed"),
    ],
    ids=["other rows", "one row for all", "more outputs"],
)
@pytest.mark.parametrize("unrated", [False, True], ids=["promised", "unrated"])
def test_a_metric_that_does_not_rate_the_model_is_told_before_any_training(
    workplace: Path, given: str, said: str, unrated: bool
) -> None:
    """The spec's model gives something else than the layer that the recipe trains, which is sound."""
    forward = f"    def forward(self, image):\n        x = super().forward(image)\n        return {given}"
    edit(workplace / RECIPE, ("    return Digits()", "    return Other()"), ("    build=build,", "    build=Digits,"))
    edit(workplace / RECIPE, ("def build()", f"class Other(Digits):\n{forward}\n\n\ndef build()"))
    loss = "max_metric_loss: unrated, " if unrated else ""
    outputs = "outputs: [logits, again]" if given == "(x, x + 1)" else "outputs: [logits]"
    int8 = f"int8: {{formats: [onnx], keep: [conv9], budget: {{{loss}max_size: 1}}}}"
    low = f"precisions: {{fp32: {{}}, {int8}}}\nbudget: 4 "
    edit(workplace / SPEC, ("outputs: [logits]", outputs), ("budget: 4 ", low))
    done = exporter("release", SPEC, cwd=workplace)
    if unrated:  # what comes next is told
        refused(done, 2, "no layer 'conv9'")
    else:
        refused(done, 2, "the recipe's metric does not rate what this model gives", said, "max_metric_loss: unrated")
    assert "training" not in done.err and not (workplace / "runs").exists()


METRIC = MISTAKES["the metric takes one argument"]


@pytest.mark.parametrize(
    "command",
    [("train", "digits"), ("prune", SPEC, "--flops", "0.5"), ("gate", SPEC)],
    ids=["train", "prune", "gate"],
)
def test_every_verb_that_trains_tells_it_before(workplace: Path, command: tuple[str, ...]) -> None:
    file, changes, code, say = METRIC
    edit(workplace / file, *changes)
    done = exporter(*command, cwd=workplace)
    assert done.code == code and say[0] in done.out + done.err, done.out + done.err
    assert "training" not in done.err and not (workplace / "runs").exists()


def test_a_checkpoint_that_is_there_is_not_converted_twice(released: Path, tmp_path: Path) -> None:
    """Nothing trains, so the conversion is the next step anyway; the values of all cases are still drawn before it."""
    work = Path(shutil.copytree(released, tmp_path / "work"))
    spec = work / SPEC
    done = exporter("release", SPEC, "--out", "again", cwd=work)
    assert done.code == 0, done.out + done.err
    steps = [line for line in done.err.splitlines() if line.startswith("·")]
    assert steps.count("· writing onnx") == 1 and "· trying the planned cases" in steps
    assert not any("rehearsing" in line for line in steps)
    edit(spec, ("shape: [batch, 1, 8, 8]", "shape: [batch, 8, 8, 1]"))
    done = exporter("release", SPEC, "--out", "wrong", cwd=work)
    refused(done, 2, "the values are float32[8, 1, 8, 8]")
    assert "writing" not in done.err
