"""Paddle Inference in C++: a CMake project that runs the model on every recorded case, and a script that judges it.

It needs the C++ package of Paddle Inference (header and library). The wheel of paddlepaddle (3.3.1) holds the library,
as `paddle/base/libpaddle.so`, and not the header `paddle_inference_api.h`, so it cannot build the project; where
`PADDLE_INFERENCE_DIR` names an unpacked package, the project is built and run before it is handed over.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.evidence import require_fp32
from exporter.deploy.handoff.replay import judged, ran, replay_files
from exporter.process.scratch import scratch
from exporter.process.workers import Limits

_SOURCES = Path(__file__).parents[1].joinpath("cpp")
#: The folder of the C++ package, as CMakeLists.txt calls it.
_PACKAGE = "PADDLE_INFERENCE_DIR"


class PaddleInferenceCpp(Target):
    """`CMakeLists.txt`, `replay.cc`, `model/`, the goldens and `judge.py`."""

    formats = ("pdmodel", "pir")
    start = """
    cmake -S . -B build -DPADDLE_INFERENCE_DIR=/opt/paddle_inference
    cmake --build build
    mkdir outputs && ./build/replay . outputs
    python judge.py outputs

PADDLE_INFERENCE_DIR is the unpacked C++ package of Paddle Inference, 3.x for a `model.json`: it is on Paddle's download
page for inference libraries, and a build of Paddle's source with `-DON_INFER=ON` leaves it in
`paddle_inference_install_dir`.
`replay.cc` shows how the model is loaded and run; `judge.py` needs Python 3.8 and numpy, and exits 1 where an output is
not what the bundle recorded.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        require_fp32(chosen, "paddle_inference_cpp")
        sources = {path.name: path.read_bytes() for path in sorted(_SOURCES.iterdir()) if path.is_file()}
        model = chosen.files("model/")
        return {**sources, **model, **replay_files(chosen, "paddle_inference_cpp")}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        package, cmake = os.environ.get(_PACKAGE), shutil.which("cmake")
        if not package or not cmake:
            lacking = "CMake" if package else f"the C++ package of Paddle Inference ({_PACKAGE})"
            return Proof(
                False,
                f"{lacking} is not here, so the program was not built; the wheel of paddlepaddle holds no "
                "paddle_inference_api.h",
                "replay.cc and CMakeLists.txt",
            )
        root = folder.resolve()
        with scratch() as place:
            build, outputs = place / "build", place / "outputs"
            outputs.mkdir()
            chosen_package = f"-D{_PACKAGE}={Path(package).resolve()}"
            ran([cmake, "-S", str(root), "-B", str(build), chosen_package], place, limits, "cmake")
            ran([cmake, "--build", str(build)], place, limits, "the compiler")
            ran([str(build / "replay"), str(root), str(outputs)], place, limits, "replay")
            told = judged(chosen, "paddle_inference", outputs, "replay")
        return Proof(True, f"replay was built here and gave what the bundle recorded: {told}")


plugin: Target = PaddleInferenceCpp()
