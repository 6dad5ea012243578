"""Judge groups of generated networks, each in a process of its own: on the cores of this machine, or on Ray's.

A process judges one group and writes its rows; what it wrote before it ended counts, and the numbers that it did not
come to have no row, so that the next call tries them again.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Seconds that a group may take; most take two minutes.
_PATIENCE = 3600
#: What a node of Ray needs of the checkout is its Python files and tables.
_EXCLUDES = [".git", ".venv", "artifacts", "docs", "evals/zoo/measured.jsonl"]


def alone(numbers: Sequence[int]) -> list[str]:
    """Judge these numbers in a process of its own; return the rows that it wrote, as lines of JSON."""
    with tempfile.TemporaryDirectory(prefix="generated-") as place:
        file = Path(place) / "rows.jsonl"
        words = ["--numbers", ",".join(map(str, numbers)), "--json", str(file)]
        command = [sys.executable, "-m", "evals.generated", *words]
        try:
            subprocess.run(command, cwd=ROOT, timeout=_PATIENCE, check=False, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            print(f"{numbers[0]} to {numbers[-1]} took more than {_PATIENCE} s", file=sys.stderr)
        return file.read_text().splitlines() if file.is_file() else []


def on_cores(groups: Iterator[list[int]], jobs: int) -> Iterator[list[str]]:
    """The rows of each group as it ends, so many at a time; no group begins before somebody takes the rows."""
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(alone, group) for group in itertools.islice(groups, jobs)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for done in ended:
                yield done.result()
                if group := next(groups, None):
                    running.add(pool.submit(alone, group))


def on_ray(groups: Iterator[list[int]], address: str) -> Iterator[list[str]]:
    """The rows of each group as it ends, one for each processor of a Ray cluster at a time.

    Each node has the packages of this checkout; its files are sent there. Needs `pip install 'ray>=2.60'`.
    """
    import ray

    ray.init(address=address, runtime_env={"working_dir": str(ROOT), "excludes": _EXCLUDES}, log_to_driver=False)
    try:
        remote = ray.remote(num_cpus=1)(alone)
        jobs = max(1, int(ray.cluster_resources().get("CPU", 1)))
        running = [remote.remote(group) for group in itertools.islice(groups, jobs)]
        while running:
            ended, running = ray.wait(running)
            for done in ended:
                yield ray.get(done)
                if group := next(groups, None):
                    running.append(remote.remote(group))
    finally:
        ray.shutdown()
