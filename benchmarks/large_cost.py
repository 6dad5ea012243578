"""What a model of gigabytes costs: `convert` and `verify` beside bare scripts that do the same by hand.

    python benchmarks/large_cost.py GIGABYTES [FOLDER] [int8]

The model is `benchmarks.large:attention`, random. Bare are `to_static` and `jit.save` for each Paddle format and
paddle2onnx (bare_convert.py), and for each engine of the verdict a script that loads and runs the same cases
(bare_verify.py). What fails by hand is told and left out; where a format does, `convert` is measured once more with the
others alone, and that is what the limits hold for. With int8 the variants of `.pdmodel` and ONNX are written and
judged as well; nothing bare stands beside them.

Memory, in MB: `one` is the largest process by its resident pages (`Rss`, mapped pages of files included), `all` is that
of all processes together, a page that several share counted once (`Pss`), both from /proc/PID/smaps_rollup, sampled
every 50 ms, or as often as a fifteenth of a processor can. Processor time is that of all processes. Bare memory is that
of the largest script, bare processor time the sum of all. Exit 1 if a limit is exceeded.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

MEMORY, PROCESSOR = 1.3, 3.0
HERE = Path(__file__).parent
EXPORTER = str(Path(sys.executable).with_name("exporter"))
RUNS = (
    *("source/eager", "source/static", "pir/jit_load", "pdmodel/jit_load"),
    *("pir/paddle_inference", "pdmodel/paddle_inference", "onnx/onnxruntime"),
)


@dataclass
class Peak:
    """The largest process and all together, in MB; and the processor seconds that went by until or during it."""

    one: float = 0.0
    all: float = 0.0
    processor: float = 0.0

    def take(self, other: Peak) -> None:
        """Keep the larger of both."""
        self.one, self.all = max(self.one, other.one), max(self.all, other.all)


@dataclass
class Watched:
    """What a command took: its peak, that of each step which it told, processor seconds, and the end of its output."""

    code: int
    peak: Peak
    steps: dict[str, Peak]
    processor: float
    seconds: float
    told: list[str] = field(default_factory=list)


def spec_of(gigabytes: float, int8: bool) -> dict[str, Any]:
    """The spec of a model of that size."""
    settings = {
        "formats": ["pdmodel", "onnx"],
        "samples": 8,
        "noise": True,
        "budget": {"min_snr_db": 10, "min_top1": 0.3},
    }
    return {
        "name": "large",
        "version": "1",
        "model": "benchmarks.large:attention",
        "args": {"gigabytes": gigabytes},
        "weights": "factory",
        "inputs": {"ids": {"dtype": "int64", "shape": [2, "time"], "values": "integers(0,8192)"}},
        "dims": {"time": {"min": 4, "typical": 16, "max": 32}},
        "outputs": ["logits"],
        "formats": ["pir", "pdmodel", "onnx"],
        "engines": ["jit_load", "paddle_inference", "onnxruntime", *(["paddle_inference_int8"] if int8 else [])],
        "device": "cpu",
        **({"precisions": {"fp32": None, "int8": settings}} if int8 else {}),
    }


def watched(words: Sequence[str]) -> Watched:
    """Run a command to its end, and watch it and all that it starts."""
    before, began = _processor(), time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    told: list[str] = []
    step = ["start"]

    def read() -> None:
        for line in process.stdout or ():
            told.append(line.rstrip())
            if line.startswith("· "):
                step[0] = line[2:].strip()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    peak, steps, gone = Peak(), dict[str, Peak](), 0.0
    while process.poll() is None:
        looked = time.thread_time()
        now = memory_of(process.pid)
        peak.take(now)
        own = steps.setdefault(step[0], Peak())
        own.take(now)
        own.processor += max(0.0, now.processor - gone)
        gone = max(gone, now.processor)
        time.sleep(max(0.05, 15 * (time.thread_time() - looked)))
    reader.join(5)
    process.stdout.close()
    return Watched(process.returncode, peak, steps, _processor() - before, time.monotonic() - began, told)


def memory_of(pid: int) -> Peak:
    """What a process and all below it hold now."""
    resident, shares, processor = [0.0], [0.0], 0.0
    for own in _tree(pid):
        try:
            # That of the children which it has waited for is its own.
            processor += sum(psutil.Process(own).cpu_times()[:4])
            rows = Path(f"/proc/{own}/smaps_rollup").read_text().splitlines()
        except (OSError, psutil.Error):  # it has ended
            continue
        sizes = {row.split()[0]: int(row.split()[1]) / 1000 * 1.024 for row in rows[1:]}
        resident.append(sizes["Rss:"])
        shares.append(sizes["Pss:"])
    return Peak(max(resident), sum(shares), processor)


def _tree(pid: int) -> Iterator[int]:
    """A process and all below it, as the kernel lists them: to look through all processes takes ten times as long."""
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listed.read_text().split():
                yield from _tree(int(child))


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare_convert(spec: dict[str, Any], into: Path) -> dict[str, Watched]:
    """What a script without us takes for each format that it can write; one that fails is told of."""
    done = {}
    for format in spec["formats"]:
        words = [sys.executable, str(HERE / "bare_convert.py"), spec["model"], "-", "ids", "2,None", str(into)]
        run = watched([*words, "int64", json.dumps(spec["args"]), format])
        fails = run.code or (format == "onnx" and not (into / "model.onnx").is_file())
        told("bare", f"convert {format}", run, _cause(run) if fails else "")
        if not fails:
            done[format] = run
    return done


def bare_verify(bundle: Path, into: Path, spec: dict[str, Any]) -> list[Watched]:
    """What bare scripts take for the same cases; the inputs are drawn as `verify` draws them."""
    _lay_out(bundle, into, spec)
    done = []
    for run in RUNS:
        done.append(watched([sys.executable, str(HERE / "bare_verify.py"), run, str(into)]))
        told("bare", f"verify {run}", done[-1], _cause(done[-1]) if done[-1].code else "")
    return [run for run in done if not run.code]


def _lay_out(bundle: Path, into: Path, spec: dict[str, Any]) -> None:
    """A folder as of a bundle with its cases recorded, for what the bare scripts read of one."""
    from safetensors.numpy import save_file

    from exporter.prove.goldens.cases import plan_cases
    from exporter.prove.goldens.values import content, draw
    from exporter.spec.model import Spec

    whole = Spec.model_validate({**spec, "precisions": ["fp32"]})
    drawn = {case.name: draw(whole, case, None) for case in plan_cases(whole)}
    once = {content(inputs): name for name, inputs in reversed(drawn.items())}
    cases = [name for name in drawn if name in once.values()]
    inputs = {f"{name}/input/{key}": value for name in cases for key, value in drawn[name].items()}
    into.mkdir()
    save_file(inputs, into / "golden.safetensors")
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    manifest["cases"] = [{"name": name} for name in cases]
    (into / "manifest.json").write_text(json.dumps(manifest))
    for format in spec["formats"]:
        (into / format).symlink_to(bundle / format)


def _cause(run: Watched) -> str:
    lines = [line.strip() for line in run.told if line.strip() and "CalledProcessError" not in line]
    telling = [line for line in lines if "Error" in line or "error" in line]
    return f"fails: {(telling or lines or ['no message'])[-1][:160]}"


def told(who: str, what: str, run: Watched, more: str = "") -> None:
    """Print a row."""
    print(
        f"{who:<5} {what:<52} one {run.peak.one:7.0f} MB   all {run.peak.all:7.0f} MB   "
        f"processor {run.processor:7.1f} s   clock {run.seconds:7.1f} s   {more}",
        flush=True,
    )


def compare(what: str, ours: Watched, bare: Sequence[Watched], processor: float | None) -> bool:
    """Print what ours takes in that of the bare scripts; whether the limits hold."""
    rows = [
        ("largest process", ours.peak.one, max(run.peak.one for run in bare), MEMORY),
        ("all processes", ours.peak.all, max(run.peak.all for run in bare), MEMORY),
        ("processor", ours.processor, sum(run.processor for run in bare), processor),
    ]
    for name, mine, theirs, limit in rows:
        said = "" if limit is None else f"   limit {limit} {'holds' if mine <= limit * theirs else 'EXCEEDED'}"
        print(f"{what}, {name:<16} {mine:9.1f} / {theirs:9.1f} = {mine / theirs:.2f}{said}", flush=True)
    return all(limit is None or mine <= limit * theirs for _, mine, theirs, limit in rows)


def _runs(engine: str, formats: Iterable[str]) -> bool:
    """Whether an engine runs one of these formats."""
    return any((format == "onnx") == (engine == "onnxruntime") for format in formats)


def measured(what: str, words: Sequence[str]) -> Watched:
    """Run one of our commands, which must succeed, and print its steps."""
    run = watched(words)
    told("ours", what, run)
    for step, peak in run.steps.items():
        print(
            f"      {step:<52} one {peak.one:7.0f} MB   all {peak.all:7.0f} MB   processor {peak.processor:7.1f} s",
            flush=True,
        )
    if run.code:
        sys.exit("\n".join(run.told[-30:]))
    return run


def main() -> int:
    """Measure."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    gigabytes, *more = sys.argv[1:]
    folders = [word for word in more if word != "int8"]
    spec = spec_of(float(gigabytes), "int8" in more)
    with tempfile.TemporaryDirectory(dir=folders[0] if folders else None) as folder:
        place = Path(folder)
        os.environ["TMPDIR"] = folder
        path = place / "large.yaml"
        path.write_text(json.dumps(spec))  # JSON is YAML
        bundle = place / "bundle"
        converted = measured("convert", [EXPORTER, "convert", str(path), "--out", str(bundle)])
        bare = bare_convert(spec, place / "bare")
        what = "convert"
        if bare and set(bare) != set(spec["formats"]):
            what = f"convert {', '.join(bare)}"
            less = {key: value for key, value in spec.items() if key != "precisions"}
            engines = [engine for engine in ("jit_load", "onnxruntime") if _runs(engine, bare)]
            alone = place / "alone.yaml"
            alone.write_text(json.dumps({**less, "formats": list(bare), "engines": engines}))
            converted = measured(what, [EXPORTER, "convert", str(alone), "--out", str(place / "alone")])
            shutil.rmtree(place / "alone")
        held = [compare(what, converted, list(bare.values()), PROCESSOR)]
        for file in sorted((place / "bare").rglob("*")):
            if file.is_file():
                file.unlink()
        verified = measured("verify", [EXPORTER, "verify", str(bundle), "--source", ".", "--jobs", "1"])
        held.append(compare("verify", verified, bare_verify(bundle, place / "cases", spec), PROCESSOR))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
