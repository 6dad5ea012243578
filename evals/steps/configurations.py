"""Configurations of the families: of how many are the steps before the model read, and what is refused?

`python -m evals.steps.configurations paddleocr=DIR/configs paddledet=DIR/configs paddleseg=DIR/configs
paddleclas=DIR/ppcls/configs` prints the table. Each folder is that of a checkout; `--each 30` of its configurations are
taken, evenly spaced in the order of their paths, and all of them are counted as well. Those that name no evaluation are
none, and neither is what lies in a folder `_base_`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.steps.chain import read_chain
from exporter.steps.configuration import configuration
from exporter.steps.families.base import inside
from exporter.steps.settle import FAMILIES, of_configuration

#: The part that trains draws at random, so no deployment repeats it.
TRAINING = "train"
#: The share of configurations that have to be read.
FLOOR = 0.9


@dataclass(frozen=True)
class Reading:
    """A configuration, and why it was refused; empty where it was read."""

    path: Path
    refused: str = ""


def evaluated(family: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the configurations of a folder, each with its first part that evaluates."""
    parts = {name: keys for name, keys in FAMILIES[family].parts.items() if name.lower() != TRAINING}
    for path in sorted(folder.rglob("*.y*ml")):
        if "_base_" in path.parts:
            continue
        try:
            content = configuration(path)
        except UsageError:  # it is based on a file that the checkout lacks, or is none of the family's
            continue
        for name, keys in parts.items():
            if isinstance(inside(content, *keys), list):
                yield path, name
                break


def reading(family: str, path: Path, part: str) -> Reading:
    """Read the steps before the model."""
    try:
        read_chain(of_configuration(f"{family}:{path}#{part}", "before"))
    except UsageError as error:
        return Reading(path, error.what)
    return Reading(path)


def spaced(readings: Sequence[Reading], count: int) -> list[Reading]:
    """So many of them, evenly spaced; all of fewer."""
    count = min(count, len(readings))
    return [readings[at * len(readings) // count] for at in range(count)]


def share(readings: Sequence[Reading]) -> float:
    """The share that was read."""
    return sum(not reading.refused for reading in readings) / len(readings) if readings else 0.0


def counted(readings: Sequence[Reading]) -> str:
    """How many were read, of how many."""
    return f"{sum(not reading.refused for reading in readings)} of {len(readings)} ({share(readings):.0%})"


def main() -> int:
    """Print the table; exit 1 where fewer are read than `FLOOR` says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FAMILY=FOLDER")
    parser.add_argument("--each", type=int, default=30, help="configurations of each family")
    arguments = parser.parse_args()
    enough = True
    for given in arguments.folders:
        family, _, folder = given.partition("=")
        readings = [reading(family, path, part) for path, part in evaluated(family, Path(folder))]
        taken = spaced(readings, arguments.each)
        print(f"{family}: {counted(taken)} of those taken, {counted(readings)} of all")
        for why, times in Counter(reading.refused for reading in readings if reading.refused).most_common():
            among = sum(reading.refused == why for reading in taken)
            print(f"  {among or '-'} / {times}  {why}")
        enough &= share(taken) >= FLOOR
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
