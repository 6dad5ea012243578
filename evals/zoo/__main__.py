"""Real networks through the gate itself: `python -m evals.zoo [--families vision,clas,seg,det,sequence,nlp,ocr]`.

Each is released as `.json`, `.pdmodel` and ONNX, and judged as `exporter release` judges, by record and judge; beside
it stands what stock Paddle and paddle2onnx write, judged by the same goldens. It ends with 1 where fewer networks pass
than are promised. With `--json` each row is written when it is there, and `--resume` goes on from such a file, as
`evals/zoo/measured.jsonl` is one.
docs/zoo.md says what environment has all families.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.zoo.checkouts import name_checkout
from evals.zoo.children import ENVIRONMENT, preloaded
from evals.zoo.exported import Wish
from evals.zoo.families import clas, nlp
from evals.zoo.network import Network
from evals.zoo.rows import GOOD, key_of, measured, read_rows, stock_is_right, well, write_rows
from evals.zoo.table import headline
from exporter.process.workers import SINGLE_THREAD, Limits, Setting

#: The least share that passes, by format, of the networks that stock PIR exports rightly (of all, without stock).
PROMISED = {"pir": 0.99, "pdmodel": 0.99, "onnx": 0.97}


def main() -> int:
    os.environ.update(SINGLE_THREAD | ENVIRONMENT)  # before Paddle is imported, here and so in every fork
    options = _options()
    for said in options.checkout:
        name_checkout(said)
    families = options.families.split(",")
    _import_all(families)
    from evals.zoo import calibrated, stock
    from evals.zoo.judged import judged
    from evals.zoo.models import networks
    from evals.zoo.quick import quick

    os.environ[stock.COMMAND] = options.p2o
    examine = quick if options.quick else judged
    plain = Wish(
        formats=tuple(options.formats.split(",")),
        engines=tuple(options.engines.split(",")),
        stock=tuple(filter(None, options.stock.split(","))),
        target=options.target,
        keep=options.keep,
        writer=options.writer,
        opset=options.opset,
    )
    setting = Setting(Limits(seconds=options.seconds))
    rows = read_rows(options.resume) if options.resume else {}
    into = options.json or options.resume
    said = measured(quick=options.quick) | {"limit": options.seconds}
    said |= {"opset": options.opset} if options.opset else {}
    with tempfile.TemporaryDirectory(prefix="zoo-") as kept, preloaded(families):
        os.environ[calibrated.KEPT] = kept
        for network, weights in _wanted(options, networks):
            key = {"family": network.family, "name": network.name, "weights": weights}
            if tuple(key.values()) in rows:
                continue
            began = time.monotonic()
            row = key | said | examine(network, replace(plain, calibrated=weights == "calibrated"), setting)
            rows[key_of(row)] = row | {"seconds": round(time.monotonic() - began, 1)}
            print(_line(row), flush=True)
            if into:
                write_rows(into, rows.values())
    return report(list(rows.values()), plain.formats)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.zoo", description=__doc__)
    parser.add_argument("--families", default="vision,clas,seg,det,sequence,nlp,ocr")
    parser.add_argument("--only", default="", help="names of networks, separated by commas")
    parser.add_argument("--writer", default="program", help="of ONNX: program, or paddle2onnx")
    parser.add_argument("--opset", type=int, help="of ONNX; without it the exporter's own")
    parser.add_argument("--formats", default="pir,pdmodel,onnx")
    parser.add_argument("--engines", default="jit_load,paddle_inference,onnxruntime")
    parser.add_argument(
        "--weights", default="random", help="random, or calibrated: batch norms with statistics, vectors moved; or both"
    )
    parser.add_argument("--first", action="store_true", help="of PaddleClas one architecture for each source file")
    parser.add_argument("--quick", action="store_true", help="two draws and plain differences: no verdict, in seconds")
    parser.add_argument(
        "--checkout", action="append", default=[], metavar="FAMILY=FOLDER", help="code that no installed package holds"
    )
    parser.add_argument(
        "--stock",
        default="pir",
        help="formats that stock Paddle writes too: pir,pdmodel,onnx, p2o for ONNX by p2o, or ''",
    )
    parser.add_argument("--p2o", default="p2o", help="the command p2o, in an environment of its own")
    parser.add_argument("--target", default="", help="the oldest Paddle that has to load the .pdmodel, as 2.6")
    parser.add_argument("--keep", type=Path, help="keep each .pdmodel with a case for legacy_runtime.py")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--seconds", type=float, default=600, help="limit of each child")
    return parser.parse_args()


def _wanted(
    options: argparse.Namespace, networks: Callable[[str], Mapping[str, Network]]
) -> Iterator[tuple[Network, str]]:
    """The networks that are asked for, each with its weights."""
    names = options.only.split(",") if options.only else None
    first = clas.smallest() if options.first and not names and "clas" in options.families.split(",") else None
    for family in options.families.split(","):
        for network, weights in itertools.product(networks(family).values(), options.weights.split(",")):
            if names is not None and network.name not in names:
                continue
            if family == "clas" and first is not None and network.name not in first:
                continue
            yield network, "calibrated" if network.calibrated else weights


def _import_all(families: list[str]) -> None:
    """What the table of networks needs; PaddleNLP is imported with its clients replaced."""
    import paddle

    paddle.set_device("cpu")
    if "nlp" in families:
        nlp.transformers()


def _line(row: dict[str, Any]) -> str:
    parts = [_name(row)]
    for name, file in row["formats"].items():
        beside = row["stock"].get(name, {}).get("word", "-")
        parts.append(f"{name}: {file['word']} {file['matches']}/{file['checks']} (stock {beside})")
    return "  ".join(parts)


def _name(row: dict[str, Any]) -> str:
    return f"{row['family']}/{row['name']}{'' if row['weights'] == 'random' else ', ' + row['weights']}"


def report(rows: list[dict[str, Any]], formats: tuple[str, ...]) -> int:
    """Every check that did not match, with its reason; the totals; 1 where they are below what is promised."""
    code = 0
    for row in rows:
        for name, file in row["formats"].items():
            if file["word"] == "refused":
                print(f"REFUSED {_name(row)} {name}: {file['why']}")
            for claim, why in file.get("missed", {}).items():
                print(f"NO MATCH {_name(row)} {claim}: {why}")
    for name in formats:
        ours = [row["formats"][name] for row in rows if name in row["formats"]]
        beside = [row["stock"][name]["word"] for row in rows if name in row["stock"]]
        passed = sum(file["word"] in GOOD for file in ours)
        sound = [row for row in rows if name in row["formats"] and ("pir" not in row["stock"] or stock_is_right(row))]
        rest = Counter(file["word"] for file in ours if file["word"] not in GOOD)
        words = "".join(f", {count} {word}" for word, count in sorted(rest.items()))
        theirs = sum(word in GOOD for word in beside)
        print(f"{name:8} {passed}/{len(ours)} passed{words}; stock {theirs}/{len(beside)}")
        if sum(well(row, name) for row in sound) < PROMISED[name] * len(sound):
            code = 1
    files = [file for row in rows for file in row["formats"].values()]
    checks, matches = sum(file["checks"] for file in files), sum(file["matches"] for file in files)
    many = len({(row["family"], row["name"]) for row in rows})
    print(f"{matches} of {checks} checks (network, engine, case, output) match, on {many} networks")
    print("\n".join(headline(rows)))
    return code


if __name__ == "__main__":
    sys.exit(main())
