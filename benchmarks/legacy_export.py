"""What the legacy patch costs: python benchmarks/legacy_export.py [--rounds 5].

Prints the processor time to patch and to restore, and that of a whole export in a process of its own (import, trace,
save, finish), as a ratio to stock Paddle's for networks that stock can write. Both take turns; medians are compared.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time

NETWORKS = ("resnet18", "mobilenet_v2", "densenet121")
CHILD = """
import sys, time
from pathlib import Path
import paddle
from paddle.pir_utils import DygraphOldIrGuard
from exporter.export.lower.pdmodel.files import finish
from exporter.export.lower.pdmodel.session import legacy_export
name, way, folder = sys.argv[1:]
layer = getattr(paddle.vision.models, name)()
layer.eval()
spec = [paddle.static.InputSpec([None, 3, 64, 64], "float32", "image")]
prefix = Path(folder, "m")
with legacy_export() if way == "ours" else DygraphOldIrGuard():
    traced = paddle.jit.to_static(layer, input_spec=spec, full_graph=True, backend=None)
    paddle.jit.save(traced, str(prefix))
if way == "ours":
    finish(prefix.with_suffix(".pdmodel"), prefix.with_suffix(".pdiparams"))
"""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    patched, restored = zip(*(patch() for _ in range(rounds)), strict=True)
    print(f"patch   {statistics.median(patched):.3f} s (at most {max(patched):.3f})")
    print(f"restore {statistics.median(restored):.3f} s (at most {max(restored):.3f})")
    for name in NETWORKS:
        times: dict[str, list[float]] = {"stock": [], "ours": []}
        for _ in range(rounds):
            for way, taken in times.items():
                taken.append(export(name, way))
        stock, ours = (statistics.median(taken) for taken in times.values())
        print(f"{name:14} stock {stock:.2f} s, ours {ours:.2f} s, ratio {ours / stock:.3f}", flush=True)
    return 0


def patch() -> tuple[float, float]:
    """Processor seconds to enter the context, and to leave it."""
    from exporter.export.lower.pdmodel.session import legacy_export

    begin = time.process_time()
    with legacy_export():
        inside = time.process_time()
    return inside - begin, time.process_time() - inside


def export(name: str, way: str) -> float:
    """Processor seconds of the child: the machine may be busy with other things."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CHILD, name, way, folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
