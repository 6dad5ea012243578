"""Rows without a token, lengths of 0, negative ids: what breaks engines apart there fails, and what does not passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bundle.test_verify_py import run
from tests.command import Done, exporter

#: Ways to mask an attention, which part in a row that is all padding; `seq` is a multiple of 8, where Paddle's softmax
#: of nothing but -inf is 1/n.
MODEL = """
import math

import paddle
import paddle.nn.functional as F
from paddle import nn

ALL = {
    "where_inf": lambda s, m: F.softmax(paddle.where(m > 0, s, paddle.full_like(s, -math.inf)), -1),
    "added_inf": lambda s, m: F.softmax(
        s + paddle.where(m > 0, paddle.zeros_like(s), paddle.full_like(s, -math.inf)), -1),
    "filled_inf": lambda s, m: F.softmax(paddle.masked_fill(s, (m == 0).expand_as(s), -math.inf), -1),
    "where_large": lambda s, m: F.softmax(paddle.where(m > 0, s, paddle.full_like(s, -1e9)), -1),
    "added_large": lambda s, m: F.softmax(s + (1.0 - m) * -1e9, -1),
    "filled_large": lambda s, m: F.softmax(paddle.masked_fill(s, (m == 0).expand_as(s), -1e9), -1),
    "multiplied": lambda s, m: F.softmax(s, -1) * m,
    "by_hand": lambda s, m: by_hand(paddle.where(m > 0, s, paddle.full_like(s, -math.inf))),
    "weighted": lambda s, m: weighted(paddle.exp(s) * m),
    "weighted_clipped": lambda s, m: (paddle.exp(s) * m) / (paddle.exp(s) * m).sum(-1, keepdim=True).clip(min=1e-6),
}


def by_hand(s):
    e = paddle.exp(s - s.max(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def weighted(e):
    return e / e.sum(-1, keepdim=True)


class Masked(nn.Layer):
    def __init__(self, which):
        super().__init__()
        paddle.seed(2)
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 5)
        self.which = which

    def forward(self, x, mask):
        s = paddle.matmul(self.q(x), self.k(x), transpose_y=True) / math.sqrt(8)
        m = mask.unsqueeze(1).astype("float32")
        return {name: paddle.matmul(ALL[name](s, m), self.v(x)).mean(1) for name in self.which}


class Lengths(nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(2)
        self.r, self.v = nn.LSTM(8, 6, direction="bidirect"), nn.Linear(8, 5)

    def forward(self, x, lengths):
        mask = F.sequence_mask(lengths, maxlen=x.shape[1], dtype="float32").unsqueeze(-1)
        summed, count = (self.v(x) * mask).sum(1), lengths.unsqueeze(-1).astype("float32")
        return {"rnn": self.r(x, sequence_length=lengths)[0].mean(1), "mean": summed / count,
                "safe": summed / count.clip(min=1.0)}


class Ids(nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(2)
        self.e, self.v, self.w = nn.Embedding(40, 8, padding_idx=0), nn.Linear(8, 5), nn.Linear(8, 1)

    def forward(self, ids, places):
        h, m = self.e(ids), (ids != 0).unsqueeze(-1)
        weights = F.softmax(paddle.where(m, self.w(h), paddle.full_like(self.w(h), -math.inf)), 1)
        return {"attended": (weights * self.v(h)).sum(1), "summed": (self.v(h) * m.astype("float32")).sum(1),
                "taken": paddle.gather(self.v(h)[0], places, axis=0)}


class Limited(nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(2)
        self.v = nn.Linear(4, 5)

    def forward(self, x):
        return {"tanh": paddle.tanh(self.v(x)), "relu": self.v(F.relu(x))}
"""
SPEC = """
name: {name}
version: "1"
model: extremes_model:{model}
weights: factory
inputs:
{inputs}
dims: {{batch: {{min: 1, typical: 5, max: 6}}{dims}}}
formats: [onnx]
engines: [onnxruntime]
"""
SEQ = ", seq: {min: 8, typical: 16, max: 24, multiple_of: 8}"
X = "  x: {dtype: float32, shape: [batch, seq, 8]}\n"
WRONG, RIGHT = ("where_inf", "added_inf", "filled_inf"), ("where_large", "added_large", "filled_large", "multiplied")
#: Right in so far as no engine has an answer where eager has none.
UNANSWERED = ("by_hand", "weighted")


def released(place: Path, model: str, inputs: str, dims: str = SEQ, which: tuple[str, ...] = ()) -> tuple[Done, Any]:
    """What became of a release, and its parity.json."""
    (place / "extremes_model.py").write_text(MODEL)
    args = f"\nargs: {{which: {json.dumps(list(which))}}}" if which else ""
    text = SPEC.format(name="net", model=model, inputs=inputs, dims=dims) + args
    (place / "net.yaml").write_text(text)
    done = exporter("release", "net.yaml", cwd=place)
    bundle = place / "artifacts/net" / ("1" if done.code == 0 else "failed")
    return done, json.loads((bundle / "parity.json").read_text())


def outcomes(parity: Any) -> dict[str, set[str]]:
    """By output those of the cases that hold extremes in their rows, in ONNX Runtime."""
    found: dict[str, set[str]] = {}
    for check in parity["checks"]:
        if check["engine"] == "onnxruntime" and (":rows_of_" in check["case"] or ":not_finite" in check["case"]):
            found.setdefault(check["output"], set()).add(check["outcome"])
    return found


MASK = X + "  mask: {dtype: int64, shape: [batch, seq], values: 'integers(0,2)'%s}"


def test_a_row_of_padding_fails_what_gives_nan_there_and_nothing_else(workplace: Path) -> None:
    which = (*WRONG, *RIGHT, *UNANSWERED, "weighted_clipped")
    done, parity = released(workplace, "Masked", MASK % "", which=which)
    assert done.code == 1, done.out + done.err
    assert outcomes(parity) == {name: {"mismatch" if name in WRONG else "match"} for name in which}
    failed = [check for check in parity["checks"] if check["outcome"] == "mismatch" and check["kind"] == "outputs"]
    assert {check["case"] for check in failed} == {"batch=5,seq=16:rows_of_mask"}
    reason = "holds NaN or infinity where eager is finite (5 of 25 numbers, in 1 of 5 rows, the first of them row 1)"
    assert {check["reason"] for check in failed} == {reason}
    assert "`inputs.mask.empty_rows: false` in the spec" in done.out + done.err
    assert "in this row engines part on what is not finite" in done.out + done.err
    noted = [note for note in parity["notes"] if "eager itself gives NaN or infinity" in note]
    assert len(noted) == 1 and all(f"{name} (5 of 25 numbers)" in noted[0] for name in UNANSWERED)


def test_who_promises_that_no_row_is_padding_has_none_in_any_case(workplace: Path) -> None:
    done, parity = released(workplace, "Masked", MASK % ", empty_rows: false", which=(*WRONG, *UNANSWERED))
    assert done.code == 0, done.out + done.err
    assert outcomes(parity) == {name: {"match"} for name in (*WRONG, *UNANSWERED)}, "one token is still a case"
    page = (workplace / "artifacts/net/1/report.html").read_text()
    assert "finite numbers only" in page and "no row that is all 0" in page
    manifest = json.loads((workplace / "artifacts/net/1/manifest.json").read_text())
    assert manifest["spec"]["inputs"]["mask"]["empty_rows"] is False
    assert manifest["spec"]["inputs"]["x"]["finite"] is True


def test_what_has_no_answer_for_a_length_of_0_passes_wherever_it_is_verified(workplace: Path) -> None:
    lengths = X + "  lengths: {dtype: int64, shape: [batch], values: 'integers(0,seq+1)'}"
    done, parity = released(workplace, "Lengths", lengths)
    assert done.code == 0, done.out + done.err
    assert outcomes(parity) == {name: {"match"} for name in ("rnn", "mean", "safe")}
    assert [note for note in parity["notes"] if "mean (5 of 25 numbers)" in note]
    bundle = workplace / "artifacts/net/1"
    verified = exporter("verify", str(bundle), "--source", ".", cwd=workplace)
    assert verified.code == 0, verified.out + verified.err
    code, said = run(bundle)
    assert code == 0, said


def test_rows_of_padding_and_negative_ids_are_cases_of_ids(workplace: Path) -> None:
    ids = (
        "  ids: {dtype: int64, shape: [batch, seq], values: 'integers(0,40)'}\n"
        "  places: {dtype: int64, shape: [batch], values: 'integers(-8,8)'}"
    )
    done, parity = released(workplace, "Ids", ids)
    assert done.code == 1, done.out + done.err
    assert outcomes(parity) == {"attended": {"match", "mismatch"}, "summed": {"match"}, "taken": {"match"}}
    assert "inputs.ids.empty_rows" in done.out + done.err


@pytest.mark.parametrize(("which", "outcome"), [("", "match"), (", finite: false", "mismatch")])
def test_who_asks_for_nan_gets_what_engines_do_with_it(workplace: Path, which: str, outcome: str) -> None:
    """`relu` of NaN is 0 in eager and NaN in ONNX Runtime; `tanh` is NaN in both."""
    done, parity = released(workplace, "Limited", f"  x: {{dtype: float32, shape: [batch, 4]{which}}}", dims="")
    assert done.code == (outcome == "mismatch"), done.out + done.err
    if which:
        assert outcomes(parity) == {"tanh": {"match"}, "relu": {"mismatch"}}
        assert "`inputs.x.finite: false`" in done.out + done.err
    else:
        assert outcomes(parity) == {}


@pytest.mark.slow
def test_no_fault_survives_where_rows_have_no_answer(workplace: Path) -> None:
    """A fault's effect is measured by the cases in which every row has one."""
    done, _ = released(workplace, "Masked", MASK % "", which=("where_large", "by_hand"))
    assert done.code == 0, done.out + done.err
    drilled = exporter("drill", "artifacts/net/1", "--source", ".", "--json", cwd=workplace)
    assert drilled.code == 0 and drilled.json()["survived"] == [], drilled.out + drilled.err
