"""onnxruntime-web: the ONNX beside a page that checks itself in a browser; run in Node.js before it leaves."""

from __future__ import annotations

import shutil
from pathlib import Path

from exporter.base.errors import EnvironmentLacks
from exporter.base.numbers.golden import GoldenCase
from exporter.deploy.elsewhere.cases import chosen as selected_of
from exporter.deploy.elsewhere.kit import raw_bytes
from exporter.deploy.foreign.program import Program
from exporter.deploy.foreign.runtime import PROGRAMS, ForeignRuntime, Plan
from exporter.deploy.handoff.base import Chosen, Target
from exporter.process.workers import Limits

_VERSION = "1.30.0"
_WEB = PROGRAMS / "web"
#: What a browser needs of the package: its smallest build, in WebAssembly.
_RUNTIME = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
_CURE = f"run npm install onnxruntime-web@{_VERSION}, and name its folder with --using node_modules"


class OnnxRuntimeWeb(ForeignRuntime):
    """`model/model.onnx`, `index.html`, and the runtime in `runtime/`."""

    title = "onnxruntime-web"
    requirements = (f"onnxruntime-web@{_VERSION}",)
    start = """
Serve the folder, and open it in a browser: the page runs the recorded cases there and shows what differs.

    python -m http.server

`http://localhost:8000/?runtime=URL&provider=webgpu` takes another build of onnxruntime-web from where you have it, such
as `ort.webgpu.min.mjs`. *Save answers.tar* keeps what this browser computed, and

    exporter verify BUNDLE --answers answers.tar --engine "onnxruntime-web in WHICH BROWSER"

judges it. `node run.mjs` runs the same without a browser. The page knows what the outputs should be, so only take
answers of people whom you trust. A page of your own needs `runtime/` and `model/` alone; `engine.mjs` shows how.
"""

    def programs(self, chosen: Chosen) -> dict[str, bytes | Path]:
        package = _package(chosen)
        files: dict[str, bytes | Path] = {path.name: path.read_bytes() for path in sorted(_WEB.iterdir())}
        return files | {f"runtime/{name}": (package / "dist" / name).read_bytes() for name in _RUNTIME}

    def command(self, folder: Path, chosen: Chosen, limits: Limits) -> Program:
        node = shutil.which("node")
        if node is None:
            raise EnvironmentLacks("Node.js is not installed", where=self.title, hint="install Node.js 20 or newer")
        return Program(self.title, (node, str(folder / "run.mjs")), limits, _CURE)

    def beside(self, chosen: Chosen, plan: Plan) -> tuple[dict[str, bytes], dict[str, object]]:
        files: dict[str, bytes] = {}
        listed: list[dict[str, object]] = []
        for number, case in selected_of(chosen.bundle.goldens(), plan.wanted):
            for place, expected in enumerate(_whole(case)):
                if expected is None:
                    continue
                name = f"expected/{number}.{place}.bin"
                exact, unit = expected
                listed.append({"case": number, "output": place, "bin": name, "exact": exact, "unit": unit})
                files[name] = _truth(case, place)
        return files, {"expected": listed, "budget": chosen.manifest.budget}


def _whole(case: GoldenCase) -> list[tuple[bool, list[float]] | None]:
    """Tell whether each output is exact, and the unit of errors; None where it is not kept whole, or not judged."""
    outputs = case.outputs.values()
    kept = [not output.gate and output.index is None and output.partial is None for output in outputs]
    return [(output.exact, list(output.unit)) if whole else None for output, whole in zip(outputs, kept, strict=True)]


def _truth(case: GoldenCase, place: int) -> bytes:
    output = list(case.outputs.values())[place]
    return raw_bytes((output.eager if output.exact else output.truth).astype("float64"))


def _package(chosen: Chosen) -> Path:
    """The folder of the package; raises EnvironmentLacks where it is not there."""
    using = chosen.device.using
    modules = [using, using / "node_modules"] if using is not None else [Path("node_modules")]
    for folder in modules:
        package = folder / "onnxruntime-web"
        if (package / "dist" / _RUNTIME[0]).is_file():
            return package
    where = ", ".join(map(str, modules))
    raise EnvironmentLacks(f"onnxruntime-web is not installed in {where}", where="onnxruntime_web", hint=_CURE)


plugin: Target = OnnxRuntimeWeb()
