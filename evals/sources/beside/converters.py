"""The converters that stand beside each other, each in a process of its own, and what came of a file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.quiet_fork import quiet_fork
from exporter.base.readers import read_program
from exporter.base.tensors import Array

#: Input values by name.
Inputs = Mapping[str, Array]
#: One row of a result: for each converter one word, with the reason behind a colon.
Row = dict[str, str]
#: The opset that each converter is asked for: exporter's own default.
OPSET = 17
#: Seconds of a conversion after which it hangs.
_HUNG = 300
WORDS = ("right", "wrong", "refused", "aborted")


@dataclass(frozen=True)
class Program:
    """A Paddle program: its file, its outputs in the order of the file, and those of them that have no axis."""

    path: Path
    outputs: tuple[str, ...]
    scalars: frozenset[str]

    @property
    def parameters(self) -> Path:
        """The file of its parameters, which need not exist."""
        return self.path.with_suffix(".pdiparams")


def program_at(path: Path) -> Program:
    """Return a program with what its file says of the outputs."""
    outputs = read_program(path).outputs
    scalars = frozenset(output.name for output in outputs if not output.shape)
    return Program(path, tuple(output.name for output in outputs), scalars)


class Refused(Exception):
    """A converter said that it does not convert the program."""


def by_exporter(program: Program, model: Path) -> None:
    """Convert as `exporter convert FILE` does: replay the file, trace it, write ONNX."""
    from exporter.base.errors import ExporterError
    from exporter.base.tensors import TensorSpec
    from exporter.export.lower.base import Wish
    from exporter.export.lower.kinds.onnx import plugin as onnx
    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.sources.program import build
    from exporter.export.trace.traced import trace
    from exporter.paddle.names import forget_parameter_names

    forget_parameter_names()
    facts = read_program(program.path)
    inputs = tuple(
        TensorSpec(spec.name, spec.dtype, tuple(f"{spec.name}{at}" if size == -1 else size
                                                for at, size in enumerate(spec.shape)))
        for spec in facts.inputs
    )  # fmt: skip
    parameters = str(program.parameters) if facts.weights else ""
    try:
        layer = build(str(program.path), [spec.name for spec in inputs], parameters)
        layer.eval()
        wish = Wish(inputs=inputs)
        written = model.parent / "pir"
        written.mkdir()
        with onnx.session(None):
            traced = trace(layer, inputs, None, {})
            pir.write(traced, None, written, Wish())
            onnx.write(traced, written, model.parent, wish)
    except ExporterError as error:
        raise Refused(error.what) from error


def by_paddle2onnx(program: Program, model: Path) -> None:
    """Convert as the command `paddle2onnx` does, without its optimizer of constants."""
    import paddle2onnx

    parameters = str(program.parameters) if program.parameters.is_file() else ""
    content = paddle2onnx.export(
        str(program.path), parameters, save_file=None, opset_version=OPSET, optimize_tool="None"
    )
    if not content:
        raise Refused("it gave nothing")
    model.write_bytes(content)


def by_p2o(command: str) -> Callable[[Program, Path], None]:
    """Return the conversion by the command `p2o`."""

    def convert(program: Program, model: Path) -> None:
        parameters = program.parameters
        if not parameters.is_file():  # it wants one of every program
            parameters = model.with_suffix(".pdiparams")
            parameters.touch()
        arguments = [command, str(program.path), str(parameters), str(model), "--opset", str(OPSET)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=_HUNG)
        if done.returncode < 0 or done.returncode == 101:  # 101: a panic of Rust
            os.abort()
        if done.returncode:
            raise Refused((done.stderr.strip().splitlines() or ["no message"])[0])  # a backtrace follows

    return convert


def in_own_process(work: Callable[[], str], answer: Path) -> str:
    """Return the word of `work`, which a fork says; `aborted` where the fork dies before it does."""

    def answered() -> None:
        signal.alarm(_HUNG)
        answer.write_text(_word(work))

    status = quiet_fork(answered)
    if answer.is_file():
        return answer.read_text()
    return f"aborted: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "aborted: no answer"


def _word(work: Callable[[], str]) -> str:
    try:
        return work()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a converter raises is its answer
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
        telling = next((line for line in lines if "rror" in line or "not support" in line), lines[-1])
        return f"refused: {type(error).__name__}: {telling[:200]}"


def answers(model: Path, outputs: Sequence[str], draws: Sequence[Inputs]) -> list[list[Array]]:
    """Return what ONNX Runtime computes of each draw, in the order `outputs`; by place where the names are others.

    Raises:
        RuntimeError: it does not load the file, or does not run it.
        ValueError: the file has other inputs or outputs.
    """
    from legacy_onnx import open_onnx

    session = open_onnx(str(model))
    taken = [value.name for value in session.get_inputs()]
    given = [value.name for value in session.get_outputs()]
    if len(given) != len(outputs):
        raise ValueError(f"{len(given)} outputs, not {len(outputs)}")
    wanted = list(outputs) if set(outputs) == set(given) else given
    found = []
    for draw in draws:
        named = all(name in draw for name in taken)
        feed = {name: draw[name] for name in taken} if named else dict(zip(taken, draw.values(), strict=True))
        found.append(list(session.run(wanted, feed)))
    return found


def paddle_answers(program: Program, draws: Sequence[Inputs]) -> list[list[Array]]:
    """Return what the file computes of each draw in Paddle's strict predictor, in the file's order of outputs.

    The predictor gives what has no axis as one number in one axis; here it has none, as in the file.
    """
    import numpy as np
    from paddle import inference

    parameters = str(program.parameters) if program.parameters.is_file() else ""
    config = inference.Config(str(program.path), parameters)
    config.disable_glog_info()
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    predictor = inference.create_predictor(config)
    found = []
    for draw in draws:
        for name in predictor.get_input_names():
            predictor.get_input_handle(name).copy_from_cpu(np.ascontiguousarray(draw[name]))
        predictor.run()
        got = {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}
        got |= {name: got[name].reshape(()) for name in program.scalars if name in got and got[name].size == 1}
        found.append([got[name] for name in program.outputs] if set(got) == set(program.outputs) else [*got.values()])
    return found
