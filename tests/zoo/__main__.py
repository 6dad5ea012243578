"""Real networks through the gate itself: `python -m tests.zoo [--families vision,clas,seg,det,sequence,nlp,ocr]`.

Each is released as `.json`, `.pdmodel` and ONNX, and judged as `exporter release` judges, by record and judge; beside
it stands what stock Paddle and paddle2onnx write, judged by the same goldens. It ends with 1 where fewer networks pass
than are promised. With `--json` each row is written when it is there, and `--resume` goes on from such a file.
docs/zoo.md says what environment has all families.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter.files import write_bytes
from exporter.workers import SINGLE_THREAD, Limits, Setting
from tests.zoo import clas, nlp, ocr
from tests.zoo.children import ENVIRONMENT, preloaded
from tests.zoo.exported import Wish
from tests.zoo.networks import Network
from tests.zoo.table import GOOD, stock_is_right, well

#: The least share that passes, by format, of the networks that stock PIR exports rightly (of all, without stock).
PROMISED = {"pir": 1.0, "pdmodel": 0.98, "onnx": 0.96}


def main() -> int:
    os.environ.update(SINGLE_THREAD | ENVIRONMENT)  # before Paddle is imported, here and so in every fork
    options = _options()
    if options.ppocr:
        os.environ[ocr.CHECKOUT] = str(options.ppocr.resolve())
    families = options.families.split(",")
    _import_all(families)
    from tests.zoo.judged import judged
    from tests.zoo.models import networks
    from tests.zoo.quick import quick

    examine = quick if options.quick else judged
    plain = Wish(
        formats=tuple(options.formats.split(",")),
        engines=tuple(options.engines.split(",")),
        stock=tuple(filter(None, options.stock.split(","))),
        target=options.target,
        keep=options.keep,
    )
    setting = Setting(Limits(seconds=options.seconds))
    known = json.loads(options.resume.read_text()) if options.resume and options.resume.exists() else []
    rows = {(row["family"], row["name"], row["weights"]): row for row in known}
    into = options.json or options.resume
    with preloaded(families):
        for family in families:
            for network, weights in itertools.product(networks(family).values(), options.weights.split(",")):
                weights = "calibrated" if network.calibrated else weights
                key = {"family": family, "name": network.name, "weights": weights}
                if tuple(key.values()) in rows or not _wanted(network, options):
                    continue
                began = time.monotonic()
                row = key | examine(network, replace(plain, calibrated=weights == "calibrated"), setting)
                rows[family, network.name, weights] = row | {"seconds": round(time.monotonic() - began, 1)}
                print(_line(row), flush=True)
                if into:
                    write_bytes(into, json.dumps(list(rows.values()), indent=1).encode())
    return report(list(rows.values()), plain.formats)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("--families", default="vision,clas,seg,det,sequence,nlp,ocr")
    parser.add_argument("--only", default="", help="names of networks, separated by commas")
    parser.add_argument("--formats", default="pir,pdmodel,onnx")
    parser.add_argument("--engines", default="jit_load,paddle_inference,onnxruntime")
    parser.add_argument(
        "--weights", default="random", help="random, or calibrated: batch norms with statistics, vectors moved; or both"
    )
    parser.add_argument("--first", action="store_true", help="of PaddleClas one architecture for each source file")
    parser.add_argument("--quick", action="store_true", help="two draws and plain differences: no verdict, in seconds")
    parser.add_argument("--ppocr", type=Path, help="a checkout of PaddleOCR, which no wheel holds")
    parser.add_argument("--stock", default="pir", help="formats that stock Paddle writes too: pir,pdmodel,onnx, or ''")
    parser.add_argument("--target", default="", help="the oldest Paddle that has to load the .pdmodel, as 2.6")
    parser.add_argument("--keep", type=Path, help="keep each .pdmodel with a case for legacy_runtime.py")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--seconds", type=float, default=600, help="limit of each child")
    return parser.parse_args()


def _wanted(network: Network, options: argparse.Namespace) -> bool:
    if options.only:
        return network.name in options.only.split(",")
    return not (options.first and network.family == "clas") or network.name in clas.smallest()


def _import_all(families: list[str]) -> None:
    """What the table of networks needs; PaddleNLP is imported with its clients replaced."""
    import paddle

    paddle.set_device("cpu")
    if "nlp" in families:
        nlp.transformers()


def _line(row: dict[str, Any]) -> str:
    parts = [_name(row)]
    for name, one in row["formats"].items():
        beside = row["stock"].get(name, {}).get("word", "-")
        parts.append(f"{name}: {one['word']} {one['matches']}/{one['checks']} (stock {beside})")
    return "  ".join(parts)


def _name(row: dict[str, Any]) -> str:
    return f"{row['family']}/{row['name']}{'' if row['weights'] == 'random' else ', ' + row['weights']}"


def report(rows: list[dict[str, Any]], formats: tuple[str, ...]) -> int:
    """Every check that did not match, with its reason; the totals; 1 where they are below what is promised."""
    code = 0
    for row in rows:
        for name, one in row["formats"].items():
            if one["word"] == "refused":
                print(f"REFUSED {_name(row)} {name}: {one['why']}")
            for claim, why in one.get("missed", {}).items():
                print(f"NO MATCH {_name(row)} {claim}: {why}")
    for name in formats:
        ours = [row["formats"][name] for row in rows if name in row["formats"]]
        beside = [row["stock"][name]["word"] for row in rows if name in row["stock"]]
        passed = sum(one["word"] in GOOD for one in ours)
        sound = [row for row in rows if name in row["formats"] and ("pir" not in row["stock"] or stock_is_right(row))]
        rest = Counter(one["word"] for one in ours if one["word"] not in GOOD)
        words = "".join(f", {count} {word}" for word, count in sorted(rest.items()))
        theirs = sum(word in GOOD for word in beside)
        print(f"{name:8} {passed}/{len(ours)} passed{words}; stock {theirs}/{len(beside)}")
        if sum(well(row, name) for row in sound) < PROMISED[name] * len(sound):
            code = 1
    every = [one for row in rows for one in row["formats"].values()]
    checks, matches = sum(one["checks"] for one in every), sum(one["matches"] for one in every)
    many = len({(row["family"], row["name"]) for row in rows})
    print(f"{matches} of {checks} checks (network, engine, case, output) match, on {many} networks")
    return code


if __name__ == "__main__":
    sys.exit(main())
