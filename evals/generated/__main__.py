"""Generated networks through `exporter release`, judged by stock Paddle: `python -m evals.generated --count 600`.

Each number is a network (`build.py`), written as a user's module and released as .json, .pdmodel and ONNX, several in
one layer; where those do not pass together, those that the release names alone, and the rest. What judges them is that
of `evals.small`: stock Paddle's own export, and eager on inputs that the exporter never saw. A hole is a wrong file
that passed, an alarm a network that stock exports rightly and that was refused or failed, a find one that stock gets
wrong and we do not. It runs on all cores, or with `--ray` on those of a cluster. With `--json` each row is written as
it comes, and the next call goes on. With `--keep` the first network of each kind that is ours is shortened by itself,
and kept. Exit 1 if there is a hole, an alarm or an internal error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from evals.generated.build import GROUP, build
from evals.generated.judged import ALARM, FIND, HOLE, LIMIT, Judged, judge, kind_of, shrink
from evals.generated.network import Network, read
from evals.generated.spread import on_cores, on_ray
from evals.quiet_fork import quiet_fork
from evals.small.__main__ import Truth, measured
from evals.small.catalogue import SmallLayer

#: Rarely a fork of a process that has imported Paddle waits for ever at a lock; a network takes a second.
_SECONDS = 30


def generated(seeds: Sequence[int], again: bool = True) -> list[Network]:
    """The networks of these numbers, in a fork: a number at which Paddle ends the process, or hangs twice, has none."""
    with tempfile.TemporaryDirectory(prefix="generated-") as place:
        into = Path(place) / "networks"

        def work() -> None:
            with into.open("w") as file:
                for seed in seeds:
                    signal.alarm(_SECONDS)
                    print(json.dumps(asdict(build(seed))), file=file, flush=True)

        status = quiet_fork(work)
        lines = into.read_text().splitlines() if into.exists() else []
    networks = [read(json.loads(line)) for line in lines]
    hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    once_more = hung and (again or bool(networks))
    rest = seeds[len(networks) + (not once_more) :]
    return [*networks, *generated(rest, again=not hung)] if rest else networks


def groups(first: int, count: int, known: Container[int]) -> Iterator[list[int]]:
    """The numbers to try, those of a group together, without those that are known."""
    begin = first
    while begin < first + count:
        end = min(first + count, begin - begin % GROUP + GROUP)
        if seeds := [seed for seed in range(begin, end) if seed not in known]:
            yield seeds
        begin = end


def shortened(network: Network, kind: str, folder: Path, truth: Truth) -> str:
    """The source of the shortest network that fails alike."""

    def fails(layer: SmallLayer) -> bool:
        return kind_of(measured(layer, folder, truth)) == kind

    return shrink(network, fails).layer().source


def _read_rows(path: Path | None) -> dict[int, Judged]:
    if path is None or not path.is_file():
        return {}
    rows = [Judged(**json.loads(line)) for line in path.read_text().splitlines()]
    return {row.seed: row for row in rows}


def report(rows: Sequence[Judged]) -> tuple[list[str], bool]:
    """Lines to print, and whether nothing of ours went wrong."""
    counts = Counter(row.verdict for row in rows)
    lines = [f"{len(rows)} networks: " + ", ".join(f"{number} {word}" for word, number in counts.most_common())]
    internal = sum(row.internal for row in rows)
    lines.append(f"holes {counts[HOLE]}, internal errors {internal}, alarms {counts[ALARM]}, finds {counts[FIND]}")
    first: dict[str, int] = {}
    number: Counter[str] = Counter()
    for place, row in enumerate(rows, 1):
        if row.kind:
            first.setdefault(row.kind, place)
            number[row.kind] += 1
    for verdict in (HOLE, ALARM, LIMIT, FIND, "no layer"):
        own = [kind for kind in first if kind.startswith(verdict + ",")]
        for kind in sorted(own, key=lambda kind: -number[kind]):
            seed = next(row.seed for row in rows if row.kind == kind)
            lines.append(f"{number[kind]:5} {kind} (first {seed})")
    tenth = max(1, len(rows) // 10)
    curve = [sum(place <= upto for place in first.values()) for upto in range(tenth, len(rows) + 1, tenth)]
    lines.append("kinds by tenths of the networks: " + " ".join(map(str, curve)))
    return lines, bool(rows) and not any(row.bad for row in rows)


def write_shortest(judged: Judged, folder: Path) -> str:
    """Shorten a network that is ours to mend, and write the shortest that fails alike into a folder."""
    _import_paddle()
    with tempfile.TemporaryDirectory(prefix="generated-") as place:
        truth = Truth(Path(place), 1)
        source = "".join(shortened(network, judged.kind, Path(place), truth) for network in generated([judged.seed]))
        truth.close()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"g{judged.seed}.py").write_text(f"# {judged.kind}\n{source}")
    return source


def _one_group(numbers: Sequence[int], file: Path) -> int:
    """Write the rows of these numbers: what a process of `spread.py` does."""
    _import_paddle()
    with tempfile.TemporaryDirectory(prefix="generated-") as place, file.open("a") as rows:
        truth = Truth(Path(place), 1)
        for judged in judge(generated(numbers), Path(place), truth):
            print(json.dumps(asdict(judged)), file=rows, flush=True)
        truth.close()
    return 0


def _import_paddle() -> None:
    """Import Paddle before the forks, so that each has it."""
    import paddle

    paddle.set_device("cpu")
    os.environ["EXPORTER_NO_CACHE"] = "1"


def main() -> int:
    """Measure, print each network that is not right, and say what kinds there are."""
    parser = argparse.ArgumentParser(prog="python -m evals.generated", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the number of the first network")
    parser.add_argument("--count", type=int, default=60, help="so many networks")
    parser.add_argument("--minutes", type=float, default=0, help="begin no group after so many minutes")
    parser.add_argument("--json", type=Path, help="add the rows here, a line each, and leave out those that it holds")
    parser.add_argument("--keep", type=Path, help="write the shortest network of each kind that is ours here")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="so many groups at a time; all cores")
    parser.add_argument("--ray", metavar="ADDRESS", help="on the machines of a Ray cluster: auto, or HOST:PORT")
    parser.add_argument("--numbers", help="these numbers alone, in this process, into --json")
    parser.add_argument("--show", type=int, help="print the module of this network, and end")
    wish = parser.parse_args()
    if wish.show is not None:
        print(build(wish.show).layer().source)
        return 0
    if wish.numbers:
        return _one_group([int(number) for number in wish.numbers.split(",")], wish.json)
    rows, begun = _read_rows(wish.json), time.monotonic()
    kinds = {row.kind for row in rows.values()}
    due = itertools.takewhile(
        lambda _: not wish.minutes or time.monotonic() - begun < 60 * wish.minutes,
        groups(wish.first, wish.count, frozenset(rows)),
    )
    for lines in on_ray(due, wish.ray) if wish.ray else on_cores(due, wish.jobs):
        for judged in (Judged(**json.loads(line)) for line in lines):
            if judged.bad and judged.kind not in kinds and wish.keep:
                judged.short = write_shortest(judged, wish.keep)
            kinds.add(judged.kind)
            rows[judged.seed] = judged
            if judged.kind:
                print(f"{judged.seed}: {judged.kind}", file=sys.stderr, flush=True)
            if wish.json:
                with wish.json.open("a") as file:
                    print(json.dumps(asdict(judged)), file=file)
    lines, holds = report([*rows.values()])
    print("\n".join(lines))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
