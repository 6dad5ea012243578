"""Clients ask models of three kinds at once, and every answer has to be the golden's.

    python -m evals.serve.kinds [MODEL…] [--clients 64] [--seconds 10] [--out FILE.json]

Rows that are independent may be computed in one run with those of other clients, and rows that depend on each other may
not; states go either way. Each model (evals/serve/models.py) is released, handed over and started as operations do it.
As a control, the service of each model with dependent rows is then told to join requests all the same: it has to show.
Exit 0: every answer was right, requests were joined for independent rows alone, and the control showed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.serve import load
from evals.serve.__main__ import handed_over
from evals.serve.goldens import Goldens
from evals.serve.service import START, environment, started
from tests.command import exporter
from tests.described import about

INDEPENDENT, DEPENDENT, STATES = "independent rows", "dependent rows", "states"
_BATCH, _TEXTS = "batch=1..4..16", "batch=1..4..16 seq=2..5..9"
_VALUES, _IDS = "x=float32[batch,8]", "ids=int64[batch,seq]: integers(0,50)"


@dataclass(frozen=True)
class Model:
    """A model of evals/serve/models.py: its kind, its inputs and outputs, and its named dims."""

    kind: str
    inputs: tuple[str, ...]
    dims: str
    outputs: tuple[str, ...] = ("y",)


MODELS = {
    "Dense": Model(INDEPENDENT, (_VALUES,), _BATCH),
    "Convolution": Model(INDEPENDENT, (_VALUES,), _BATCH),
    "Encoder": Model(INDEPENDENT, (_IDS,), _TEXTS),
    "Recurrent": Model(INDEPENDENT, (_IDS,), _TEXTS),
    "Centred": Model(DEPENDENT, (_VALUES,), _BATCH),
    "Largest": Model(DEPENDENT, (_VALUES,), _BATCH),
    "Attending": Model(DEPENDENT, (_VALUES,), _BATCH),
    "Counted": Model(DEPENDENT, (_VALUES,), _BATCH),
    "Cell": Model(STATES, (_VALUES, "state=float32[batch,6]"), _BATCH, ("y", "new_state")),
    "Stacked": Model(STATES, ("x=float32[batch,seq,8]", "state=float32[2,batch,6]"), _TEXTS, ("y", "new_state")),
}


@dataclass(frozen=True)
class Served:
    """How a model was served: whether requests were joined, why, what became of them; and of the control, if any."""

    kind: str
    joined: bool
    why: str
    sent: int
    right: int
    wrong: int
    lost: int
    distinct: int
    forced_wrong: int | None = None

    @property
    def passed(self) -> bool:
        """Whether every answer was right, requests were joined as they should be, and the control showed."""
        allowed = {INDEPENDENT: self.joined, DEPENDENT: not self.joined, STATES: True}[self.kind]
        return self.sent == self.right > 0 and allowed and self.forced_wrong != 0


def released(name: str, folder: Path) -> Path:
    """Release a model in a folder, and return the bundle."""
    model, lower = MODELS[name], name.lower()
    shutil.copyfile(Path(__file__).with_name("models.py"), folder / "served.py")
    keys: dict[str, object] = {"name": lower, "version": "1", "model": f"served:{name}", "weights": "factory"}
    keys |= {"formats": ["onnx"], "engines": ["onnxruntime"], "device": "cpu", "outputs": list(model.outputs)}
    (folder / f"{lower}.yaml").write_text(json.dumps(about("; ".join(model.inputs), model.dims, **keys)))
    done = exporter("release", f"{lower}.yaml", "--quiet", "--no-cache", cwd=folder)
    if done.code:
        raise RuntimeError(f"{name} was not released: {done.out}{done.err}")
    return folder / f"artifacts/{lower}/1"


def serve(name: str, place: Path, clients: int, seconds: float) -> Served:
    """Release, hand over and serve a model, and ask it with so many clients for so long."""
    place.mkdir()
    goldens = Goldens(released(name, place))
    folder = handed_over(place / f"artifacts/{name.lower()}/1", "http_service", place / "service")
    settings = json.loads((folder / "service.json").read_bytes())
    answers = _asked(folder, goldens, clients, seconds)
    distinct, forced, kind = goldens.distinct, None, MODELS[name].kind
    if kind == DEPENDENT and settings["join"] is None:
        join = {"dim": "batch", "most": settings["dims"]["batch"]["max"]}
        (folder / "service.json").write_text(json.dumps({**settings, "join": join}))
        forced = _asked(folder, goldens, clients, seconds / 2).wrong
    counts = answers.sent, answers.right, answers.wrong, answers.lost, distinct
    return Served(kind, settings["join"] is not None, settings["rows"]["why"], *counts, forced)


def _asked(folder: Path, goldens: Goldens, clients: int, seconds: float) -> load.Load:
    bin_folder = environment(folder / "requirements.txt")
    with started(folder, START["http_service"], bin_folder, folder.with_suffix(".log")) as service:
        return load.run(service, goldens, clients, seconds)


def table(served: Mapping[str, Served]) -> str:
    """Return the figures for docs/targets.md."""
    head = ["| model | rows | joined | answers | wrong | lost | wrong if joined all the same |"]
    rows = [
        f"| {name} | {result.kind} | {'yes' if result.joined else 'no'} | {result.sent:,} | {result.wrong} |"
        f" {result.lost} | {'' if result.forced_wrong is None else f'{result.forced_wrong:,}'} |"
        for name, result in served.items()
    ]
    return "\n".join([*head, "| --- | --- | --- | --- | --- | --- | --- |", *rows])


def main() -> int:
    parser = argparse.ArgumentParser(description="Show that answers are the goldens' whatever else is asked meanwhile.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--out", type=Path)
    wanted = parser.parse_args()
    served = {}
    with tempfile.TemporaryDirectory(prefix="serve-kinds-") as folder:
        for name in wanted.models or MODELS:
            served[name] = serve(name, Path(folder, name), wanted.clients, wanted.seconds)
            sys.stderr.write(f"{name}: {'held' if served[name].passed else 'FAILED'}\n")
    passed = all(result.passed for result in served.values())
    content = {name: {**asdict(result), "passed": result.passed} for name, result in served.items()}
    if wanted.out:
        wanted.out.write_text(json.dumps(content, indent=2) + "\n")
    print(table(served))
    print("every answer was the golden's" if passed else json.dumps(content, indent=2))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
