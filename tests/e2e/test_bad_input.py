"""Every mistake of a user's: what is wrong, where, what to do, no traceback, the right exit code, and nothing lost."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from exporter.base.errors import ExitCode
from tests.command import COMMAND, Done, contents, environment, exporter, leftovers, refused
from tests.sampling import some

MLP = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4", "--formats", "pir", "--out", "out")


def without_root_s_powers() -> None:
    """In a child before its program starts: root too must heed who may read and write (Linux)."""
    if os.getuid() == 0:
        drop, override, read = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of linux/prctl.h
        for power in (override, read):
            ctypes.CDLL(None).prctl(drop, power, 0, 0, 0)


@pytest.fixture
def refused_convert(workplace: Path) -> Iterator[Callable[..., Done]]:
    """`exporter convert MODEL …` must end with `code` and `say` why, and lose or leave nothing in the folder."""
    (workplace / "kept.txt").write_text("mine")
    before: dict[str, bytes] = {}

    def run(model: str, *more: str | Path, code: int, say: tuple[str, ...]) -> Done:
        before.update(contents(workplace))
        done = exporter("convert", model, *MLP, *more, cwd=workplace)
        refused(done, code, *say)
        return done

    yield run
    after = {name: content for name, content in contents(workplace).items() if "__pycache__" not in name}
    assert after == before, "a refusal leaves everything as it was"


@pytest.mark.parametrize(
    ("arguments", "say"),
    [
        (("release", "specs/digit.yaml"), ("specs/digit.yaml", "no such spec", "did you mean 'specs/digits.yaml'?")),
        (("release", "specs"), ("specs", "is a folder, with", "give 'specs/")),
        (("release", "x" * 300), ("File name too long",)),
        (("release", "specs/digits.yaml", "--set", "budgt=3"), ("unknown key 'budgt'", "did you mean 'budget'?")),
        (
            ("release", "specs/digits.yaml", "--set", "dims.batch.min=99"),
            ("min (99) is greater than max (64)", "specs/digits.yaml:"),
        ),
        (
            ("release", "specs/digits.yaml", "--set", "engines=[onnxruntim]"),
            ("unknown engine 'onnxruntim'", "did you mean 'onnxruntime'?"),
        ),
        (("release", "specs/digits.yaml", "--device", "cuda"), ("device",)),
        (("release", "specs/digits.yaml", "--timeout", "0"), ("--timeout", "--help")),
        (("release",), ("SPEC", "--help")),
        (("releese", "specs/digits.yaml"), ("No such command", "--help")),
        (("verify", "artifacts/none"), ("no such bundle",)),
        (("verify", "specs"), ("no manifest.json here",)),
        (("convert", "specs/digits.yaml", "--input", "x=float32[1]"), ("a spec says its inputs itself", "--set")),
        (("convert", ".", "--input", "x=float32[1]"), ("a program says its inputs itself", "leave it out")),
        (("convert", "specs/../nowhere"), ("no such file or folder", "module:factory, or a Paddle program")),
        (("convert", "models.sound:mlp"), ("a model needs its inputs", "--input image=")),
        (("convert", "models.sound:mlp", "--input", "x=float[3]"), ("float32",)),
        (("convert", "models.sound:mlp", "--input", "x=float32[n]"), ("dim 'n' is used in inputs but not described",)),
        (("convert", "models.sound:mlp", "--input", "x=float32[n]", "--dim", "n=4..1"), ("min (4) is greater than",)),
        (("convert", "models.sound:mlp", *MLP, "--values", "y=normal"), ("no input is called 'y'", "one of: x")),
        (("convert", "models.nowhere:build", *MLP), ("models.nowhere", "run from the folder that holds models")),
        (("convert", "models.sound:mlp", *MLP, "--weights", "none.safetensors"), ("none.safetensors", "no such check")),
        (("convert", "models.sound:mlp", *MLP, "--weights", "."), ("is a folder, not a checkpoint",)),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else None,
)
def test_what_needs_no_child_to_be_refused(workplace: Path, arguments: tuple[str, ...], say: tuple[str, ...]) -> None:
    before = contents(workplace)
    refused(exporter(*arguments, cwd=workplace), ExitCode.USAGE, *say)
    assert contents(workplace) == before


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ("name: net\nmodel: [a\n", (":3:1", "not valid YAML", "mend")),
        ("name: net\nseed: !!int x\n", (":2:7", "not valid YAML", "leave the tag out")),
        ("nmae: net\n", (":1:1", "unknown key 'nmae'", "did you mean 'name'?")),
        ("name: net\nname: net\n", (":2:1", "given twice", "line 1")),
        ("- 1\n", ("a spec is a mapping", "exporter init --schema")),
    ],
)
def test_a_spec_that_is_wrong_is_shown_by_its_place(workplace: Path, text: str, say: tuple[str, ...]) -> None:
    (workplace / "net.yaml").write_text(text)
    for verb in ("release", "convert"):
        refused(exporter(verb, "net.yaml", cwd=workplace), ExitCode.USAGE, f"net.yaml{say[0]}"[:8], *say)


def test_with_json_an_error_is_one_object_and_stdout_holds_nothing_else(workplace: Path) -> None:
    done = exporter("release", "specs/none.yaml", "--json", cwd=workplace)
    assert done.code == ExitCode.USAGE
    assert done.json() == {
        "error": {"what": "no such spec", "where": "specs/none.yaml", "hint": done.json()["error"]["hint"], "exit": 2}
    }
    assert done.json()["error"]["hint"]


@pytest.mark.parametrize(
    ("model", "code", "say"),
    [
        ("models.raises_on_import:build", 2, ("models/raises_on_import.py:3", "cannot be imported today")),
        ("models.exits_on_import:build", 2, ("models/exits_on_import.py:5", "SystemExit")),
        ("models.imports_what_is_not_there:build", 2, (".py:3", "install a_package_that_is_not_installed")),
        ("models.sound:mlpp", 2, ("models.sound has no 'mlpp'", "did you mean 'mlp'?")),
        ("models.unsound:not_a_layer", 2, ("returned dict, not a paddle.nn.Layer", "name a function")),
        ("models.unsound:NOT_CALLABLE", 2, ("int is not callable",)),
        ("models.unsound:needs_argument", 2, ("without arguments", "'width'")),
        ("models.unsound:raising", 4, ("models/unsound.py:", "the factory cannot do it", "error EX206")),
        ("models.unsound:poisoned", 4, ("last.bias", "the weights hold NaN: 1 of the 3 numbers of 'last.bias'")),
        ("models.hostile:Segfault", 4, ("SIGSEGV", "while running forward")),
        ("models.hostile:Leaving", 4, ("left with code 0 and no answer", "while running forward")),
    ],
)
def test_models_that_cannot_be_exported(
    refused_convert: Callable[..., Done], model: str, code: int, say: tuple[str, ...]
) -> None:
    refused_convert(model, code=code, say=say)


def test_a_file_that_is_no_python_is_a_finding(workplace: Path) -> None:
    before = contents(workplace)
    done = exporter("convert", "models.broken_syntax:build", *MLP, cwd=workplace)
    assert done.code == ExitCode.REFUSED
    assert "models/broken_syntax.py:1:11" in done.out and "not valid Python" in done.out and "mend" in done.out
    assert contents(workplace) == before


@pytest.mark.parametrize("model", some(["Deaf", "Endless"], 2))
def test_a_forward_without_end_is_ended(refused_convert: Callable[..., Done], model: str) -> None:
    say = ("its limit of 8 s", "while running forward", "--timeout")
    refused_convert(f"models.hostile:{model}", "--timeout", "8", code=4, say=say)


def test_a_forward_that_eats_without_end_is_ended_before_the_machine_is(workplace: Path) -> None:
    """On a machine with 700 MB left, as far as we can see; the limit is nine tenths of that."""
    small = (
        "from exporter.process import workers\n"
        "workers.available = lambda: 700 << 20\n"
        "from exporter.cli import main\n"
        "main()"
    )
    command = [sys.executable, "-c", small, "convert", "models.hostile:Hungry", *MLP]
    done = subprocess.run(command, cwd=workplace, env=environment(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr and not leftovers(workplace)
    say = ("its limit of 630 MB of memory", "while running forward", "without end")
    refused(Done(done.returncode, done.stdout, done.stderr), ExitCode.MODEL, *say)


@pytest.mark.parametrize(
    ("given", "code", "say"),
    [
        ({"input": "y=float32[batch,4]"}, 2, ("forward does not take an input 'y'", "one of: x")),
        ({"input": "x=float32[batch,5]"}, 4, ("models/sound.py:", "forward at batch=1", "EX206")),
        ({"set": "outputs=[a,b]"}, 2, ("forward returns 1 values, and 2 are named",)),
    ],
)
def test_inputs_and_outputs_that_forward_does_not_have(
    workplace: Path, given: dict[str, str], code: int, say: tuple[str, ...]
) -> None:
    options = {"input": "x=float32[batch,4]", "set": "seed=0", **given}
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    more = ("--dim", "batch=1..4", "--formats", "pir", "--out", "out")
    refused(exporter("convert", "models.sound:mlp", *arguments, *more, cwd=workplace), code, *say)
    assert not (workplace / "out").exists()


class TestCheckpoints:
    generator = np.random.default_rng(0)

    def weights(self) -> dict[str, np.ndarray]:
        shapes = {"first.weight": (4, 16), "first.bias": (16,), "last.weight": (16, 3), "last.bias": (3,)}
        return {name: self.generator.standard_normal(shape).astype("float32") for name, shape in shapes.items()}

    @pytest.mark.parametrize(
        ("change", "say"),
        [
            ({"last.bias": None}, "1 tensors are missing, the first is 'last.bias'"),
            ({"more": np.zeros(2, "float32")}, "1 tensors are not in the model, the first is 'more'"),
            ({"last.bias": np.zeros(4, "float32")}, "'last.bias' is float32[4], the model wants float32[3]"),
            ({"last.bias": np.zeros(3, "float64")}, "'last.bias' is float64[3], the model wants float32[3]"),
            ({"last.bias": np.array([0, np.nan, 0], "float32")}, "last.bias: the weights hold NaN: 1 of the 3"),
        ],
        ids=["missing", "extra", "shape", "dtype", "nan"],
    )
    def test_one_that_does_not_fit(
        self, workplace: Path, refused_convert: Callable[..., Done], change: dict[str, np.ndarray | None], say: str
    ) -> None:
        tensors = {name: value for name, value in {**self.weights(), **change}.items() if value is not None}
        save_file(tensors, workplace / "w.safetensors")
        refused_convert("models.sound:mlp", "--weights", "w.safetensors", code=2, say=("w.safetensors", say))

    @pytest.mark.parametrize("content", [slice(0, -5), slice(0, 20), slice(0, 0)], ids=["tail", "header", "empty"])
    def test_one_that_is_cut_off(self, workplace: Path, refused_convert: Callable[..., Done], content: slice) -> None:
        save_file(self.weights(), workplace / "w.safetensors")
        whole = (workplace / "w.safetensors").read_bytes()
        (workplace / "w.safetensors").write_bytes(whole[content])
        say = ("w.safetensors", "not a whole safetensors file")
        refused_convert("models.sound:mlp", "--weights", "w.safetensors", code=2, say=say)

    def test_a_pickle_is_not_opened(self, workplace: Path, refused_convert: Callable[..., Done]) -> None:
        trap = workplace / "sprung"
        code = b"cbuiltins\nopen\n(V" + str(trap).encode() + b"\nVw\ntR."
        (workplace / "w.pdparams").write_bytes(code)
        refused_convert(
            "models.sound:mlp", "--weights", "w.pdparams", code=2, say=("not a pickle of arrays alone", "builtins.open")
        )
        assert not trap.exists()


class TestPlaces:
    """Where nothing can or may be written."""

    @pytest.mark.parametrize(
        ("out", "say"),
        [
            ("file", "is a file"),
            ("file/out", "cannot write here"),
            ("full", "holds files that are no bundle"),
            (".", "holds files that are no bundle"),
            ("/proc/out", "cannot write here"),
            ("x" * 300, "File name too long"),
        ],
    )
    def test_convert(self, workplace: Path, out: str, say: str) -> None:
        (workplace / "file").write_text("mine")
        (workplace / "full").mkdir()
        (workplace / "full/notes").write_text("mine")
        before = contents(workplace)
        refused(exporter("convert", "models.sound:mlp", *MLP, "--out", out, cwd=workplace), 2, out, say)
        assert contents(workplace) == before

    def test_an_empty_folder_of_one_s_own_as_the_place(self, workplace: Path) -> None:
        empty = workplace / "empty"
        empty.mkdir()
        env = environment(PYTHONPATH=str(workplace))
        done = exporter("convert", "models.sound:mlp", *MLP, "--out", ".", cwd=empty, env=env)
        refused(done, 2, "--out")

    def test_release_never_replaces_what_is_no_bundle(self, released: Path, tmp_path: Path) -> None:
        notes = tmp_path / "digits/1.0.0/notes.txt"
        notes.parent.mkdir(parents=True)
        notes.write_text("mine")
        refused(exporter("release", "specs/digits.yaml", "--out", tmp_path, cwd=released), 2, "holds files that are no")
        assert contents(tmp_path) == {"digits/1.0.0/notes.txt": b"mine"}

    def test_a_folder_that_may_not_be_written_to(self, workplace: Path) -> None:
        out, spec = workplace / "out", workplace / "specs/digits.yaml"
        workplace.chmod(0o555)
        try:
            done = exporter("convert", "models.sound:mlp", *MLP, cwd=workplace, preexec_fn=without_root_s_powers)
            refused(done, 2, "out", "Permission denied", "choose a folder you may write to")
            done = exporter("release", "specs/digits.yaml", cwd=workplace, preexec_fn=without_root_s_powers)
            refused(done, 2, "artifacts", "Permission denied")
            assert not out.exists() and not (workplace / "runs").exists(), "it must fail before the training"
            spec.chmod(0)
            done = exporter("release", "specs/digits.yaml", cwd=workplace, preexec_fn=without_root_s_powers)
            refused(done, 2, "digits.yaml", "not readable")
        finally:
            workplace.chmod(0o755)
            spec.chmod(0o644)


class TestFullDisk:
    """What was there stays; nothing half written stays; the exit code says that it is the machine."""

    def sizes(self, size: int) -> Callable[[], None]:
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    @pytest.mark.parametrize(("size", "place"), [(1500, "--out"), (60_000, "TMPDIR")])
    def test_a_limit_on_file_size(self, workplace: Path, size: int, place: str) -> None:
        """Too small for the program, and too small for the parameters and for what the child answers of itself.

        Paddle's writers say nothing of it.
        """
        (workplace / "out").mkdir()
        arguments = ("--input", "image=float32[batch,1,8,8]", "--dim", "batch=1..4", "--formats", "pir", "--out", "out")
        done = exporter("convert", "recipes.digits:build", *arguments, cwd=workplace, preexec_fn=self.sizes(size))
        refused(done, ExitCode.ENVIRONMENT, "no room to write", place)
        assert not any((workplace / "out").iterdir())

    def test_a_release_that_finds_no_room_leaves_the_earlier_one(self, released: Path, tmp_path: Path) -> None:
        shutil.copytree(released / "artifacts", tmp_path / "artifacts")
        before = contents(tmp_path)
        place = tmp_path / "artifacts"
        done = exporter("release", "specs/digits.yaml", "--out", place, cwd=released, preexec_fn=self.sizes(60_000))
        refused(done, ExitCode.ENVIRONMENT, "no room to write")
        assert contents(tmp_path) == before and not leftovers(tmp_path)

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
    @pytest.mark.parametrize("kilobytes", [16, 72])
    def test_a_small_disk(self, workplace: Path, kilobytes: int) -> None:
        disk = workplace / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("this container may not mount")
        try:
            (disk / "kept").write_text("mine")
            arguments = ("--input", "image=float32[batch,1,8,8]", "--dim", "batch=1..4", "--formats", "pir")
            done = exporter("convert", "recipes.digits:build", *arguments, "--out", disk / "out", cwd=workplace)
            refused(done, ExitCode.ENVIRONMENT, "No space left on device", "free space")
            assert contents(disk) == {"kept": b"mine"}
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_no_room_for_temporary_files(self, workplace: Path) -> None:
        command = [*COMMAND, "convert", "models.sound:mlp", *MLP]
        env = environment(TMPDIR=str(workplace / "tmp"))
        (workplace / "tmp").mkdir()
        done = subprocess.run(
            command, cwd=workplace, env=env, capture_output=True, text=True, preexec_fn=self.sizes(100), check=False
        )
        refused(Done(done.returncode, done.stdout, done.stderr), ExitCode.ENVIRONMENT, "TMPDIR", "File too large")
        assert not list((workplace / "tmp").iterdir()) and not leftovers(workplace)


def test_a_gpu_that_is_not_here_is_never_replaced_by_the_cpu(workplace: Path) -> None:
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("a GPU is here")
    for arguments in (("release", "specs/digits.yaml", "--device", "gpu"), ("convert", "models.sound:mlp", *MLP)):
        more = () if arguments[0] == "release" else ("--set", "device=gpu:1")
        done = exporter(*arguments, *more, cwd=workplace)
        refused(done, ExitCode.ENVIRONMENT, "gpu", "scripts/install --gpu")
    assert not (workplace / "artifacts").exists() and not (workplace / "runs").exists()


def test_verify_on_a_gpu_that_is_not_here(digits: Path) -> None:
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("a GPU is here")
    done = exporter("verify", digits, "--device", "gpu", "--engines", "onnxruntime", cwd=digits)
    refused(done, ExitCode.ENVIRONMENT, "onnxruntime", "onnxruntime-gpu")


def test_an_unknown_engine_of_verify(digits: Path) -> None:
    refused(exporter("verify", digits, "--engines", "onxruntime", cwd=digits), 2, "did you mean 'onnxruntime'?")
    for engines in ("onnxruntime,", ",", " "):
        assert exporter("verify", digits, "--engines", engines, cwd=digits).code == 2


def test_a_reader_that_leaves_gets_no_traceback(digits: Path) -> None:
    command = [*COMMAND, "inspect", str(digits), "--json"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_numbers_in_json_are_json(digits: Path) -> None:
    """No NaN and no Infinity: other languages do not read them."""

    for name in ("parity.json", "manifest.json"):
        foreign: list[str] = []
        assert json.loads((digits / name).read_text(), parse_constant=foreign.append)["verdict"] == "passed"
        assert foreign == [], f"{name} holds what is no JSON"
