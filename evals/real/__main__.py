"""`check` on real code: `python -m evals.real CACHE {fetch,errors,sample,figures,failures}`.

`fetch` downloads and unpacks the pinned wheels. `errors` counts errors and warnings of each package and lists the
errors. `sample --seed N` draws errors for somebody to judge, as lines for `judged.jsonl`; places that an earlier
sample judged bring their judgement along, or are left out with the same places of other versions, and all copies of a
line but one (`--fresh`). `figures` says what the judgements were when
each sample was drawn, and what became of the judged places since. `failures` says which export failures of the zoo
(`failures.yaml`) have a finding at their line. CACHE is a folder that the project does not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import yaml

from evals.real import judgements
from evals.real.judgements import Judgement
from evals.real.sample import SIZE, Found, draw, findings, fresh
from evals.real.sources import HERE, Source, fetch, sources
from exporter.check.run import check


def _found(present: list[Source], cache: Path) -> list[Found]:
    found: list[Found] = []
    for source in present:
        found += findings(source, cache)
    return found


def _errors(present: list[Source], cache: Path) -> None:
    for source in present:
        found = [*findings(source, cache)]
        errors = [each for each in found if each.error]
        codes = " ".join(f"{code}:{n}" for code, n in Counter(each.place.code for each in errors).most_common())
        print(f"{source.label:24} {len(errors):4} errors {len(found) - len(errors):4} warnings  {codes}", flush=True)
        for each in errors:
            print(f"    {each.place.file}:{each.place.line}: {each.place.code} {each.message}")


def _sample(found: Sequence[Found], seed: int, size: int, most: int | None) -> None:
    known = {each.place: each for each in judgements.read()}
    for each in draw(found, seed, size, most):
        said = known.get(each.place)
        verdict = {"judgement": said.judgement.value, "why": said.why} if said else {"judgement": "", "why": ""}
        line = {"seed": seed, **asdict(each.place), **verdict}
        print(json.dumps(line if said else {**line, "message": each.message}, ensure_ascii=False))


def _figures(found: list[Found]) -> None:
    judged = judgements.read()
    for seed in sorted({each.seed for each in judged}):
        counts = judgements.counts(judged, seed)
        told = ", ".join(f"{counts[judgement]} {judgement.value}" for judgement in Judgement)
        print(f"seed {seed}, {counts.total()} errors as drawn: {told}")
    for judgement, outcome in judgements.since(judged, found).items():
        told = ", ".join(f"{outcome[word]} {word}" for word in ("error", "warning", "silent"))
        print(f"{judgement.value} places of all samples, now: {told}")


def _failures(cache: Path) -> bool:
    """Whether each export failure of the zoo whose file is there has a finding at its line."""
    roots = {source.name: source.root(cache) for source in sources()}
    missed = False
    for failure in yaml.safe_load((HERE / "failures.yaml").read_text()):
        path = roots[failure["package"]] / failure["file"]
        if not path.is_file():
            print(f"{failure['network']}: not there, so not looked at; run fetch", file=sys.stderr)
            continue
        lines = range(failure["first"], failure["last"] + 1)
        found = [each for each in check([str(path)]) if each.location.line in lines]
        told = ", ".join(f"{each.location.line}: {each.code} ({each.severity.value})" for each in found)
        print(f"{failure['network']:24} {failure['file']}:{failure['first']}  {told or 'no finding'}")
        missed = missed or not found
    return not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, help="a folder for the pinned code")
    parser.add_argument("what", choices=("fetch", "errors", "sample", "figures", "failures"))
    parser.add_argument("--seed", type=int, help="of the sample; one that no judgement has yet is a fresh one")
    parser.add_argument("--only", default="", help="names of packages, with commas")
    parser.add_argument("--fresh", action="store_true", help="of the sample: only errors that were never judged")
    parser.add_argument("--size", type=int, default=SIZE, help="of the sample")
    parser.add_argument("--most", type=int, help="of the sample: no more errors of one code in one package")
    parser.add_argument("--unmended", action="store_true", help="only packages that the check was never changed for")
    options = parser.parse_args()
    if options.what == "sample" and options.seed is None:
        parser.error("sample needs --seed")
    only = options.only.split(",") if options.only else [source.name for source in sources()]
    chosen = [one for one in sources() if one.name in only and not (options.unmended and one.mended)]
    if options.what == "failures":
        return 0 if _failures(options.cache) else 1
    if options.what == "fetch":
        for source in chosen:
            print(f"{source.label}: {fetch(source, options.cache)}")
        return 0
    present = [source for source in chosen if (source.root(options.cache) / source.folder).is_dir()]
    for source in chosen:
        if source not in present:
            print(f"{source.label}: not there, so not counted; run fetch", file=sys.stderr)
    if options.what == "errors":
        _errors(present, options.cache)
    elif options.what == "sample":
        found: Sequence[Found] = _found(present, options.cache)
        if options.fresh:
            found = fresh(found, [judged.place for judged in judgements.read()])
        _sample(found, options.seed, options.size, options.most)
    else:
        _figures(_found(present, options.cache))
    return 0 if present else 1


if __name__ == "__main__":
    sys.exit(main())
