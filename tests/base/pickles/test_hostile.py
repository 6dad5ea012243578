"""A pickle can ask for anything. What asks for more than arrays is refused, by its name, before anything of it runs."""

from __future__ import annotations

import os
import pickle  # noqa: TID251  # written here, never read
import resource
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.base.errors import BundleError, UsageError
from exporter.base.pickles.state import read_tensors, state_of
from exporter.base.pickles.values import PickleRefused
from exporter.base.readers.kinds import pdparams
from tests.base.pickles.hand_built import Calls, array, call, file_of, text
from tests.command import exporter, refused

W = b"\x00\x00\x80\x3f"
RELAXED = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
EVAL = b"cbuiltins\neval\n"


def test_the_hand_built_array_is_one() -> None:
    """What the hostile ones below differ from by little."""
    tensors = state_of(file_of(array((1,), W), EVAL + text("data") + b"}" + text("data") + array((1,), W) + b"s\x86R"))
    assert {name: value.tolist() for name, value in tensors.tensors().items()} == {"a0": [1.0], "a1": [1.0]}


HOSTILE = {
    "os.system": file_of(call(b"os\nsystem", text("touch ran"))),
    "posix.system": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x09touch ran\x94\x85\x94R\x94.",
    "protocol 0": b"cos\nsystem\n(S'touch ran'\ntR.",
    "builtins.exec": file_of(call(b"builtins\nexec", text("import os; os.system('touch ran')"))),
    "eval of code": file_of(EVAL + text("__import__('os').system('touch ran')") + b"}\x86R"),
    "eval of data beside more": file_of(
        EVAL + text("data") + b"}" + text("data") + array((1,), W) + b"s" + text("x") + b"Ns\x86R"
    ),
    "eval alone": file_of(EVAL + text("1") + b"\x85R"),
    "eval of no array": file_of(EVAL + text("data") + b"}" + text("data") + text("x") + b"s\x86R"),
    "a dotted name": b"\x80\x04\x8c\x08builtins\x8c\x0dtuple.__new__\x93)R.",
    "a submodule of an allowed one": file_of(call(b"numpy.core\nmultiarray", b"")),
    "numpy.load": file_of(call(b"numpy\nload", text("x"))),
    "numpy.ndarray called": file_of(call(b"numpy\nndarray", b"(\x8a\x08" + struct.pack("<q", 1 << 44) + b"t")),
    "a class and its state": b"\x80\x02ccollections\nOrderedDict\n)R}" + text("__class__") + b"Nsb.",
    "state of a list": b"\x80\x02]}b.",
    "state of a name": file_of(b"cnumpy\nndarray\n}b"),
    "NEWOBJ": b"\x80\x02ccollections\nOrderedDict\n)\x81.",
    "NEWOBJ_EX": b"\x80\x04ccollections\nOrderedDict\n)}\x92.",
    "INST": b"\x80\x02(icollections\nOrderedDict\n.",
    "OBJ": b"\x80\x02(ccollections\nOrderedDict\no.",
    "PERSID": b"\x80\x02Pevil\n.",
    "BINPERSID": b"\x80\x02U\x01xQ.",
    "EXT1": b"\x80\x02\x82\x01.",
    "EXT4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "NEXT_BUFFER": b"\x80\x05\x97.",
    "DUP": b"\x80\x02}22.",
    "a newer protocol": b"\x80\x06}.",
    "bytes of a size": file_of(call(b"builtins\nbytes", b"\x8a\x08" + struct.pack("<q", 1 << 44))),
    "a tuple of many": file_of(b"cbuiltins\ntuple\n(]r\x01\x00\x00\x00(" + b"N" * 10 + b"e\x85R0N"),
    "an encoding": file_of(call(b"_codecs\nencode", text("x") + text("rot13"))),
    "14 TB": file_of(array((14_000_000_000_000 // 4,), W)),
    "a shape that overflows": file_of(array((1 << 40, 1 << 40, 0), b"")),
    "a shape of enormous numbers": file_of(array((1 << 62, 0), b"")),
    "a negative size": file_of(array((-1,), W)),
    "33 dimensions": file_of(array((1,) * 33, W)),
    "numbers missing": file_of(array((2,), W)),
    "numbers left over": file_of(array((1,), W * 2)),
    "objects": file_of(array((1,), b"12345678", b"O8")),
    "text in an array": file_of(array((1,), W, b"S4")),
    "records": file_of(array((1,), W, b"V4")),
    "an array twice": file_of(array((1,), W) + array((1,), W)[array((1,), W).index(b"(K\x01") :]),
    "an array never filled": file_of(b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"),
    "an array reconstructed large": file_of(
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x8a\x08"
        + struct.pack("<q", 1 << 44)
        + b"\x85C\x01b\x87R"
    ),
    "a subclass": file_of(b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nmatrix\nK\x00\x85C\x01b\x87R"),
    "a long number": b"\x80\x02\x8b\xff\xff\xff\x7f.",
    "a negative length": b"\x80\x02T\xff\xff\xff\xff.",
    "two names alike": file_of(b"}U\x01b" + array((1,), W) + b"s")[:-2] + text("a0.b") + array((1,), W) + b"u.",
    "no name": b"\x80\x03}" + array((1,), W) + array((1,), W) + b"s.",
    "a name of 5,000 letters": b"\x80\x03}" + text("x" * 5000) + array((1,), W) + b"s.",
    "a name that is no text": b"\x80\x03}X\x02\x00\x00\x00\xff\xfe" + array((1,), W) + b"s.",
    "itself": b"\x80\x02}q\x00" + text("x") + b"h\x00s.",
    "a list of itself": b"\x80\x02}" + text("x") + b"]q\x00h\x00as.",
    "no mark": b"\x80\x02t.",
    "an empty stack": b"\x80\x020.",
    "no memo": b"\x80\x02h\x07.",
    "two values": b"\x80\x02NN.",
    "bytes behind": b"\x80\x02}.}",
    "no end": b"\x80\x02}",
    "a mark at the end": b"\x80\x02(.",
    "empty": b"",
    "no dictionary": b"\x80\x02N.",
    "a key without a value": b"\x80\x02}(Nu.",
    "pieces that are no dictionary": b"\x80\x02}" + text("UnpackBigParamInfor@@") + b"Ns.",
}
HOSTILE["pieces that are missing"] = (
    b"\x80\x02}" + text("UnpackBigParamInfor@@") + b"}" + text("a") + b"}" + text("OriginShape") + b"K\x01\x85s"
    + text("slices") + b"]" + text("a@@.0") + b"assss."
)  # fmt: skip
NAMED = {
    "os.system": "os.system",
    "posix.system": "posix.system",
    "protocol 0": "os.system",
    "builtins.exec": "builtins.exec",
    "a dotted name": "builtins.tuple.__new__",
    "a submodule of an allowed one": "numpy.core.multiarray",
    "numpy.load": "numpy.load",
    "a subclass": "numpy.matrix",
    "eval of code": "builtins.eval",
    "numpy.ndarray called": "numpy.ndarray",
    "NEWOBJ": "NEWOBJ",
    "PERSID": "PERSID",
    "EXT1": "EXT1",
    "14 TB": "takes 14,000,000,000,000 bytes",
    "objects": "'O8' is not a number",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_is_refused_and_nothing_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "w.pdparams"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(UsageError) as refusal:
        read_tensors(path)
    assert NAMED.get(name, "") in refusal.value.what
    assert refusal.value.where == str(path) and refusal.value.hint
    with pytest.raises(BundleError):
        pdparams.plugin.facts(HOSTILE[name], "here")
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.pdparams"]


@pytest.mark.parametrize("protocol", range(6))
def test_what_python_itself_pickles_hostile_is_refused(protocol: int, tmp_path: Path) -> None:
    """By Python's own pickler, beside real weights, before and behind them."""
    weights = np.ones(3, "float32")
    evil = [Calls(os.system, ("touch ran",)), Calls(eval, ("1", {})), Calls(getattr, (weights, "tobytes")), Calls]
    for value in evil:
        for state in ({"w": weights, "x": value}, {"x": [value], "w": weights}):
            path = tmp_path / "w.pdparams"
            path.write_bytes(pickle.dumps(state, protocol))
            with pytest.raises(UsageError, match="not a pickle of arrays alone"):
                read_tensors(path)


@pytest.mark.parametrize("arguments", [("import", "w.pdparams"), ("inspect", "w.pdparams")], ids=lambda one: one[0])
def test_the_command_line_names_what_it_asks_for(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "w.pdparams").write_bytes(HOSTILE["posix.system"])
    done = exporter(*arguments, cwd=tmp_path)
    refused(done, 5 if arguments[0] == "inspect" else 2, "posix.system", "w.pdparams")
    assert [path.name for path in tmp_path.iterdir()] == ["w.pdparams"]


def test_hostile_weights_never_reach_the_model(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import paddle\n\ndef build():\n    return paddle.nn.Linear(1, 1)\n")
    (tmp_path / "w.pdparams").write_bytes(HOSTILE["os.system"])
    options = ["--input", "x=float32[2,1]", "--formats", "pir", "--weights", "w.pdparams", "--out", "out"]
    refused(exporter("convert", "model:build", *options, cwd=tmp_path), 2, "os.system")
    assert not (tmp_path / "ran").exists() and not (tmp_path / "out").exists()


def bombs() -> dict[str, bytes]:
    """Small files that would be large, or long, if they were believed."""
    laughs = b"\x80\x02]q\x00"
    for level in range(200):  # each list holds the one before ten times
        laughs += b"0" + b"](" + b"h%c" % level * 10 + b"eq%c" % (level + 1)
    encoded = b"c_codecs\nencode\nq\x01" + text("x" * 1_000_000) + b"q\x02" + text("latin1") + b"q\x03\x870"
    one = b"h\x01h\x02h\x03\x86R0"
    shared = array((100_000,), bytes(400_000)) + b"q\x07"
    names = b"".join(text(f"n{number}") + b"h\x07" for number in range(30_000))
    return {
        "laughs": b"\x80\x02}" + text("x") + laughs[2:] + b"s.",
        "one opcode, over and over": b"\x80\x02]" + b"Na" * 3_000_000 + b".",
        "pushed and never taken": b"\x80\x02" + b"N" * 30_000_000,
        "marks": b"\x80\x02" + b"(" * 30_000_000,
        "text encoded again and again": b"\x80\x02" + encoded + one * 200_000 + b"N.",
        "one array under many names": b"\x80\x03}" + text("a") + shared + b"s(" + names + b"u.",
    }


@pytest.mark.parametrize("name", bombs())
def test_a_bomb_takes_little_time_and_memory(name: str) -> None:
    content, before = bombs()[name], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with pytest.raises(PickleRefused):
        state_of(content)
    assert time.process_time() - start < 10
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert grown < 500, f"{grown} MB"


def assert_total(content: bytes) -> None:
    try:
        tensors: dict[str, Any] = state_of(content).tensors()
    except PickleRefused as refusal:
        assert str(refusal)
    else:
        assert sum(value.nbytes for value in tensors.values()) <= 16 * len(content)


@RELAXED
@given(st.binary(max_size=300))
def test_random_bytes(content: bytes) -> None:
    assert_total(content)
    assert_total(b"\x80\x04" + content)


@RELAXED
@given(data=st.data())
def test_bent_files(saved: Path, data: st.DataObject) -> None:
    content = bytearray((saved / data.draw(st.sampled_from(("net4.pdparams", "adam2.pdopt")))).read_bytes())
    for bit in data.draw(st.lists(st.integers(0, len(content) * 8 - 1), min_size=1, max_size=8)):
        content[bit // 8] ^= 1 << bit % 8
    start = data.draw(st.integers(0, len(content)))
    assert_total(bytes(content))
    assert_total(
        bytes(content[:start] + data.draw(st.binary(max_size=9)) + content[start + data.draw(st.integers(0, 9)) :])
    )
    with pytest.raises(PickleRefused):
        state_of(bytes(content[: data.draw(st.integers(0, len(content) - 1))]))
