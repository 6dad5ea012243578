"""Changes that matter to a spec of the project, of twelve kinds, and changes that cannot matter to any."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from evals.reuse.project import IDLE, PINS, WAYS, git, write_numbers, write_package, write_scale

ALL = (*WAYS, "trained")


@dataclass(frozen=True)
class Change:
    """One change: its kind, what it does, and the specs that it matters to; `seen_by_git` where git tells of it."""

    kind: str
    about: str
    make: Callable[[], object]
    specs: tuple[str, ...]
    seen_by_git: bool = True


def that_matter(root: Path, packages: Path, rng: random.Random) -> Iterator[Change]:
    """Sixty changes, five of each kind."""
    data, cfg = root / "data", root / "cfg"
    for _ in range(5):
        value = rng.randint(10, 99)
        yield Change(
            "a file of ONNX Runtime", f"factor {value}", _call(write_scale, data / "scale.onnx", value), ("runtime",)
        )
        yield Change("a picture of PIL", f"value {value}", _call(_picture, data / "table.png", value), ("picture",))
        yield Change("a database", f"value {value}", _call(write_numbers, data / "numbers.db", value), ("database",))
        raw = np.full(5, value, "float32").tobytes()
        yield Change("a mapped file", f"value {value}", _call((data / "raw.bin").write_bytes, raw), ("mapped",))
        yield Change("no other time or size", f"value {value}", _call(_same_time, data / "raw.bin", raw), ("mapped",))
        link = rng.choice(["stable", "current"])
        yield Change("a link", f"{link}, {value}", _call(_relink, data / link, "v2"), ("linked",))
        code = f"TABLE = [{value}.0] * 5\n"
        yield Change("a submodule", f"value {value}", _call((root / "lib/inner.py").write_text, code), ("module",))
        text = f"{value} 1 1 1 1\n"
        made = _call((root / "made/table.txt").write_text, text)
        yield Change("a file that git ignores", f"value {value}", made, ("ignored",), seen_by_git=False)
        again = _call(write_package, packages, value)
        yield Change("a package of one version", f"value {value}", again, ("package",), seen_by_git=False)
        scale = _call(os.environ.__setitem__, rng.choice(["NET_SCALE", "NET_MORE"]), str(value))
        yield Change("a variable by its prefix", f"value {value}", scale, ("variables",), seen_by_git=False)
        path, text = rng.choice(
            [
                (cfg / "weights.json", f"[{value}.0, 1.0, 1.0, 1.0, 1.0]"),
                (cfg / "rate.txt", f"0.0{value}"),
                (cfg / "lexicon.txt", f"a\nb\nc{value}\n"),
                (root / "losses/plain.py", (root / "losses/plain.py").read_text().replace("1.0", f"{value}.0")),
            ]
        )
        yield Change("what a recipe reads", f"{path.name}, {value}", _call(path.write_text, text), ("trained",))
        pin = root / rng.choice(sorted(PINS))
        more = pin.read_text() + f"# {value}\n"
        yield Change("what pins packages", pin.name, _call(pin.write_text, more), ALL)


def that_cannot(root: Path, rng: random.Random) -> Iterator[Change]:
    """Forty changes that no spec can notice."""
    for name in rng.choices(sorted(IDLE), k=16):
        text = (root / name).read_text() + f"# {rng.random()}\n"
        yield Change("a file that nothing reads", name, _call((root / name).write_text, text), ())
    for number in range(6):
        path = root / rng.choice(["docs", "tools", "tests"]) / f"more_{number}.{rng.choice(['md', 'py'])}"
        yield Change("a new file that nothing reads", path.name, _call(path.write_text, "# more\n"), ())
    for name in ("GITHUB_RUN_ID", "CI_JOB_ID", "SSH_TTY", "COLUMNS", "HF_TOKEN", "BUILD_NUMBER"):
        yield Change("a variable of the job", name, _call(os.environ.__setitem__, name, str(rng.random())), ())
    for name in rng.choices(sorted(WAYS), k=6):
        path = root / f"nets/{name}.py"
        yield Change("another time of a file", path.name, _call(os.utime, path, (1, rng.randint(1, 10**9))), ())
    for name in (
        "some.log",
        "artifacts/old/1/report.html",
        "runs/old/log.txt",
        ".cache/more",
        "nets/__pycache__/a.pyc",
    ):
        yield Change("what git ignores", name, _call(_lay, root / name, "x"), ())
    yield Change("a commit of nothing", "empty", _call(git, root, "commit", "-q", "--allow-empty", "-m", "empty"), ())


def _call(function: Callable[..., object], *arguments: object) -> Callable[[], object]:
    return lambda: function(*arguments)


def _picture(path: Path, value: int) -> None:
    Image.fromarray(np.full((1, 5), value, "uint8")).save(path)


def _same_time(path: Path, content: bytes) -> None:
    """Write as many bytes, and set the time back."""
    about = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def _relink(path: Path, to: str) -> None:
    path.unlink()
    path.symlink_to(to)


def _lay(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
