"""Paddle Lite 2.12: `.nb` for ARM devices, and the same model for x86, which is run before it is handed over.

The optimizer comes with the wheel of paddlelite, which has been built for Python 3.6 and 3.7 alone. It is called in an
environment of its own, which is built once (:mod:`exporter.deploy.runtimes.environment`) by a `python3.7` or
`python3.6` on the PATH.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter.base.errors import EnvironmentLacks
from exporter.base.files import user_cache
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.evidence import require_fp32
from exporter.deploy.handoff.replay import judged, ran, replay_files
from exporter.deploy.runtimes.environment import Runtime, ensure
from exporter.process.scratch import scratch
from exporter.process.workers import Limits

_HERE = Path(__file__).parents[1]
_VERSION = "2.12"
#: The header of a `.nb`: two bytes of the format's version, then 16 of the optimizer's as text.
_TEXT = slice(2, 18)


class _Lite(Runtime):
    """Paddle Lite is no engine of verify.py, so it has its own requirements."""

    def requirements(self) -> tuple[str, ...]:
        """What pip is asked to install."""
        return (f"paddlelite=={self.version}", "numpy<2")

    def takes(self, tag: str) -> bool:
        """Its wheels are for these alone."""
        return tag in ("py3.7", "py3.6")


class PaddleLite(Target):
    """`model_arm.nb`, `model_x86.nb`, the program that they were made of, the goldens, `run.py` and `judge.py`."""

    formats = ("pdmodel",)
    start = """
On the device, `model_arm.nb` is loaded by Paddle Lite 2.12 (`MobileConfig.set_model_from_file`); `run.py` shows it in
Python, and replays the goldens where Paddle Lite's Python package runs:

    mkdir outputs && python run.py model_arm.nb outputs
    python judge.py outputs

`judge.py` needs Python 3.8 and numpy, and may run elsewhere on a copy of `outputs`; it exits 1 where an output is not
what the bundle recorded. For other places than arm and x86, run the optimizer of the same version again:

    paddle_lite_opt --model_file=source/model.pdmodel --param_file=source/model.pdiparams \\
        --valid_targets=opencl,arm --optimize_out=model_opencl
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        require_fp32(chosen, "paddle_lite")
        replayed, files, python = replay_files(chosen, "paddle_lite"), chosen.files(), _python()
        return {
            **replayed,
            **{f"source/{name}": path for name, path in files.items()},
            **{f"model_{place}.nb": _optimized(python, files, place, chosen.limits) for place in ("arm", "x86")},
            "run.py": _HERE.joinpath("lite_run.py").read_bytes(),
        }

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        root = folder.resolve()
        with scratch() as place:
            command = [str(_python()), "-I", str(root / "run.py"), str(root / "model_x86.nb"), str(place)]
            ran(command, place, limits, "run.py")
            told = judged(chosen, "paddle_lite", place, "run.py")
        how = f"model_x86.nb gave what the bundle recorded in Paddle Lite {_VERSION} on this CPU: {told}"
        return Proof(True, how, "model_arm.nb, by the same optimizer from the same program, for devices")


def _python() -> Path:
    """The Python of Paddle Lite's environment; raises EnvironmentLacks where none can be built."""
    try:
        return ensure(_Lite("paddlelite", _VERSION), user_cache("runtimes"), lambda said: None)
    except EnvironmentLacks as error:
        hint = "put a python3.7 on the PATH: paddlelite 2.12 has no wheel for a newer one"
        raise EnvironmentLacks(error.what, where="paddle_lite", hint=hint) from error


def _optimized(python: Path, files: Mapping[str, Path], place: str, limits: Limits) -> bytes:
    """The `.nb` for a place.

    The optimizer leaves what was in memory behind its version's text (2.12), so that the same model gave other bytes in
    every run; it is overwritten with zeros.

    Raises:
        ModelError: Paddle Lite has no such operator, or cannot read the program.
    """
    program = next(path for name, path in files.items() if name.endswith(".pdmodel"))
    parameters = next((str(path.resolve()) for name, path in files.items() if name.endswith(".pdiparams")), "")
    with scratch() as folder:
        out = folder / "model"
        script = str(_HERE.joinpath("lite_opt.py"))
        ran([str(python), "-I", script, str(program.resolve()), parameters, place, str(out)], folder, limits, "opt")
        content = bytearray((folder / "model.nb").read_bytes())
    content[_TEXT] = bytes(content[_TEXT]).partition(b"\0")[0].ljust(16, b"\0")
    return bytes(content)


plugin: Target = PaddleLite()
